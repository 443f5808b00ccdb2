package timeline

import (
	"math"
	"sort"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Kinds of time on a MeanTimes line: gaps, and the durations of three kinds of calls.
const (
	ofGaps = iota
	ofCalls
	ofFiles // I/O calls that are not MPI's
	ofShort // calls far shorter than those that wait for other ranks
	sorts
)

// A Span is consecutive calls of a stream, from a call whose begin is known to the next such call.
type Span struct {
	BeginStep  uint64         // step where the span begins: 2·i at the gap before call i, 2·i+1 at call i itself
	BeginNs    float64        // when the span begins, in ns since the rank began
	EqualParts []ComputeTimes // the span's time, cut into parts of equal length: computation and I/O in each
	ExactTimes *ExactTimes    // gaps and durations of the span's calls; nil if only means are known
}

// ExactTimes are the gaps and durations of consecutive calls in ns. Call i begins GapsNs[i] after the
// end of the call before it.
type ExactTimes struct{ GapsNs, DurationsNs []int64 }

// TotalNs returns the sum of the gaps and the sum of the durations.
func (e *ExactTimes) TotalNs() (gaps, durations int64) {
	for i, ns := range e.GapsNs {
		gaps += ns
		durations += e.DurationsNs[i]
	}
	return gaps, durations
}

// A ComputeTimes is how much of a part of a span is computation, and how much is in I/O calls, in ns.
type ComputeTimes struct{ ComputingNs, FileIONs float64 }

// An anchor is the begin of a segment of calls on the time line, and the factors for times in the segment.
type anchor struct {
	step uint64
	// Begin of this segment and of the next one, in ns since the rank began, without asides.
	at, next float64
	sums     [sorts]int64
	factor   [sorts]float64
	calls    float64 // time in calls before the segment, in ns
	within   uint64  // largest error of when a call in the segment starts, in ns; 0: unknown
	columns  ComputeTimes
	exact    *exact // the times of each call in the segment; nil: calls are placed by sums of mean times
}

// exact is the exact times of consecutive calls, and when they began and ended.
type exact struct {
	ExactTimes
	first uint64
	// In ns since the rank began: alternately the begin of a gap and of its call; finally the end of the last call.
	edges []int64
}

// place computes edges, where the first gap begins at begin. No edge is later than end.
func (e *exact) place(begin, end int64) {
	at := begin
	for i, ns := range e.GapsNs {
		e.edges = append(e.edges, at, min(at+ns, end))
		at = min(at+ns+e.DurationsNs[i], end)
	}
	e.edges = append(e.edges, at)
}

// at returns when a step begins, in ns since the rank began.
func (e *exact) at(step uint64) int64 {
	return e.edges[min(step-min(step, 2*e.first), uint64(len(e.edges)-1))]
}

// ns returns a position in the segment, in ns since the rank began and without asides. s has, by kind, the sum of the
// mean times before the position.
func (a *anchor) ns(s *[sorts]int64) float64 {
	at := a.at
	for i, f := range a.factor {
		at += f * float64(s[i]-a.sums[i])
	}
	return min(at, a.next)
}

// sum returns the sum of the mean times before the anchor, over all kinds.
func (a *anchor) sum() (ns int64) {
	for _, s := range a.sums {
		ns += s
	}
	return ns
}

// inCalls returns the time in calls from the anchor to a position in its segment, in ns. s has, by kind, the sum of
// the mean times before the position.
func (a *anchor) inCalls(s *[sorts]int64) (ns float64) {
	for k := ofCalls; k < sorts; k++ {
		ns += a.factor[k] * float64(s[k]-a.sums[k])
	}
	return ns
}

// AnchorAt moves calls to where spans say that they began. files selects terminals of I/O calls. short selects
// terminals whose calls are far shorter than others: these keep their mean time, unless the segment has no others.
//
// slack is the largest error of the spans' begins in ns, -1 if unknown. Sums of Span.EqualParts are accurate to level
// ns. own is set if the means are the rank's own, not those of its class.
func (m *MeanTimes) AnchorAt(spans []Span, files, short func(terminal int) bool, slack int64, level float64, own bool) {
	m.sorts = make([]int8, len(m.Timings))
	for leaf := range m.sorts {
		switch m.sorts[leaf] = ofCalls; {
		case files(m.terminal(leaf)):
			m.sorts[leaf] = ofFiles
		case short(m.terminal(leaf)):
			m.sorts[leaf] = ofShort
		}
	}
	m.gaps = m.Sums.WithWeights(func(leaf uint32) int64 { return int64(m.Timings[leaf].Gap.Ns) })
	of := func(sort int8) *grammar.WeightSums {
		return m.Sums.WithWeights(func(leaf uint32) int64 {
			if m.sorts[leaf] == sort {
				return int64(m.Timings[leaf].Duration.Ns)
			}
			return 0
		})
	}
	m.filed, m.short = of(ofFiles), of(ofShort)
	list := m.stretches(spans, slack)
	m.fill(list, level, own)
	m.anchors = list
}

// stretches divides the calls of the spans into segments that roughly match the spans' columns. Where a column begins
// among the calls follows from their mean times.
func (m *MeanTimes) stretches(spans []Span, slack int64) (list []anchor) {
	last := 2 * m.Sums.Len()
	whole := float64(m.Sums.Total()) * m.Scale // duration of the run without asides, in ns
	end := whole + float64(m.passed(len(m.asides)))
	early := ComputeTimes{} // times of columns before the stream's first call
	for i, s := range spans {
		from, until, to := min(s.BeginStep, last), last, end
		if i+1 < len(spans) {
			until, to = min(spans[i+1].BeginStep, last), spans[i+1].BeginNs
		}
		if from >= until && len(list) > 0 {
			list[len(list)-1].columns.Add(s.until(1))
			continue
		}
		if from >= until {
			early.Add(s.until(1))
			continue
		}
		first, done := len(list), ComputeTimes{}
		begin, length := m.unanchored(from), m.unanchored(until)-m.unanchored(from)
		if first == 0 {
			from = 0
		}
		for c := 1; from < until; c++ {
			next, part := until, 1.0
			for ; c < len(s.EqualParts); c++ {
				step := m.stepAt(m.sum(m.StartNs + int64(begin+length*float64(c)/float64(len(s.EqualParts)))))
				if step > from && step < until {
					next, part = step, (m.unanchored(step)-begin)/max(1, length)
					break
				}
			}
			a := anchor{step: from, at: s.BeginNs + (to-s.BeginNs)*max(0, m.unanchored(from)-begin)/max(1, length), sums: m.sumsAt(from)}
			a.at -= float64(m.passed(m.asidesBefore(from)))
			if from == 0 {
				a.at = 0
			}
			until := s.until(part)
			a.columns = ComputeTimes{early.ComputingNs + until.ComputingNs - done.ComputingNs, early.FileIONs + until.FileIONs - done.FileIONs}
			if early, done = (ComputeTimes{}), until; slack >= 0 {
				a.within = ceil(max(1, to-s.BeginNs))
			}
			if s.ExactTimes != nil {
				a.exact = &exact{ExactTimes: *s.ExactTimes, first: from / 2}
			}
			list, from = append(list, a), next
		}
		list = join(list, first, m.sumsAt(until))
	}
	at := 0.0
	for i := range list {
		list[i].at = max(at, min(list[i].at, whole))
		at = list[i].at
	}
	for i := range list {
		a := &list[i]
		a.next = whole
		if i+1 < len(list) {
			a.next = list[i+1].at
		}
		if a.within > 0 {
			a.within = max(a.within, ceil(a.next-a.at)) + uint64(slack)
		}
		if a.exact != nil {
			begin, end := m.passed(m.asidesBefore(a.step)), m.passed(len(m.asides))
			if i+1 < len(list) {
				end = m.passed(m.asidesBefore(list[i+1].step))
			}
			a.exact.place(int64(a.at)+begin, int64(a.next)+end)
		}
	}
	return list
}

// until returns the sum of the columns up to a fraction of the span, from 0 to 1.
func (s *Span) until(part float64) (sum ComputeTimes) {
	left := part * float64(len(s.EqualParts))
	for _, c := range s.EqualParts {
		x := min(1, left)
		if left -= x; x <= 0 {
			break
		}
		sum.Add(ComputeTimes{x * c.ComputingNs, x * c.FileIONs})
	}
	return sum
}

// join merges segments of a span, list[first:], until each has both gaps and calls. Then the computation in a column
// always has a gap to go to, even if the mean times put the gap into another column. end is the sums at the end of
// the span.
func join(list []anchor, first int, end [sorts]int64) []anchor {
	out := list[:first]
	has := func(from, to *[sorts]int64) bool {
		return to[ofGaps] > from[ofGaps] && to[ofCalls]+to[ofFiles] > from[ofCalls]+from[ofFiles]
	}
	for i := first; i < len(list); i++ {
		a := list[i]
		if n := len(out); n > first && (!has(&out[n-1].sums, &a.sums) || i == len(list)-1 && !has(&a.sums, &end)) {
			out[n-1].columns.Add(a.columns)
			continue
		}
		out = append(out, a)
	}
	return out
}

// Add adds the times of o to c.
func (c *ComputeTimes) Add(o ComputeTimes) {
	c.ComputingNs += o.ComputingNs
	c.FileIONs += o.FileIONs
}

// fill divides the time of each segment between gaps and calls. It keeps the proportions of the mean times as far as
// the sums of the columns allow. What differs is carried over to the next segment, and at the end back to earlier
// ones. If own is set, the sums over all segments are those of the means.
func (m *MeanTimes) fill(list []anchor, level float64, own bool) {
	all := ComputeTimes{}
	for i := range list {
		all.Add(list[i].columns)
	}
	factor := ComputeTimes{1, 1}
	if own && all.ComputingNs > 0 {
		factor.ComputingNs = float64(m.gaps.Total()) * m.Scale / all.ComputingNs
	}
	if own && all.FileIONs > 0 {
		factor.FileIONs = float64(m.filed.Total()) * m.Scale / all.FileIONs
	}
	parts := make([]segmentSums, len(list))
	carried := ComputeTimes{}
	for i := range list {
		a, p := &list[i], &parts[i]
		end := m.sumsAt(2 * m.Sums.Len())
		if i+1 < len(list) {
			end = list[i+1].sums
		}
		for k := range p.sums {
			p.sums[k] = float64(end[k] - a.sums[k])
		}
		whole := a.next - a.at
		if a.exact != nil {
			gaps, durations := a.exact.TotalNs()
			p.know(float64(gaps), float64(durations))
			carried.Add(ComputeTimes{factor.ComputingNs*a.columns.ComputingNs - p.ns[ofGaps], factor.FileIONs*a.columns.FileIONs - p.ns[ofFiles]})
			continue
		}
		wanted := ComputeTimes{carried.ComputingNs + factor.ComputingNs*a.columns.ComputingNs, carried.FileIONs + factor.FileIONs*a.columns.FileIONs}
		if p.sums[ofGaps] > 0 {
			p.ns[ofGaps] = min(max(0, near(p.sums[ofGaps]*m.Scale, wanted.ComputingNs, level*factor.ComputingNs)), whole)
		}
		if p.sums[ofFiles] > 0 {
			p.ns[ofFiles] = min(max(0, near(p.sums[ofFiles]*m.Scale, wanted.FileIONs, level*factor.FileIONs)), whole-p.ns[ofGaps])
		}
		if p.sums[ofCalls] > 0 {
			p.ns[ofShort] = min(p.sums[ofShort]*m.Scale, whole-p.ns[ofGaps]-p.ns[ofFiles])
		}
		rest := whole - p.ns[ofGaps] - p.ns[ofFiles] - p.ns[ofShort]
		switch {
		case p.sums[ofCalls] > 0:
			p.ns[ofCalls] = rest
		case p.sums[ofShort] > 0:
			p.ns[ofShort] = rest
		case p.sums[ofFiles] > 0:
			p.ns[ofFiles] += rest
		case p.sums[ofGaps] > 0:
			p.ns[ofGaps] += rest
		}
		carried = ComputeTimes{wanted.ComputingNs - p.ns[ofGaps], wanted.FileIONs - p.ns[ofFiles]}
	}
	for i := len(parts) - 1; i >= 0 && carried.ComputingNs != 0; i-- {
		p := &parts[i]
		if list[i].exact == nil && p.sums[ofGaps] > 0 && p.sums[ofCalls] > 0 {
			more := min(max(carried.ComputingNs, -p.ns[ofGaps]), p.ns[ofCalls])
			p.ns[ofGaps] += more
			p.ns[ofCalls] -= more
			carried.ComputingNs -= more
		}
	}
	for i := range list {
		for k, ns := range parts[i].ns {
			if parts[i].sums[k] > 0 {
				list[i].factor[k] = ns / parts[i].sums[k]
			}
		}
		if i+1 < len(list) {
			list[i+1].calls = list[i].calls + list[i].inCalls(&list[i+1].sums)
		}
	}
}

// near returns the time nearest to ns that differs from to by at most within.
func near(ns, to, within float64) float64 { return min(max(ns, to-within), to+within) }

// A segmentSums is a segment's sums by kind, in ns: of the mean times, and of the times that they become on the time
// line.
type segmentSums struct{ sums, ns [sorts]float64 }

// know sets the known sums of gaps and of durations. It divides the durations among the kinds of calls in proportion
// to their mean times.
func (p *segmentSums) know(gaps, durations float64) {
	p.ns[ofGaps] = gaps
	sum := 0.0
	for k := ofCalls; k < sorts; k++ {
		sum += p.sums[k]
	}
	for k := ofCalls; k < sorts && sum > 0; k++ {
		p.ns[k] = durations * p.sums[k] / sum
	}
}

// IsAnchored reports whether times of the line are known besides its begin and its end.
func (m *MeanTimes) IsAnchored() bool { return m.anchors != nil }

// IsExactStep reports whether the exact time of a step is known.
func (m *MeanTimes) IsExactStep(step uint64) bool {
	return m.anchors != nil && m.anchors[m.anchorOf(step)].exact != nil
}

// total returns the sum of the mean times before a step.
func (m *MeanTimes) total(step uint64) int64 {
	sum := m.Sums.Before(step / 2)
	if step%2 == 1 && step/2 < m.Sums.Len() {
		leaf, _ := m.Sums.TerminalAt(step / 2)
		sum += int64(m.Timings[leaf].Gap.Ns)
	}
	return sum
}

// unanchored returns when a step begins according to the mean times alone, in ns since the rank began.
func (m *MeanTimes) unanchored(step uint64) float64 {
	return float64(m.total(step))*m.Scale + float64(m.passed(m.asidesBefore(step)))
}

// stepAt returns the first step before which the mean times have the given sum or more.
func (m *MeanTimes) stepAt(sum int64) uint64 {
	if sum >= m.Sums.Total() {
		return 2 * m.Sums.Len()
	}
	i, leaf := m.Sums.Nth(sum)
	switch before := m.Sums.Before(i); {
	case before >= sum:
		return 2 * i
	case before+int64(m.Timings[leaf].Gap.Ns) >= sum:
		return 2*i + 1
	}
	return 2*i + 2
}

// sumsAt returns, by kind, the sum of the mean times before a step.
func (m *MeanTimes) sumsAt(step uint64) (s [sorts]int64) {
	i := step / 2
	s[ofGaps], s[ofFiles], s[ofShort] = m.gaps.Before(i), m.filed.Before(i), m.short.Before(i)
	s[ofCalls] = m.Sums.Before(i) - s[ofGaps] - s[ofFiles] - s[ofShort]
	s[ofGaps] += m.total(step) - m.Sums.Before(i)
	return s
}

// anchorOf returns the index of the last anchor at or before a step.
func (m *MeanTimes) anchorOf(step uint64) int {
	return max(1, sort.Search(len(m.anchors), func(i int) bool { return m.anchors[i].step > step })) - 1
}

// asidesBefore returns the number of asides before a step.
func (m *MeanTimes) asidesBefore(step uint64) int {
	return sort.Search(len(m.asides), func(i int) bool { return m.asides[i].step > step })
}

// time returns when a step begins on the time line, in ns without the asides before it.
func (m *MeanTimes) time(step uint64) int64 {
	if m.anchors == nil {
		return m.place(m.total(step))
	}
	a := &m.anchors[m.anchorOf(step)]
	if a.exact != nil {
		return m.StartNs + a.exact.at(step) - m.passed(m.asidesBefore(step))
	}
	s := m.sumsAt(step)
	return m.StartNs + int64(a.ns(&s))
}

// LastCallBegunBy returns the index of the last call whose gap begins at or before ns on the time line; 0 if none does.
func (m *MeanTimes) LastCallBegunBy(ns int64) uint64 {
	if m.anchors == nil {
		switch at := m.sum(ns); {
		case at < 0:
			return 0
		case at < m.Sums.Total():
			index, _ := m.Sums.Nth(at)
			return index
		}
		return m.Sums.Len() - 1
	}
	low, high := uint64(0), m.Sums.Len()
	for low < high {
		if i := low + (high-low)/2; m.time(2*i)+m.passed(m.asidesBefore(2*i)) > ns {
			high = i
		} else {
			low = i + 1
		}
	}
	return max(low, 1) - 1
}

// along is a position on the line that moves forward.
type along struct {
	*MeanTimes
	sums   [sorts]int64 // by kind: sum of the mean times before the position
	anchor int
}

func (m *MeanTimes) along(step uint64) along {
	return along{m, m.sumsAt(step), m.anchorOf(step)}
}

// pass moves over a gap or call of ns mean time, which begins with the step. It returns the segment, and begin and
// end in ns since the rank began, without asides.
func (l *along) pass(step uint64, sort int, ns uint64) (a *anchor, from, to float64) {
	for l.anchor+1 < len(l.anchors) && l.anchors[l.anchor+1].step <= step {
		l.anchor++
	}
	a = &l.anchors[l.anchor]
	from = a.ns(&l.sums)
	l.sums[sort] += int64(ns)
	return a, from, a.ns(&l.sums)
}

// anchored returns the times of the call with this index in segment a, on the time line and with the error of its
// start. begin and end are in ns since the rank began, and aside is the asides before the call.
func (m *MeanTimes) anchored(a *anchor, index uint64, begin, end float64, aside int64, s duration) CallTime {
	w := CallTime{m.StartNs + int64(begin) + aside, m.StartNs + int64(end) + aside, math.MaxUint64}
	if e := a.exact; e != nil {
		w.StartNs, w.EndNs = m.StartNs+e.at(2*index+1), m.StartNs+e.at(2*index+2)
	}
	switch {
	case a.within > 0:
		w.MaxStartErrorNs = a.within
	case m.limits != nil:
		w.MaxStartErrorNs = m.limits.within(begin/m.ClockDrift, s)
	}
	return w
}

// An anchoredLine is a meanLine whose calls are moved to where anchors put them.
type anchoredLine struct {
	*meanLine
	along along
}

func (l *anchoredLine) Next(terminal int) (model.Timing, CallTime, error) {
	step := 2 * l.index
	t := l.sample(terminal)
	l.along.pass(step, ofGaps, t.Gap.Ns)
	a, begin, end := l.along.pass(step+1, int(l.sorts[l.leaf]), t.Duration.Ns)
	return t, l.anchored(a, step/2, begin, end, l.asideNs(), l.span.next(terminal)), nil
}

// A pieceLine is a blockLine with anchors. A piece is the calls of one block between two anchors. It begins and ends
// where the mean times put it, and its sums of computation and calls are those of the means.
type pieceLine struct {
	*MeanTimes
	now, ahead TimeSampler     // now samples the next call, ahead the calls up to the end of the piece
	terminals  *grammar.Cursor // position of ahead in the stream
	byTerminal []int8          // by terminal: the kind of its calls' durations
	span       bracket
	index      uint64
	until      uint64 // step at which the piece ends
	anchor     int
	at, end    float64
	factor     [sorts]float64
	kept       model.Timing // the latest sample of ahead: its gap and its call may be in different pieces
	keptSort   int8
}

func newPieceLine(m *MeanTimes, open func(index uint64) TimeSampler, stream *grammar.Grammar, index uint64) CallTimeIterator {
	first := min(index, m.Sums.Len())
	first -= first % series.CallsPerBlock
	l := &pieceLine{MeanTimes: m, now: open(first), ahead: open(first), terminals: stream.Cursor(), span: m.bracket(first), index: first, until: 2 * first}
	l.terminals.Seek(first)
	terminals := 0
	for leaf := range m.sorts {
		terminals = max(terminals, m.terminal(leaf)+1)
	}
	l.byTerminal = make([]int8, terminals)
	for leaf, sort := range m.sorts {
		l.byTerminal[m.terminal(leaf)] = sort
	}
	catchUp(l, stream, first, index)
	return l
}

// terminal returns the terminal of a leaf.
func (m *MeanTimes) terminal(leaf int) int {
	if m.LeafTerminals != nil {
		return int(m.LeafTerminals[leaf])
	}
	return leaf
}

// begin computes the factors of the piece that begins at a step.
func (l *pieceLine) begin(step uint64) {
	l.anchor = l.anchorOf(step)
	l.until = min(step-step%(2*series.CallsPerBlock)+2*series.CallsPerBlock, 2*l.Sums.Len())
	if l.anchor+1 < len(l.anchors) {
		l.until = min(l.until, l.anchors[l.anchor+1].step)
	}
	var drawn [sorts]float64
	for s := step; s < l.until; s++ {
		if s%2 == 0 {
			terminal, ok := l.terminals.Next()
			if !ok {
				break
			}
			l.kept = l.ahead.sample(int(terminal))
			l.keptSort = l.byTerminal[terminal]
			drawn[ofGaps] += float64(l.kept.Gap.Ns)
		} else {
			drawn[l.keptSort] += float64(l.kept.Duration.Ns)
		}
	}
	a := &l.anchors[l.anchor]
	from, to := l.sumsAt(step), l.sumsAt(l.until)
	l.at, l.end = a.ns(&from), a.ns(&to)
	for k := range l.factor {
		if l.factor[k] = 0; drawn[k] > 0 {
			l.factor[k] = a.factor[k] * float64(to[k]-from[k]) / drawn[k]
		}
	}
}

// pass moves over a gap or call of ns sampled time, which begins with the step. It returns begin and end in ns since
// the rank began, without asides.
func (l *pieceLine) pass(step uint64, sort int8, ns uint64) (from, to float64) {
	if step >= l.until {
		l.begin(step)
	}
	from = l.at
	l.at = min(l.at+l.factor[sort]*float64(ns), l.end)
	return from, l.at
}

func (l *pieceLine) Next(terminal int) (model.Timing, CallTime, error) {
	t := l.now.sample(terminal)
	l.pass(2*l.index, ofGaps, t.Gap.Ns)
	begin, end := l.pass(2*l.index+1, l.byTerminal[terminal], t.Duration.Ns)
	l.index++
	return t, l.anchored(&l.anchors[l.anchor], l.index-1, begin, end, l.now.asideNs(), l.span.next(terminal)), nil
}
