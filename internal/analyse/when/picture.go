package when

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace"
)

// A rung is a resolution of the picture: its numbers of columns and rows, and the number of levels that a typical
// column's duration is divided into.
type rung struct{ columns, rows, levels int }

// ladder is the resolutions from the finest to the coarsest. The first that fits is used.
var ladder = []rung{{256, 64, 40}, {256, 64, 20}, {128, 64, 20}, {128, 32, 20}, {128, 16, 10}, {64, 16, 10}}

// Size limits of a picture.
const (
	bitsOfChange = 6 // approximate bits for a level that differs from the preceding column's
	mostPacked   = 2 // number of attempts to pack a picture to see its size
	stays        = 0.75
	percent      = 0.02 // relative step between the widths of columns
)

// room is the largest size of a picture in bytes.
func (x *RankAnalysis) room() int {
	switch ranks := x.Size(); {
	case x.size > 0:
		return int(x.size)
	case ranks <= 16:
		return 1 << 10
	case ranks <= 256:
		return 2 << 10
	}
	return 4 << 10
}

// picture makes the finest picture that fits.
func (x *RankAnalysis) picture(all *rows) *trace.When {
	n := len(x.means)
	var before, loop, after float64
	if before = x.run(); x.loop != nil {
		before, loop, after = float64(x.means[1]-x.means[0]), float64(x.means[n-2]-x.means[1]), float64(x.means[n-1]-x.means[n-2])
	}
	g := newGrid(x.loop, before, loop, after)
	c := g.columns()
	at := g.edges(x.means[0], x.means[1:n-1], x.means[n-1])
	widths := make([]int64, len(c.cells)-1)
	for i := range widths {
		widths[i] = at[c.cells[i+1]] - at[c.cells[i]]
	}
	packed := 0
	for i, r := range ladder {
		w := x.draw(all, &g, c, widths, r)
		if i == len(ladder)-1 {
			return w
		}
		most := x.room()
		if changesOf(w)*bitsOfChange > 8*most {
			continue
		}
		if packed++; packed > mostPacked || wire.EstimatePackedSize(sections.AppendWhen(nil, w)) <= most {
			return w
		}
	}
	return nil
}

// changesOf counts the levels and widths of a picture that differ from the preceding ones.
func changesOf(w *trace.When) (n int) {
	for i := range w.Rows {
		for p := range w.Rows[i].StateTimes {
			before := int64(0)
			for _, l := range w.Rows[i].StateTimes[p].LevelCounts {
				if l != before {
					n++
				}
				before = l
			}
		}
	}
	for i, ns := range w.ColumnWidthNs {
		if i > 0 && ns != w.ColumnWidthNs[i-1] {
			n++
		}
	}
	return n
}

// draw makes a picture. In the loop, times are levels above or below the row's usual time. A level stays the same
// while it is wrong by less than three quarters of a level. Errors are carried over to the next column, so that sums
// are right.
func (x *RankAnalysis) draw(all *rows, g *grid, c columns, widths []int64, r rung) *trace.When {
	p, begins := g.coarser(c, r.columns)
	w := &p
	if x.loop != nil {
		w.Loop = &trace.WhenLoop{BeginsAt: x.loop.BeginPlace, Iterations: x.loop.Iterations, RanksWithout: x.Size() - x.loop.Ranks}
	}
	w.ColumnWidthNs = stepped(merged(widths, begins))
	var inside []float64
	for i, ns := range w.ColumnWidthNs {
		if w.InLoop(i) || w.Loop == nil {
			inside = append(inside, float64(ns))
		}
	}
	w.LevelNs = max(1, int64(math.Round(timing.LogTimeOf(uint64(median(inside)/float64(r.levels))).Ns())))
	groups := all.groups
	if n := len(groups); n > r.rows {
		groups = togetherOf(groups, (n+r.rows-1)/r.rows)
	}
	for _, row := range append(slices.Clone(groups), all.own...) {
		out := trace.WhenRow{FirstRank: row.first, RankCount: row.ranks}
		for s := range out.StateTimes {
			out.StateTimes[s] = plane(w, merged(row.times[s], begins))
		}
		w.Rows = append(w.Rows, out)
	}
	w.Outliers = highest(w, all, groups, begins)
	return w
}

