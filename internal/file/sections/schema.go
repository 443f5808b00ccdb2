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
	{mpi.AttrNonblocking, model.AttrNonblocking}, {mpi.AttrPersistent, model.AttrPersistent}, {mpi.AttrCompletes, model.AttrCompletes},
	{mpi.AttrStarts, model.AttrStarts}, {mpi.AttrCreatesComm, model.AttrCreatesComm}, {mpi.AttrCreatesType, model.AttrCreatesType},
	{mpi.AttrCreatesWin, model.AttrCreatesWin}, {mpi.AttrCollective, model.AttrCollective}, {mpi.AttrLocal, model.AttrLocal}, {mpi.AttrPosix, model.AttrPosix},
}

// FunctionOf makes the schema's entry for a function of package mpi.
func FunctionOf(c *mpi.Call) model.Function {
	f := model.Function{ID: c.ID, Name: c.Name, ReturnKind: c.ReturnKind}
	for _, a := range attrOf {
		if c.Has(a.from) {
			f.Attrs |= a.to
		}
	}
	if c.Large {
		f.Attrs |= model.AttrLarge
	}
	if c.ReturnsValue() {
		// A handle that a conversion returns is no request.
		if f.ResultType = typeOf(c.ReturnKind); f.ResultType == model.TypeRequest {
			f.ResultType = model.TypeInt
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
			HasIn: p.HasEnterPart(), HasOut: p.HasLeavePart(), OnlyRoot: p.OnlyRoot, ValidIf: p.ValidIfNonZero,
		})
	}
	return f
}

func typeOf(k mpi.Kind) model.Type {
	if k == mpi.KindRequest {
		return model.TypeRequest
	}
	switch k.ValueForm() {
	case mpi.ValueFormInt:
		return model.TypeInt
	case mpi.ValueFormDouble:
		return model.TypeTime
	case mpi.ValueFormHandle:
		return model.TypeHandle
	case mpi.ValueFormToolObject:
		return model.TypeMPITObject
	case mpi.ValueFormAddress:
		return model.TypeAddress
	case mpi.ValueFormFunction:
		return model.TypeFunctionRef
	case mpi.ValueFormString:
		return model.TypeString
	case mpi.ValueFormStatus:
		return model.TypeStatus
	case mpi.ValueFormNone:
		return model.TypeNone
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
	unknown := f.UnknownKinds
	codeKind(c, &f.ReturnKind, &unknown)
	wire.CodeByte(c, &f.ResultType)
	wire.CodeBounded(c, &f.Attrs, math.MaxUint32)
	c.RefuseIf(f.ResultType > model.TypeStatus || f.ResultType == model.TypeArray, "function %q: unknown result type %d", f.Name, f.ResultType)
	wire.CodeList(c, &f.Params, 5, func(_ int, p *model.ParamDef) {
		c.String(&p.Name)
		codeKind(c, &p.Kind, &unknown)
		wire.CodeByte(c, &p.Type)
		d := byte(p.Dir) | byte(p.Dims)<<4
		wire.CodeByte(c, &d)
		flags := byte(bit(p.HasIn)*flagIn | bit(p.HasOut)*flagOut | bit(p.OnlyRoot)*flagOnlyRoot | bit(p.ValidIf != "")*flagIf)
		wire.CodeByte(c, &flags)
		if c.Reader != nil {
			p.Dir, p.Dims = model.Dir(d&15), int(d>>4)
			p.HasIn, p.HasOut, p.OnlyRoot = flags&flagIn != 0, flags&flagOut != 0, flags&flagOnlyRoot != 0
		}
		if flags&flagIf != 0 {
			c.String(&p.ValidIf)
		}
		c.RefuseIf(p.Type > model.TypeStatus || p.Type == model.TypeArray || p.Dir > model.DirFree || p.Dims > 2 || flags >= flagIf<<1,
			"function %q: parameter %q: unknown type, direction or flag", f.Name, p.Name)
	})
	if c.Reader != nil {
		f.UnknownKinds = unknown
	}
}

// codeKind writes or reads a kind by its name. A newer release may know more kinds: their names are read into unknown,
// and written from it.
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

// entries returns the functions' entries in schema.table, by id.
var entries = sync.OnceValue(func() [][]byte {
	r := wire.NewReader(schemaTable, "schema.table")
	n := r.Count(2)
	table := make([][]byte, n, n+n/4)
	for range n {
		id := int(r.Uvarint16())
		if id >= len(table) {
			table = append(table, make([][]byte, id+1-len(table))...)
		}
		table[id] = r.Blob()
	}
	if err := r.Finish(); err != nil {
		panic(fmt.Sprintf("trace: %v", err)) // the table is part of the program
	}
	return table
})

// known returns the entry of a function in schema.table; nil if it has none.
func known(id uint16) []byte {
	if list := entries(); int(id) < len(list) {
		return list[id]
	}
	return nil
}

// codeSchema writes or reads functions, by id. A function that equals its entry in schema.table takes a byte.
//
//	schema = count uvarint, (2·(id, as a difference to the one before) + described uvarint, [entry])…
func codeSchema(c *wire.Coder, list *[]*model.Function) {
	last := -1
	wire.CodeList(c, list, 1, func(_ int, f **model.Function) {
		var entry []byte
		head := 0
		if c.Reader == nil {
			entry = wire.AppendEncoded(nil, func(c *wire.Coder) { codeFunction(c, *f) })
			head = (int((*f).ID)-max(last, 0))<<1 | bit(!bytes.Equal(known((*f).ID), entry))
		}
		wire.CodeBounded(c, &head, 2<<16-1)
		id, described := max(last, 0)+head>>1, head&1 != 0
		c.RefuseIf(id > math.MaxUint16 || id <= last, "function %d out of order", id)
		if c.Failed() {
			return
		}
		if last = id; c.Reader != nil {
			*f = &model.Function{ID: uint16(id)}
		}
		switch from := known(uint16(id)); {
		case described && c.Reader == nil:
			c.Buf = append(c.Buf, entry...)
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
	return wire.AppendEncoded(b, func(c *wire.Coder) { codeSchema(c, &list) })
}

// DecodeSchema reads a schema.
func DecodeSchema(r *wire.Reader) (list []*model.Function) {
	if codeSchema(&wire.Coder{Reader: r}, &list); r.Err() != nil {
		return nil
	}
	return list
}
