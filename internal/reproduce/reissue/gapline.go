package reissue

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/trace"
)

// A CallTimeEstimator yields the times of a stream's calls one after the other: the mean times at their leaves. If the trace
// has histograms, it samples gaps from them, with the leaf's mean. The samples are a function of rank, stream and
// position alone.
type CallTimeEstimator struct {
	leaves []LeafGaps
	cursor trace.LeafCursor
	hists  *GapHistograms
	ways   [][]grammar.Arrival
	draws  map[drawKey]*hist.Sampler
	seed   uint64
	from   int
	start  int64
	done   float64 // sum, in ns, of the mean times of gaps and calls since start, before multiplication by drift
	drift  float64 // factor from done to ns on the time line; on stream 0 it makes the last call end when the rank did
}

type drawKey struct {
	leaf   int
	enters bool
	from   int
}

// NewCallTimeEstimator returns the CallTimeEstimator of a rank's stream, before the first call. It returns nil if the trace has the time
// of each call, as trace.Rank.TimedWalk yields these.
func NewCallTimeEstimator(r *trace.Reader, k *trace.Rank, stream int) (*CallTimeEstimator, error) {
	kept, err := k.HasTimeOfEachCall()
	if err != nil || kept {
		return nil, err
	}
	leaves := k.Leaves(stream)
	l := &CallTimeEstimator{cursor: leaves.Cursor(k), draws: make(map[drawKey]*hist.Sampler), from: trace.NoPreviousFunctionSite}
	if l.leaves, _, err = LeafGapsOf(r, k, leaves); err != nil {
		return nil, err
	}
	if l.hists, err = GapHistogramsOf(r, k.Class()); err != nil {
		return nil, err
	}
	if l.hists != nil {
		g := grammar.OpaqueGrammar(k.Structure(stream).WholeGrammar()).Grammar()
		l.ways = grammar.Unfold(g, grammar.UnfoldLimit).Arrivals(g)
	}
	if l.start, err = k.StartNs(); err != nil {
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
		total += l.leaves[i].TotalGapNs() + l.leaves[i].MeanDurationNs*float64(l.leaves[i].Calls)
	}
	if stream == 0 && total > 0 && p.FirstThreadNs > 0 {
		l.drift *= float64(p.FirstThreadNs) / total // now the last call ends when the rank did
	}
	l.seed = mixBits(uint64(k.Number())<<8 ^ uint64(stream))
	return l, nil
}

// SetNextTimes sets Start and Timing of t, which must be the stream's next call.
func (l *CallTimeEstimator) SetNextTimes(t *trace.TimedCall) {
	leaf, loops, _ := l.cursor.Next()
	x := &l.leaves[leaf]
	enters := loops > 0 && x.Entries > 0
	mean := x.MeanGapNs
	if enters {
		mean = x.MeanEntryGapNs
		if loops = min(loops, len(x.MeanEntryGapsNsByLoops)); loops > 0 && l.hists == nil {
			mean = x.MeanEntryGapsNsByLoops[loops-1]
		}
	}
	l.done += mean
	t.StartNs = l.LastCallEndNs()
	l.done += x.MeanDurationNs
	t.Timing = trace.Timing{
		Duration: trace.Sample{Ns: uint64(x.MeanDurationNs + 0.5), Kind: trace.MeanSample},
		Gap:      trace.Sample{Ns: uint64(mean + 0.5), Kind: trace.MeanSample},
	}
	if l.hists == nil {
		return
	}
	key := drawKey{leaf, enters, l.from}
	d := once.GetOrMake(l.draws, key, func() *hist.Sampler { return l.draw(l.hists.GapsAfterSite(t.Terminal, l.from), key, mean) })
	l.from = l.hists.SiteOf(t.Terminal)
	if d != nil {
		t.Timing.Gap = trace.Sample{Ns: uint64(d.Next() + 0.5), Kind: trace.HistogramSample}
	}
}

