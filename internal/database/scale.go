package database

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/stats"
)

// A SiteGrowth is how the time of one call site grows with the number of ranks.
type SiteGrowth struct {
	Site       Site      `json:"site"`
	RankCounts []float64 `json:"ranks"`
	// by index in Ranks: mean time of a rank at the site, in ns; of several runs the median
	MeasuredNsPerRank []float64 `json:"ns_per_rank"`
	// GrowthLaw and the fields below are set if Scaling.HasLaws is.
	GrowthLaw   stats.Law `json:"law,omitzero"`
	GrowthOrder string    `json:"grows,omitzero"`
	// PredictedNsPerRank is the law's time of a rank at Scaling.PredictedRanks, in ns. Share is its part of the sum over all
	// sites.
	PredictedNsPerRank float64 `json:"ahead_ns_per_rank,omitzero"`
	PredictedShare     float64 `json:"ahead_share,omitzero"`
	// PredictedFactor is Predicted divided by the measured value at the largest number of ranks.
	PredictedFactor float64 `json:"ahead_times,omitzero"`
	// PredictedCallsPerRank and Bytes are predictions for one rank: its calls at the site, and the bytes sent in them. Each has a law
	// of its own.
	PredictedCallsPerRank PredictedValue `json:"ahead_calls_per_rank,omitzero"`
	PredictedBytesPerRank PredictedValue `json:"ahead_bytes_per_rank,omitzero"`
}

// A PredictedValue is a growth law's value at Scaling.PredictedRanks, and the law's leave-one-out error.
type PredictedValue struct {
	Value            float64 `json:"value"`
	LeaveOneOutError float64 `json:"error"`
}

// MeasuredNsAt returns the measured time of a rank, in ns, in runs on this number of ranks. It is 0 if there is no such run.
func (g *SiteGrowth) MeasuredNsAt(ranks float64) float64 {
	if i, ok := slices.BinarySearch(g.RankCounts, ranks); ok {
		return g.MeasuredNsPerRank[i]
	}
	return 0
}

// A Scaling is how a program's time at its MPI call sites grows with the number of ranks.
type Scaling struct {
	App        string `json:"app"`
	RankCounts []int  `json:"ranks"` // numbers of ranks that runs had, ascending
	// there are enough numbers of ranks to fit growth laws; else sites have only measured values
	HasLaws        bool `json:"laws"`
	PredictedRanks int  `json:"ahead"` // number of ranks that predictions are for
	// largest prediction first; without laws, largest measured time on the largest number of ranks first
	Sites        []SiteGrowth `json:"sites"`
	SkippedSites int          `json:"too_few"` // number of call sites measured on too few numbers of ranks for a law
}

