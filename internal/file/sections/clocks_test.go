package sections

import (
	"bytes"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// FuzzClocks: what is not a table of clocks is an error, and what is one goes both ways
// and puts every time somewhere.
func FuzzClocks(f *testing.F) {
	for _, c := range []Clocks{
		{List: []model.Clock{{}}, ClockOfRank: column.ColumnOf(0, 0, 0, 0)},
		{List: []model.Clock{{}, {ComparedAtNs: [2]int64{1e18, 2e18}, Rank0MinusThisNs: [2]int64{-5, 70}, ErrorNs: 9}}, ClockOfRank: column.ColumnOf(0, 1, 1, 0)},
	} {
		f.Add(c.Append(nil), int64(1e18))
	}
	f.Fuzz(func(t *testing.T, data []byte, at int64) {
		w := wire.NewReader(data, "clocks")
		table := DecodeClocks(w, 4)
		if w.Finish() != nil {
			return
		}
		of := make([]int64, len(table.ClockOfRank))
		for rank, n := range table.ClockOfRank {
			of[rank] = int64(n)
			l := table.List[n]
			l.FromTimeLine(l.ToTimeLine(at))
		}
		c := Clocks{List: table.List, ClockOfRank: column.ColumnOf(of...)}
		if err := (&Content{Clocks: &c, Ranks: 4}).checkClocks(); err != nil {
			t.Fatal(err)
		}
		b := c.Append(nil)
		w = wire.NewReader(b, "clocks")
		again := DecodeClocks(w, 4)
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		if second := (&Clocks{List: again.List, ClockOfRank: c.ClockOfRank}).Append(nil); !bytes.Equal(second, b) {
			t.Fatalf("%x became %x", b, second)
		}
	})
}
