package timeline

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A histLine draws the times of each call from a histogram, such that their mean at a leaf is the known one. The
// samples depend only on rank, stream and position, so that reading may begin anywhere.
type histLine struct {
	*meanLine
	places []int
	find   map[histKey]*sections.Histogram
	first  []int // by terminal: the lowest terminal of its signature group
	ways   [][]grammar.Arrival
	draws  map[drawKey]*drawing
	shared map[drawingOf]*drawing
	seed   uint64
	index  uint64
	from   int
}

type histKey struct{ terminal, from int }

// A drawKey is a leaf, and the place of the call before a call at the leaf.
type drawKey struct{ leaf, from int }

// A drawing is the source of times for calls at a leaf. Calls that enter the leaf's loop have a separate one, and so
// have calls that follow a given place, if their times are known separately.
type drawing struct {
	h             *sections.Histogram
	duration, gap *hist.Sampler // nil: the histogram has no samples
}

type drawingOf struct {
	leaf   int
	h      *sections.Histogram
	enters bool // only for calls that enter a loop, whose gaps are known separately
	// For calls that enter a loop and for others, as the previous call's place alone does not distinguish them.
	mixed bool
}

// HistogramTimes are the histograms of a stream's calls, with the calls that precede each leaf.
type HistogramTimes struct {
	Histograms []sections.Histogram
	Groups     []*sections.SignatureGroup // by terminal
	Arrivals   [][]grammar.Arrival        // by leaf: the calls before it, and how often each
	Stream     *grammar.Grammar
	Seed       uint64
}

// NewHistSampler returns a sampler that draws the times of a stream's calls from histograms, beginning with call index.
func NewHistSampler(m *MeanTimes, h *HistogramTimes, index uint64) TimeSampler {
	l := &histLine{
		meanLine: newMeanLine(m, index), find: make(map[histKey]*sections.Histogram, len(h.Histograms)), ways: h.Arrivals, index: index, from: model.NoPreviousFunctionSite,
		draws: make(map[drawKey]*drawing), shared: make(map[drawingOf]*drawing), seed: h.Seed ^ 0x9e3779b97f4a7c15,
	}
	l.places, _ = sections.NumberPlaces(h.Groups)
	first := make(map[*sections.SignatureGroup]int)
	for t, g := range h.Groups {
		if _, ok := first[g]; !ok {
			first[g] = t
		}
		l.first = append(l.first, first[g])
	}
	for i := range h.Histograms {
		x := &h.Histograms[i]
		l.find[histKey{x.Terminal, x.PreviousPlace}] = x
	}
	if index > 0 && index <= m.Sums.Len() {
		l.from = l.places[TerminalAt(h.Stream, index-1)]
	}
	return l
}

// TerminalAt returns the terminal of call index of a stream.
func TerminalAt(g *grammar.Grammar, index uint64) int {
	c := g.Cursor()
	c.Seek(index)
	n, _ := c.Next()
	return int(n)
}

func (l *histLine) sample(terminal int) model.Timing {
	t := l.meanLine.sample(terminal)
	key := drawKey{l.leaf, l.from}
	d := once.GetOrMake(l.draws, key, func() *drawing { return l.drawing(terminal) })
	l.index++
	l.from = l.places[terminal]
	if d.h != nil {
		t.Duration, t.Gap = draw(d.duration, d.h.Duration), draw(d.gap, d.h.Gap)
	}
	return t
}

// histogram returns the histogram of a terminal's calls that follow a call at place from; nil without one.
func (l *histLine) histogram(terminal, from int) *sections.Histogram {
	for _, t := range [2]int{terminal, l.first[terminal]} {
		if h := l.find[histKey{t, from}]; h != nil {
			return h
		}
	}
	return nil
}

// arrival returns the place of the call before a leaf on one of the ways to it. enters reports whether the way enters
// a loop and the gaps of such calls at the leaf are known separately.
func (l *histLine) arrival(leaf int, w *grammar.Arrival) (from int, enters bool) {
	from = model.NoPreviousFunctionSite
	if w.PreviousTerminal >= 0 {
		from = l.places[w.PreviousTerminal]
	}
	return from, w.EntersLoop && l.LeafTimes[leaf].Entries > 0
}

