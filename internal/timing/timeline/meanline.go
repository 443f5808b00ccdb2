package timeline

import (
	"math"
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/trace/model"
)

// MeanTimes are the times of a rank's single calls by its class's statistics. They are those of the calls at one leaf of
// the first thread's structure, if the trace has leaves.
type MeanTimes struct {
	Timings       []model.Timing      // by leaf, or terminal
	Leaves        *grammar.Grammar    // the stream as leaves; nil: as terminals
	LeafTerminals []int32             // terminal of each leaf
	LeafTimes     []model.LeafTimes   // of leaves
	Sums          *grammar.WeightSums // of durations and gaps
	StartNs       int64
	Scale         float64 // of sums, so that the stream ends when it did
	ClockDrift    float64 // the part of it that is the clock's
	limits        *limits // nil: it is not known how far starts are off
	asides        []lineAside
	early         uint64 // call before which the recorder started, directly after the previous one

	anchors []anchor // nil: only where the stream begins and ends is known
	sorts   []int8   // by leaf: of the call
	gaps    *grammar.WeightSums
	filed   *grammar.WeightSums // durations of calls that work on files
	short   *grammar.WeightSums // durations of calls that are far shorter than others
}

// A lineAside is an aside on a line of means.
type lineAside struct {
	model.Aside
	at     int64  // among the sums
	step   uint64 // that it is before
	before int64  // ns of those before it
}

// A TimeSampler gives the times of calls, one after the other.
type TimeSampler interface {
	// sample returns those of the next call, whose terminal this is.
	sample(terminal int) model.Timing
	// asideNs is the time of the asides that lie before it.
	asideNs() int64
}

// A meanLine is a place in a stream with times that are means.
type meanLine struct {
	*MeanTimes
	done   int64 // sum of what is before
	span   bracket
	index  uint64
	aside  int // the first that is not before index
	cursor *grammar.Cursor
	leaf   int // of the call that Next was asked for last
}

