package trace

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// placedValues returns, by name, what was attached to calls at those leaves of a class that the file stores separately.
func (r *Reader) placedValues(class int) (map[string][]sections.LeafAttachedSum, error) {
	if !r.hasSection(container.SectionLeafAttachedSums) {
		return nil, nil
	}
	v, err := r.values()
	if err != nil {
		return nil, err
	}
	blobs, err := r.byClass(container.SectionLeafAttachedSums)
	if err != nil || len(blobs[class]) == 0 {
		return nil, err
	}
	var m map[string][]sections.LeafAttachedSum
	err = r.ofClass(container.SectionLeafAttachedSums, class, blobs[class], func(w *wire.Reader) { m = sections.DecodeLeafAttachedSums(w, v.Names) })
	return m, err
}

// checkPlacedValues returns an error if the file stores attached values of leaves that a class doesn't have.
func (r *Reader) checkPlacedValues(class int, c *sections.DecodedClass) error {
	m, err := r.placedValues(class)
	if err != nil || len(m) == 0 {
		return err
	}
	leaves := sections.CountLeaves(c.Streams)
	for name, list := range m {
		if last := list[len(list)-1].Leaf; last >= leaves {
			return r.failed(container.SectionLeafAttachedSums, fmt.Errorf("class %d: %s at leaf %d of %d: %w", class, name, last, leaves, ErrFormat))
		}
	}
	return nil
}

// LeafAttachedSum sums up the values attached to the calls at a leaf under one name.
type LeafAttachedSum struct {
	Count float64 `json:"count"` // number of values; fractional if it is a mean over ranks or leaves
	Sum   float64 `json:"sum"`
	// The true sum on a rank differs from Sum by at most ErrorBound, unless IsEstimate is set: then the error is
	// unknown.
	ErrorBound float64 `json:"within,omitempty"`
	IsEstimate bool    `json:"estimate,omitempty"`
}

// Add adds the values of another leaf or rank.
func (v *LeafAttachedSum) Add(o LeafAttachedSum) {
	v.Count += o.Count
	v.Sum += o.Sum
	v.ErrorBound += o.ErrorBound
	v.IsEstimate = v.IsEstimate || o.IsEstimate
}

// Mean returns the average of the values, 0 if Count is 0.
func (v LeafAttachedSum) Mean() float64 {
	if v.Count == 0 {
		return 0
	}
	return v.Sum / v.Count
}

// AttachedValues returns, by name and then by leaf, the values attached to a rank's calls. rank is the one that the
// leaves were made for, or one of its class. If the trace has the values of each call, all of them are read, and sums
// are exact. Otherwise the file has the rank's sums at some leaves, to a percent. The sums of the other leaves are
// estimates: they share what remains of the call site's sum in Rank.AttachedTotals, in the proportions of
// MeanAttachedValues.
func (l *Leaves) AttachedValues(rank *Rank) (map[string][]LeafAttachedSum, error) {
	// Imported traces may have the time of each call, but attached values of leaves only: then s has no names.
	if s, err := rank.openSeries(); err != nil || s != nil && len(s.AttachedNames()) > 0 {
		return l.valuesOfCalls(rank, err)
	}
	totals, err := rank.AttachedTotals()
	if err != nil || len(totals) == 0 {
		return nil, err
	}
	var values map[string][]LeafAttachedSum
	// bySite is by name, then by the first terminal of a call site: the values at its leaves on all threads.
	bySite := make(map[string]map[int][]*LeafAttachedSum)
	first := 0
	for stream := range rank.streams {
		of := l
		if stream != l.stream {
			of = l.k.Leaves(stream)
		}
		m, err := of.MeanAttachedValues(rank)
		if err != nil {
			return nil, err
		}
		if of == l {
			values = m
		}
		of.gather(rank, m, first, totals, bySite)
		first += of.Len()
	}
	if rank.r.members[rank.nclass] == 1 {
		return values, nil // the mean over one rank is the rank's own
	}
	for name := range values {
		for _, site := range totals[name].Sites {
			toSum(bySite[name][site.FirstTerminal], site.AttachedSum)
		}
	}
	return values, nil
}

// gather replaces means of the class (m, by name and leaf) by the rank's values where the trace has them, and marks the
// others as estimates. For toSum it adds pointers to the values to bySite, by name and first terminal of the call site.
// number is the number of leaves on earlier threads.
func (l *Leaves) gather(rank *Rank, m map[string][]LeafAttachedSum, number int, totals map[string]*AttachedTotals, bySite map[string]map[int][]*LeafAttachedSum) {
	first := rank.class.FirstsOfGroups()
	for name, list := range m {
		if totals[name] == nil {
			continue
		}
		if bySite[name] == nil {
			bySite[name] = make(map[int][]*LeafAttachedSum)
		}
		for leaf := range list {
			x := &list[leaf]
			if x.Count <= 0 {
				continue
			}
			if v, ok := totals[name].leaf[number+leaf]; ok {
				x.Sum, x.ErrorBound = v.Sum, v.ErrorBound
			} else {
				x.IsEstimate = rank.r.members[rank.nclass] > 1
			}
			t := first[l.Terminal(leaf)]
			bySite[name][t] = append(bySite[name][t], x)
		}
	}
}

