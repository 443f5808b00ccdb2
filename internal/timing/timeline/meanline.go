package timeline

import (
	"math"
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/trace/model"
)

// MeanTimes are the estimated times of a rank's single calls, from statistics of its class. If the trace has times of
// leaves, they are by leaf of the first thread's structure.
//
// Methods take positions in the stream as steps: step 2·i is the begin of the gap before call i, step 2·i+1 the begin
// of the call.
type MeanTimes struct {
	Timings       []model.Timing      // by leaf, or terminal
	Leaves        *grammar.Grammar    // the stream as a sequence of leaves; nil: Timings is by terminal
	LeafTerminals []int32             // terminal of each leaf
	LeafTimes     []model.LeafTimes   // by leaf: the times that the trace has of it
	Sums          *grammar.WeightSums // sums of durations and gaps along the stream
	StartNs       int64
	Scale         float64 // factor from sums to the time line, chosen such that the stream's end is right
	ClockDrift    float64 // the part of Scale that is the clock's drift
	limits        *limits // nil: errors of starts are unknown
	asides        []lineAside
	early         uint64 // the call before which the recorder started, directly after the previous call; 0: unknown

	anchors []anchor // nil: only the stream's begin and end are known
	sorts   []int8   // by leaf: kind of time of the leaf's calls
	gaps    *grammar.WeightSums
	filed   *grammar.WeightSums // sums of durations of I/O calls
	short   *grammar.WeightSums // sums of durations of calls that are far shorter than others
}

// A lineAside is the position of an aside on a line of means.
type lineAside struct {
	model.Aside
	at     int64  // the position as the sum of the gaps and durations before it
	step   uint64 // the step that it precedes
	before int64  // ns of all earlier asides
}

// A TimeSampler yields the times of consecutive calls.
type TimeSampler interface {
	// sample returns the times of the next call, given its terminal.
	sample(terminal int) model.Timing
	// asideNs returns the time of the asides before the call that sample returned last.
	asideNs() int64
}

// A meanLine is a position in a stream whose times are means.
type meanLine struct {
	*MeanTimes
	done   int64 // sum of times before the position
	span   bracket
	index  uint64
	aside  int // index of the first aside that is not before the position
	cursor *grammar.Cursor
	leaf   int // leaf of the last call that Next returned
}

// NewMeanLine returns a line with the means themselves as times, from a position on.
func NewMeanLine(m *MeanTimes, index uint64) CallTimeIterator {
	l := newMeanLine(m, index)
	if m.anchors != nil {
		return &anchoredLine{l, m.along(2 * index)}
	}
	return l
}

func newMeanLine(m *MeanTimes, index uint64) *meanLine {
	l := &meanLine{MeanTimes: m, index: index, span: m.bracket(index)}
	if m.Leaves != nil {
		l.cursor = m.Leaves.Cursor()
		l.cursor.Seek(index)
	}
	if index > 0 {
		l.done = m.Sums.Before(index)
		l.aside = sort.Search(len(m.asides), func(i int) bool { return m.asides[i].BeforeCall >= index })
	}
	return l
}

func (l *meanLine) sample(terminal int) (t model.Timing) {
	l.leaf = terminal
	if l.cursor != nil {
		n, _ := l.cursor.Next()
		l.leaf = int(n)
	}
	t = l.Timings[l.leaf]
	for ; l.aside < len(l.asides) && l.asides[l.aside].BeforeCall <= l.index; l.aside++ {
		if a := &l.asides[l.aside]; a.TracingOff {
			t.TracingOffNs += uint64(a.Ns)
		} else {
			t.RecorderNs += uint64(a.Ns)
		}
	}
	t.AsidesBeforeGap = l.index == l.early && t.RecorderNs > 0
	l.index++
	return t
}

func (l *meanLine) asideNs() int64 { return l.passed(l.aside) }

func (l *meanLine) Next(terminal int) (model.Timing, CallTime, error) {
	t := l.sample(terminal)
	begin := l.done + int64(t.Gap.Ns)
	l.done = begin + int64(t.Duration.Ns)
	return t, l.when(begin, l.done, l.asideNs(), l.span.next(terminal)), nil
}

// when returns the position of a call. begin and end are the sums of gaps and durations before and after it, in ns.
// aside is the time of the asides before the call.
func (m *MeanTimes) when(begin, end, aside int64, s duration) CallTime {
	w := CallTime{m.place(begin) + aside, m.place(end) + aside, math.MaxUint64}
	if m.limits != nil {
		w.StartErrorBound = m.limits.within(float64(begin)*m.Scale/m.ClockDrift, s)
	}
	return w
}

// An entryLine distinguishes the gaps before entering a loop from those before its further iterations.
type entryLine struct {
	*meanLine
	visits *grammar.UnfoldedCursor
}

