package trace

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
)

// Leaves are the calls of a stream by their position in its structure, with uses of rules separated. Each leaf has
// times of its own. If a rule has too many uses, several positions share one leaf.
type Leaves struct {
	k      *Rank
	stream int
	tree   *grammar.UnfoldedGrammar
	other  *grammar.Grammar // for UnfoldLeaves: the sequence whose leaves these are; nil: the stream's grammar
}

// Leaves separates the positions of a stream's structure, without expanding the stream.
func (k *Rank) Leaves(stream int) *Leaves {
	return &Leaves{k: k, stream: stream, tree: grammar.Unfold(k.streams[stream], grammar.UnfoldLimit)}
}

// UnfoldLeaves separates the positions of another sequence's structure. These leaves have no times.
func UnfoldLeaves(s OpaqueGrammar) *Leaves {
	g := grammar.OpaqueGrammar(s).Grammar()
	return &Leaves{tree: grammar.Unfold(g, grammar.UnfoldLimit), other: g}
}

// sequence returns the grammar that the leaves belong to: that of the rank's stream, or that of UnfoldLeaves.
func (l *Leaves) sequence(rank *Rank) *grammar.Grammar {
	if l.other != nil {
		return l.other
	}
	return rank.streams[l.stream]
}

// Len returns the number of leaves.
func (l *Leaves) Len() int { return len(l.tree.OriginalTerminal) }

// Terminal returns the terminal of a leaf.
func (l *Leaves) Terminal(leaf int) int { return int(l.tree.OriginalTerminal[leaf]) }

// Structure is like Rank.Structure, but its nodes have leaves. Nodes with equal Node.Rule have the same calls, but may
// have different leaves.
func (l *Leaves) Structure() Node {
	return Node{Kind: SequenceNode, Count: 1, Terminal: -1, g: l.tree.Grammar, tree: l.tree}
}

// Times returns the times of each leaf, and the kind of the least accurate sample among them. rank is the rank that the
// leaves were made for, or one of the same class. If the trace has the time of each call, Times adds all of them up.
// Otherwise leaves have means over the class's ranks.
func (l *Leaves) Times(rank *Rank) ([]LeafTimes, SampleKind, error) {
	times := make([]LeafTimes, l.Len())
	worst := ExactSample
	line, err := rank.timeline(l.stream, 0)
	if err != nil {
		return nil, 0, err
	}
	if _, ok := line.(*timeline.SeriesTimeIterator); !ok {
		return l.means(rank)
	}
	for v := range l.tree.Walk(rank.streams[l.stream]) {
		t, _, err := line.Next(l.Terminal(v.Leaf))
		if err != nil {
			return nil, 0, err
		}
		worst = min(worst, t.Duration.Kind)
		x, gap := &times[v.Leaf], float64(t.Gap.Ns)
		x.Calls++
		x.SumGapNs += gap
		x.SumDurationNs += float64(t.Duration.Ns)
		if v.EntersLoop {
			x.Entries++
			x.SumEntryGapNs += gap
		}
		for loops := 2; loops <= v.LoopsEntered; loops++ {
			if len(x.OuterEntries) < loops-1 {
				x.OuterEntries = append(x.OuterEntries, LoopEntries{})
			}
			x.OuterEntries[loops-2].Calls++
			x.OuterEntries[loops-2].SumGapNs += gap
		}
	}
	return times, worst, nil
}