// merged adds up the times of the finest columns, list, by column of a picture. begins is as coarser returns it.
func merged(list []int64, begins []int) []int64 {
	out := make([]int64, len(begins)-1)
	for i := range out {
		out[i] = whole(list[begins[i]:begins[i+1]])
	}
	return out
}

// togetherOf merges every n neighbouring rows into one row with their mean times.
func togetherOf(list []row, n int) (out []row) {
	for part := range slices.Chunk(list, n) {
		sum := row{first: part[0].first}
		for _, r := range part {
			scaled := row{ranks: r.ranks}
			for s := range r.times {
				for _, ns := range r.times[s] {
					scaled.times[s] = append(scaled.times[s], ns*int64(r.ranks))
				}
			}
			first := sum.first
			sum.join(&scaled)
			sum.first = first
		}
		for s := range sum.times {
			for i := range sum.times[s] {
				sum.times[s][i] /= int64(sum.ranks)
			}
		}
		out = append(out, sum)
	}
	return out
}

// stepped rounds the widths of columns, in ns, to steps of 2 %. A width stays the same while it is not far off; errors
// are carried over to the next column.
func stepped(widths []int64) []int64 {
	carried, before := 0.0, 0.0
	for i, ns := range widths {
		want := float64(ns) + carried
		if math.Abs(want-before) > stays*percent*before {
			before = sections.RoundWhenColumnWidth(want)
		}
		carried = want - before
		widths[i] = int64(before)
	}
	return widths
}

// plane converts times in ns, by column, to levels.
func plane(w *trace.When, times []int64) (p trace.WhenStateTimes) {
	var usual []float64
	for i, ns := range times {
		if w.InLoop(i) || w.Loop == nil {
			usual = append(usual, float64(ns))
		}
	}
	unit := float64(w.LevelNs)
	p.LoopBaseUnits = int64(math.Round(median(usual) * trace.WhenBaseUnitsPerLevel / unit))
	carried, level := 0.0, int64(0)
	for i, ns := range times {
		want := float64(ns) + carried
		if w.InLoop(i) || w.Loop == nil {
			want -= float64(p.LoopBaseUnits) * unit / trace.WhenBaseUnitsPerLevel
		}
		if math.Abs(want-float64(level)*unit) > stays*unit {
			level = int64(math.Round(want / unit))
		}
		carried = want - float64(level)*unit
		p.LevelCounts = append(p.LevelCounts, level)
	}
	return p
}

// highest lists the columns in which some rank computes far longer than its row shows.
func highest(w *trace.When, all *rows, groups []row, begins []int) (out []trace.WhenOutlier) {
	best := make([]trace.WhenOutlier, len(w.ColumnWidthNs))
	note := func(column, rank int, ns int64) {
		if ns > best[column].ExcessNs {
			best[column] = trace.WhenOutlier{Column: column, Rank: rank, ExcessNs: ns}
		}
	}
	column := func(finest int) int {
		i, ok := slices.BinarySearch(begins, finest)
		if !ok {
			i--
		}
		return i
	}
	for _, h := range all.highest {
		if !slices.ContainsFunc(all.own, func(r row) bool { return r.first == h.Rank }) {
			note(column(h.Column), h.Rank, h.ExcessNs)
		}
	}
	if len(groups) < len(all.groups) {
		of := 0
		for _, r := range all.groups {
			for of+1 < len(groups) && groups[of+1].first <= r.first {
				of++
			}
			if r.ranks == 1 {
				row := merged(groups[of].times[computing], begins)
				for i, ns := range merged(r.times[computing], begins) {
					note(i, r.first, ns-row[i])
				}
			}
		}
	}
	for _, h := range best {
		if h.ExcessNs = h.ExcessNs / w.LevelNs * w.LevelNs; h.ExcessNs >= farAbove*w.LevelNs {
			out = append(out, h)
		}
	}
	return out
}
