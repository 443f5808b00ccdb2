package code

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzImage: whatever stands in a binary, looking at it ends, and what is said of it holds together. The seed is a
// loop around a switch, in 2 KB.
func FuzzImage(f *testing.F) {
	seed, err := os.ReadFile(filepath.Join("testdata", "tiny.so"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		m, err := newImage(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, fn := range m.Functions() {
			fn.MayReturn()
			fn.Callees()
			b, err := fn.Body()
			if err != nil {
				continue
			}
			end := uint64(0)
			for i, x := range b.Blocks {
				if x.Lo < end || x.Hi <= x.Lo || !fn.Contains(x.Lo) {
					t.Fatalf("block %d of %x: %x", i, fn.Start(), x)
				}
				end = x.Hi
			}
			for _, c := range b.Calls {
				if c.Block < 0 || b.Graph.InnermostLoop[c.Block] != NoIndex && b.Graph.ReversePostorder[c.Block] == NoIndex {
					t.Fatalf("call %+v", c)
				}
				for l := b.Graph.InnermostLoop[c.Block]; l != NoIndex; l = b.Graph.Loops[l].Parent {
					if k, ok := fn.LoopCounter(l, &c); ok != (k.Step != 0) {
						t.Fatalf("%v: %v", k, ok)
					}
				}
			}
		}
	})
}

func TestTiny(t *testing.T) {
	m := open(t, filepath.Join("testdata", "tiny.so"))
	list := m.Functions()
	if len(list) != 2 {
		t.Fatalf("%d functions", len(list))
	}
	looped, last := 0, ""
	for _, f := range list {
		b, err := f.Body()
		if err != nil || b.UnresolvedJumps != 0 || len(b.Graph.Loops) != 1 {
			t.Fatalf("%x: %v, %+v", f.Start(), err, b)
		}
		if f.Symbol() != "f" {
			if f.MayReturn() {
				t.Error("the loop without end returns")
			}
			continue
		}
		for _, c := range b.Calls {
			if b.Graph.InnermostLoop[c.Block] != NoIndex {
				looped++
			}
			last = c.CalleeSymbol
		}
	}
	if looped != 6 || last == "" {
		t.Errorf("%d calls in the loop, the last is %q", looped, last)
	}
}