// NewEntryLine returns an entryLine that begins with call index. visits must be at the same position.
func NewEntryLine(m *MeanTimes, index uint64, visits *grammar.UnfoldedCursor) TimeSampler {
	return &entryLine{newMeanLine(m, index), visits}
}

func (l *entryLine) sample(terminal int) model.Timing {
	t := l.meanLine.sample(terminal)
	v, _ := l.visits.Next()
	x := &l.LeafTimes[l.leaf]
	if x.Entries > 0 && (v.EntersLoop || x.Calls > x.Entries) {
		move(&t.Gap, x.MeanGapBefore(v.LoopsEntered))
	}
	return t
}

// PlacedAsides returns the asides with their positions on the line.
func (m *MeanTimes) PlacedAsides() []model.PlacedAside {
	out := make([]model.PlacedAside, len(m.asides))
	for i, a := range m.asides {
		out[i] = model.PlacedAside{Start: m.time(a.step) + a.before, Aside: a.Aside}
	}
	return out
}

// PlacedAsidesByCall returns the asides, in order of calls.
func (m *MeanTimes) PlacedAsidesByCall() []model.Aside {
	out := make([]model.Aside, len(m.asides))
	for i := range out {
		out[i] = m.asides[i].Aside
	}
	return out
}

// place converts a sum of times to a position on the run's time line without asides.
func (m *MeanTimes) place(sum int64) int64 { return m.StartNs + int64(float64(sum)*m.Scale) }

// passed returns the total time of the first n asides.
func (m *MeanTimes) passed(n int) int64 {
	if n == 0 {
		return 0
	}
	return m.asides[n-1].before + m.asides[n-1].Ns
}

// IsFileLeaf reports whether a leaf's calls are I/O calls, if anchors know their times separately.
func (m *MeanTimes) IsFileLeaf(leaf int) bool { return m.sorts != nil && m.sorts[leaf] == ofFiles }

// PartCursor is a position that moves forward along a line, part by part.
type PartCursor struct {
	*MeanTimes
	sums   [sorts]int64 // sums of times before the position
	anchor int
}

// PartCursor returns a position at the begin of the line.
func (m *MeanTimes) PartCursor() *PartCursor { return &PartCursor{MeanTimes: m} }

// Next moves over a part, given the sums of its times: the gap before it, and its gaps, MPI calls and I/O calls. It
// returns the part's begin and end, and the factor by which its calls are stretched on the line.
func (l *PartCursor) Next(before, gaps, calls, files int64) (start, end int64, scale float64) {
	l.sums[ofGaps] += before
	start = l.begins()
	inCalls := l.inCalls()
	l.sums[ofGaps] += gaps
	l.sums[ofCalls] += calls
	l.sums[ofFiles] += files
	end = max(start, l.ends())
	if scale = l.Scale; l.anchors != nil && calls+files > 0 {
		scale = (l.inCalls() - inCalls) / float64(calls+files)
	}
	return start, end, scale
}

func (l *PartCursor) sum() int64 { return l.sums[ofGaps] + l.sums[ofCalls] + l.sums[ofFiles] }

// ns returns the position on the line without asides.
func (l *PartCursor) ns() int64 {
	if l.anchors == nil {
		return l.place(l.sum())
	}
	for l.anchor+1 < len(l.anchors) && l.anchors[l.anchor+1].sum() <= l.sum() {
		l.anchor++
	}
	return l.StartNs + int64(l.anchors[l.anchor].ns(&l.sums))
}

// inCalls returns the time in calls on the line before the position.
func (l *PartCursor) inCalls() (ns float64) {
	if l.anchors == nil {
		return 0
	}
	l.ns()
	a := &l.anchors[l.anchor]
	return a.calls + a.inCalls(&l.sums)
}

func (l *PartCursor) begins() int64 {
	sum := l.sum()
	return l.ns() + l.passed(sort.Search(len(l.asides), func(i int) bool { return l.asides[i].at > sum }))
}

func (l *PartCursor) ends() int64 {
	sum := l.sum()
	return l.ns() + l.passed(sort.Search(len(l.asides), func(i int) bool { return l.asides[i].at >= sum }))
}

// sum converts a position on the time line to a sum of times.
func (m *MeanTimes) sum(ns int64) int64 {
	for i := len(m.asides) - 1; i >= 0; i-- {
		a := &m.asides[i]
		if from := m.place(a.at) + a.before; ns >= from {
			return max(a.at, int64(float64(ns-m.StartNs-m.passed(i+1))/m.Scale))
		}
	}
	return int64(float64(ns-m.StartNs) / m.Scale)
}

