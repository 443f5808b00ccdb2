package sections

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// What edits say makes the list again.
func TestEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.IntRange(0, 12), 0, 20)
		from, list := numbers.Draw(t, "from"), numbers.Draw(t, "list")
		hunks := edits(from, list)
		var read []hunk
		b := wire.AppendEncoded(nil, func(c *wire.Coder) { codeEdits(c, from, &hunks) })
		if err := wire.DecodeAll(b, "edits", func(c *wire.Coder) { codeEdits(c, from, &read) }); err != nil {
			t.Fatal(err)
		}
		got := edit(from, read)
		if !slices.Equal(got, list) {
			t.Fatalf("%v edited by %v is %v, want %v", from, hunks, got, list)
		}
	})
}

func TestEditsAreFew(t *testing.T) {
	from := []int{1, 2, 3, 4, 5, 6, 7, 8}
	if h := edits(from, from); h != nil {
		t.Errorf("%v for the same list", h)
	}
	got := edits(from, []int{1, 2, 4, 5, 9, 6, 8})
	want := []hunk{{2, 1, nil}, {2, 0, []int{9}}, {1, 1, nil}}
	if !slices.EqualFunc(got, want, func(a, b hunk) bool {
		return a.copied == b.copied && a.left == b.left && slices.Equal(a.added, b.added)
	}) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Classes that stand together come back, and no part of them is taken for all.
func TestTogether(t *testing.T) {
	var list []column.CountedStreams
	var sigs [][]int
	for n := range 5 {
		b := grammar.NewBuilder()
		var l []int
		for i := range 6 + n {
			b.Append(uint32(i))
			s := 3 * i
			if i == 4 {
				s += n
			}
			l = append(l, s)
		}
		list, sigs = append(list, column.CountedStreams{Grammars: []*grammar.Grammar{b.Grammar()}}), append(sigs, l)
	}
	b := appendTogether(nil, list, sigs, nil, wire.QuickEstimatePackedSize)
	table := &SignatureTable{SignatureCount: 100, DistinctCalls: 100}
	r := wire.NewReader(b, "classes")
	got := DecodeClasses(r, len(list), table)
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	edited := 0
	for i, c := range got {
		if !slices.Equal(c.Signatures, sigs[i]) || !slices.Equal(slices.Collect(c.Streams[0].All()), slices.Collect(list[i].Grammars[0].All())) {
			t.Errorf("class %d: %v %v, want %v", i, c.Signatures, c.Streams[0], sigs[i])
		}
		if c.SignaturesAreEdits {
			edited++
		}
	}
	if edited == 0 {
		t.Error("no list is an edited one")
	}
	for n := range b {
		r := wire.NewReader(b[:n], "classes")
		if DecodeClasses(r, len(list), table); r.Finish() == nil {
			t.Errorf("%d of %d bytes are taken for all", n, len(b))
		}
	}
	r = wire.NewReader(b, "classes")
	if DecodeClasses(r, len(list), &SignatureTable{SignatureCount: 10}); r.Err() == nil {
		t.Error("signatures that are not in the table")
	}
}

func FuzzTogether(f *testing.F) {
	f.Add([]byte{SharedSignaturesMark, 1, 1, 0, 1, 1, 0, 0, 0, 0, column.EncodeDeltas(nil, &column.Column{})[0], 2, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(b, "fuzz")
		list := DecodeClasses(r, 2, &SignatureTable{SignatureCount: 50})
		if (list == nil) != (r.Err() != nil) {
			t.Fatalf("%v with error %v", list, r.Err())
		}
		for _, c := range list {
			for _, s := range c.Signatures {
				if s < 0 || s >= 50 {
					t.Fatalf("signature %d", s)
				}
			}
		}
	})
}
