package capture

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace/model"
)

// histograms holds pairs of histograms for each terminal, by the site of the previous call, so that a loop's first
// iteration does not blur the others. They are in ticks. Until they are settled they contain times that the
// signatures' summaries lack.
type histograms struct {
	sigs *signature.Table
	bins int
	rank int32

	heads   []head        // by terminal
	buffers []*timeBuffer // by number of the buffer
	pairs   []*hist.Pair  // by number of the buffer
	sites   siteNumbers
	room    []timeBuffer // preallocated buffers
}

// A head is a terminal's list of buffers, the last used one first.
type head struct {
	from    uint32 // timeBuffer.from of the list's first buffer; nowhere: the list is empty
	waiting uint32 // how many times in the list's first buffer are not yet counted
	first   *timeBuffer
}

// A timeBuffer collects times of calls after one site, and counts them in batches. So a call touches its terminal's
// head and one cache line. Counting touches six more lines, and the two histograms and two summaries another
// twenty. It has no pointers, so that the garbage collector skips it.
type timeBuffer struct {
	times   [manyWaiting]uint64 // packed by hist.PackSamples
	from    uint32              // number of the site + 1; 0: the stream's first call
	next    uint32              // number of the next buffer in the list + 1
	number  uint32
	waiting uint32 // how many times are not yet counted, unless the buffer is the first of the list
	hist.CountBuffer
	_ [40]byte // pads to whole cache lines
}

const (
	manyWaiting = 32             // largest number of uncounted times
	nobody      = 0              // value of next at the end of a list
	nowhere     = math.MaxUint32 // value of from that no site has
)

func newHistograms(o timing.Options, sigs *signature.Table, rank int) *histograms {
	if !o.Mode.Histograms() {
		return nil
	}
	h := &histograms{sigs: sigs, bins: o.Bins, rank: int32(rank), sites: siteNumbers{sigs: sigs}}
	h.bins = cmp.Or(h.bins, hist.DefaultBins)
	return h
}

// add counts a call of terminal n after one of terminal prev.
func (h *histograms) add(n, prev uint32, duration, gap uint64) {
	from := h.sites.from(prev)
	if both, ok := hist.PackSamples(duration, gap); ok && int(n) < len(h.heads) {
		if d := &h.heads[n]; d.from == from && d.waiting < manyWaiting {
			d.first.times[d.waiting] = both
			d.waiting++
			return
		}
	}
	h.addSlowly(n, from, duration, gap)
}

func (h *histograms) addSlowly(n, from uint32, duration, gap uint64) {
	if int(n) >= len(h.heads) {
		h.grow()
	}
	d := &h.heads[n]
	if d.from != from {
		h.find(d, from)
	}
	both, ok := hist.PackSamples(duration, gap)
	if !ok || d.waiting == manyWaiting {
		h.count(d.first, d.waiting)
		d.waiting = 0
	}
	if !ok {
		h.pairs[d.first.number].Add(&d.first.CountBuffer, duration, gap)
		return
	}
	d.first.times[d.waiting] = both
	d.waiting++
}

// count counts the collected times of a buffer.
func (h *histograms) count(f *timeBuffer, waiting uint32) {
	h.pairs[f.number].AddPacked(&f.CountBuffer, f.times[:waiting])
}

// settleTimes counts all collected times, and updates the signatures' summaries.
func (c *Capture) settleTimes() {
	if c.hists != nil {
		c.hists.update((*hist.Pair).Flush)
	}
}

// pauseTimes is settleTimes for a checkpoint: it leaves what save writes as it is.
func (c *Capture) pauseTimes() {
	if c.hists != nil {
		c.hists.update((*hist.Pair).FlushForCheckpoint)
	}
}

// update counts the collected times, and adds the summaries that how returns to the signatures.
func (h *histograms) update(how func(*hist.Pair, *hist.CountBuffer) (duration, gap model.Stat)) {
	for n := range h.heads {
		d := &h.heads[n]
		if d.first != nil {
			d.first.waiting, d.waiting = d.waiting, 0
		}
		times := h.sigs.Times(uint32(n))
		for f := range h.of(n) {
			h.count(f, f.waiting)
			f.waiting = 0
			duration, gap := how(h.pairs[f.number], &f.CountBuffer)
			times.Duration.Merge(duration)
			times.Gap.Merge(gap)
		}
	}
}

// of yields the buffers of a terminal.
func (h *histograms) of(n int) iter.Seq[*timeBuffer] {
	return func(yield func(*timeBuffer) bool) {
		for f := h.heads[n].first; f != nil && yield(f); {
			f = h.after(f)
		}
	}
}

