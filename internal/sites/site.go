// Package sites is the table of call sites: what the calls of each function from each call site took, moved and had
// attached, what the site is called, and the columns in which answers show it. Answers choose rows and columns; only
// this package and package sums add up calls.
//
// Addresses of one source line in one call path are one call site, unless they are asked for apart.
package sites

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/trace"
)

// A Site is all calls of one function from one call site, over all ranks. Its JSON fields are those of release 1.0;
// AllColumns determines what is shown.
type Site struct {
	FunctionSite trace.FunctionSite      `json:"-"`
	Function     *trace.Function         `json:"-"`
	Path         []calltree.CallPathStep `json:"-"` // functions around the call site, outermost first
	HasCallers   bool                    `json:"-"` // callers of the calls were recorded

	Module       string            `json:"-"`
	Offset       uint64            `json:"offset"`
	Place        string            `json:"-"`
	Frames       []symbolise.Frame `json:"frames"`
	AddressCount int               `json:"-"` // number of addresses that are this call site

	sums.CallSums
	// Distribution of the total time in these calls over the ranks.
	TimePerRank trace.Spread `json:"-"`
	// The largest total of TimePerRank is a lower bound.
	MaxTimeIsLowerBound bool `json:"imbalance_estimated,omitempty"`
	// Time in which these calls waited for other ranks, sum over ranks.
	WaitedNs       int64                      `json:"-"`
	AttachedValues []calltree.AttachedSummary `json:"values,omitempty"` // values attached to the calls

	Predicted *Prediction `json:"predicted,omitempty"`
}

// A Prediction is the predicted times of a site's calls on another machine, in ns and over all ranks: of the calls
// themselves, and of the computation before them.
type Prediction struct {
	Ns        float64 `json:"ns"`
	ComputeNs float64 `json:"compute_ns"`
}

// Imbalance returns the total time in these calls of the rank with the largest total, divided by the mean over the
// ranks that make the calls; 0 without times.
func (s *Site) Imbalance() float64 {
	if mean := s.TimePerRank.Mean(); mean > 0 {
		return float64(s.TimePerRank.Max) / mean
	}
	return 0
}

// MergeRows merges the rows of all classes by call site, or by call stack if stacks is set. Call sites are sorted by
// time, without times by number of calls.
func MergeRows(t *sums.Table, named *Naming, stacks bool) []Site {
	key := func(x *sums.ClassRow) trace.FunctionSite {
		if stacks {
			return x.FunctionSite
		}
		return x.FunctionSite.WithoutCallers()
	}
	numbers := make(map[trace.FunctionSite]int)
	list := []Site{}
	for first := 0; first < len(t.Rows); {
		class := t.Rows[first].Class
		spent := make(map[int][]trace.Spread) // by index in list: the times of the class's rows of that site
		for ; first < len(t.Rows) && t.Rows[first].Class == class; first++ {
			x := &t.Rows[first]
			at := key(x)
			n, fresh := once.NumberOf(numbers, at)
			if fresh {
				list = append(list, siteOf(x, at, named))
			}
			s := &list[n]
			s.Merge(&x.CallSums)
			spent[n] = append(spent[n], x.TimePerRank...)
		}
		for n, parts := range spent {
			if len(parts) == 0 { // a trace without times: ranks only
				parts = []trace.Spread{{Ranks: len(t.Classes[class].Members)}}
			}
			all, apart := sums.AddSpreads(parts)
			list[n].TimePerRank.Merge(all)
			list[n].MaxTimeIsLowerBound = list[n].MaxTimeIsLowerBound || apart && len(t.Classes[class].Members) > 1
		}
	}
	for n := range list {
		for _, name := range slices.Sorted(maps.Keys(list[n].AttachedStats)) {
			v := list[n].AttachedStats[name]
			list[n].AttachedValues = append(list[n].AttachedValues, calltree.AttachedSummary{Name: name, Count: v.Count, Sum: v.Sum, Mean: v.Mean(), Min: v.Min, Max: v.Max})
		}
	}
	sort(list, t.Reader.HasTimes())
	return list
}

func siteOf(x *sums.ClassRow, at trace.FunctionSite, named *Naming) Site {
	frames, text := named.Locate.Stack(at.Function, at.Site)
	return Site{
		FunctionSite: at, Function: x.Function, Module: at.Site.Module, Offset: at.Site.Offset, Frames: frames, Place: text, AddressCount: named.CountAddresses(at),
		Path: named.Locate.Path(at.Function, at.Site), HasCallers: x.FunctionSite.Site.Caller != nil,
	}
}

func sort(list []Site, timed bool) {
	key := func(x *Site) uint64 { return x.Duration.Sum }
	if !timed {
		key = func(x *Site) uint64 { return x.Calls }
	}
	slices.SortStableFunc(list, func(a, b Site) int {
		return cmp.Or(cmp.Compare(key(&b), key(&a)), strings.Compare(a.FunctionSite.Function, b.FunctionSite.Function), strings.Compare(a.Place, b.Place),
			strings.Compare(a.Module, b.Module), cmp.Compare(a.Offset, b.Offset))
	})
}

// AddWaits adds the waiting time of each call site, regardless of callers.
func AddWaits(list []Site, named *Naming, waited func(yield func(at trace.FunctionSite, ns int64) bool)) {
	at := make(map[trace.FunctionSite]int64)
	for x, ns := range waited {
		at[named.Representative(x).WithoutCallers()] += ns
	}
	for i := range list {
		list[i].WaitedNs = at[list[i].FunctionSite.WithoutCallers()]
	}
}
