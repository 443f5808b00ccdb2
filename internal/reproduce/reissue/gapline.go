package reissue

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/trace"
)

// A GapLine yields the times of a stream's calls one after the other, from the means of their places. If the trace
// has histograms, it samples gaps from them, with the place's mean. The samples are a function of rank, stream and
// position alone.
type GapLine struct {
	leaves []LeafGaps
	cursor trace.LeafCursor
	hists  *GapHistograms
	ways   [][]grammar.Arrival
	draws  map[drawKey]*hist.Sampler
	seed   uint64
	from   int
	start  int64
	done   float64 // sum, in ns, of the mean times of gaps and calls since start, before multiplication by drift
	drift  float64 // factor from done to the time line; on stream 0 it makes the line end when the rank did
}

type drawKey struct {
	leaf   int
	enters bool
	from   int
}

// NewGapLine returns the line of a rank's stream from its first call on. It returns nil if the trace has the time of
// each call, as trace.Rank.TimedWalk yields these.
func NewGapLine(r *trace.Reader, k *trace.Rank, stream int) (*GapLine, error) {
	kept, err := k.TimesKept()
	if err != nil || kept {
		return nil, err
	}
	leaves := k.Leaves(stream)
	l := &GapLine{cursor: leaves.Cursor(k), draws: make(map[drawKey]*hist.Sampler), from: trace.NoPreviousPlace}
	if l.leaves, _, err = LeafGapsOf(r, k, leaves); err != nil {
		return nil, err
	}
	if l.hists, err = GapHistogramsOf(r, k.Class()); err != nil {
		return nil, err
	}
	if l.hists != nil {
		g := grammar.Sealed(k.Structure(stream).Sequence()).Grammar()
		l.ways = grammar.Unfold(g, grammar.UnfoldLimit).Arrivals(g)
	}
	if l.start, err = k.Start(); err != nil {
		return nil, err
	}
	clock, err := k.Clock()
	if err != nil {
		return nil, err
	}
	l.drift = 1 + clock.Drift()
	p, err := k.Process()
	if err != nil {
		return nil, err
	}
	total := 0.0
	for i := range l.leaves {
		total += l.leaves[i].TotalGap() + l.leaves[i].Duration*float64(l.leaves[i].Calls)
	}
	if stream == 0 && total > 0 && p.SpanNs > 0 {
		l.drift *= float64(p.SpanNs) / total // the line ends when the rank did
	}
	l.seed = mixBits(uint64(k.Number())<<8 ^ uint64(stream))
	return l, nil
}

// Next sets the times of t, which must be the next call.
func (l *GapLine) Next(t *trace.TimedCall) {
	leaf, loops, _ := l.cursor.Next()
	x := &l.leaves[leaf]
	enters := loops > 0 && x.Entries > 0
	mean := x.Gap
	if enters {
		mean = x.EntryGap
		if loops = min(loops, len(x.EnteringGaps)); loops > 0 && l.hists == nil {
			mean = x.EnteringGaps[loops-1]
		}
	}
	l.done += mean
	t.Start = l.EndNs()
	l.done += x.Duration
	t.Timing = trace.Timing{
		Duration: trace.Sample{Ns: uint64(x.Duration + 0.5), Kind: trace.MeanSample},
		Gap:      trace.Sample{Ns: uint64(mean + 0.5), Kind: trace.MeanSample},
	}
	if l.hists == nil {
		return
	}
	key := drawKey{leaf, enters, l.from}
	d := once.GetOrMake(l.draws, key, func() *hist.Sampler { return l.draw(l.hists.GapsBetween(t.Terminal, l.from), key, mean) })
	l.from = l.hists.PlaceOf(t.Terminal)
	if d != nil {
		t.Timing.Gap = trace.Sample{Ns: uint64(d.Next() + 0.5), Kind: trace.HistogramSample}
	}
}

