package trace

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// FirstCalls are calls from one call site whose first call on each of some ranks differs from the later ones: it
// took far longer, or followed far longer computation. Times are means in nanoseconds.
type FirstCalls struct {
	FunctionSite
	Ranks         int
	Calls         uint64 // number of calls on one rank, the first one included; the largest over the ranks
	Gap, Duration [2]float64
	// LoopEntries is how many of the calls enter a loop, the first one included; Gap then covers only the gaps before
	// these calls. 0: the calls do not begin a loop.
	LoopEntries uint64
}

// FirstCalls returns the call sites with unusual first calls, those of most ranks first. Gap and Duration have two
// elements: the value of the first call, and the mean of the later ones.
func (r *Reader) FirstCalls() ([]FirstCalls, error) {
	if !r.hasSection(container.SectionFirstCalls) {
		return nil, nil
	}
	blobs, err := r.byClass(container.SectionFirstCalls)
	if err != nil {
		return nil, err
	}
	var list []FirstCalls
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
			if x.RanksWithFirst == 0 {
				continue
			}
			call := k.CallWithoutParams(leaves.Terminal(leaf))
			c := FirstCalls{FunctionSite: call.FunctionSite(), Calls: x.Calls, Ranks: len(members), LoopEntries: x.Entries, Gap: [2]float64{x.SumFirstGapNs}, Duration: [2]float64{x.SumFirstDurationNs}}
			x.RemoveFirst()
			c.Gap[1], c.Duration[1] = x.SumGapNs/float64(x.Calls), x.SumDurationNs/float64(x.Calls)
			if x.Entries > 0 {
				c.Gap[1] = x.SumEntryGapNs / float64(x.Entries)
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
	slices.SortStableFunc(list, func(a, b FirstCalls) int { return cmp.Compare(b.Ranks, a.Ranks) })
	return list, nil
}

// join adds other ranks' calls.
func (f *FirstCalls) join(o *FirstCalls) {
	n, m := float64(f.Ranks), float64(o.Ranks)
	for i := range f.Gap {
		f.Gap[i] = (f.Gap[i]*n + o.Gap[i]*m) / (n + m)
		f.Duration[i] = (f.Duration[i]*n + o.Duration[i]*m) / (n + m)
	}
	f.Ranks, f.Calls, f.LoopEntries = f.Ranks+o.Ranks, max(f.Calls, o.Calls), max(f.LoopEntries, o.LoopEntries)
}

// hasFirsts reports whether a class has unusually long first calls.
func (r *Reader) hasFirsts(class int) (bool, error) {
	blobs, err := r.byClass(container.SectionFirstCalls)
	return err == nil && len(blobs[class]) > 0, err
}

// firsts returns the first calls of a class that took far longer than the later ones.
func (r *Reader) firsts(class, leaves int) (list []sections.FirstTimes, err error) {
	blobs, err := r.byClass(container.SectionFirstCalls)
	if err != nil || len(blobs[class]) == 0 {
		return nil, err
	}
	err = r.ofClass(container.SectionFirstCalls, class, blobs[class], func(w *wire.Reader) { list = sections.DecodeFirstTimes(w, leaves) })
	return list, err
}
