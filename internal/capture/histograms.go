package capture

import (
	"cmp"
	"math"
	"slices"

	"spoor/internal/pack"
	"spoor/internal/signature"
	"spoor/internal/timing"
	"spoor/internal/timing/hist"
	"spoor/internal/track"
)

// histograms holds one pair of histograms for each terminal, or several by what
// came before the call: then a loop's first iteration does not blur the others.
// Times go in as nanoseconds, with the clock's rate as it was known first.
type histograms struct {
	sigs *signature.Table
	path bool
	bins int
	rank int32
	ns   float64 // of a tick

	heads  []*pair  // by terminal: a list of pairs; in path mode, the one used last stands first
	places []uint32 // by terminal: number of its function and site, in path mode
	known  map[place]uint32
	room   []pair // to be handed out
}

// A pair is the times of calls after a place. Times wait in it until there are some,
// and go into the histograms together: a call touches two lines of memory at most,
// where the two histograms of a program with many distinct calls lie in ten that
// are no longer in the nearest cache.
type pair struct {
	from  uint32 // number of the place + 1; 0: the stream's first call, or not told apart
	n     uint32 // how many wait
	next  *pair
	hists *[2]hist.Hist     // of durations and of gaps
	late  [lateTimes]uint64 // durations, gaps in the upper half, in ticks
}

// lateTimes makes a pair four lines of memory.
const lateTimes = 29

type place struct {
	call uint16
	site uint64
}

func newHistograms(o timing.Options, sigs *signature.Table, rank int, ticksPerNs float64) *histograms {
	if !o.Mode.Histograms() {
		return nil
	}
	h := &histograms{sigs: sigs, path: o.Mode == timing.Path, bins: o.Bins, rank: int32(rank), ns: 1 / ticksPerNs, known: make(map[place]uint32)}
	if h.bins == 0 {
		h.bins = hist.DefaultBins
	}
	return h
}

// add counts a call of terminal n after one of terminal prev.
func (h *histograms) add(n, prev uint32, duration, gap uint64) {
	if int(n) >= len(h.heads) || int(prev+1) > len(h.heads) {
		h.grow()
	}
	from := uint32(0)
	if h.path && prev != signature.None {
		from = h.places[prev] + 1
	}
	p := h.heads[n]
	if p == nil || p.from != from {
		p = h.find(n, from)
	}
	if (duration|gap)>>32 != 0 {
		h.settle(n, p)
		h.sigs.Times(n).Add(duration, gap)
		p.hists[0].Add(h.toNs(duration))
		p.hists[1].Add(h.toNs(gap))
		return
	}
	p.late[p.n] = duration | gap<<32
	if p.n++; p.n == lateTimes {
		h.settle(n, p)
	}
}

func (h *histograms) toNs(ticks uint64) uint64 {
	if ns := float64(ticks)*h.ns + 0.5; ns < 1<<64 {
		return uint64(ns)
	}
	return math.MaxUint64
}

// settle puts the times that wait into the histograms and the summaries of terminal n.
func (h *histograms) settle(n uint32, p *pair) {
	var durations, gaps [lateTimes]uint64
	late := p.late[:p.n]
	for i, t := range late {
		durations[i], gaps[i] = t&math.MaxUint32, t>>32
	}
	times := h.sigs.Times(n)
	times.Duration.AddSmall(durations[:len(late)])
	times.Gap.AddSmall(gaps[:len(late)])
	for i := range late {
		durations[i] = uint64(int64(float64(int64(durations[i]))*h.ns + 0.5))
		gaps[i] = uint64(int64(float64(int64(gaps[i]))*h.ns + 0.5))
	}
	p.hists[0].AddAll(durations[:len(late)])
	p.hists[1].AddAll(gaps[:len(late)])
	p.n = 0
}

// settleTimes brings everything up to date, the signatures' summaries as well.
func (c *Capture) settleTimes() {
	if c.hists != nil {
		c.takeTimes()
		c.hists.settleAll()
	}
}

func (h *histograms) settleAll() {
	for n, p := range h.heads {
		for ; p != nil; p = p.next {
			h.settle(uint32(n), p)
		}
	}
}

