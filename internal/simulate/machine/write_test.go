package machine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// What is written reads as the same machine.
func TestText(t *testing.T) {
	table := func(t *rapid.T, least int) (out SizeTimeTable) {
		row := SizeTime{}
		for range rapid.IntRange(least, 20).Draw(t, "rows") {
			row.Bytes += rapid.Int64Range(1, 1<<20).Draw(t, "bytes")
			row.TimePs += rapid.Int64Range(0, 1<<40).Draw(t, "ps")
			out = append(out, row)
		}
		return out
	}
	times := rapid.Int64Range(0, 1<<40)
	rapid.Check(t, func(t *rapid.T) {
		m := &Machine{
			Name: rapid.StringN(1, 20, -1).Draw(t, "name"), FiguresSource: rapid.String().Draw(t, "source"),
			CPUSpeedup: rapid.Float64Range(0.01, 100).Draw(t, "cpu"), CombinePsPerByte: float64(rapid.IntRange(0, 8).Draw(t, "combine")) * 125,
			TracingCost: TracingCost{times.Draw(t, "gap"), times.Draw(t, "call")},
		}
		ranks := 1
		first := rapid.IntRange(0, 3).Draw(t, "first")
		for i, name := range distances[first:] {
			ranks *= rapid.IntRange(1, 8).Draw(t, "ranks")
			l := NetworkLevel{Name: name, RanksPerUnit: ranks, EagerLimitBytes: NoEagerLimit, EagerTimes: table(t, 1), RendezvousTimes: table(t, 0), Contention: float64(rapid.IntRange(0, 4).Draw(t, "contention")) / 4}
			if i == len(distances[first:])-1 {
				l.RanksPerUnit = 0
			}
			if rapid.Bool().Draw(t, "limit") {
				l.EagerLimitBytes = times.Draw(t, "eager limit")
			}
			if rapid.Bool().Draw(t, "sized") {
				l.SendOverheads, l.ReceiveOverheads, l.Gaps = table(t, 1), table(t, 1), table(t, 1)
				l.SendOverheadPs, l.ReceiveOverheadPs, l.MinGapPs = l.SendOverheads.TimePs(0), l.ReceiveOverheads.TimePs(0), l.Gaps.TimePs(0)
			} else {
				l.SendOverheadPs, l.ReceiveOverheadPs, l.MinGapPs = times.Draw(t, "send"), times.Draw(t, "receive"), times.Draw(t, "gap")
			}
			m.Levels = append(m.Levels, l)
		}
		if rapid.Bool().Draw(t, "tables") {
			m.CollectiveTimes = []CollectiveTimes{{meaning.CollectiveBarrier, m.Levels[0].Name, 2, table(t, 1)}}
		}
		again, err := ParseMachine("x", m.FileText("as a test\ndraws it"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, again); diff != "" {
			t.Error(diff)
		}
	})
}
