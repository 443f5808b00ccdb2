package tree

import (
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/internal/code"
)

// What was searched once isn't searched again: stacks of many contexts lead through the same functions.
func TestSearchedOnce(t *testing.T) {
	image, err := code.Open(filepath.Join("..", "code", "testdata", "tiny.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	m := &treeBuilder{ctx: t.Context(), most: maxSearched, searches: make(map[searchKey]*silent)}
	for _, f := range image.Functions() {
		b, err := f.Body()
		if err != nil {
			t.Fatal(err)
		}
		x := &function{Function: f, image: image, body: b, walls: make(map[int][]uint64)}
		entry := []codePosition{{x.entry(), 0}}
		before := m.searched
		s := m.search(x, code.NoIndex, true, entry)
		once := m.searched
		if once == before {
			t.Fatalf("%x: nothing was searched", f.Start())
		}
		if m.search(x, code.NoIndex, true, entry) != s || m.searched != once {
			t.Errorf("%x: searched twice", f.Start())
		}
		if m.search(x, 0, true, entry) == s || m.search(x, code.NoIndex, false, entry) == s || m.search(x, code.NoIndex, true, []codePosition{{x.entry(), f.Start()}}) == s {
			t.Errorf("%x: the answer is that of another search", f.Start())
		}
	}
}

// Where a loop is left is listed once, however many ways lead there: what is searched next begins at all of them.
func TestLeftOnce(t *testing.T) {
	image, err := code.Open(filepath.Join("..", "code", "testdata", "tiny.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	m := &treeBuilder{ctx: t.Context(), most: maxSearched, searches: make(map[searchKey]*silent)}
	loops := 0
	for _, f := range image.Functions() {
		b, err := f.Body()
		if err != nil {
			t.Fatal(err)
		}
		x := &function{Function: f, image: image, body: b, walls: make(map[int][]uint64)}
		for l := range b.Graph.Loops {
			loops++
			// All blocks of the loop lead to one outside.
			outside := x.entry()
			for block := range b.Blocks {
				if b.Graph.IsInside(b.Graph.InnermostLoop[block], l) {
					b.Blocks[block].Next = append(b.Blocks[block].Next, outside, outside)
				}
			}
			seen := make(map[codePosition]bool)
			for _, p := range m.search(x, l, true, []codePosition{{b.Graph.Loops[l].Header, 0}}).out {
				if seen[p] {
					t.Errorf("%x: loop %d is left to block %d twice", f.Start(), l, p.block)
				}
				seen[p] = true
			}
		}
	}
	if loops == 0 {
		t.Error("no function has a loop")
	}
}