// UseLeafTimes replaces the times of terminals by those of leaves, unless their sum exceeds the range of a time line.
func (m *MeanTimes) UseLeafTimes(leaves *grammar.Grammar, terminal []int32, times []model.LeafTimes) {
	own := make([]model.Timing, len(times))
	sum := 0.0
	for leaf := range own {
		own[leaf] = m.Timings[terminal[leaf]]
		if x := &times[leaf]; x.Calls > 0 {
			n := float64(x.Calls)
			move(&own[leaf].Duration, x.SumDurationNs/n)
			move(&own[leaf].Gap, x.SumGapNs/n)
			sum += x.SumDurationNs + x.SumGapNs
		}
	}
	if sum >= math.MaxInt64/2 {
		return
	}
	m.Timings, m.Leaves, m.LeafTerminals, m.LeafTimes = own, leaves, terminal, times
}

// SplitFirstCalls makes separate leaves of first calls that took far longer than the rest. index is each leaf's first
// position.
func (m *MeanTimes) SplitFirstCalls(index []uint64) {
	if m.Leaves == nil {
		return
	}
	for leaf := range m.LeafTimes {
		x := &m.LeafTimes[leaf]
		if x.RanksWithFirst != 1 || x.Calls < 2 || index[leaf] >= m.Leaves.Len() {
			continue
		}
		own := model.LeafTimes{Calls: 1, SumGapNs: x.SumFirstGapNs, SumDurationNs: x.SumFirstDurationNs}
		x.RemoveFirst()
		for i, ns := range [][2]float64{{x.SumGapNs / float64(x.Calls), x.SumDurationNs / float64(x.Calls)}, {own.SumGapNs, own.SumDurationNs}} {
			t := &m.Timings[leaf]
			if i > 0 {
				m.Timings = append(m.Timings, *t)
				t = &m.Timings[len(m.Timings)-1]
			}
			move(&t.Gap, ns[0])
			move(&t.Duration, ns[1])
		}
		m.Leaves = m.Leaves.SplitTerminal(index[leaf], int32(len(m.LeafTerminals)))
		m.LeafTerminals, m.LeafTimes = append(m.LeafTerminals, m.LeafTerminals[leaf]), append(m.LeafTimes, own)
	}
}

// ScaleByTerminal multiplies the times by factors, by terminal.
func (m *MeanTimes) ScaleByTerminal(of func(terminal int) (gap, duration float64)) {
	times, places := slices.Clone(m.Timings), slices.Clone(m.LeafTimes)
	sum := 0.0
	for i := range times {
		t := i
		if m.LeafTerminals != nil {
			t = int(m.LeafTerminals[i])
		}
		x := &times[i]
		gap, duration := of(t)
		move(&x.Gap, gap*float64(x.Gap.Ns))
		move(&x.Duration, duration*float64(x.Duration.Ns))
		calls := 1.0
		if i < len(places) {
			p := &places[i]
			p.SumGapNs, p.SumEntryGapNs, p.SumDurationNs = p.SumGapNs*gap, p.SumEntryGapNs*gap, p.SumDurationNs*duration
			p.OuterEntries = slices.Clone(p.OuterEntries)
			for k := range p.OuterEntries {
				p.OuterEntries[k].SumGapNs *= gap
			}
			calls = float64(p.Calls)
		}
		sum += calls * (float64(x.Gap.Ns) + float64(x.Duration.Ns))
	}
	if sum < math.MaxInt64/2 {
		m.Timings, m.LeafTimes = times, places
	}
}

// move changes the mean of a sample to that of a subset of the same calls.
func move(s *model.Sample, ns float64) {
	if s.Kind == model.NoSample || ns >= math.MaxInt64 {
		return
	}
	to := uint64(ns + 0.5)
	s.ErrorBound += max(s.Ns, to) - min(s.Ns, to)
	s.Ns = to
}

// PlaceAsides computes the positions of asides on the line.
func (m *MeanTimes) PlaceAsides(list []model.Aside) {
	before, last := int64(0), uint64(0)
	m.early = behind(list)
	for _, a := range list {
		x := lineAside{Aside: a, step: 2 * min(a.BeforeCall, m.Sums.Len()), before: before}
		if a.BeforeCall < m.Sums.Len() && a.BeforeCall != m.early {
			x.step++
		}
		x.step = max(x.step, last)
		last, x.at = x.step, m.total(x.step)
		before += a.Ns
		m.asides = append(m.asides, x)
	}
}

// behind returns the call directly after which the recorder started; 0 if unknown. The recorder's time follows that
// call directly, instead of preceding the next one.
func behind(list []model.Aside) uint64 {
	for _, a := range list {
		if !a.TracingOff && a.BeforeCall != model.AsidesAnywhere {
			return a.BeforeCall
		}
	}
	return 0
}

