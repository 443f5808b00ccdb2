package efficiency

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// A RankTime is a time of a rank, and its largest error, in ns.
type RankTime struct {
	Ns      float64 `json:"ns"`
	ErrorNs float64 `json:"within_ns"`
	// IsOfRank reports that the time is the rank's own. Else it is the rank's share of its class's time.
	IsOfRank bool `json:"known"`
}

// RankSite is the time that a rank spent in its calls from one call site (MPI), and in the gaps before them (Compute).
type RankSite struct {
	Function string     `json:"function"`
	Site     trace.Site `json:"-"`
	Place    string     `json:"site"`
	Compute  RankTime   `json:"compute"`
	MPI      RankTime   `json:"mpi"`
}

func (s *RankSite) at() trace.FunctionSite {
	return trace.FunctionSite{Function: s.Function, Site: s.Site}
}

// RankTotals is what a rank spent outside of MPI (Compute) and in MPI, summed over its threads.
type RankTotals struct {
	Rank         int               `json:"rank"`
	Host         string            `json:"host"`
	Compute      RankTime          `json:"compute"`
	MPI          RankTime          `json:"mpi"`
	Sites        []RankSite        `json:"sites"` // call sites, in falling order of the time that all ranks spent there
	AttachedSums []RankAttachedSum `json:"values,omitempty"`
}

// A RankAttachedSum is the sum of the values of one name that a plugin or a counter attached to a rank's calls.
type RankAttachedSum struct {
	Name     string  `json:"name"`
	Function string  `json:"function,omitempty"` // "": the sum is over the calls of all functions
	Place    string  `json:"site,omitempty"`
	Sum      float64 `json:"sum"`
	Error    float64 `json:"within"` // largest error of Sum; 0 if it is exact or if the error isn't known
	IsOfRank bool    `json:"known"`
}

// TotalsByRank returns the times of each rank that has a track, in whichever way the trace keeps times.
func TotalsByRank(t *trace.Reader, o Options) ([]RankTotals, error) {
	if o.NameSite == nil {
		o.NameSite = func(s trace.Site) string { return s.String() }
	}
	procs, err := t.Processes()
	if err != nil {
		return nil, err
	}
	var list []RankTotals
	sums := make(map[trace.FunctionSite]float64)
	names := make(map[trace.FunctionSite]string)
	for class := range t.Classes() {
		members := t.Members(class)
		k, err := t.Rank(members[0])
		if err != nil {
			return nil, err
		}
		own, err := t.Totals(class)
		if err != nil {
			return nil, err
		}
		var order []trace.FunctionSite
		number := make(map[trace.FunctionSite]int)
		var of []int // by call site of totals: index in order of the site that represents it
		for i, rank := range members {
			totals := own.ForMember(i)
			if of == nil {
				for _, s := range totals.Sites {
					c := k.CallWithoutParams(s.FirstTerminal)
					p := o.siteOf(c)
					n, fresh := once.NumberOf(number, p)
					if fresh {
						order = append(order, p)
					}
					if names[p] == "" {
						names[p] = o.NameSite(p.Site)
					}
					of = append(of, n)
				}
			}
			row := RankTotals{
				Rank: rank, Host: procs.At(rank).Host, Compute: rankTime(totals.Gap), MPI: rankTime(totals.Duration),
				Sites: make([]RankSite, len(order)),
			}
			for n, p := range order {
				row.Sites[n] = RankSite{Function: p.Function, Site: p.Site, Place: names[p], Compute: RankTime{IsOfRank: true}, MPI: RankTime{IsOfRank: true}}
			}
			for n, s := range totals.Sites {
				to := &row.Sites[of[n]]
				to.Compute.add(rankTime(s.Gap))
				to.MPI.add(rankTime(s.Duration))
				sums[order[of[n]]] += s.Gap.Ns + s.Duration.Ns
			}
			if row.AttachedSums, err = rankValues(t, rank, o); err != nil {
				return nil, err
			}
			list = append(list, row)
		}
	}
	slices.SortFunc(list, func(a, b RankTotals) int { return cmp.Compare(a.Rank, b.Rank) })
	for i := range list {
		slices.SortStableFunc(list[i].Sites, func(a, b RankSite) int {
			return cmp.Or(cmp.Compare(sums[b.at()], sums[a.at()]),
				cmp.Compare(a.Function, b.Function), cmp.Compare(a.Site.Offset, b.Site.Offset))
		})
	}
	return list, nil
}