// toSum corrects the estimated values at the leaves of a call site, so that all of its leaves add up to the rank's
// total of the site. Each estimate changes in proportion to its value; a single one gets the whole difference.
func toSum(leaves []*LeafAttachedSum, site AttachedSum) {
	off, size, within, guessed := site.Sum, 0.0, site.ErrorBound, 0
	for _, x := range leaves {
		off -= x.Sum
		if x.IsEstimate {
			size += math.Abs(x.Sum)
			guessed++
		}
		within += x.ErrorBound
	}
	if !site.IsOfRank() {
		return
	}
	for _, x := range leaves {
		if !x.IsEstimate {
			continue
		}
		if guessed == 1 {
			x.IsEstimate, x.ErrorBound = false, within
		}
		part := 1 / float64(guessed)
		if size > 0 {
			part = math.Abs(x.Sum) / size
		}
		x.Sum += off * part
	}
}

// MeanAttachedValues returns the mean of AttachedValues over the ranks of the class. Leaves of one call site have the
// same mean per call if the trace has no values of single leaves.
func (l *Leaves) MeanAttachedValues(rank *Rank) (map[string][]LeafAttachedSum, error) {
	all, err := rank.ClassAttachedStats()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	placed, err := rank.r.placedValues(rank.nclass)
	if err != nil {
		return nil, err
	}
	// In placed, leaves are numbered over all threads. terminals is by such a number, and number is that of l's first
	// leaf.
	var terminals []int32
	number := 0
	if len(placed) > 0 {
		for stream, g := range l.k.streams {
			if stream == l.stream {
				number = len(terminals)
			}
			terminals = append(terminals, grammar.Unfold(g, grammar.UnfoldLimit).OriginalTerminal...)
		}
	}
	calls, err := rank.r.calls(rank.nclass, rank.class)
	if err != nil {
		return nil, err
	}
	first := rank.class.FirstsOfGroups()
	bySite := make([]uint64, len(first)) // by first terminal of a call site: number of its calls on all ranks
	for t, n := range calls {
		bySite[first[t]] += n
	}
	counts, m := l.Counts(rank), make(map[string][]LeafAttachedSum, len(all))
	for name, stats := range all {
		left, leftCalls := make([]LeafAttachedSum, len(stats)), make([]float64, len(stats))
		for t, s := range stats {
			left[t], leftCalls[t] = LeafAttachedSum{Count: float64(s.Count), Sum: float64(s.Sum)}, float64(bySite[t])
		}
		list, own := make([]LeafAttachedSum, l.Len()), make([]bool, l.Len())
		for _, x := range placed[name] {
			if x.Leaf >= len(terminals) {
				return nil, rank.r.failed(container.SectionLeafAttachedSums, fmt.Errorf("class %d: %s at leaf %d of %d: %w", rank.nclass, name, x.Leaf, len(terminals), ErrFormat))
			}
			if leaf := x.Leaf - number; leaf >= 0 && leaf < l.Len() {
				own[leaf] = true
				part := float64(counts[leaf]) / float64(x.Calls)
				list[leaf] = LeafAttachedSum{Count: float64(x.NumberCount) * part, Sum: float64(x.Sum) * part}
			}
			t := first[terminals[x.Leaf]]
			left[t].Count -= float64(x.NumberCount)
			left[t].Sum -= float64(x.Sum)
			leftCalls[t] -= float64(x.Calls)
		}
		for leaf, n := range counts {
			if t := first[l.Terminal(leaf)]; !own[leaf] && left[t].Count >= 1 && leftCalls[t] >= 1 {
				part := float64(n) / leftCalls[t]
				list[leaf] = LeafAttachedSum{Count: left[t].Count * part, Sum: left[t].Sum * part}
			}
		}
		m[name] = list
	}
	return m, nil
}

// valuesOfCalls returns, by name and then by leaf, the sums of the values that the trace has for each call. An err that
// isn't nil is returned.
func (l *Leaves) valuesOfCalls(rank *Rank, err error) (map[string][]LeafAttachedSum, error) {
	if err != nil {
		return nil, err
	}
	line, err := rank.AttachedValueCursor(l.stream)
	if err != nil {
		return nil, err
	}
	m := make(map[string][]LeafAttachedSum)
	index := uint64(0)
	for leaf := range l.Visits(rank) {
		list, err := line.At(index)
		if err != nil {
			return nil, err
		}
		for _, v := range list {
			if m[v.Name] == nil {
				m[v.Name] = make([]LeafAttachedSum, l.Len())
			}
			x := &m[v.Name][leaf]
			x.Count += v.Count
			x.Sum += float64(v.ExactSum)
		}
		index++
	}
	return m, nil
}
