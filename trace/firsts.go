package trace

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// UnusualFirstCalls are calls from one call site whose first call on each of some ranks differs from the later ones: it
// took far longer, or followed far longer computation. Times are means in nanoseconds.
type UnusualFirstCalls struct {
	FunctionSite
	Ranks                                       int
	MaxCallsPerRank                             uint64 // number of calls on the rank that makes most of them, the first one included
	FirstAndLaterGapNs, FirstAndLaterDurationNs [2]float64
	// LoopEntries is how many of the calls are the first call of a loop's first iteration, the rank's first one
	// included. Gap then covers only the gaps before these calls. 0: the calls are not the first ones of a loop.
	LoopEntries uint64
}

// UnusualFirstCalls returns the call sites with unusual first calls, those on most ranks first. In Gap and Duration, element 0
// is the mean of the ranks' first calls, and element 1 that of the later calls.
func (r *Reader) UnusualFirstCalls() ([]UnusualFirstCalls, error) {
	if !r.hasSection(container.SectionFirstCallTimes) {
		return nil, nil
	}
	blobs, err := r.byClass(container.SectionFirstCallTimes)
	if err != nil {
		return nil, err
	}
	var list []UnusualFirstCalls
	at := make(map[FunctionSite]int)
	for class := range r.Classes() {
		if len(blobs[class]) == 0 {
			continue
		}
		members := r.Members(class)
		k, err := r.Rank(members[0])
		if err != nil {
			return nil, err
		}
		leaves := k.Leaves(0)
		times, _, err := leaves.means(k)
		if err != nil {
			return nil, err
		}
		for leaf := range times {
			x := &times[leaf]
			if x.RanksWithSlowFirst == 0 {
				continue
			}
			call := k.CallWithoutParams(leaves.Terminal(leaf))
			c := UnusualFirstCalls{FunctionSite: call.FunctionSite(), MaxCallsPerRank: x.Calls, Ranks: len(members), LoopEntries: x.Entries, FirstAndLaterGapNs: [2]float64{x.SumFirstGapNs}, FirstAndLaterDurationNs: [2]float64{x.SumFirstDurationNs}}
			x.RemoveSlowFirst()
			c.FirstAndLaterGapNs[1], c.FirstAndLaterDurationNs[1] = x.SumGapNs/float64(x.Calls), x.SumDurationNs/float64(x.Calls)
			if x.Entries > 0 {
				c.FirstAndLaterGapNs[1] = x.SumEntryGapNs / float64(x.Entries)
			}
			i, known := at[c.FunctionSite]
			if !known {
				at[c.FunctionSite] = len(list)
				list = append(list, c)
				continue
			}
			list[i].join(&c)
		}
	}
	slices.SortStableFunc(list, func(a, b UnusualFirstCalls) int { return cmp.Compare(b.Ranks, a.Ranks) })
	return list, nil
}

// join adds o, the calls of other ranks from the same site.
func (f *UnusualFirstCalls) join(o *UnusualFirstCalls) {
	n, m := float64(f.Ranks), float64(o.Ranks)
	for i := range f.FirstAndLaterGapNs {
		f.FirstAndLaterGapNs[i] = (f.FirstAndLaterGapNs[i]*n + o.FirstAndLaterGapNs[i]*m) / (n + m)
		f.FirstAndLaterDurationNs[i] = (f.FirstAndLaterDurationNs[i]*n + o.FirstAndLaterDurationNs[i]*m) / (n + m)
	}
	f.Ranks, f.MaxCallsPerRank, f.LoopEntries = f.Ranks+o.Ranks, max(f.MaxCallsPerRank, o.MaxCallsPerRank), max(f.LoopEntries, o.LoopEntries)
}

// hasFirsts reports whether a class has unusual first calls, as UnusualFirstCalls defines them.
func (r *Reader) hasFirsts(class int) (bool, error) {
	blobs, err := r.byClass(container.SectionFirstCallTimes)
	return err == nil && len(blobs[class]) > 0, err
}

// firsts returns the unusual first calls of a class, as UnusualFirstCalls defines them. leaves is the number of its leaves.
func (r *Reader) firsts(class, leaves int) (list []sections.FirstCallMeanTimes, err error) {
	blobs, err := r.byClass(container.SectionFirstCallTimes)
	if err != nil || len(blobs[class]) == 0 {
		return nil, err
	}
	err = r.ofClass(container.SectionFirstCallTimes, class, blobs[class], func(w *wire.Reader) { list = sections.DecodeFirstCallMeanTimes(w, leaves) })
	return list, err
}
