package sections

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// FuzzFirsts: what is no such blob is an error, and what is one goes both ways.
func FuzzFirsts(f *testing.F) {
	for _, list := range [][]FirstCallMeanTimes{{{0, 3e8, 0}}, {{2, 1, 2}, {3, 4e9, 5e3}, {99, 0, 6.4e7}}} {
		f.Add(wire.AppendEncoded(nil, func(c *wire.Coder) { codeFirsts(c, &list, 100) }))
	}
	f.Add([]byte{98, 1, 1, 1, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(b, "firsts")
		list := DecodeFirstCallMeanTimes(r, 100)
		if r.Err() != nil {
			if list != nil {
				t.Error("a list and an error")
			}
			return
		}
		for i, x := range list {
			if x.Leaf >= 100 || i > 0 && x.Leaf <= list[i-1].Leaf {
				t.Fatalf("leaf %d behind %v", x.Leaf, list[:i])
			}
		}
		again := DecodeFirstCallMeanTimes(wire.NewReader(wire.AppendEncoded(nil, func(c *wire.Coder) { codeFirsts(c, &list, 100) }), "firsts"), 100)
		if diff := cmp.Diff(list, again); diff != "" {
			t.Error(diff)
		}
	})
}
