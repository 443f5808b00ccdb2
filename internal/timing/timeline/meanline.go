package timeline

import (
	"math"
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/trace/model"
)

// MeanTimes are estimates of when each call of a stream began and ended, from statistics of its rank's class. If the
// trace has the times of leaves, the statistics are by leaf of the rank's first thread.
//
// Methods take positions in the stream as steps: step 2·i is the begin of the gap before call i, step 2·i+1 the begin
// of the call.
type MeanTimes struct {
	Timings       []model.Timing      // by leaf; by terminal if Leaves is nil
	Leaves        *grammar.Grammar    // the stream as a sequence of leaves; nil: Timings is by terminal
	LeafTerminals []int32             // by leaf: its terminal
	LeafTimes     []model.LeafTimes   // by leaf: what the trace has of its times
	Sums          *grammar.WeightSums // sums of mean gaps and durations along the stream, in ns
	StartNs       int64
	Scale         float64 // factor from Sums to the time line, such that the stream ends at its known time
	ClockDrift    float64 // part of Scale: the rate of the time line to that of the rank's clock
	limits        *limits // bounds of the errors of calls' starts; nil: unknown
	asides        []lineAside
	// Index of the call before whose gap the recorder took time; before other calls, asides follow the gap. 0: unknown.
	early uint64

	anchors []anchor // begins of segments in rising order; nil: only the stream's begin and end are known
	sorts   []int8   // by leaf: the kind of its calls' durations, such as ofCalls
	gaps    *grammar.WeightSums
	filed   *grammar.WeightSums // sums along the stream of the durations of I/O calls only
	short   *grammar.WeightSums // sums along the stream of the durations of short calls only, see ofShort
}

// A lineAside is an aside of a stream with its position among the stream's calls.
type lineAside struct {
	model.Aside
	at     int64  // sum of the mean gaps and durations before the aside
	step   uint64 // the step that begins after the aside
	before int64  // sum of all earlier asides in ns
}

// A TimeSampler yields estimated times of a stream's consecutive calls.
type TimeSampler interface {
	// sample returns the times of the next call, which has this terminal.
	sample(terminal int) model.Timing
	// asideNs returns the sum in ns of all asides before the call that sample returned last.
	asideNs() int64
}

// A meanLine is a position in a stream whose calls all take the mean time of their leaf or terminal.
type meanLine struct {
	*MeanTimes
	done   int64 // sum of the mean times before the position
	span   bracket
	index  uint64
	aside  int // index of the first aside that is not before the position
	cursor *grammar.Cursor
	leaf   int // leaf, or terminal without leaves, of the last call that sample returned
}