func rankTime(t trace.BoundedTime) RankTime { return RankTime{t.Ns, t.ErrorBoundNs, t.IsOfRank()} }

func (t *RankTime) add(o RankTime) {
	t.Ns += o.Ns
	t.ErrorNs += o.ErrorNs
	t.IsOfRank = t.IsOfRank && o.IsOfRank
}

// rankValues lists the sums of a rank's attached values. For each name, the sum over all calls comes first, then the
// sums by call site.
func rankValues(t *trace.Reader, rank int, o Options) ([]RankAttachedSum, error) {
	names, err := t.AttachedNames()
	if err != nil || len(names) == 0 {
		return nil, err
	}
	k, err := t.Rank(rank)
	if err != nil {
		return nil, err
	}
	all, err := k.AttachedTotals()
	if err != nil {
		return nil, err
	}
	var list []RankAttachedSum
	add := func(name, function, place string, v trace.AttachedSum) {
		x := RankAttachedSum{Name: name, Function: function, Place: place, Sum: v.Sum, IsOfRank: v.IsOfRank()}
		if x.IsOfRank {
			x.Error = v.ErrorBound
		}
		list = append(list, x)
	}
	for _, name := range names {
		v := all[name]
		if v == nil {
			continue
		}
		add(name, "", "", v.AttachedSum)
		for _, s := range v.Sites {
			c := k.CallWithoutParams(s.FirstTerminal)
			add(name, c.Name(), o.NameSite(c.Site), s.AttachedSum)
		}
	}
	return list, nil
}

// A SiteTimeColumn is the time that each rank spent in the calls from one call site, or in the gaps before them.
type SiteTimeColumn struct {
	Function, Place   string
	IsTimeInCalls     bool // the time is in the calls; else in the gaps before them
	SumNs             float64
	HasEstimatedTimes bool // some ranks' times are their shares of their classes' times
	ByRank            map[int]RankTime
}

// SiteTimeColumns lists two columns for each call site, the column with the largest sum first. Call sites with the same
// name are one.
func SiteTimeColumns(list []RankTotals) (cols []*SiteTimeColumn) {
	type key struct {
		function, place string
		mpi             bool
	}
	known := make(map[key]*SiteTimeColumn)
	for i := range list {
		for j := range list[i].Sites {
			s := &list[i].Sites[j]
			for _, mpi := range []bool{false, true} {
				t := s.Compute
				if mpi {
					t = s.MPI
				}
				k := key{s.Function, s.Place, mpi}
				c := once.GetOrAppend(known, k, &cols, func() *SiteTimeColumn {
					return &SiteTimeColumn{Function: s.Function, Place: s.Place, IsTimeInCalls: mpi, ByRank: make(map[int]RankTime)}
				})
				before := c.ByRank[list[i].Rank]
				c.ByRank[list[i].Rank] = RankTime{Ns: before.Ns + t.Ns, ErrorNs: before.ErrorNs + t.ErrorNs, IsOfRank: t.IsOfRank}
				c.SumNs += t.Ns
				c.HasEstimatedTimes = c.HasEstimatedTimes || !t.IsOfRank
			}
		}
	}
	slices.SortStableFunc(cols, func(a, b *SiteTimeColumn) int { return cmp.Compare(b.SumNs, a.SumNs) })
	return cols
}