// means returns the mean times that the trace has for each leaf. Leaves without a mean of their own share the remaining
// time of their terminal in proportion to their calls.
func (l *Leaves) means(rank *Rank) ([]LeafTimes, SampleKind, error) {
	stats, err := rank.ClassTimes()
	if err != nil {
		return nil, 0, err
	}
	placed, err := rank.r.placed(rank.nclass)
	if err != nil {
		return nil, 0, err
	}
	if l.stream > 0 {
		placed = nil
	}
	var arrivals [][]grammar.Arrival
	for _, p := range placed {
		if !math.IsNaN(p.MeanEntryGap) && arrivals == nil {
			arrivals = l.arrivals(rank)
		}
	}
	counts := l.Counts(rank)
	// left is by terminal: the times of all calls that are not at a leaf in placed. Terminals that differ in their
	// stacks alone are taken together, under the first of them.
	left := make([]LeafTimes, len(stats))
	of := func(leaf int) int {
		if t := l.Terminal(leaf); rank.class.FirstAlikeButForStack == nil {
			return t
		} else {
			return int(rank.class.FirstAlikeButForStack[t])
		}
	}
	for leaf, n := range counts {
		s, x := &stats[l.Terminal(leaf)], &left[of(leaf)]
		x.Add(&LeafTimes{Calls: n, SumGapNs: s.Gap.Mean() * float64(n), SumDurationNs: s.Duration.Mean() * float64(n)})
	}
	times, own := make([]LeafTimes, l.Len()), make([]bool, l.Len())
	for _, p := range placed {
		if p.Leaf >= l.Len() {
			return nil, 0, rank.r.failed(container.SectionLeafTimes, fmt.Errorf("class %d: times of leaf %d of %d: %w", rank.nclass, p.Leaf, l.Len(), ErrFormat))
		}
		n := float64(counts[p.Leaf])
		times[p.Leaf], own[p.Leaf] = LeafTimes{Calls: counts[p.Leaf], SumGapNs: p.MeanGap * n, SumDurationNs: p.MeanDuration * n}, true
		if !math.IsNaN(p.MeanEntryGap) {
			enter(&times[p.Leaf], arrivals[p.Leaf], p.MeanEntryGap, p.MeanOuterEntryGaps)
		}
		x := &left[of(p.Leaf)]
		x.Calls -= counts[p.Leaf]
		x.SumGapNs -= times[p.Leaf].SumGapNs
		x.SumDurationNs -= times[p.Leaf].SumDurationNs
	}
	shared, err := l.shared(rank, counts)
	if err != nil {
		return nil, 0, err
	}
	kind := MeanSample
	if !rank.r.HasTimes() {
		shared, kind = func(int) bool { return false }, NoSample
	}
	for leaf, n := range counts {
		if x := &left[of(leaf)]; !own[leaf] && x.Calls > 0 {
			part := float64(n) / float64(x.Calls)
			times[leaf] = LeafTimes{Calls: n, SumGapNs: max(0, x.SumGapNs) * part, SumDurationNs: max(0, x.SumDurationNs) * part, IsShareOfSum: shared(l.Terminal(leaf))}
		}
	}
	if l.stream > 0 {
		return times, kind, nil
	}
	firsts, err := rank.r.firsts(rank.nclass, l.Len())
	for _, f := range firsts {
		if x := &times[f.Leaf]; x.Calls > 1 {
			x.RanksWithSlowFirst, x.SumFirstGapNs, x.SumFirstDurationNs = 1, min(f.MeanGap, x.SumGapNs), min(f.MeanDuration, x.SumDurationNs)
		}
	}
	return times, kind, err
}

// shared returns a function that reports whether a terminal's calls share their times with calls at other leaves. On
// the first thread, that holds for the terminals in section SectionUnknownLeafTimes, and for groups of at least MinPoolSize
// terminals that differ in values only. Leaves of further threads have no times of their own: there it holds for every
// terminal at several leaves. counts is by leaf: the number of the rank's calls.
func (l *Leaves) shared(rank *Rank, counts []uint64) (func(terminal int) bool, error) {
	mixed, err := rank.isMixed()
	if err != nil {
		return nil, err
	}
	members := make(map[*sections.SignatureGroup]int)
	for i := range rank.class.Terminals {
		members[rank.class.Terminals[i].Group]++
	}
	leaves := make(map[int]int)
	for leaf, n := range counts {
		if n > 0 {
			leaves[l.Terminal(leaf)]++
		}
	}
	return func(t int) bool {
		return members[rank.class.Terminals[t].Group] >= MinPoolSize || leaves[t] > 1 && (l.stream > 0 || mixed(t))
	}, nil
}

// enter sets in t, the times of a leaf, how often loops are entered there, and the sums of the gaps before these calls.
// ways is how the leaf is reached. gap is the mean gap when the innermost loop is entered, outer the means for further
// loops outwards.
func enter(t *LeafTimes, ways []grammar.Arrival, gap float64, outer []float64) {
	t.OuterEntries = make([]LoopEntries, len(outer))
	for i := range ways {
		n := ways[i].Count()
		if ways[i].EntersLoop {
			t.Entries += n
		}
		for k := range min(len(outer), ways[i].LoopsEntered-1) {
			t.OuterEntries[k].Calls += n
		}
	}
	t.SumEntryGapNs = gap * float64(t.Entries)
	for k := range t.OuterEntries {
		t.OuterEntries[k].SumGapNs = outer[k] * float64(t.OuterEntries[k].Calls)
	}
}

// Visits yields the leaf of each call of a rank in order, and whether the call enters the innermost loop that begins
// with the leaf. rank is the one that the leaves were made for, or one of its class.
func (l *Leaves) Visits(rank *Rank) iter.Seq2[int, bool] {
	return func(yield func(int, bool) bool) {
		for c := l.Cursor(rank); ; {
			if leaf, loops, ok := c.Next(); !ok || !yield(leaf, loops > 0) {
				return
			}
		}
	}
}

// arrivals returns the ways by which a rank reaches each leaf; nil for a leaf at several positions. rank is the one
// that the leaves were made for, or one of its class.
func (l *Leaves) arrivals(rank *Rank) [][]grammar.Arrival {
	return l.tree.Arrivals(rank.streams[l.stream])
}

// A LeafCursor iterates over the calls of a stream on a rank, as visits of leaves.
type LeafCursor struct{ c *grammar.UnfoldedCursor }

// Cursor returns a cursor before the first call of a rank. rank is the one that the leaves were made for, or one of its
// class.
func (l *Leaves) Cursor(rank *Rank) LeafCursor {
	return LeafCursor{l.tree.Cursor(l.sequence(rank))}
}

