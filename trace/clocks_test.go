package trace

import (
	"errors"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// Clocks come back as they were written, and the time line of a rank is that of rank
// 0's clock.
func TestClocks(t *testing.T) {
	c := sample(t)
	plain, err := open(encodeClocks(t, c, nil))
	if err != nil {
		t.Fatal(err)
	}
	if list, err := plain.Clocks(); err != nil || list != nil {
		t.Errorf("no clocks: %v, %v", list, err)
	}
	of := make([]int64, c.Ranks)
	of[2] = 1
	start := c.Processes.At(2).InitWallClockNs
	want := []Clock{{}, {
		ComparedAtNs: [2]int64{start, start + 1e9}, Rank0MinusThisNs: [2]int64{-7e9, -7e9 + 50_000}, ErrorNs: 900,
	}}
	r, err := open(encodeClocks(t, c, &sections.Clocks{List: want, ClockOfRank: column.ColumnOf(of...)}))
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(r); err != nil {
		t.Error(err)
	}
	list, err := r.Clocks()
	if err != nil || len(list) != 2 || list[0] != want[0] || list[1] != want[1] {
		t.Errorf("clocks %+v, want %+v, error %v", list, want, err)
	}
	for rank := range c.Ranks {
		k, err := r.Rank(rank)
		if err != nil {
			continue // no track
		}
		l, err := k.Clock()
		if err != nil || l != want[of[rank]] {
			t.Errorf("rank %d has %+v, error %v", rank, l, err)
		}
	}
	// One that isn't rank 0's is made shifted.
	start2 := func(r *Reader) int64 {
		k, err := r.Rank(2)
		if err != nil {
			t.Fatal(err)
		}
		at, err := k.line()
		if err != nil {
			t.Fatal(err)
		}
		return at.ToRunTime(start) + at.OriginNs
	}
	if d := start2(r) - start2(plain); d != -7e9 {
		t.Errorf("rank 2 moved by %d", d)
	}
}

func encodeClocks(t *testing.T, c *sections.Content, clocks *sections.Clocks) []byte {
	t.Helper()
	c.Clocks = clocks
	b, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A table that can't be is not written, a damaged one is said to be damaged.
func TestBadClocks(t *testing.T) {
	c := sample(t)
	ranks := make([]int64, c.Ranks)
	for name, bad := range map[string]*sections.Clocks{
		"empty":     {List: nil, ClockOfRank: column.ColumnOf(ranks...)},
		"ranks":     {List: []Clock{{}, {}}, ClockOfRank: column.ColumnOf(0)},
		"reference": {List: []Clock{{ErrorNs: 3}}, ClockOfRank: column.ColumnOf(ranks...)},
		"number":    {List: []Clock{{}}, ClockOfRank: column.ColumnOf(append(ranks[1:len(ranks):len(ranks)], 1)...)},
	} {
		c.Clocks = bad
		if _, err := sections.EncodeFile(c); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	c.Clocks = nil
	raw, err := sections.RawSections(c, func(b []byte) int { return len(b) }, true)
	if err != nil {
		t.Fatal(err)
	}
	good := (&sections.Clocks{List: []Clock{{}, {ComparedAtNs: [2]int64{5, 9}, ErrorNs: 3}}, ClockOfRank: column.ColumnOf(ranks...)}).Append(nil)
	for _, n := range []int{0, 1, 3, len(good) - 1} {
		raw[container.SectionClocks] = good[:n:n]
		if n == 0 {
			raw[container.SectionClocks] = []byte{0}
		}
		b := container.Assemble(raw, unpacked, nil)
		r, err := open(b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Clocks(); !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes of clocks: error %v", n, err)
		}
	}
}
