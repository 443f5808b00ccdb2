package capture

import (
	"cmp"
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
	path bool
	bins int
	rank int32
	ns   float64 // of a tick

	lists  [][]pair // by terminal; in path mode, the one used last stands first
	places []uint32 // by terminal: number of its function and site, in path mode
	known  map[place]uint32
	room   []hist.Bin // to be handed out
}

// A pair is the times of calls after a place.
type pair struct {
	from          uint32 // number of the place + 1; 0: the stream's first call, or not told apart
	duration, gap *hist.Hist
}

type place struct {
	call uint16
	site uint64
}

func newHistograms(o timing.Options, rank int, ticksPerNs float64) *histograms {
	if !o.Mode.Histograms() {
		return nil
	}
	h := &histograms{path: o.Mode == timing.Path, bins: o.Bins, rank: int32(rank), ns: 1 / ticksPerNs, known: make(map[place]uint32)}
	if h.bins == 0 {
		h.bins = hist.DefaultBins
	}
	return h
}

// add counts a call of terminal n after one of terminal prev.
func (h *histograms) add(sigs *signature.Table, n, prev uint32, duration, gap uint64) {
	if int(n) >= len(h.lists) || int(prev+1) > len(h.lists) {
		h.grow(sigs)
	}
	from := uint32(0)
	if h.path && prev != signature.None {
		from = h.places[prev] + 1
	}
	list := h.lists[n]
	if len(list) == 0 || list[0].from != from {
		list = h.find(n, from)
	}
	p := &list[0]
	p.duration.Add(uint64(float64(duration)*h.ns + 0.5))
	p.gap.Add(uint64(float64(gap)*h.ns + 0.5))
}

// find moves the pair of a place to the front, a new one if there is none.
func (h *histograms) find(n, from uint32) []pair {
	list := h.lists[n]
	for i := range list {
		if list[i].from == from {
			list[0], list[i] = list[i], list[0]
			return list
		}
	}
	list = append(list, pair{from, h.empty(), h.empty()})
	last := len(list) - 1
	list[0], list[last] = list[last], list[0]
	h.lists[n] = list
	return list
}

// empty allocates histograms many at once.
func (h *histograms) empty() *hist.Hist {
	const many = 16
	if len(h.room) < h.bins {
		h.room = make([]hist.Bin, many*h.bins)
	}
	x := new(hist.Hist)
	x.Init(h.room[:h.bins:h.bins], h.rank)
	h.room = h.room[h.bins:]
	return x
}

// grow makes place for all terminals that there are now.
func (h *histograms) grow(sigs *signature.Table) {
	for n := len(h.lists); n < sigs.Len(); n++ {
		h.lists = append(h.lists, nil)
		if !h.path {
			continue
		}
		k := sigs.Key(uint32(n))
		at := place{k.Call(), k.Site()}
		number, ok := h.known[at]
		if !ok {
			number = uint32(len(h.known))
			h.known[at] = number
		}
		h.places = append(h.places, number)
	}
}

func (h *histograms) save(w *pack.Writer) {
	w.Uint(uint64(len(h.lists)))
	for _, list := range h.lists {
		w.Uint(uint64(len(list)))
		for i := range list {
			w.Uint(uint64(list[i].from))
			list[i].duration.Save(w)
			list[i].gap.Save(w)
		}
	}
}

// load reads what save wrote. The signatures are there already.
func (h *histograms) load(r *pack.Reader, sigs *signature.Table) {
	n := r.Count(1)
	if n > sigs.Len() {
		r.Fail("histograms of %d terminals, there are %d", n, sigs.Len())
		return
	}
	h.grow(sigs)
	for i := range n {
		for range r.Count(3) {
			p := pair{uint32(r.Index(len(h.known) + 1)), hist.Load(r), hist.Load(r)}
			if r.Err() != nil {
				return
			}
			h.lists[i] = append(h.lists[i], p)
		}
	}
}

// track returns the histograms of a track whose terminals stand in order, in
// rising order of terminals and of what came before.
func (h *histograms) track(order []uint32) []track.Hist {
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
		if int(n) >= len(h.lists) {
			continue
		}
		first := len(out)
		for _, p := range h.lists[n] {
			from := track.Anywhere
			if h.path && p.from == 0 {
				from = track.First
			} else if h.path {
				at, ok := stands[p.from-1]
				if !ok {
					continue
				}
				from = at
			}
			out = append(out, track.Hist{Terminal: i, From: from, Duration: p.duration, Gap: p.gap})
		}
		slices.SortFunc(out[first:], func(a, b track.Hist) int { return cmp.Compare(a.From, b.From) })
	}
	return out
}