// NewMeanTimeIterator returns a line whose calls take mean times, beginning with call index.
func NewMeanTimeIterator(m *MeanTimes, index uint64) CallTimeIterator {
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

// when returns when a call started and ended. begin and end are the sums in ns of the mean times before the call and
// after it. aside is the asides before the call, in ns.
func (m *MeanTimes) when(begin, end, aside int64, s duration) CallTime {
	w := CallTime{m.place(begin) + aside, m.place(end) + aside, math.MaxUint64}
	if m.limits != nil {
		w.MaxStartErrorNs = m.limits.within(float64(begin)*m.Scale/m.ClockDrift, s)
	}
	return w
}

// An entryLine is a meanLine that has one mean gap for calls that enter a loop at their leaf, and another for those
// in further iterations.
type entryLine struct {
	*meanLine
	visits *grammar.UnfoldedCursor
}

// NewLoopEntrySampler returns an entryLine that begins with call index. visits must be at the same call.
func NewLoopEntrySampler(m *MeanTimes, index uint64, visits *grammar.UnfoldedCursor) TimeSampler {
	return &entryLine{newMeanLine(m, index), visits}
}

func (l *entryLine) sample(terminal int) model.Timing {
	t := l.meanLine.sample(terminal)
	v, _ := l.visits.Next()
	x := &l.LeafTimes[l.leaf]
	if x.Entries > 0 && (v.EntersLoop || x.Calls > x.Entries) {
		move(&t.Gap, x.MeanGapEntering(v.LoopsEntered))
	}
	return t
}

// PlacedAsides returns the stream's asides and when each began on the time line.
func (m *MeanTimes) PlacedAsides() []model.PlacedAside {
	out := make([]model.PlacedAside, len(m.asides))
	for i, a := range m.asides {
		out[i] = model.PlacedAside{StartNs: m.time(a.step) + a.before, Aside: a.Aside}
	}
	return out
}

// PlacedAsidesByCall returns the stream's asides, in order of the calls that they precede.
func (m *MeanTimes) PlacedAsidesByCall() []model.Aside {
	out := make([]model.Aside, len(m.asides))
	for i := range out {
		out[i] = m.asides[i].Aside
	}
	return out
}

// place converts a sum of mean times to a time on the time line, without the asides before it.
func (m *MeanTimes) place(sum int64) int64 { return m.StartNs + int64(float64(sum)*m.Scale) }

// passed returns the sum of the first n asides in ns.
func (m *MeanTimes) passed(n int) int64 {
	if n == 0 {
		return 0
	}
	return m.asides[n-1].before + m.asides[n-1].Ns
}

// IsFileLeaf reports whether the calls of a leaf are I/O calls and anchors have the times of I/O calls separately.
func (m *MeanTimes) IsFileLeaf(leaf int) bool { return m.sorts != nil && m.sorts[leaf] == ofFiles }

// PartPlacer is a position on a line that moves forward over parts of the stream.
type PartPlacer struct {
	*MeanTimes
	sums   [sorts]int64 // by kind: sum of the mean times before the position
	anchor int
}

// PartPlacer returns a position at the line's begin.
func (m *MeanTimes) PartPlacer() *PartPlacer { return &PartPlacer{MeanTimes: m} }

// PlaceNext moves over a part of the stream: first a gap of before, then gaps, MPI calls and I/O calls. The arguments
// are sums of mean times in ns. It returns begin and end of the part on the time line, and the factor from the mean
// times of its calls to the time line.
func (l *PartPlacer) PlaceNext(before, gaps, calls, files int64) (start, end int64, scale float64) {
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

func (l *PartPlacer) sum() int64 { return l.sums[ofGaps] + l.sums[ofCalls] + l.sums[ofFiles] }

// ns returns the position's time on the time line, without asides.
func (l *PartPlacer) ns() int64 {
	if l.anchors == nil {
		return l.place(l.sum())
	}
	for l.anchor+1 < len(l.anchors) && l.anchors[l.anchor+1].sum() <= l.sum() {
		l.anchor++
	}
	return l.StartNs + int64(l.anchors[l.anchor].ns(&l.sums))
}

// inCalls returns the time in calls before the position, in ns of the time line; 0 without anchors.
func (l *PartPlacer) inCalls() (ns float64) {
	if l.anchors == nil {
		return 0
	}
	l.ns()
	a := &l.anchors[l.anchor]
	return a.calls + a.inCalls(&l.sums)
}

func (l *PartPlacer) begins() int64 {
	sum := l.sum()
	return l.ns() + l.passed(sort.Search(len(l.asides), func(i int) bool { return l.asides[i].at > sum }))
}

func (l *PartPlacer) ends() int64 {
	sum := l.sum()
	return l.ns() + l.passed(sort.Search(len(l.asides), func(i int) bool { return l.asides[i].at >= sum }))
}

// sum converts a time on the time line to a sum of mean times.
func (m *MeanTimes) sum(ns int64) int64 {
	for i := len(m.asides) - 1; i >= 0; i-- {
		a := &m.asides[i]
		if from := m.place(a.at) + a.before; ns >= from {
			return max(a.at, int64(float64(ns-m.StartNs-m.passed(i+1))/m.Scale))
		}
	}
	return int64(float64(ns-m.StartNs) / m.Scale)
}

// UseLeafTimes replaces the mean times of terminals by those of leaves, unless their sum exceeds the range of a time
// line. leaves is the stream as leaves, terminal and times are by leaf.
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

// SplitFirstCalls makes a leaf of its own of a leaf's first call if that call took far longer than the leaf's other
// calls. index is, by leaf, the index of its first call.
func (m *MeanTimes) SplitFirstCalls(index []uint64) {
	if m.Leaves == nil {
		return
	}
	for leaf := range m.LeafTimes {
		x := &m.LeafTimes[leaf]
		if x.RanksWithSlowFirst != 1 || x.Calls < 2 || index[leaf] >= m.Leaves.Len() {
			continue
		}
		own := model.LeafTimes{Calls: 1, SumGapNs: x.SumFirstGapNs, SumDurationNs: x.SumFirstDurationNs}
		x.RemoveSlowFirst()
		for i, ns := range [][2]float64{{x.SumGapNs / float64(x.Calls), x.SumDurationNs / float64(x.Calls)}, {own.SumGapNs, own.SumDurationNs}} {
			t := &m.Timings[leaf]
			if i > 0 {
				m.Timings = append(m.Timings, *t)
				t = &m.Timings[len(m.Timings)-1]
			}
			move(&t.Gap, ns[0])
			move(&t.Duration, ns[1])
		}
		m.Leaves = m.Leaves.ReplaceTerminalAt(index[leaf], int32(len(m.LeafTerminals)))
		m.LeafTerminals, m.LeafTimes = append(m.LeafTerminals, m.LeafTerminals[leaf]), append(m.LeafTimes, own)
	}
}

// ScaleByTerminal multiplies the mean gap and duration of each terminal by factors.
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

// move sets the time of a sample to ns, the mean of some of the calls that the sample is the mean of. The error bound
// grows by the difference.
func move(s *model.Sample, ns float64) {
	if s.Kind == model.NoSample || ns >= math.MaxInt64 {
		return
	}
	to := uint64(ns + 0.5)
	s.ErrorBoundNs += max(s.Ns, to) - min(s.Ns, to)
	s.Ns = to
}

// PlaceAsides finds the step that each aside precedes, and where that is on the line.
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

// behind returns the call to set as MeanTimes.early; 0 if unknown. The recorder's time before this call follows
// directly after the previous call, while other asides follow the gap.
func behind(list []model.Aside) uint64 {
	for _, a := range list {
		if !a.TracingOff && a.BeforeCall != model.AsidePositionUnknown {
			return a.BeforeCall
		}
	}
	return 0
}

// A drift is how much the true duration of a block differs from the sum of its inexact times. Times are in ticks.
type drift struct {
	known      bool  // the block's true end is known
	off        int64 // true duration of the block minus the sum of its kept times
	less, more float64
	passed     struct{ less, more float64 } // by how much the times passed so far may be too large, and too small
}

// add adds the possible error of a kept time to that of the block.
func (d *drift) add(kept uint64, b series.Bound) {
	less, more := span(kept, b)
	d.less += less
	d.more += more
}

// pass adds the possible error of a kept time to that of the times passed so far.
func (d *drift) pass(kept uint64, b series.Bound) {
	less, more := span(kept, b)
	d.passed.less += less
	d.passed.more += more
}

// at returns what to add to the sum of the times passed so far, and the largest error of the result, in ticks. It
// adds the part of off that corresponds to these times' share of the block's possible error, so that no time becomes
// negative.
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

// longest is the largest time, and the largest sum of a block, for which corrections are computed: with more, ticks
// might overflow.
const longest = 1 << 61

// span returns by how much the true time may be less, and by how much more, than the kept time. b is the error bound
// of the kept time.
func span(kept uint64, b series.Bound) (less, more float64) {
	ns := float64(kept)
	if b.Absolute > 0 {
		return min(ns, float64(b.Absolute)), min(float64(b.Absolute), longest)
	}
	// |kept - true| ≤ Relative·true
	if less = ns * b.Relative / (1 + b.Relative); b.Relative < 1 {
		return less, min(ns*b.Relative/(1-b.Relative), longest)
	}
	return less, longest
}

// A blockLine places consecutive calls with sampled times. Each block of calls begins and ends where the mean times
// put it, so that any block can be found directly. The sampled times in the block are multiplied by a factor to fill
// it.
type blockLine struct {
	*MeanTimes
	now, ahead TimeSampler     // now samples the next call, ahead the calls up to the end of the block
	terminals  *grammar.Cursor // position of ahead in the stream
	span       bracket
	index      uint64
	at         float64 // sum of the mean times where the gap before call index begins
	stretch    float64 // factor by which the sampled times of the block are multiplied
	end        float64 // sum of the mean times where the block ends
}

// NewBlockTimeIterator returns a blockLine of a stream that begins with call index, or a pieceLine if there are
// anchors. open returns a sampler of the stream's times.
func NewBlockTimeIterator(m *MeanTimes, open func(index uint64) TimeSampler, stream *grammar.Grammar, index uint64) CallTimeIterator {
	if m.anchors != nil {
		return newPieceLine(m, open, stream, index)
	}
	first := min(index, m.Sums.Len())
	first -= first % series.CallsPerBlock
	l := &blockLine{MeanTimes: m, now: open(first), ahead: open(first), terminals: stream.Cursor(), span: m.bracket(first), index: first}
	l.terminals.Seek(first)
	catchUp(l, stream, first, index)
	return l
}

// catchUp moves a line of a stream from call from to call to.
func catchUp(l CallTimeIterator, stream *grammar.Grammar, from, to uint64) {
	c := stream.Cursor()
	for c.Seek(from); from < to; from++ {
		n, ok := c.Next()
		if !ok {
			return
		}
		_, _, _ = l.Next(int(n)) // lines of mean times return no errors
	}
}

// begin computes the factor of the block that begins with the next call.
func (l *blockLine) begin() {
	drawn, n := 0.0, uint64(0)
	for ; n < series.CallsPerBlock; n++ {
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
	if l.index%series.CallsPerBlock == 0 {
		l.begin()
	}
	t := l.now.sample(terminal)
	begin := min(l.at+l.stretch*float64(t.Gap.Ns), l.end)
	l.at = min(begin+l.stretch*float64(t.Duration.Ns), l.end)
	l.index++
	return t, l.when(int64(begin), int64(l.at), l.now.asideNs(), l.span.next(terminal)), nil
}
