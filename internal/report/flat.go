package report

import (
	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/trace"
)

// Flat is the table of call sites over all ranks.
type Flat struct {
	TimeNs  int64               `json:"time_ns"` // of all ranks and threads together
	Rows    []FlatRow           `json:"rows"`    // by time
	More    int                 `json:"more"`    // rows left out
	PerRank []profile.RankTotal `json:"per_rank"`
	Ranks   int                 `json:"ranks"`
}

// A FlatRow is all calls of one function from one place.
type FlatRow struct {
	Site string `json:"site"`
	profile.Row
}

// Bounds of the flat table.
const (
	maxFlat    = 1000
	maxPerRank = 1024
)

func flat(r *trace.Reader, where calltree.Where, o Options) (Flat, error) {
	done := 0
	p, err := profile.FlatOf(r, where, func() {
		done++
		o.Progress("adding up calls", done, r.Ranks())
	})
	if err != nil {
		return Flat{}, err
	}
	f := Flat{TimeNs: p.TimeNs, Rows: []FlatRow{}, Ranks: p.Ranks, PerRank: p.PerRank[:min(len(p.PerRank), maxPerRank)]}
	for i, row := range p.Rows {
		if i == maxFlat {
			f.More = len(p.Rows) - i
			break
		}
		row.Frames = nil // what the page needs of them is in Site
		f.Rows = append(f.Rows, FlatRow{row.Place, row})
	}
	return f, nil
}
