package sections

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"sync"

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
	f := model.Function{ID: c.ID, Name: c.Name, Returns: c.Returns}
	for _, a := range attrOf {
		if c.Has(a.from) {
			f.Attrs |= a.to
		}
	}
	if c.Large {
		f.Attrs |= model.Large
	}
	if c.ReturnsValue() {
		// A handle that a conversion returns is no request.
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
			Name: p.Name, Kind: p.Kind, Type: typeOf(p.Kind), Dir: model.Dir(p.Dir), Dims: parts[len(f.Params)].Dims,
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
	case mpi.FormNone:
		return model.None
	}
	panic(fmt.Sprintf("sections: parameters of kind %s have no type in files", k))
}

// Flags of a parameter in the schema section.
const (
	flagIn = 1 << iota
	flagOut
	flagOnlyRoot
	flagIf
)

func codeFunction(c *wire.Coder, f *model.Function) {
	c.String(&f.Name)
	unknown := f.Unknown
	codeKind(c, &f.Returns, &unknown)
	wire.Byte(c, &f.Result)
	wire.Bounded(c, &f.Attrs, math.MaxUint32)
	c.Refuse(f.Result > model.Status || f.Result == model.Array, "function %q: unknown result type %d", f.Name, f.Result)
	wire.List(c, &f.Params, 5, func(_ int, p *model.ParamDef) {
		c.String(&p.Name)
		codeKind(c, &p.Kind, &unknown)
		wire.Byte(c, &p.Type)
		d := byte(p.Dir) | byte(p.Dims)<<4
		wire.Byte(c, &d)
		flags := byte(bit(p.In)*flagIn | bit(p.Out)*flagOut | bit(p.OnlyRoot)*flagOnlyRoot | bit(p.If != "")*flagIf)
		wire.Byte(c, &flags)
		if c.Reader != nil {
			p.Dir, p.Dims = model.Dir(d&15), int(d>>4)
			p.In, p.Out, p.OnlyRoot = flags&flagIn != 0, flags&flagOut != 0, flags&flagOnlyRoot != 0
		}
		if flags&flagIf != 0 {
			c.String(&p.If)
		}
		c.Refuse(p.Type > model.Status || p.Type == model.Array || p.Dir > model.DirFree || p.Dims > 2 || flags >= flagIf<<1,
			"function %q: parameter %q: unknown type, direction or flag", f.Name, p.Name)
	})
	if c.Reader != nil {
		f.Unknown = unknown
	}
}

// codeKind: a kind by its name. A newer release may know more kinds; their names are read into unknown, and written from it.
func codeKind(c *wire.Coder, k *mpi.Kind, unknown *[]string) {
	name := k.Name()
	if c.Reader == nil && *k == mpi.KindUnknown {
		name, *unknown = (*unknown)[0], (*unknown)[1:]
	}
	c.String(&name)
	if c.Reader == nil {
		return
	}
	var ok bool
	if *k, ok = mpi.KindNamed(name); !ok && name != mpi.KindNone.Name() {
		*k = mpi.KindUnknown
	}
	if *k == mpi.KindUnknown {
		*unknown = append(*unknown, name)
	}
}

// The entries of functions as they were when the file was made, with
// which a schema is a few bytes. It is part of the format and must never
// change; a function that looks otherwise one day has its entry in the file.
//
//	schema.table = count uvarint, (id uvarint, entry blob)…
//
//go:embed schema.table
var schemaTable []byte

// entries are those of schema.table, by id.
var entries = sync.OnceValue(func() [][]byte {
	r := wire.NewReader(schemaTable, "schema.table")
	n := r.Count(2)
	table := make([][]byte, n, n+n/4)
	for range n {
		id := int(r.Uint16())
		if id >= len(table) {
			table = append(table, make([][]byte, id+1-len(table))...)
		}
		table[id] = r.Blob()
	}
	if err := r.Done(); err != nil {
		panic(fmt.Sprintf("trace: %v", err)) // it is in the program
	}
	return table
})

// known is the entry of a function; nil if none.
func known(id uint16) []byte {
	if list := entries(); int(id) < len(list) {
		return list[id]
	}
	return nil
}

// codeSchema: functions, by id. Those that are in schema.table as they are take a byte.
//
//	schema = count uvarint, (2·(id, as a difference to the one before) + described uvarint, [entry])…
func codeSchema(c *wire.Coder, list *[]*model.Function) {
	last := -1
	wire.List(c, list, 1, func(_ int, f **model.Function) {
		var entry []byte
		head := 0
		if c.Reader == nil {
			entry = wire.Append(nil, func(c *wire.Coder) { codeFunction(c, *f) })
			head = (int((*f).ID)-max(last, 0))<<1 | bit(!bytes.Equal(known((*f).ID), entry))
		}
		wire.Bounded(c, &head, 2<<16-1)
		id, described := max(last, 0)+head>>1, head&1 != 0
		c.Refuse(id > math.MaxUint16 || id <= last, "function %d out of order", id)
		if c.Failed() {
			return
		}
		if last = id; c.Reader != nil {
			*f = &model.Function{ID: uint16(id)}
		}
		switch from := known(uint16(id)); {
		case described && c.Reader == nil:
			c.B = append(c.B, entry...)
		case described:
			codeFunction(c, *f)
		case c.Reader != nil && from == nil:
			c.Reader.Fail("no function has the number %d", id)
		case c.Reader != nil:
			codeFunction(&wire.Coder{Reader: wire.NewReader(from, "schema.table")}, *f)
		}
	})
}

func appendSchema(b []byte, schema []model.Function) []byte {
	list := make([]*model.Function, len(schema))
	for i := range schema {
		list[i] = &schema[i]
	}
	return wire.Append(b, func(c *wire.Coder) { codeSchema(c, &list) })
}

// DecodeSchema reads a schema.
func DecodeSchema(r *wire.Reader) (list []*model.Function) {
	if codeSchema(&wire.Coder{Reader: r}, &list); r.Err() != nil {
		return nil
	}
	return list
}
