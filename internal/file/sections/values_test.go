package sections

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

func stats(list []model.AttachedStat) []byte {
	return wire.AppendEncoded(nil, func(c *wire.Coder) { codeValueStats(c, &list, 0) })
}

func FuzzValues(f *testing.F) {
	f.Add(stats([]model.AttachedStat{{}, {Count: 2, Sum: 3, Min: 1, Max: 2}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(b, "values")
		list := DecodeAttachedStats(r, 5)
		if r.Finish() != nil {
			return
		}
		again := DecodeAttachedStats(wire.NewReader(stats(list), "values"), 5)
		if d := cmp.Diff(list, again); d != "" {
			t.Error(d)
		}
	})
}

func written(names []string, m map[string][]LeafAttachedSum) []byte {
	return wire.AppendEncoded(nil, func(c *wire.Coder) { codePlacedValues(c, names, m) })
}

func FuzzPlacedValues(f *testing.F) {
	names := []string{"a", "b", "c"}
	f.Add(written(names, map[string][]LeafAttachedSum{"a": {{Leaf: 3, Calls: 4, NumberCount: 4, Sum: -9}, {Leaf: 1000, Calls: 4, NumberCount: 0, Sum: 0}}, "c": {{Leaf: 0, Calls: 1, NumberCount: 1, Sum: 1 << 60}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(b, "values")
		m := DecodeLeafAttachedSums(r, names)
		if r.Finish() != nil {
			return
		}
		again := DecodeLeafAttachedSums(wire.NewReader(written(names, m), "values"), names)
		if d := cmp.Diff(m, again); d != "" {
			t.Error(d)
		}
	})
}