// A drift is the difference between the true duration of a block and the sum of its inexact times. Times are in
// ticks.
type drift struct {
	known      bool  // the true end of the block is known
	off        int64 // true duration of the block minus the sum of its times
	less, more float64
	passed     struct{ less, more float64 } // possible error of the times passed so far
}

// add includes a time in the block's possible error.
func (d *drift) add(kept uint64, b series.Bound) {
	less, more := span(kept, b)
	d.less += less
	d.more += more
}

// pass advances past a time of the block.
func (d *drift) pass(kept uint64, b series.Bound) {
	less, more := span(kept, b)
	d.passed.less += less
	d.passed.more += more
}

// at returns the correction for the sum of the times passed so far. It is the block's difference times these times'
// share of the possible error, so that no time becomes negative. The corrected sum is within that many ticks of the
// truth.
func (d *drift) at() (add int64, within float64) {
	if !d.known {
		return 0, math.Inf(1)
	}
	off := float64(d.off)
	low := max(-d.passed.less, off-(d.more-d.passed.more))
	high := min(d.passed.more, off+(d.less-d.passed.less))
	part := d.passed.more / max(d.more, 1)
	if off < 0 {
		part = d.passed.less / max(d.less, 1)
	}
	return int64(math.Round(off * part)), max(off*part-low, high-off*part, 0)
}

// longest is the largest time, or sum of a block, for which corrections are computed: beyond it ticks might wrap
// around.
const longest = 1 << 61

// span returns how much less and how much more than a kept time the true time may be.
func span(kept uint64, b series.Bound) (less, more float64) {
	ns := float64(kept)
	if b.Absolute > 0 {
		return min(ns, float64(b.Absolute)), min(float64(b.Absolute), longest)
	}
	// |kept - true| ≤ e·true
	if less = ns * b.Relative / (1 + b.Relative); b.Relative < 1 {
		return less, min(ns*b.Relative/(1-b.Relative), longest)
	}
	return less, longest
}

// A blockLine places consecutive calls with sampled times. Each block of calls begins and ends at the means'
// position, so that any block can be found directly; the calls in it are stretched to fit.
type blockLine struct {
	*MeanTimes
	now, ahead TimeSampler     // ahead is a block ahead of now
	terminals  *grammar.Cursor // at ahead's position
	span       bracket
	index      uint64
	at         float64 // where the gap before call index begins, as a sum of mean times
	stretch    float64 // factor by which the sampled times of the block are multiplied
	end        float64 // where the block ends, as a sum of mean times
}

// NewBlockLine returns a blockLine of a stream that begins with call index. open returns the sampler of its times.
func NewBlockLine(m *MeanTimes, open func(index uint64) TimeSampler, stream *grammar.Grammar, index uint64) CallTimeIterator {
	if m.anchors != nil {
		return newPieceLine(m, open, stream, index)
	}
	first := min(index, m.Sums.Len())
	first -= first % series.BlockCalls
	l := &blockLine{MeanTimes: m, now: open(first), ahead: open(first), terminals: stream.Cursor(), span: m.bracket(first), index: first}
	l.terminals.Seek(first)
	catchUp(l, stream, first, index)
	return l
}

// catchUp moves a line forward from one position of a stream to another.
func catchUp(l CallTimeIterator, stream *grammar.Grammar, from, to uint64) {
	c := stream.Cursor()
	for c.Seek(from); from < to; from++ {
		n, ok := c.Next()
		if !ok {
			return
		}
		_, _, _ = l.Next(int(n)) // lines of means have no errors
	}
}

// begin computes the factor of the block that begins with the next call.
func (l *blockLine) begin() {
	drawn, n := 0.0, uint64(0)
	for ; n < series.BlockCalls; n++ {
		terminal, ok := l.terminals.Next()
		if !ok {
			break
		}
		t := l.ahead.sample(int(terminal))
		drawn += float64(t.Gap.Ns) + float64(t.Duration.Ns)
	}
	l.at, l.end = float64(l.Sums.Before(l.index)), float64(l.Sums.Before(l.index+n))
	l.stretch = 0
	if drawn > 0 {
		l.stretch = (l.end - l.at) / drawn
	}
}

func (l *blockLine) Next(terminal int) (model.Timing, CallTime, error) {
	if l.index%series.BlockCalls == 0 {
		l.begin()
	}
	t := l.now.sample(terminal)
	begin := min(l.at+l.stretch*float64(t.Gap.Ns), l.end)
	l.at = min(begin+l.stretch*float64(t.Duration.Ns), l.end)
	l.index++
	return t, l.when(int64(begin), int64(l.at), l.now.asideNs(), l.span.next(terminal)), nil
}
