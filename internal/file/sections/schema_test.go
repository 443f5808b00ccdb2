package sections

import (
	"hash/crc32"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// So is the table of functions.
func TestTableIsFrozen(t *testing.T) {
	if got := crc32.Checksum(schemaTable, wire.Castagnoli); got != 0xf5de3fc7 || len(schemaTable) != 79729 {
		t.Errorf("schema.table has %d bytes with checksum %08x: it must never change", len(schemaTable), got)
	}
}

// Functions that are in the table take two bytes at most; others, and those that came to
// mean something else since, come back as they are, with the names of kinds that a newer release has.
func TestSchema(t *testing.T) {
	var list []model.Function
	for id := range uint16(mpi.FirstPosixFileCallID) {
		if call, ok := mpi.CallByID(id); ok {
			list = append(list, FunctionOf(call))
		}
	}
	plain := len(appendSchema(nil, list))
	if plain > 2*len(list)+3 {
		t.Errorf("%d functions take %d bytes", len(list), plain)
	}
	changed := slices.Clone(list)
	changed[7].Params = append(slices.Clone(changed[7].Params), model.ParamDef{Name: "more", Kind: mpi.KindCount, Type: model.TypeInt, HasIn: true, ValidIf: "flag"})
	changed = append(changed, model.Function{ID: 1<<16 - 1, Name: "MPI_Later", ReturnKind: mpi.KindUnknown, UnknownKinds: []string{"answer", "question"}, Params: []model.ParamDef{
		{Name: "x", Kind: mpi.KindInt, Type: model.TypeInt, HasIn: true}, {Name: "why", Kind: mpi.KindUnknown, Type: model.TypeInt, HasIn: true},
	}})
	for _, schema := range [][]model.Function{list, changed, nil} {
		b := appendSchema(nil, schema)
		r := wire.NewReader(b, "schema")
		got := DecodeSchema(r)
		if err := r.Finish(); err != nil || len(got) != len(schema) {
			t.Fatalf("%d functions became %d: %v", len(schema), len(got), err)
		}
		for i := range got {
			if d := cmp.Diff(schema[i], *got[i]); d != "" {
				t.Error(d)
			}
		}
	}
	for _, bad := range [][]byte{{1, 0xfe, 0xff, 7}, {2, 2, 0}, {1, 0xff, 0xff, 0xff, 1}} {
		r := wire.NewReader(bad, "schema")
		if DecodeSchema(r); r.Err() == nil {
			t.Errorf("%x is a schema", bad)
		}
	}
}
