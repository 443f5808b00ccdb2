package trace

import (
	"bytes"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// Ranks of a class see their own loop counts.
func TestVaryingCounts(t *testing.T) {
	c := sample(t)
	c.Classes[0].Lanes = nil
	c.Classes[0].RepetitionCounts = []column.Column{column.ColumnOf(3, 70)}
	n := int64(5 + 3*3)
	if got := int64(c.Classes[0].Streams[0].Len()); got != 5+3*50 {
		t.Fatalf("the sample has %d calls; this test counts on %d", got, 5+3*50)
	}
	for i := range c.Classes[0].Terminals.(sections.TerminalList) {
		c.Classes[0].Terminals.(sections.TerminalList)[i].Times = Times{}
	}
	var p sections.Processes
	for rank, x := range c.Processes.All() {
		switch rank {
		case 0:
			x.Calls = n + 1
		case 2:
			x.Calls = 5 + 3*70 + 1
		}
		p.Append(x)
	}
	c.Processes = p
	r := reopened(t, c)
	if err := Check(r); err != nil {
		t.Fatal(err)
	}
	for rank, want := range map[int]uint64{0: 3, 2: 70} {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		calls := uint64(0)
		for _, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			calls++
		}
		if calls != 5+3*want || k.CallCount(0) != calls || k.TerminalCounts(0)[2] != want {
			t.Errorf("rank %d: %d calls, length %d, %d in the loop; want %d rounds", rank, calls, k.CallCount(0), k.TerminalCounts(0)[2], want)
		}
		if loop := k.Structure(0).Children()[2]; loop.Kind != LoopNode || loop.Count != want {
			t.Errorf("rank %d: loop %+v", rank, loop)
		}
		if last, err := k.Call(0, calls-1); err != nil || last.Name() != "MPI_Send" {
			t.Errorf("rank %d: last call %v, error %v", rank, last, err)
		}
	}
	for name, counts := range map[string][]column.Column{
		"too many": {column.ColumnOf(3, 70), column.ColumnOf(2, 2)}, "zero": {column.ColumnOf(0, 5)}, "none": {column.ColumnOf(4, -1)},
		"once": {column.ColumnOf(1, 5)}, "short": {column.ColumnOf(3)},
	} {
		c.Classes[0].RepetitionCounts = counts
		if _, err := sections.EncodeFile(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// The same count everywhere is as good as one in the grammar.
	c = sample(t)
	want := encoded(t)
	c.Classes[0].RepetitionCounts = []column.Column{column.ColumnOf(50, 50)}
	if got, err := sections.EncodeFile(c); err != nil || !bytes.Equal(got, want) {
		t.Errorf("equal counts give another file, error %v", err)
	}
}
