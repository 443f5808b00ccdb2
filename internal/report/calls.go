package report

import (
	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/trace"
)

// CallSiteTable is the page's table of call sites, over all ranks.
type CallSiteTable struct {
	Columns     []show.Heading  `json:"columns"`
	Rows        [][]any         `json:"rows"` // most time first; for each column the value, or a list of value and text
	RowsOmitted int             `json:"more"` // number of omitted rows
	PerRank     []sums.RankSums `json:"per_rank"`
	Ranks       int             `json:"ranks"`
}

// Largest number of rows, and of ranks in CallSiteTable.RankRows.
const (
	maxFlat    = 1000
	maxPerRank = 1024
)

// calls sums up the run's calls by call site.
func calls(r *trace.Reader, o Options) (*profile.CallSiteTable, error) {
	done := 0
	return profile.CallSiteTableOf(r, o.SiteNaming, func() {
		done++
		o.Progress("adding up calls", done, r.Ranks())
	})
}

// flat makes the page's table of call sites; waited is nil if the ranks' waits aren't known.
func flat(p *profile.CallSiteTable, waited *waits.Report) CallSiteTable {
	if waited != nil {
		p.AddWaits(waited)
	}
	columns := p.Columns()
	rows := p.Rows[:min(len(p.Rows), maxFlat)]
	f := CallSiteTable{
		Columns: columns.Headings(), Rows: make([][]any, len(rows)), RowsOmitted: len(p.Rows) - len(rows),
		Ranks: p.Ranks, PerRank: p.RankRows[:min(len(p.RankRows), maxPerRank)],
	}
	for i, x := range rows {
		f.Rows[i] = columns.Values(x)
		for n, c := range columns {
			if c.Text != nil {
				f.Rows[i][n] = []any{f.Rows[i][n], c.Text(x)}
			}
		}
	}
	return f
}