// FitGrowth fits growth laws to the time that ranks spend at each call site, over the runs of one program. It evaluates
// them at ahead ranks; for ahead = 0, at ten times the largest number of ranks.
func (d *DB) FitGrowth(app string, ahead int) (*Scaling, error) {
	if app == "" {
		apps, err := d.apps()
		if err != nil {
			return nil, err
		}
		switch len(apps) {
		case 0:
			return nil, fmt.Errorf("%s: no runs with times", d.path)
		case 1:
			app = apps[0]
		default:
			return nil, fmt.Errorf("%s: runs of %d programs: choose one of %q", d.path, len(apps), apps)
		}
	}
	rows, err := d.db.Query(`select run.ranks, site.id, site.function, site.module, site.symbol, site.file, site.place, coalesce(line, 0), total.time_ns, total.calls, coalesce(total.bytes_out, 0)
		from run join total on total.run = run.id join site on site.id = total.site
		where run.app = ? and run.has_times order by site.id`, app)
	if err != nil {
		return nil, d.failed(err)
	}
	defer rows.Close()
	s := &Scaling{App: app, Sites: []SiteGrowth{}}
	type measured struct{ ns, calls, bytes []float64 } // values of one rank at a call site: the mean over ranks, by run
	values := make(map[int64]map[int]*measured)        // by id of the call site, then by number of ranks
	sites := make(map[int64]*Site)
	seen := make(map[int]bool)
	for rows.Next() {
		var x Site
		var ranks int
		var ns, calls, bytes float64
		if err := rows.Scan(&ranks, &x.ID, &x.Function, &x.Module, &x.Symbol, &x.File, &x.IndexInFunction, &x.Line, &ns, &calls, &bytes); err != nil {
			return nil, d.failed(err)
		}
		of := once.GetOrMake(values, x.ID, func() map[int]*measured { return make(map[int]*measured) })
		m, n := once.GetOrMake(of, ranks, func() *measured { return new(measured) }), float64(ranks)
		m.ns, m.calls, m.bytes = append(m.ns, ns/n), append(m.calls, calls/n), append(m.bytes, bytes/n)
		sites[x.ID] = &x
		seen[ranks] = true
	}
	if err := rows.Err(); err != nil {
		return nil, d.failed(err)
	}
	s.RankCounts = slices.Sorted(maps.Keys(seen))
	if len(s.RankCounts) == 0 {
		return nil, fmt.Errorf("%s: no runs of %s with times", d.path, app)
	}
	s.HasLaws = len(s.RankCounts) >= stats.MinLawPoints
	s.PredictedRanks = cmp.Or(ahead, 10*s.RankCounts[len(s.RankCounts)-1])
	total := 0.0
	for _, id := range slices.Sorted(maps.Keys(values)) {
		of := values[id]
		if s.HasLaws && len(of) < stats.MinLawPoints {
			s.SkippedSites++
			continue
		}
		g := SiteGrowth{Site: *sites[id]}
		var calls, bytes []float64
		for _, ranks := range slices.Sorted(maps.Keys(of)) {
			m := of[ranks]
			g.RankCounts, g.MeasuredNsPerRank = append(g.RankCounts, float64(ranks)), append(g.MeasuredNsPerRank, stats.Median(m.ns))
			calls, bytes = append(calls, stats.Median(m.calls)), append(bytes, stats.Median(m.bytes))
		}
		if !s.HasLaws {
			s.Sites = append(s.Sites, g)
			continue
		}
		if g.GrowthLaw, err = stats.FitLaw(g.RankCounts, g.MeasuredNsPerRank); err != nil {
			return nil, err
		}
		g.GrowthOrder, g.PredictedNsPerRank = g.GrowthLaw.GrowthOrder(), g.GrowthLaw.ValueAt(float64(s.PredictedRanks))
		for _, x := range []struct {
			to     *PredictedValue
			values []float64
		}{{&g.PredictedCallsPerRank, calls}, {&g.PredictedBytesPerRank, bytes}} {
			law, err := stats.FitLaw(g.RankCounts, x.values)
			if err != nil {
				return nil, err
			}
			*x.to = PredictedValue{max(0, law.ValueAt(float64(s.PredictedRanks))), law.LeaveOneOutError}
		}
		if last := g.MeasuredNsPerRank[len(g.MeasuredNsPerRank)-1]; last > 0 {
			g.PredictedFactor = g.PredictedNsPerRank / last
		}
		total += g.PredictedNsPerRank
		s.Sites = append(s.Sites, g)
	}
	for i := range s.Sites {
		if total > 0 {
			s.Sites[i].PredictedShare = s.Sites[i].PredictedNsPerRank / total
		}
	}
	last := float64(s.RankCounts[len(s.RankCounts)-1])
	slices.SortStableFunc(s.Sites, func(a, b SiteGrowth) int {
		return cmp.Or(cmp.Compare(b.PredictedNsPerRank, a.PredictedNsPerRank), cmp.Compare(b.MeasuredNsAt(last), a.MeasuredNsAt(last)))
	})
	return s, nil
}

func (d *DB) apps() (list []string, err error) {
	err = d.Query("select distinct app from run where has_times order by app", func([]string) error { return nil }, func(values []any) error {
		list = append(list, fmt.Sprint(values[0]))
		return nil
	})
	return list, err
}
