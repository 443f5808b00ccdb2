package merge

import (
	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/trace/model"
)

// fileTerminals are those of a class as a file has them, made when they are asked for.
type fileTerminals struct {
	c  *class
	sh *shape
	// The first terminal of each summary has its times, the first one of each place
	// its totals.
	pools []int32      // by number of the summary: the first terminal of it
	sites map[int]int  // by first terminal of a place: number of its totals
	room  []column.Run // of the terminal asked for last
}

func (c *class) terminals(sh *shape) *fileTerminals {
	t := &fileTerminals{c: c, sh: sh, pools: make([]int32, 0, sh.summaries), sites: make(map[int]int)}
	for i, n := range sh.summary {
		if int(n) == len(t.pools) {
			t.pools = append(t.pools, int32(i))
		}
	}
	for i := range sh.of {
		if i == sh.place(i) {
			t.sites[i] = len(t.sites)
		}
	}
	return t
}

func (t *fileTerminals) Len() int { return t.sh.terminals() }

func (t *fileTerminals) At(n int, to *sections.Terminal) {
	k := t.sh.skeleton(n)
	*to = sections.Terminal{Call: k.call, Site: k.site, Vals: t.c.values.of(to.Vals[:0], &t.room, &t.sh.layout, n, k.width)}
}

// Times returns those of a terminal. A class that is not finished has none.
func (t *fileTerminals) Times(n int) (times model.Times) {
	if p := t.sh.summary[n]; int(t.pools[p]) == n && int(p) < len(t.c.times) {
		times.Duration, times.Gap = t.c.times[p].duration, t.c.times[p].gap
	}
	if t.sh.place(n) == n {
		if s := t.sites[n]; s < len(t.c.totals) {
			times.DurationTotals, times.GapTotals = t.c.totals[s].duration, t.c.totals[s].gap
		}
	}
	return times
}
