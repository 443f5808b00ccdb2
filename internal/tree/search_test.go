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
	m := &maker{most: maxSearched, searches: make(map[searchKey]*silent)}
	for _, f := range image.Functions() {
		b, err := f.Body()
		if err != nil {
			t.Fatal(err)
		}
		x := &function{Function: f, image: image, body: b, walls: make(map[int][]uint64)}
		entry := []position{{x.entry(), 0}}
		before := m.searched
		s := m.search(x, code.None, true, entry)
		once := m.searched
		if once == before {
			t.Fatalf("%x: nothing was searched", f.Start())
		}
		if m.search(x, code.None, true, entry) != s || m.searched != once {
			t.Errorf("%x: searched twice", f.Start())
		}
		if m.search(x, 0, true, entry) == s || m.search(x, code.None, false, entry) == s || m.search(x, code.None, true, []position{{x.entry(), f.Start()}}) == s {
			t.Errorf("%x: the answer is that of another search", f.Start())
		}
	}
}