// find moves the pair of a place to the front, a new one if there is none.
func (h *histograms) find(n, from uint32) *pair {
	for at := &h.heads[n]; *at != nil; at = &(*at).next {
		if p := *at; p.from == from {
			*at = p.next
			p.next, h.heads[n] = h.heads[n], p
			return p
		}
	}
	p := h.newPair(n, from)
	for i := range p.hists {
		p.hists[i].Init(make([]hist.Bin, h.bins), h.rank)
	}
	return p
}

// newPair puts a pair in front of a terminal's list, its histograms not yet made.
func (h *histograms) newPair(n, from uint32) *pair {
	const many = 16
	if len(h.room) == 0 {
		h.room = make([]pair, many)
	}
	p := &h.room[0]
	h.room = h.room[1:]
	*p = pair{from: from, hists: new([2]hist.Hist), next: h.heads[n]}
	h.heads[n] = p
	return p
}

// grow makes place for all terminals that there are now.
func (h *histograms) grow() {
	for n := len(h.heads); n < h.sigs.Len(); n++ {
		h.heads = append(h.heads, nil)
		if !h.path {
			continue
		}
		k := h.sigs.Key(uint32(n))
		at := place{k.Call(), k.Site()}
		number, ok := h.known[at]
		if !ok {
			number = uint32(len(h.known))
			h.known[at] = number
		}
		h.places = append(h.places, number)
	}
}

// save writes the histograms, which must be up to date.
func (h *histograms) save(w *pack.Writer) {
	w.Uint(uint64(len(h.heads)))
	for _, first := range h.heads {
		pairs := uint64(0)
		for p := first; p != nil; p = p.next {
			pairs++
		}
		w.Uint(pairs)
		for p := first; p != nil; p = p.next {
			w.Uint(uint64(p.from))
			p.hists[0].Save(w)
			p.hists[1].Save(w)
		}
	}
}

// load reads what save wrote. The signatures are there already.
func (h *histograms) load(r *pack.Reader) {
	n := r.Count(1)
	if n > h.sigs.Len() {
		r.Fail("histograms of %d terminals, there are %d", n, h.sigs.Len())
		return
	}
	h.grow()
	for i := range n {
		for range r.Count(3) {
			p := h.newPair(uint32(i), uint32(r.Index(len(h.known)+1)))
			p.hists[0], p.hists[1] = *hist.Load(r), *hist.Load(r)
			if r.Err() != nil {
				return
			}
		}
	}
}

// track returns the histograms of a track whose terminals stand in order, in
// rising order of terminals and of what came before. more returns others whose
// calls a terminal has. The histograms must be up to date.
func (h *histograms) track(order []uint32, more func(uint32) []uint32) []track.Hist {
	if h == nil {
		return nil
	}
	// The lowest terminal at each place stands for it.
	stands := make(map[uint32]int)
	if h.path {
		for i, n := range order {
			if _, ok := stands[h.places[n]]; !ok {
				stands[h.places[n]] = i
			}
		}
	}
	var out []track.Hist
	for i, n := range order {
		first := len(out)
		add := func(p *pair) {
			from := track.Anywhere
			if h.path && p.from == 0 {
				from = track.First
			} else if h.path {
				at, ok := stands[p.from-1]
				if !ok {
					return
				}
				from = at
			}
			for k := first; k < len(out); k++ {
				if x := &out[k]; x.From == from {
					x.Duration, x.Gap = x.Duration.Clone(), x.Gap.Clone()
					x.Duration.Merge(&p.hists[0])
					x.Gap.Merge(&p.hists[1])
					return
				}
			}
			out = append(out, track.Hist{Terminal: i, From: from, Duration: &p.hists[0], Gap: &p.hists[1]})
		}
		for _, m := range append([]uint32{n}, more(n)...) {
			if int(m) >= len(h.heads) {
				continue
			}
			for p := h.heads[m]; p != nil; p = p.next {
				add(p)
			}
		}
		slices.SortFunc(out[first:], func(a, b track.Hist) int { return cmp.Compare(a.From, b.From) })
	}
	return out
}
