package code

import (
	"path/filepath"
	"testing"
)

// loopsAround are those around a call, outermost first, by their headers.
func loopsAround(b *Body, c *Call) (list []int) {
	for l := b.Graph.InnermostLoop[c.Block]; l != NoIndex; l = b.Graph.Loops[l].Parent {
		list = append([]int{b.Graph.Loops[l].Header}, list...)
	}
	return list
}

// Paths of calls in one function, called from the same place or from none, have in common the loops around both, and what can be compared is what
// the code's counters say.
func TestCompare(t *testing.T) {
	image, err := Open(filepath.Join("testdata", "tiny.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	var p PathBuilder
	pairs, inLoops := 0, 0
	for _, f := range image.Functions() {
		b, err := f.Body()
		if err != nil {
			t.Fatal(err)
		}
		var calls []*Call
		for i := range b.Calls {
			if c := &b.Calls[i]; !c.IsTail && b.IsReachable(c) {
				calls = append(calls, c)
			}
		}
		path := func(c *Call) []PathPlace { return p.Path([]Frame{{image, c.ReturnAddr}}) }
		for _, x := range calls {
			if path(x) == nil {
				t.Fatalf("%#x: no path", x.Addr)
			}
			for _, y := range calls {
				a, z := loopsAround(b, x), loopsAround(b, y)
				n := 0
				for n < len(a) && n < len(z) && a[n] == z[n] {
					n++
				}
				c := ComparePaths(path(x), path(y))
				if len(c.LoopAdvanced) != n {
					t.Errorf("%#x and %#x: %d loops in common, not %d", x.Addr, y.Addr, len(c.LoopAdvanced), n)
				}
				if x == y && !c.NewIteration {
					t.Errorf("%#x: a call leads forward to itself", x.Addr)
				}
				if back := ComparePaths(path(y), path(x)); x != y && !c.NewIteration && !back.NewIteration {
					t.Errorf("%#x and %#x: each is behind the other", x.Addr, y.Addr)
				}
				if pairs++; n > 0 {
					inLoops++
				}
			}
		}
	}
	if pairs == 0 || inLoops == 0 {
		t.Errorf("%d pairs, %d of them in loops", pairs, inLoops)
	}
	if p.Path([]Frame{{image, 1}}) != nil || p.Path([]Frame{{nil, 1}}) != nil {
		t.Error("there is a path to where no code is")
	}
}