// Skip skips this many visits, in less than linear time.
func (c LeafCursor) Skip(visits uint64) { c.c.Skip(visits) }

// Next returns the next leaf, and how many of the loops that begin with it the call enters, from the innermost one
// outwards. ok is false at the end.
func (c LeafCursor) Next() (leaf, loops int, ok bool) {
	v, ok := c.c.Next()
	return v.Leaf, v.LoopsEntered, ok
}

// Counts returns, by leaf, how many calls a rank makes there. rank is the one that the leaves were made for, or one of
// its class.
func (l *Leaves) Counts(rank *Rank) []uint64 {
	g := rank.streams[l.stream]
	counts, times := make([]uint64, l.Len()), make([]uint64, len(l.tree.OriginalRule))
	if len(times) > 0 {
		times[0] = 1
	}
	order := l.tree.Grammar.RuleOrder()
	for i := len(order) - 1; i >= 0; i-- {
		n := order[i]
		for at, s := range l.tree.Grammar.Rules[n] {
			c := g.Rules[l.tree.OriginalRule[n]][at].Count * times[n]
			if s.TerminalOrRule >= 0 {
				counts[s.TerminalOrRule] += c
			} else {
				times[-s.TerminalOrRule] += c
			}
		}
	}
	return counts
}

// FirstPositions returns, by leaf, the index in the stream of the rank's first call there. For a leaf without calls it
// is at least the number of calls in the stream. rank is the one that the leaves were made for, or one of its class.
func (l *Leaves) FirstPositions(rank *Rank) []uint64 {
	g := l.sequence(rank)
	count := func(n int32, at int) uint64 { return g.Rules[l.tree.OriginalRule[n]][at].Count }
	length := make([]uint64, len(l.tree.OriginalRule))
	of := func(id int32) uint64 {
		if id < 0 {
			return length[-id]
		}
		return 1
	}
	order := l.tree.Grammar.RuleOrder()
	for _, n := range order {
		for at, s := range l.tree.Grammar.Rules[n] {
			length[n] += of(s.TerminalOrRule) * count(n, at)
		}
	}
	first, begin := make([]uint64, l.Len()), slices.Repeat([]uint64{math.MaxUint64}, len(length))
	if len(begin) > 0 {
		begin[0] = 0
	}
	for i := len(order) - 1; i >= 0; i-- {
		at := begin[order[i]]
		for k, s := range l.tree.Grammar.Rules[order[i]] {
			if s.TerminalOrRule >= 0 {
				first[s.TerminalOrRule] = at
			} else {
				begin[-s.TerminalOrRule] = min(begin[-s.TerminalOrRule], at)
			}
			at += of(s.TerminalOrRule) * count(order[i], k)
		}
	}
	return first
}

// HasTimeOfEachCall reports whether the trace has the times of each of the rank's calls.
func (k *Rank) HasTimeOfEachCall() (bool, error) {
	s, err := k.openSeries()
	return s != nil, err
}

// MainLoop returns the loop in the stream's outermost sequence that has most calls. Its Iterations is 0 if the sequence
// has no loop.
func (c LeafCursor) MainLoop() OuterLoop { return c.c.MainLoop() }

// IterationsLeft returns how many iterations of a loop begin with or after the next visit. between reports whether the next
// visit is between two iterations: whether it begins one, or follows the last one.
func (c LeafCursor) IterationsLeft(r OuterLoop) (rounds uint64, between bool) {
	return c.c.RoundsLeft(r)
}

// mixed returns, in rising order, the terminals of a class that have several leaves on the first thread of which the
// trace doesn't have the single times. terminals is the number of the class's terminals.
func (r *Reader) mixed(class, terminals int) ([]int, error) {
	blobs, err := r.byClass(container.SectionUnknownLeafTimes)
	if err != nil {
		return nil, err
	}
	var list []int
	err = r.ofClass(container.SectionUnknownLeafTimes, class, blobs[class], func(w *wire.Reader) { list = sections.DecodeUnknownLeafTimes(w, terminals) })
	return list, err
}

// isMixed returns a function that reports whether mixed lists a terminal.
func (k *Rank) isMixed() (func(terminal int) bool, error) {
	list, err := k.r.mixed(k.nclass, len(k.class.Terminals))
	return func(t int) bool {
		_, found := slices.BinarySearch(list, t)
		return found
	}, err
}

// placed returns the times of those leaves of a class's first thread that the file stores separately.
func (r *Reader) placed(class int) ([]sections.LeafMeanTimes, error) {
	blobs, err := r.byClass(container.SectionLeafTimes)
	if err != nil || len(blobs[class]) == 0 {
		return nil, err
	}
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	var list []sections.LeafMeanTimes
	err = r.ofClass(container.SectionLeafTimes, class, blobs[class], func(w *wire.Reader) { list = sections.DecodeLeafMeanTimes(w, sections.LeafTerminals(c.Streams)) })
	return list, err
}
