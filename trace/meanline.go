package trace

import (
	"math"
	"sort"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/prefix"
)

// meanTimes is what the statistics of a class say of a rank's single calls. They are
// those of the calls at one place of the first thread's structure, where the trace tells
// places apart; see Leaves.
type meanTimes struct {
	timings []Timing         // by leaf, or terminal
	leaves  *grammar.Grammar // the stream as leaves; nil: as terminals
	of      []int32          // terminal of each leaf
	places  []LeafTimes      // of leaves
	sums    *prefix.Sums     // of durations and gaps
	start   int64
	scale   float64 // of sums, so that the stream ends when it did
	drift   float64 // the part of it that is the clock's
	limits  *limits // nil: it is not known how far starts are off
	asides  []lineAside
	early   uint64 // call before which the recorder started, behind the one before
}

// A lineAside is an aside on a line of means.
type lineAside struct {
	Aside
	at     int64 // among the sums
	before int64 // ns of those before it
}

// A sampler gives the times of calls, one after the other.
type sampler interface {
	// sample returns those of the next call, whose terminal this is.
	sample(terminal int) Timing
	// asideNs is the time of the asides that lie before it.
	asideNs() int64
}

// A meanLine is a place in a stream with times that are means.
type meanLine struct {
	*meanTimes
	done   int64 // sum of what is before
	span   bracket
	index  uint64
	aside  int // the first that is not before index
	cursor *grammar.Cursor
	leaf   int // of the call that next was asked for last
}

func newMeanLine(m *meanTimes, index uint64) *meanLine {
	l := &meanLine{meanTimes: m, index: index, span: m.bracket(index)}
	if m.leaves != nil {
		l.cursor = m.leaves.Cursor()
		l.cursor.Seek(index)
	}
	if index > 0 {
		l.done = m.sums.Before(index)
		l.aside = sort.Search(len(m.asides), func(i int) bool { return m.asides[i].Call >= index })
	}
	return l
}

func (l *meanLine) sample(terminal int) (t Timing) {
	l.leaf = terminal
	if l.cursor != nil {
		n, _ := l.cursor.Next()
		l.leaf = int(n)
	}
	t = l.timings[l.leaf]
	for ; l.aside < len(l.asides) && l.asides[l.aside].Call <= l.index; l.aside++ {
		if a := &l.asides[l.aside]; a.Off {
			t.Off += uint64(a.Ns)
		} else {
			t.Spoor += uint64(a.Ns)
		}
	}
	t.Early = l.index == l.early && t.Spoor > 0
	l.index++
	return t
}

func (l *meanLine) asideNs() int64 { return l.passed(l.aside) }

func (l *meanLine) next(terminal int) (Timing, when, error) {
	t := l.sample(terminal)
	begin := l.done + int64(t.Gap.Ns)
	l.done = begin + int64(t.Duration.Ns)
	return t, l.when(begin, l.done, l.asideNs(), l.span.next(terminal)), nil
}

// when places a call between two sums of times, behind so much time of asides.
func (m *meanTimes) when(begin, end, aside int64, s stretch) when {
	w := when{m.place(begin) + aside, m.place(end) + aside, math.MaxUint64}
	if m.limits != nil {
		w.within = m.limits.within(float64(begin)*m.scale/m.drift, s)
	}
	return w
}

// An entryLine tells the gap by which a loop is entered from those before its further rounds.
type entryLine struct {
	*meanLine
	visits LeafCursor
}

func (l *entryLine) sample(terminal int) Timing {
	t := l.meanLine.sample(terminal)
	_, enters, _ := l.visits.Next()
	x := &l.places[l.leaf]
	switch rest := x.Calls - x.Entries; {
	case x.Entries == 0:
	case enters:
		t.Gap.move(x.EntriesGap / float64(x.Entries))
	case rest > 0:
		t.Gap.move(max(0, x.Gap-x.EntriesGap) / float64(rest))
	}
	return t
}

// place is where on the run's time line a sum of times would be if there were no asides.
func (m *meanTimes) place(sum int64) int64 { return m.start + int64(float64(sum)*m.scale) }

// passed is the time of the first n asides.
func (m *meanTimes) passed(n int) int64 {
	if n == 0 {
		return 0
	}
	return m.asides[n-1].before + m.asides[n-1].Ns
}

// begins and ends are where on the run's time line something begins that has a sum of
// times before it, or that ends there.
func (m *meanTimes) begins(sum int64) int64 {
	n := sort.Search(len(m.asides), func(i int) bool { return m.asides[i].at > sum })
	return m.place(sum) + m.passed(n)
}

func (m *meanTimes) ends(sum int64) int64 {
	n := sort.Search(len(m.asides), func(i int) bool { return m.asides[i].at >= sum })
	return m.place(sum) + m.passed(n)
}

