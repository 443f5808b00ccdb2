package trace

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
)

// AttachedValue is the numbers that a plugin or counter attached to a call under one name.
type AttachedValue struct {
	Name string
	// IsExact says that the numbers of this call are known. Then Number is their sum, and Count how many they are.
	// Otherwise Count and Sum are means over the rank's calls at the same leaf; see Leaves.AttachedValues.
	IsExact  bool
	ExactSum int64
	LeafAttachedSum
}

// AttachedValueCursor yields the values attached to the calls of a stream, in order: exact ones if the trace has the time of
// each call, else the means of the leaf.
type AttachedValueCursor struct {
	k      *Rank
	stream int
	list   []AttachedValue // result of the last At
	ahead  uint64          // index of the call that visits yields next

	// The following fields are used if each call has values of its own.
	s       *timeline.SeriesTimes
	numbers []series.AttachedNumbers // by name: what was attached to the calls of the current block of the series
	names   []string
	order   []int  // indices of the names in alphabetical order
	first   uint64 // index of the block's first call
	end     uint64 // index of the call after the block's last one

	// The following fields are used if only means of leaves are known. leaf is by leaf: its values.
	visits LeafCursor
	leaf   [][]AttachedValue
}

// AttachedValueCursor returns a cursor over the values attached to the calls of a stream, from the first call on.
func (k *Rank) AttachedValueCursor(stream int) (*AttachedValueCursor, error) {
	l := &AttachedValueCursor{k: k, stream: stream}
	s, err := k.openSeries()
	if err != nil {
		return nil, err
	}
	if s != nil && len(s.AttachedNames()) > 0 {
		l.s, l.names = s, s.AttachedNames()
		for n := range l.names {
			l.order = append(l.order, n)
		}
		slices.SortFunc(l.order, func(a, b int) int { return strings.Compare(l.names[a], l.names[b]) })
		return l, nil
	}
	leaves := k.Leaves(stream)
	values, err := leaves.AttachedValues(k)
	if err != nil || len(values) == 0 {
		return l, err
	}
	l.leaf, l.visits = make([][]AttachedValue, leaves.Len()), leaves.Cursor(k)
	counts := leaves.Counts(k)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for leaf, v := range values[name] {
			if n := float64(counts[leaf]); v.Count > 0 && n > 0 {
				l.leaf[leaf] = append(l.leaf[leaf], AttachedValue{Name: name, LeafAttachedSum: LeafAttachedSum{v.Count / n, v.Sum / n, v.ErrorBound / n, v.IsEstimate}})
			}
		}
	}
	return l, nil
}

// At returns the values attached to the call at the given index, in order of names. Indices must ascend from one At to
// the next. The list is valid until the next At.
func (l *AttachedValueCursor) At(index uint64) ([]AttachedValue, error) {
	if l.s == nil {
		if l.leaf == nil {
			return nil, nil
		}
		l.visits.Skip(index - l.ahead)
		leaf, _, ok := l.visits.Next()
		if l.ahead = index + 1; !ok {
			return nil, fmt.Errorf("trace: no call %d in the stream", index)
		}
		return l.leaf[leaf], nil
	}
	if len(l.names) == 0 {
		return nil, nil
	}
	if index < l.first || index >= l.end {
		if index >= l.s.CallCount(l.stream) {
			return nil, fmt.Errorf("trace: call %d of a stream that has %d", index, l.s.CallCount(l.stream))
		}
		block := l.s.BlockOfCall(l.stream, index)
		first, n := l.s.BlockCalls(l.stream, block)
		numbers, err := l.s.AttachedNumbers(l.stream, block, l.s.KindsInBlock(l.stream, block))
		if err != nil {
			return nil, l.k.seriesFailed(fmt.Errorf("stream %d: %w", l.stream, err))
		}
		l.numbers, l.first, l.end = numbers, first, first+uint64(n)
	}
	l.list = l.list[:0]
	for _, name := range l.order {
		if x := &l.numbers[name]; x.CountsByCall != nil && x.CountsByCall[index-l.first] > 0 {
			v := LeafAttachedSum{Count: float64(x.CountsByCall[index-l.first]), Sum: float64(x.SumsByCall[index-l.first])}
			l.list = append(l.list, AttachedValue{l.names[name], true, x.SumsByCall[index-l.first], v})
		}
	}
	return l.list, nil
}

