package sections

import (
	"bytes"
	_ "embed"
	"fmt"
	"sync"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

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

// known is the entry of a function, nil if there is none.
func known(id uint16) []byte {
	if list := entries(); int(id) < len(list) {
		return list[id]
	}
	return nil
}

// appendSchema and DecodeSchema: functions, by id. Those that are in schema.table as they
// are take a byte.
//
//	schema = count uvarint, (2·(id, as a difference to the one before) + described uvarint, [entry])…
func appendSchema(b []byte, schema []model.Function) []byte {
	b = wire.AppendUvarint(b, uint64(len(schema)))
	last := uint16(0)
	for i := range schema {
		f := &schema[i]
		entry := appendFunction(nil, f)
		step := uint64(f.ID-last) << 1
		last = f.ID
		if bytes.Equal(known(f.ID), entry) {
			b = wire.AppendUvarint(b, step)
			continue
		}
		b = append(wire.AppendUvarint(b, step|1), entry...)
	}
	return b
}

// DecodeSchema reads a schema.
func DecodeSchema(r *wire.Reader) []*model.Function {
	var list []*model.Function
	last := uint16(0)
	for range r.Count(1) {
		step := uint64(r.Int(2<<16 - 1))
		id, described := uint64(last)+step>>1, step&1 != 0
		entry := r
		if !described {
			if id > 1<<16-1 || known(uint16(id)) == nil {
				r.Fail("no function has the number %d", id)
				return nil
			}
			entry = wire.NewReader(known(uint16(id)), "schema.table")
		}
		f := decodeFunction(entry, uint16(id))
		if r.Err() != nil {
			return nil
		}
		if id > 1<<16-1 || len(list) > 0 && last >= f.ID {
			r.Fail("function %q out of order", f.Name)
			return nil
		}
		last = f.ID
		list = append(list, &f)
	}
	return list
}