// draw returns the sampler of the gaps of a key from histogram h, with the given mean in ns; nil if h or the mean is
// missing.
func (l *CallTimeEstimator) draw(h *hist.Hist, key drawKey, mean float64) *hist.Sampler {
	if h == nil {
		return nil
	}
	x := &l.leaves[key.leaf]
	if x.IsTerminalMean { // the trace has the mean of all calls of the terminal, not of this leaf
		all := h.Total()
		mean = all.Mean * x.RankFactor
	}
	if mean <= 0 {
		return nil
	}
	// The histogram is of all leaves of the terminal and all ranks of the class. A leaf's mean decides which of its
	// gaps are frequent (Tilt). RankFactor scales them to the rank's speed.
	t := h.Tilt(mean / x.RankFactor)
	n := uint64(key.leaf) << 1
	if key.enters {
		n++
	}
	quantile := func(q float64) float64 { return t.Quantile(q) * x.RankFactor }
	return hist.NewSampler(quantile, l.calls(key), mean, mixBits(l.seed^mixBits(n)^uint64(key.from+2)<<40))
}

// calls returns how many calls of the stream have the key: its leaf, the place of the call before, and whether a loop
// is entered.
func (l *CallTimeEstimator) calls(key drawKey) uint64 {
	x, n := &l.leaves[key.leaf], uint64(0)
	for i := range l.ways[key.leaf] {
		w := &l.ways[key.leaf][i]
		from := trace.NoPreviousFunctionSite
		if w.PreviousTerminal >= 0 {
			from = l.hists.SiteOf(w.PreviousTerminal)
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

// LastCallEndNs is the end, in ns on the time line, of the latest call that Next was called for.
func (l *CallTimeEstimator) LastCallEndNs() int64 { return l.start + int64(math.Round(l.done*l.drift)) }

// mixBits hashes a number to one that looks random.
func mixBits(x uint64) uint64 {
	x = (x ^ x>>30 ^ 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// GapHistograms is the histograms of the gaps before a class's calls. A place is a function and its call site.
type GapHistograms struct {
	places []int
	of     map[histKey]*hist.Hist // histograms by terminal, and place of the call before
	alike  map[histKey]*hist.Hist // histograms of the first terminal at a place, by place, and place of the call before
	lists  map[int][]*hist.Hist   // by terminal: all its histograms in of
	others map[int][]*hist.Hist   // by place: all its histograms in alike
}

type histKey struct{ of, from int }

// GapHistogramsOf returns the histograms of a class, nil if the trace has none.
func GapHistogramsOf(r *trace.Reader, class int) (*GapHistograms, error) {
	list, err := r.Histograms(class)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	h := &GapHistograms{of: make(map[histKey]*hist.Hist), alike: make(map[histKey]*hist.Hist), lists: make(map[int][]*hist.Hist), others: make(map[int][]*hist.Hist)}
	if h.places, err = r.TerminalFunctionSites(class); err != nil {
		return nil, err
	}
	for i := range list {
		x := &list[i]
		if x.Gap.Count() == 0 {
			continue
		}
		gaps := hist.Unwrap(x.Gap)
		h.of[histKey{x.Terminal, x.PreviousFunctionSite}] = gaps
		h.lists[x.Terminal] = append(h.lists[x.Terminal], gaps)
		if key := (histKey{h.places[x.Terminal], x.PreviousFunctionSite}); h.alike[key] == nil {
			h.alike[key] = gaps
			h.others[key.of] = append(h.others[key.of], gaps)
		}
	}
	return h, nil
}

// SiteOf returns the number of a terminal's place: its function and call site. GapsAfterSite takes it as from.
func (h *GapHistograms) SiteOf(terminal int) int { return h.places[terminal] }

// GapsAfterSite returns the histogram of the gaps between a call at place from (trace.NoPreviousFunctionSite: none) and a call
// of the terminal directly after it; nil if there is no histogram.
func (h *GapHistograms) GapsAfterSite(terminal, from int) *hist.Hist {
	if x := h.of[histKey{terminal, from}]; x != nil {
		return x
	}
	return h.alike[histKey{h.places[terminal], from}]
}

// GapsBefore returns the histogram of the gaps before all calls of a terminal; nil without any. A terminal without its
// own gets that of its place.
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