// checkCallValues decodes the values attached to each call of a rank, and compares their sums with the rank's
// totals.
func (k *Rank) checkCallValues() error {
	s, err := k.openSeries()
	if err != nil || s == nil || len(s.AttachedNames()) == 0 {
		return err
	}
	known, err := k.AttachedTotals()
	if err != nil {
		return err
	}
	sums := make([]LeafAttachedSum, len(s.AttachedNames()))
	for stream := range k.Streams() {
		for block := range s.BlockCount(stream) {
			numbers, err := s.AttachedNumbers(stream, block, s.KindsInBlock(stream, block))
			if err != nil {
				return k.seriesFailed(fmt.Errorf("stream %d: %w", stream, err))
			}
			for name, x := range numbers {
				for i, n := range x.CountsByCall {
					sums[name].Count += float64(n)
					sums[name].Sum += float64(x.SumsByCall[i])
				}
			}
		}
	}
	for name, sum := range sums {
		v := known[s.AttachedNames()[name]]
		if v == nil && sum.Count > 0 {
			return k.seriesFailed(fmt.Errorf("%s of calls and not of their class", s.AttachedNames()[name]))
		}
		if v != nil && v.IsOfRank() && math.Abs(sum.Sum) < math.MaxInt64/2 && math.Abs(sum.Sum-v.Sum) > v.ErrorBound+1e-9*math.Abs(sum.Sum)+1 {
			return k.seriesFailed(fmt.Errorf("%s of the calls is %.0f by sum, within %.0f of %.0f is known", s.AttachedNames()[name], sum.Sum, v.ErrorBound, v.Sum))
		}
	}
	return nil
}

func (r *Reader) readValues() (v *sections.AttachedValues, err error) {
	v = &sections.AttachedValues{}
	err = r.optional(container.SectionAttachedValues, func(w *wire.Reader) { v = sections.DecodeAttachedValues(w, r.ranks.Classes) })
	return v, err
}

// AttachedNames returns the names under which plugins or counters attached numbers to calls, in alphabetical order. A
// counter's number is what it counted since the thread's previous call.
func (r *Reader) AttachedNames() ([]string, error) {
	v, err := r.values()
	if err != nil {
		return nil, err
	}
	return slices.Clone(v.Names), nil
}

// AttachedStats returns summaries of the values attached to the calls of a class, over all of its ranks: by name, then
// by terminal. Terminals of one function and site share a summary: the first of them has it, those of the others are
// empty.
func (r *Reader) AttachedStats(class int) (map[string][]AttachedStat, error) {
	v, err := r.values()
	if err != nil || len(v.Names) == 0 {
		return nil, err
	}
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	m := make(map[string][]AttachedStat, len(v.Names))
	err = r.ofClass(container.SectionAttachedValues, class, v.ClassBlobs[class], func(w *wire.Reader) {
		for _, name := range v.Names {
			m[name] = sections.DecodeAttachedStats(w, len(c.Terminals))
		}
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// ClassAttachedStats returns summaries of the values attached to the calls of the rank's class: see Reader.AttachedStats.
func (k *Rank) ClassAttachedStats() (map[string][]AttachedStat, error) {
	return k.r.AttachedStats(k.nclass)
}

// ClassAttachedStatsOf returns, by name, the summaries of the values attached to the calls of a terminal's function and
// site, over all ranks of the class.
func (k *Rank) ClassAttachedStatsOf(terminal int) (map[string]AttachedStat, error) {
	all, err := k.ClassAttachedStats()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	first := k.class.FirstOfGroup(terminal)
	m := make(map[string]AttachedStat)
	for name, list := range all {
		if s := list[first]; s.Count > 0 {
			m[name] = s
		}
	}
	return m, nil
}
