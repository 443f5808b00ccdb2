package trace

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/mpi"
)

// A Function is what a trace says about a function that occurs in it.
type Function struct {
	ID      uint16
	Name    string
	Returns string // kind of what it returns, nearly always "error"
	Result  Type   // of what it returns instead of an error code, else None
	Attrs   Attr
	Params  []ParamDef
}

// Has reports whether the function has all attributes of a.
func (f *Function) Has(a Attr) bool { return f.Attrs&a == a }

// Attr is a set of facts about a function. The bits are part of the format.
type Attr uint32

// The attributes.
const (
	Nonblocking Attr = 1 << iota // a new one-shot request comes out
	Persistent                   // a new persistent request comes out
	Completes                    // may finish requests
	Starts                       // starts persistent requests
	CreatesComm                  // a new communicator comes out
	CreatesType                  // a new datatype comes out
	CreatesWin                   // a new window comes out
	Collective                   // all members must call
	Local                        // completes without other processes
	Large                        // has 64-bit counts
	Posix                        // of POSIX or C: the return code is errno, and a result there too where it failed
)

// A ParamDef is what a trace says about a parameter. It fixes how the values
// of signatures are to be taken apart.
type ParamDef struct {
	Name     string
	Kind     string // as in package mpi
	Type     Type   // of one element
	Dir      Dir
	Dims     int // 0 scalar, 1 array, 2 array of arrays
	In, Out  bool
	OnlyRoot bool   // significant only at the root
	If       string // valid on exit only if this parameter comes out non-zero
}

// A Dir is a parameter's direction. The numbers are part of the format.
type Dir uint8

// The directions.
const (
	DirIn Dir = iota
	DirOut
	DirInOut
	DirFree // a handle passed by address, which becomes null
)

var dirNames = [...]string{"in", "out", "inout", "free"}

func (d Dir) String() string {
	if int(d) < len(dirNames) {
		return dirNames[d]
	}
	return fmt.Sprintf("dir(%d)", uint8(d))
}

var attrOf = []struct {
	from mpi.Attr
	to   Attr
}{
	{mpi.Nonblocking, Nonblocking}, {mpi.Persistent, Persistent}, {mpi.Completes, Completes},
	{mpi.Starts, Starts}, {mpi.CreatesComm, CreatesComm}, {mpi.CreatesType, CreatesType},
	{mpi.CreatesWin, CreatesWin}, {mpi.Collective, Collective}, {mpi.Local, Local}, {mpi.Posix, Posix},
}

// FunctionOf makes the schema's entry for a function of package mpi.
func FunctionOf(c *mpi.Call) Function {
	f := Function{ID: c.ID, Name: c.Name, Returns: c.Returns.Name()}
	for _, a := range attrOf {
		if c.Has(a.from) {
			f.Attrs |= a.to
		}
	}
	if c.Large {
		f.Attrs |= Large
	}
	if c.ReturnsValue() {
		// A handle that comes out of a conversion has no request behind it.
		if f.Result = typeOf(c.Returns); f.Result == Request {
			f.Result = Int
		}
	}
	parts := signature.LayoutOf(c).Params
	for i := range c.Params {
		p := &c.Params[i]
		if p.LargeOnly && !c.Large {
			continue
		}
		f.Params = append(f.Params, ParamDef{
			Name: p.Name, Kind: p.Kind.Name(), Type: typeOf(p.Kind), Dir: Dir(p.Dir), Dims: parts[len(f.Params)].Dims,
			In: p.HasIn(), Out: p.HasOut(), OnlyRoot: p.OnlyRoot, If: p.If,
		})
	}
	return f
}

// layoutOf returns what the values of a function's signatures are. room is for the parts.
func layoutOf(f *Function, room []signature.Part) signature.Layout {
	for i := range f.Params {
		p := &f.Params[i]
		room = append(room, signature.Part{Width: widthOf(p.Type), Dims: p.Dims, In: p.In, Out: p.Out})
	}
	l := signature.Layout{Result: widthOf(f.Result), Params: room}
	switch {
	case f.Has(CreatesComm):
		l.Made = signature.CommWords
	case f.Has(CreatesType):
		l.Made = signature.TypeWords
	}
	return l
}

// widthOf is how many values of a signature one of the type takes.
func widthOf(t Type) signature.Width {
	switch t {
	case None:
		return signature.Nothing
	case Address:
		return signature.Place
	case Status:
		return signature.Status
	}
	return signature.Word
}

func typeOf(k mpi.Kind) Type {
	if k == mpi.KindRequest {
		return Request
	}
	switch k.Form() {
	case mpi.FormInt:
		return Int
	case mpi.FormDouble:
		return Time
	case mpi.FormHandle:
		return Handle
	case mpi.FormObject:
		return Object
	case mpi.FormAddress:
		return Address
	case mpi.FormFunction:
		return FunctionRef
	case mpi.FormString:
		return String
	case mpi.FormStatus:
		return Status
	}
	return None
}

// Flags of a parameter in the schema section.
const (
	flagIn = 1 << iota
	flagOut
	flagOnlyRoot
	flagIf
)

// appendFunction and decodeFunction are the two sides of one schema entry, less the id.
func appendFunction(b []byte, f *Function) []byte {
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

func decodeFunction(r *wire.Reader, id uint16) Function {
	f := Function{ID: id, Name: r.String(), Returns: r.String(), Result: Type(r.Byte()), Attrs: Attr(r.Int(1<<32 - 1))}
	if f.Result > Status || f.Result == Array {
		r.Fail("function %q: unknown result type %d", f.Name, f.Result)
	}
	n := r.Count(5)
	for range n {
		p := ParamDef{Name: r.String(), Kind: r.String(), Type: Type(r.Byte())}
		d := r.Byte()
		p.Dir, p.Dims = Dir(d&15), int(d>>4)
		flags := r.Byte()
		p.In, p.Out, p.OnlyRoot = flags&flagIn != 0, flags&flagOut != 0, flags&flagOnlyRoot != 0
		if flags&flagIf != 0 {
			p.If = r.String()
		}
		if r.Err() != nil {
			break
		}
		if p.Type > Status || p.Type == Array || p.Dir > DirFree || p.Dims > 2 || flags >= flagIf<<1 {
			r.Fail("function %q: parameter %q: unknown type, direction or flag", f.Name, p.Name)
			break
		}
		f.Params = append(f.Params, p)
	}
	return f
}