// NewMeanLine opens a line whose times are the means themselves, at a position.
func NewMeanLine(m *MeanTimes, index uint64) TimeLine {
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

// when places a call between two sums of times, after the given time of asides.
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

// NewEntryLine opens such a line at a position, where visits are too.
func NewEntryLine(m *MeanTimes, index uint64, visits *grammar.UnfoldedCursor) TimeSampler {
	return &entryLine{newMeanLine(m, index), visits}
}

func (l *entryLine) sample(terminal int) model.Timing {
	t := l.meanLine.sample(terminal)
	v, _ := l.visits.Next()
	x := &l.LeafTimes[l.leaf]
	if x.Entries > 0 && (v.EntersLoop || x.Calls > x.Entries) {
		move(&t.Gap, x.GapBefore(v.LoopsEntered))
	}
	return t
}

// PlacedAsides are the asides on the line.
func (m *MeanTimes) PlacedAsides() []model.PlacedAside {
	out := make([]model.PlacedAside, len(m.asides))
	for i, a := range m.asides {
		out[i] = model.PlacedAside{Start: m.time(a.step) + a.before, Aside: a.Aside}
	}
	return out
}

// PlacedAsidesByCall are those, by call.
func (m *MeanTimes) PlacedAsidesByCall() []model.Aside {
	out := make([]model.Aside, len(m.asides))
	for i := range out {
		out[i] = m.asides[i].Aside
	}
	return out
}

// place is where on the run's time line a sum of times would be if there were no asides.
func (m *MeanTimes) place(sum int64) int64 { return m.StartNs + int64(float64(sum)*m.Scale) }

// passed is the time of the first n asides.
func (m *MeanTimes) passed(n int) int64 {
	if n == 0 {
		return 0
	}
	return m.asides[n-1].before + m.asides[n-1].Ns
}

// IsFileLeaf reports whether calls of a leaf work on files, where the times of these are known apart.
func (m *MeanTimes) IsFileLeaf(leaf int) bool { return m.sorts != nil && m.sorts[leaf] == ofFiles }

// PartCursor are places along a line that come one after the other.
type PartCursor struct {
	*MeanTimes
	sums   [sorts]int64 // of what is before
	anchor int
}

// PartCursor goes along the line from its beginning.
func (m *MeanTimes) PartCursor() *PartCursor { return &PartCursor{MeanTimes: m} }

// Next moves on over sums of times: a gap before the part, and the gaps, calls and calls on files in it. It returns where the part begins and
// ends, and by what times of its calls are multiplied on the line.
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

// ns is where on the line it would be without asides.
func (l *PartCursor) ns() int64 {
	if l.anchors == nil {
		return l.place(l.sum())
	}
	for l.anchor+1 < len(l.anchors) && l.anchors[l.anchor+1].sum() <= l.sum() {
		l.anchor++
	}
	return l.StartNs + int64(l.anchors[l.anchor].ns(&l.sums))
}

// inCalls is how much of the line before it is spent in calls.
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

// sum is the sum of times at a place on the time line.
func (m *MeanTimes) sum(ns int64) int64 {
	for i := len(m.asides) - 1; i >= 0; i-- {
		a := &m.asides[i]
		if from := m.place(a.at) + a.before; ns >= from {
			return max(a.at, int64(float64(ns-m.StartNs-m.passed(i+1))/m.Scale))
		}
	}
	return int64(float64(ns-m.StartNs) / m.Scale)
}

// UseLeafTimes has the times of leaves in place of those of terminals, unless they add up to more than a time line holds.
func (m *MeanTimes) UseLeafTimes(leaves *grammar.Grammar, terminal []int32, times []model.LeafTimes) {
	own := make([]model.Timing, len(times))
	sum := 0.0
	for leaf := range own {
		own[leaf] = m.Timings[terminal[leaf]]
		if x := &times[leaf]; x.Calls > 0 {
			n := float64(x.Calls)
			move(&own[leaf].Duration, x.Duration/n)
			move(&own[leaf].Gap, x.Gap/n)
			sum += x.Duration + x.Gap
		}
	}
	if sum >= math.MaxInt64/2 {
		return
	}
	m.Timings, m.Leaves, m.LeafTerminals, m.LeafTimes = own, leaves, terminal, times
}

// SplitFirstCalls lets the first calls at leaves that took far longer than the rest be leaves of their own. index is where each leaf comes first.
func (m *MeanTimes) SplitFirstCalls(index []uint64) {
	if m.Leaves == nil {
		return
	}
	for leaf := range m.LeafTimes {
		x := &m.LeafTimes[leaf]
		if x.RanksWithFirst != 1 || x.Calls < 2 || index[leaf] >= m.Leaves.Len() {
			continue
		}
		own := model.LeafTimes{Calls: 1, Gap: x.FirstGap, Duration: x.FirstDuration}
		x.RemoveFirst()
		for i, ns := range [][2]float64{{x.Gap / float64(x.Calls), x.Duration / float64(x.Calls)}, {own.Gap, own.Duration}} {
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

// ScaleByTerminal multiplies the times by factors of their terminals.
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
			p.Gap, p.EntryGaps, p.Duration = p.Gap*gap, p.EntryGaps*gap, p.Duration*duration
			p.OuterEntries = slices.Clone(p.OuterEntries)
			for k := range p.OuterEntries {
				p.OuterEntries[k].Gap *= gap
			}
			calls = float64(p.Calls)
		}
		sum += calls * (float64(x.Gap.Ns) + float64(x.Duration.Ns))
	}
	if sum < math.MaxInt64/2 {
		m.Timings, m.LeafTimes = times, places
	}
}

// move makes another mean of a sample, of some of the same calls.
func move(s *model.Sample, ns float64) {
	if s.Kind == model.NoSample || ns >= math.MaxInt64 {
		return
	}
	to := uint64(ns + 0.5)
	s.ErrorBound += max(s.Ns, to) - min(s.Ns, to)
	s.Ns = to
}

// PlaceAsides finds where on the line asides are.
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

// behind returns the call directly after which the recorder started: its time is there, and not before the next call. 0
// if unknown.
func behind(list []model.Aside) uint64 {
	for _, a := range list {
		if !a.TracingOff && a.BeforeCall != model.AsidesAnywhere {
			return a.BeforeCall
		}
	}
	return 0
}

// A drift is the difference between the sum of times that were kept with an error and the truth, within a block with
// known begin and end. Times are in ticks.
type drift struct {
	known      bool  // where the block ends
	off        int64 // by how much more than the kept times the block takes
	less, more float64
	passed     struct{ less, more float64 } // of these, so far
}

// add takes a time of the block into account.
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

// at returns what is to be added to the sum of the times that were passed: their part of what the block lacks or has too
// much, in proportion to how far they may be off, so that no time becomes less than nothing. The truth is within that many ticks of it.
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

// longest is how many ticks a time, or the sum of a block's, may have for anything to be said of it: beyond, ticks wrap around.
const longest = 1 << 61

// span is how much less and more than a kept time the true one may be.
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

// A blockLine places calls one after the other whose times are not all the means of their leaves. Each block of calls
// begins and ends where the means have it, so that a position is found without those before it; the calls in between
// are stretched to fit.
type blockLine struct {
	*MeanTimes
	now, ahead TimeSampler     // the latter a block ahead
	terminals  *grammar.Cursor // of ahead
	span       bracket
	index      uint64
	at         float64 // sum of times before index
	stretch    float64 // of the block
	end        float64 // of the block
}

// NewBlockLine opens such a line of a stream at a position. open opens what gives its times.
func NewBlockLine(m *MeanTimes, open func(index uint64) TimeSampler, stream *grammar.Grammar, index uint64) TimeLine {
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

// catchUp moves a line on from one position of a stream to another.
func catchUp(l TimeLine, stream *grammar.Grammar, from, to uint64) {
	c := stream.Cursor()
	for c.Seek(from); from < to; from++ {
		n, ok := c.Next()
		if !ok {
			return
		}
		_, _, _ = l.Next(int(n)) // lines of means have no errors
	}
}

// begin prepares the block that begins with the next call.
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
