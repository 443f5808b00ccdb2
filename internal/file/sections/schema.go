package sections

import (
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

var attrOf = []struct {
	from mpi.Attr
	to   model.Attr
}{
	{mpi.Nonblocking, model.Nonblocking}, {mpi.Persistent, model.Persistent}, {mpi.Completes, model.Completes},
	{mpi.Starts, model.Starts}, {mpi.CreatesComm, model.CreatesComm}, {mpi.CreatesType, model.CreatesType},
	{mpi.CreatesWin, model.CreatesWin}, {mpi.Collective, model.Collective}, {mpi.Local, model.Local}, {mpi.Posix, model.Posix},
}

// FunctionOf makes the schema's entry for a function of package mpi.
func FunctionOf(c *mpi.Call) model.Function {
	f := model.Function{ID: c.ID, Name: c.Name, Returns: c.Returns.Name()}
	for _, a := range attrOf {
		if c.Has(a.from) {
			f.Attrs |= a.to
		}
	}
	if c.Large {
		f.Attrs |= model.Large
	}
	if c.ReturnsValue() {
		// A handle that comes out of a conversion has no request behind it.
		if f.Result = typeOf(c.Returns); f.Result == model.Request {
			f.Result = model.Int
		}
	}
	parts := signature.LayoutOf(c).Params
	for i := range c.Params {
		p := &c.Params[i]
		if p.LargeOnly && !c.Large {
			continue
		}
		f.Params = append(f.Params, model.ParamDef{
			Name: p.Name, Kind: p.Kind.Name(), Type: typeOf(p.Kind), Dir: model.Dir(p.Dir), Dims: parts[len(f.Params)].Dims,
			In: p.HasIn(), Out: p.HasOut(), OnlyRoot: p.OnlyRoot, If: p.If,
		})
	}
	return f
}

func typeOf(k mpi.Kind) model.Type {
	if k == mpi.KindRequest {
		return model.Request
	}
	switch k.Form() {
	case mpi.FormInt:
		return model.Int
	case mpi.FormDouble:
		return model.Time
	case mpi.FormHandle:
		return model.Handle
	case mpi.FormObject:
		return model.Object
	case mpi.FormAddress:
		return model.Address
	case mpi.FormFunction:
		return model.FunctionRef
	case mpi.FormString:
		return model.String
	case mpi.FormStatus:
		return model.Status
	}
	return model.None
}

// Flags of a parameter in the schema section.
const (
	flagIn = 1 << iota
	flagOut
	flagOnlyRoot
	flagIf
)

// appendFunction and decodeFunction are the two sides of one schema entry, less the id.
func appendFunction(b []byte, f *model.Function) []byte {
	b = wire.AppendString(b, f.Name)
	b = wire.AppendString(b, f.Returns)
	b = wire.AppendUvarint(append(b, byte(f.Result)), uint64(f.Attrs))
	b = wire.AppendUvarint(b, uint64(len(f.Params)))
	for i := range f.Params {
		p := &f.Params[i]
		b = wire.AppendString(b, p.Name)
		b = wire.AppendString(b, p.Kind)
		flags := byte(0)
		for _, x := range []struct {
			set bool
			bit byte
		}{{p.In, flagIn}, {p.Out, flagOut}, {p.OnlyRoot, flagOnlyRoot}, {p.If != "", flagIf}} {
			if x.set {
				flags |= x.bit
			}
		}
		b = append(b, byte(p.Type), byte(p.Dir)|byte(p.Dims)<<4, flags)
		if p.If != "" {
			b = wire.AppendString(b, p.If)
		}
	}
	return b
}

func decodeFunction(r *wire.Reader, id uint16) model.Function {
	f := model.Function{ID: id, Name: r.String(), Returns: r.String(), Result: model.Type(r.Byte()), Attrs: model.Attr(r.Int(1<<32 - 1))}
	if f.Result > model.Status || f.Result == model.Array {
		r.Fail("function %q: unknown result type %d", f.Name, f.Result)
	}
	n := r.Count(5)
	for range n {
		p := model.ParamDef{Name: r.String(), Kind: r.String(), Type: model.Type(r.Byte())}
		d := r.Byte()
		p.Dir, p.Dims = model.Dir(d&15), int(d>>4)
		flags := r.Byte()
		p.In, p.Out, p.OnlyRoot = flags&flagIn != 0, flags&flagOut != 0, flags&flagOnlyRoot != 0
		if flags&flagIf != 0 {
			p.If = r.String()
		}
		if r.Err() != nil {
			break
		}
		if p.Type > model.Status || p.Type == model.Array || p.Dir > model.DirFree || p.Dims > 2 || flags >= flagIf<<1 {
			r.Fail("function %q: parameter %q: unknown type, direction or flag", f.Name, p.Name)
			break
		}
		f.Params = append(f.Params, p)
	}
	return f
}