// draw returns the sampler of the gaps at a place; nil if there is no histogram.
func (l *GapLine) draw(h *hist.Hist, key drawKey, mean float64) *hist.Sampler {
	if h == nil {
		return nil
	}
	x := &l.leaves[key.leaf]
	if x.OnlyShared { // only the terminal's calls in general are known, not this place's
		all := h.Total()
		mean = all.Mean * x.RankFactor
	}
	if mean <= 0 {
		return nil
	}
	// Places differ in which of the histogram's times they have, ranks in speed.
	t := h.Tilt(mean / x.RankFactor)
	n := uint64(key.leaf) << 1
	if key.enters {
		n++
	}
	quantile := func(q float64) float64 { return t.Quantile(q) * x.RankFactor }
	return hist.NewSampler(quantile, l.calls(key), mean, mixBits(l.seed^mixBits(n)^uint64(key.from+2)<<40))
}

// calls returns how often the gaps of a key are sampled.
func (l *GapLine) calls(key drawKey) uint64 {
	x, n := &l.leaves[key.leaf], uint64(0)
	for i := range l.ways[key.leaf] {
		w := &l.ways[key.leaf][i]
		from := trace.NoPreviousPlace
		if w.PreviousTerminal >= 0 {
			from = l.hists.PlaceOf(w.PreviousTerminal)
		}
		if key.from == from && (x.Entries == 0 || w.EntersLoop == key.enters) {
			n += w.Count()
		}
	}
	switch {
	case n > 0:
		return n
	case key.enters:
		return x.Entries
	}
	return x.Calls - x.Entries
}

// EndNs is the end of the latest call that Next was called for.
func (l *GapLine) EndNs() int64 { return l.start + int64(math.Round(l.done*l.drift)) }

// mixBits hashes a number to one that looks random.
func mixBits(x uint64) uint64 {
	x = (x ^ x>>30 ^ 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// GapHistograms gives the histograms of the gaps before a class's calls.
type GapHistograms struct {
	places []int
	of     map[histKey]*hist.Hist // by terminal
	alike  map[histKey]*hist.Hist // by call site: of terminals without their own
	lists  map[int][]*hist.Hist   // by terminal
	others map[int][]*hist.Hist   // by call site: of its first terminal
}

type histKey struct{ of, from int }

// GapHistogramsOf returns the histograms of a class, nil if the trace has none.
func GapHistogramsOf(r *trace.Reader, class int) (*GapHistograms, error) {
	list, err := r.Histograms(class)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	h := &GapHistograms{of: make(map[histKey]*hist.Hist), alike: make(map[histKey]*hist.Hist), lists: make(map[int][]*hist.Hist), others: make(map[int][]*hist.Hist)}
	if h.places, err = r.TerminalPlaces(class); err != nil {
		return nil, err
	}
	for i := range list {
		x := &list[i]
		if x.Gap.Count() == 0 {
			continue
		}
		gaps := hist.Unwrap(x.Gap)
		h.of[histKey{x.Terminal, x.PreviousPlace}] = gaps
		h.lists[x.Terminal] = append(h.lists[x.Terminal], gaps)
		if key := (histKey{h.places[x.Terminal], x.PreviousPlace}); h.alike[key] == nil {
			h.alike[key] = gaps
			h.others[key.of] = append(h.others[key.of], gaps)
		}
	}
	return h, nil
}

// PlaceOf returns a terminal's call site, for GapsBetween.
func (h *GapHistograms) PlaceOf(terminal int) int { return h.places[terminal] }

// GapsBetween returns the histogram of the gaps between a call of site from, or trace.NoPreviousPlace, and a
// terminal's call directly after it; nil if there is no histogram.
func (h *GapHistograms) GapsBetween(terminal, from int) *hist.Hist {
	if x := h.of[histKey{terminal, from}]; x != nil {
		return x
	}
	return h.alike[histKey{h.places[terminal], from}]
}

// GapsBefore returns the histogram of the gaps before all calls of a terminal.
func (h *GapHistograms) GapsBefore(terminal int) *hist.Hist {
	list := h.lists[terminal]
	if len(list) == 0 {
		list = h.others[h.places[terminal]]
	}
	if len(list) == 0 {
		return nil
	}
	all := list[0].Clone()
	for _, x := range list[1:] {
		all.Merge(x)
	}
	return all
}