// sum is the sum of times at a place on the time line.
func (m *meanTimes) sum(ns int64) int64 {
	for i := len(m.asides) - 1; i >= 0; i-- {
		a := &m.asides[i]
		if from := m.place(a.at) + a.before; ns >= from {
			return max(a.at, int64(float64(ns-m.start-m.passed(i+1))/m.scale))
		}
	}
	return int64(float64(ns-m.start) / m.scale)
}

// means returns what a stream's timeline is made of. It is kept, so that only the
// first search in a stream takes time for all of its structure.
func (k *Rank) means(stream int) (*meanTimes, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lines == nil {
		k.lines = make([]*meanTimes, len(k.streams))
	}
	if k.lines[stream] == nil {
		m, err := k.readMeans(stream)
		if err != nil {
			return nil, err
		}
		k.lines[stream] = m
	}
	return k.lines[stream], nil
}

// readMeans prepares a stream's timeline from the statistics of its class.
func (k *Rank) readMeans(stream int) (*meanTimes, error) {
	stats, _, err := k.r.timeLineTimes(k.nclass)
	if err != nil {
		return nil, err
	}
	p, err := k.Process()
	if err != nil {
		return nil, err
	}
	m := &meanTimes{timings: make([]Timing, len(stats)), scale: 1}
	l, err := k.line()
	if err != nil {
		return nil, err
	}
	m.start = l.common(p.StartNs) // there is no series
	for i := range stats {
		m.timings[i] = Timing{Duration: meanSample(stats[i].Duration), Gap: meanSample(stats[i].Gap)}
	}
	if err := k.checkMeans(stream, m.timings); err != nil {
		return nil, err
	}
	if err := k.placeMeans(stream, m); err != nil {
		return nil, err
	}
	weight := func(t uint32) int64 { return int64(m.timings[t].Duration.Ns + m.timings[t].Gap.Ns) }
	if m.leaves != nil {
		m.sums = prefix.New(m.leaves, weight)
	} else {
		m.sums = k.weighed(stream, weight)
	}
	// Ranks of a class share the means. A rank that waited less has the same sum
	// but ended when it ended.
	if total := m.sums.Total(); stream == 0 && p.SpanNs > 0 && total > 0 {
		m.scale = float64(p.SpanNs) / float64(total)
	}
	clock, err := k.Clock()
	if err != nil {
		return nil, err
	}
	m.drift = 1 + clock.Drift()
	m.scale *= m.drift
	if err := k.lineAsides(stream, m); err != nil {
		return nil, err
	}
	if stream == 0 {
		m.limits = k.newLimits(m, stats, p)
	}
	return m, nil
}

// placeMeans has leaves in place of terminals where the trace has times of theirs, or
// histograms from which these are drawn.
func (k *Rank) placeMeans(stream int, m *meanTimes) error {
	placed, err := k.r.placed(k.nclass)
	if err != nil {
		return err
	}
	_, hists, err := k.r.timeLineTimes(k.nclass)
	if err != nil || len(hists) == 0 && (len(placed) == 0 || stream > 0) {
		return err
	}
	leaves := k.Leaves(stream)
	times, _, err := leaves.means(k)
	if err != nil {
		return err
	}
	own := make([]Timing, len(times))
	sum := 0.0
	for leaf := range own {
		own[leaf] = m.timings[leaves.Terminal(leaf)]
		if x := &times[leaf]; x.Calls > 0 {
			n := float64(x.Calls)
			own[leaf].Duration.move(x.Duration / n)
			own[leaf].Gap.move(x.Gap / n)
			sum += x.Duration + x.Gap
		}
	}
	if sum >= math.MaxInt64/2 {
		return nil
	}
	m.timings, m.leaves, m.of, m.places = own, leaves.tree.Grammar, leaves.tree.Terminal, times
	return nil
}

// move makes another mean of a sample, of some of the same calls.
func (s *Sample) move(ns float64) {
	if s.Kind == NoSample || ns >= math.MaxInt64 {
		return
	}
	to := uint64(ns + 0.5)
	s.Bound += max(s.Ns, to) - min(s.Ns, to)
	s.Ns = to
}

// lineAsides finds where on the line the asides are.
func (k *Rank) lineAsides(stream int, m *meanTimes) error {
	list, err := k.asidesOf(stream)
	if err != nil {
		return err
	}
	before, last := int64(0), int64(0)
	m.early = behind(list)
	for _, a := range list {
		x := lineAside{Aside: a, before: before}
		switch {
		case a.Call >= m.sums.Len():
			x.at = m.sums.Total()
		default:
			x.at = m.sums.Before(a.Call)
			if a.Call != m.early {
				t, _ := m.sums.At(a.Call)
				x.at += int64(m.timings[t].Gap.Ns)
			}
		}
		x.at = max(x.at, last)
		last = x.at
		before += a.Ns
		m.asides = append(m.asides, x)
	}
	return nil
}

func meanSample(s Stat) Sample {
	if s.Count == 0 {
		return Sample{}
	}
	mean := uint64(s.Mean() + 0.5)
	return Sample{Ns: mean, Kind: MeanSample, Bound: max(mean-min(s.Min, mean), s.Max-min(s.Max, mean))}
}