// drawing returns the source of times for the next call, which has this terminal. Calls at the same leaf with the
// same histogram share it, except that those that enter a loop may have one of their own.
func (l *histLine) drawing(terminal int) *drawing {
	h := l.histogram(terminal, l.from)
	if h == nil || l.Leaves == nil {
		return &drawing{}
	}
	of := drawingOf{leaf: l.leaf, h: h}
	var ways []grammar.Arrival
	if l.leaf < len(l.ways) {
		ways = l.ways[l.leaf]
	}
	entering := make(map[int]bool) // by place of the previous call: the way enters a loop
	for i := range ways {
		from, enters := l.arrival(l.leaf, &ways[i])
		if l.histogram(terminal, from) != h {
			continue
		}
		if before, known := entering[from]; known && before != enters {
			of.mixed = true
		}
		entering[from] = enters
	}
	of.enters = !of.mixed && entering[l.from]
	d := l.shared[of]
	if d != nil {
		return d
	}
	// Number of the leaf's calls with this drawing, in the whole stream and before the next call.
	var calls, before uint64
	var durations, duration mixed
	// Of all calls at the leaf, and of those with this drawing; index 1 is for calls that enter a loop.
	var gaps, gap [2]mixed
	for i := range ways {
		w := &ways[i]
		from, enters := l.arrival(l.leaf, w)
		x := l.histogram(terminal, from)
		n := w.Count()
		if x == nil || n == 0 {
			continue
		}
		e := 0
		if enters {
			e = 1
		}
		durations.add(n, x.Duration)
		gaps[e].add(n, x.Gap)
		if x == h && (of.mixed || enters == of.enters) {
			calls += n
			before += w.CountBefore(l.index)
			duration.add(n, x.Duration)
			gap[e].add(n, x.Gap)
		}
	}
	place := &l.LeafTimes[l.leaf]
	var mean mixed
	for e := range gap {
		if gap[e].n > 0 || !of.mixed && of.enters == (e == 1) {
			ns, n := gapsAt(place, e == 1, gaps[e])
			weight := max(1, gap[e].n)
			mean.n += weight
			mean.sum += weight * gaps[e].share(gap[e], ns, n)
		}
	}
	if calls == 0 { // no way to the leaf counts such calls, as the leaf occurs at several positions
		calls, before = place.Calls, l.index
	}
	seed := l.seed + uint64(l.leaf)*0xd1342543de82ef95 + uint64(h.PreviousPlace-model.NoPreviousFunctionSite+1)<<40
	if of.enters {
		seed = ^seed
	}
	seed = mix(seed)
	d = &drawing{h: h}
	d.duration = drawsOf(h.Duration, durations.share(duration, place.SumDurationNs, place.Calls), calls, before, seed)
	d.gap = drawsOf(h.Gap, mean.sum/mean.n, calls, before, mix(seed))
	l.shared[of] = d
	return d
}

// gapsAt returns the sum of the gaps at a leaf and the number of calls. It does so for calls that enter a loop, or
// for all others if the two are known separately. all is what the histograms have of the same calls.
func gapsAt(place *model.LeafTimes, enters bool, all mixed) (ns float64, calls uint64) {
	switch {
	case enters:
		return place.SumEntryGapNs, place.Entries
	case place.Entries == 0:
		return place.SumGapNs, place.Calls
	}
	ns, calls = max(0, place.SumGapNs-place.SumEntryGapNs), place.Calls-place.Entries
	// The sum is mostly rounding error, and the histogram is more accurate.
	if ns < place.SumGapNs/roundedOff && all.n > 0 {
		ns = all.sum / all.n * float64(calls)
	}
	return ns, calls
}

// roundedOff is the fraction of a leaf's sum of gaps, 1/100, below which a difference of sums may be mostly rounding
// error.
const roundedOff = 100

// A mixed is the number of calls of several histograms, and the sum of their times. sum/n is their mean.
type mixed struct{ n, sum float64 }

func (m *mixed) add(n uint64, h *hist.Hist) {
	all := h.Total()
	m.n += float64(n)
	m.sum += float64(n) * all.Mean
}

// share returns the mean time of a part of some calls, whose number is calls and whose sum of times is ns. The part's
// mean relates to that of all these calls as part does to m, which are from the histograms.
func (m mixed) share(part mixed, ns float64, calls uint64) float64 {
	mean := ns / max(1, float64(calls))
	if m.sum > 0 && part.n > 0 {
		return mean * (part.sum / part.n) / (m.sum / m.n)
	}
	return mean
}

// drawsOf returns samples of a histogram, tilted to the given mean, for a number of calls. It skips the samples of
// the first before calls.
func drawsOf(h *hist.Hist, mean float64, calls, before, seed uint64) *hist.Sampler {
	tilt := h.Tilt(mean)
	if tilt == nil {
		return nil
	}
	d := hist.NewSampler(tilt.Quantile, calls, mean, seed)
	d.Skip(before)
	return d
}

// draw returns the next sample of d, which draws from histogram h.
func draw(d *hist.Sampler, h *hist.Hist) model.Sample {
	if d == nil {
		return model.Sample{}
	}
	all, v := h.Total(), d.Next()
	if !(v < math.MaxInt64) {
		v = float64(all.Max)
	}
	ns := uint64(v + 0.5)
	return model.Sample{Ns: ns, Kind: model.HistogramSample, ErrorBoundNs: max(ns-min(ns, all.Min), max(ns, all.Max)-ns)}
}

// mix returns a hash of a number.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