// after returns the next buffer of a list, nil after the last one.
func (h *histograms) after(f *timeBuffer) *timeBuffer {
	if f.next == nobody {
		return nil
	}
	return h.buffers[f.next-1]
}

// find moves the buffer of a site to the beginning of a terminal's list. It adds one if necessary.
func (h *histograms) find(d *head, from uint32) {
	var before *timeBuffer
	for f := d.first; f != nil; before, f = f, h.after(f) {
		if f.from == from {
			before.next = f.next // the found buffer was not the first
			h.lead(d, f)
			return
		}
	}
	f := h.put(d, from)
	h.pairs[f.number] = hist.NewPair(h.bins, h.rank)
}

// put inserts a new buffer at the beginning of a terminal's list. The caller sets its pair.
func (h *histograms) put(d *head, from uint32) *timeBuffer {
	const many = 12 // fills two pages of memory
	if len(h.room) == 0 {
		h.room = make([]timeBuffer, many)
	}
	f := &h.room[0]
	h.room = h.room[1:]
	f.from, f.number = from, uint32(len(h.pairs))
	h.buffers, h.pairs = append(h.buffers, f), append(h.pairs, nil)
	h.lead(d, f)
	return f
}

// lead inserts a buffer at the beginning of a terminal's list.
func (h *histograms) lead(d *head, f *timeBuffer) {
	f.next = nobody
	if d.first != nil {
		d.first.waiting = d.waiting
		f.next = d.first.number + 1
	}
	*d = head{f.from, f.waiting, f}
}

// grow extends the slices to all current terminals.
func (h *histograms) grow() {
	for n := len(h.heads); n < h.sigs.Len(); n++ {
		h.heads = append(h.heads, head{from: nowhere})
	}
	h.sites.grow()
}

// code codes the histograms, which must be settled or paused. Signatures must be read before.
func (h *histograms) code(c *wire.Coder) {
	n := len(h.heads)
	c.Count(&n, 1)
	if c.RefuseIf(n > h.sigs.Len(), "histograms of terminals that there aren't"); c.Failed() {
		return
	}
	if c.Reader != nil {
		h.grow()
	} else {
		c.Buf = slices.Grow(c.Buf, len(h.pairs)*hist.MaxPairBytes+2*len(h.heads))
	}
	for i := range n {
		count := 0
		for range h.of(i) {
			count++
		}
		c.Count(&count, 3)
		if c.Reader == nil {
			for f := range h.of(i) {
				wire.CodeNaturals(c, &f.from)
				h.pairs[f.number].Save(c, &f.CountBuffer)
			}
			continue
		}
		for range count {
			var from uint32
			wire.CodeBounded(c, &from, len(h.sites.known))
			f := h.put(&h.heads[i], from)
			if h.pairs[f.number] = hist.LoadPair(c.Reader, &f.CountBuffer); c.Failed() {
				return
			}
		}
	}
}

// track returns the histograms of a track whose terminals are in this order, in rising order of terminals and of the
// call before. more returns other terminals whose calls became part of a terminal. ns is nanoseconds per tick. The
// histograms must be settled.
func (h *histograms) track(order []uint32, more func(uint32) []uint32, ns float64) []track.Hist {
	if h == nil {
		return nil
	}
	stands := h.sites.stands(order)
	var out []track.Hist
	for i, n := range order {
		first := len(out)
		add := func(f *timeBuffer) {
			from := track.NoPreviousTerminal
			if f.from != 0 {
				at, ok := stands[f.from-1]
				if !ok {
					return
				}
				from = at
			}
			pair := h.pairs[f.number]
			duration, gap := pair.Hists[0].Scale(ns), pair.Hists[1].Scale(ns)
			for k := first; k < len(out); k++ {
				if x := &out[k]; x.PreviousTerminal == from {
					x.Duration.Merge(duration)
					x.Gap.Merge(gap)
					return
				}
			}
			out = append(out, track.Hist{Terminal: i, PreviousTerminal: from, Duration: duration, Gap: gap})
		}
		for _, m := range append([]uint32{n}, more(n)...) {
			if int(m) >= len(h.heads) {
				continue
			}
			for f := range h.of(int(m)) {
				add(f)
			}
		}
		slices.SortFunc(out[first:], func(a, b track.Hist) int { return cmp.Compare(a.PreviousTerminal, b.PreviousTerminal) })
	}
	return out
}
