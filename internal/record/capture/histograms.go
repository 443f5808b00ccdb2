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

// histograms holds two histograms, of durations and gaps in ticks, for each terminal and site of the previous call. So
// times in a loop's first iteration are apart from those in later ones. Only settleTimes and pauseTimes add the times
// to the signatures' summaries.
type histograms struct {
	sigs *signature.Table
	bins int
	rank int32

	heads   []head        // by terminal
	buffers []*timeBuffer // by timeBuffer.number
	pairs   []*hist.Pair  // by timeBuffer.number: the buffer's histograms of durations and gaps
	sites   siteNumbers
	room    []timeBuffer // buffers allocated ahead, which no terminal uses yet
}

// A head is a terminal's list of buffers, the last used one first.
type head struct {
	from    uint32 // timeBuffer.from of the list's first buffer; nowhere: the list is empty
	waiting uint32 // number of calls in the list's first buffer that its histograms lack
	first   *timeBuffer
}

// A timeBuffer collects the times of a terminal's calls after calls from one site, and adds them to the histograms in
// batches. So a single call touches only its terminal's head and one cache line. A batch touches six more cache lines
// of the buffer, and twenty of the histograms and summaries. A timeBuffer has no pointers, so that the garbage
// collector skips it.
type timeBuffer struct {
	times   [manyWaiting]uint64 // duration and gap of each collected call, packed by hist.PackSamples
	from    uint32              // number of the previous call's site + 1; 0: no previous call
	next    uint32              // number of the next buffer in the list + 1; nobody: the list ends here
	number  uint32
	waiting uint32 // number of calls that the histograms lack; for the list's first buffer it is in head.waiting
	hist.CountBuffer
	_ [40]byte // pads the buffer to whole cache lines
}

const (
	manyWaiting = 32             // number of calls that a timeBuffer can collect
	nobody      = 0              // timeBuffer.next of a list's last buffer
	nowhere     = math.MaxUint32 // head.from of an empty list, which differs from timeBuffer.from of any buffer
)

func newHistograms(o timing.Options, sigs *signature.Table, rank int) *histograms {
	if !o.Mode.HasHistograms() {
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

// count adds the first times of a buffer, waiting of them, to its histograms.
func (h *histograms) count(f *timeBuffer, waiting uint32) {
	h.pairs[f.number].AddPacked(&f.CountBuffer, f.times[:waiting])
}

// settleTimes adds all collected times to the histograms and to the signatures' summaries.
func (c *Capture) settleTimes() {
	if c.hists != nil {
		c.hists.update((*hist.Pair).Flush)
	}
}

// pauseTimes is settleTimes for a checkpoint, after which recording continues. Times may stay in the hist.CountBuffers,
// as hist.Pair.SaveCheckpoint writes those, too.
func (c *Capture) pauseTimes() {
	if c.hists != nil {
		c.hists.update((*hist.Pair).FlushForCheckpoint)
	}
}

// update adds the collected times to the histograms. For each pair of histograms, how returns summaries of the times
// added since its last call. update merges these into the terminal's summaries.
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

// find moves the buffer with this timeBuffer.from to the beginning of a terminal's list. It adds one if necessary.
func (h *histograms) find(d *head, from uint32) {
	var before *timeBuffer
	for f := d.first; f != nil; before, f = f, h.after(f) {
		if f.from == from {
			before.next = f.next // before is not nil: the caller knows that the first buffer is another one
			h.lead(d, f)
			return
		}
	}
	f := h.put(d, from)
	h.pairs[f.number] = hist.NewPair(h.bins, h.rank)
}

// put inserts a new buffer at the beginning of a terminal's list. The caller sets the buffer's element of h.pairs.
func (h *histograms) put(d *head, from uint32) *timeBuffer {
	const many = 12 // buffers that fill about two pages of memory
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

// grow extends h.heads and h.sites to all terminals that have been seen.
func (h *histograms) grow() {
	for n := len(h.heads); n < h.sigs.Len(); n++ {
		h.heads = append(h.heads, head{from: nowhere})
	}
	h.sites.grow()
}

// code codes the histograms. settleTimes or pauseTimes must have added all collected times before. When reading, the
// signatures must have been read.
func (h *histograms) code(c *wire.Coder) {
	n := len(h.heads)
	c.Count(&n, 1)
	if c.RefuseIf(n > h.sigs.Len(), "histograms of terminals that there aren't"); c.Failed() {
		return
	}
	if c.Reader != nil {
		h.grow()
	} else {
		c.Buf = slices.Grow(c.Buf, len(h.pairs)*hist.MaxPairCheckpointBytes+2*len(h.heads))
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
				h.pairs[f.number].SaveCheckpoint(c, &f.CountBuffer)
			}
			continue
		}
		for range count {
			var from uint32
			wire.CodeBounded(c, &from, len(h.sites.known))
			f := h.put(&h.heads[i], from)
			if h.pairs[f.number] = hist.LoadPairCheckpoint(c.Reader, &f.CountBuffer); c.Failed() {
				return
			}
		}
	}
}

// track returns the histograms of a track, sorted by terminal, then by the previous call's terminal. order holds the
// signature of each of the track's terminals, more(n) other signatures whose calls became calls of that terminal. ns is
// nanoseconds per tick. settleTimes must have been called.
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
