package waits

import "github.com/spoor-hpc/spoor/internal/once"

// A blocked call is one in which its rank may have waited.
type blocked struct {
	arrival       // of the one that waits
	end     int64 // when it returned
	open    int   // operations without a known arrival of the other ranks
	opened  bool  // there were any
	told    bool  // there are no further ones
	known   bool  // something is said of it
	settled bool

	kind   Kind
	waited int64
	by     arrival // who came last
	free   int64   // ns that this one had been outside of MPI before; below 0: it is asked
	got    int64   // the turn of a late sender's message
}

// waitsFor notes that another rank arrived at an operation at a time. The last one counts. Ties go to the lower kind,
// then to the lower rank, so that the order of the analysis doesn't matter.
func (b *blocked) waitsFor(kind Kind, other arrival, free, turn int64) {
	w := min(other.at, b.end) - b.at
	if w > b.waited || w == b.waited && w > 0 && (kind < b.kind || kind == b.kind && other.rank < b.by.rank) {
		b.kind, b.waited, b.by, b.free, b.got = kind, w, other, free, turn
	}
}

// as is what a call waited, for a reason.
func (b *blocked) as(kind Kind, ns int64) Wait {
	return Wait{int(b.rank), int(b.stream), kind, b.at, ns, int(b.by.rank)}
}

// opens says that of one more operation it is not known.
func (b *blocked) opens() {
	b.open++
	b.opened = true
}

// met says that of one more operation it is known.
func (w *rankAnalysis) met(b *blocked) {
	if b.open--; b.open == 0 && b.told {
		w.settle(b)
	}
}

// settle adds up what a call waited. All there is to know of it is known.
func (w *rankAnalysis) settle(b *blocked) {
	if b.settled = true; b.waited <= 0 {
		return
	}
	w.WaitedNs += b.waited
	w.add(b, b.kind, 1)
	w.each(b.as(b.kind, b.waited))
	w.rider.Waited(int(b.stream), b.at, b.waited)
	if w.hops != nil {
		w.hops.add(b)
	}
	if b.kind == LateSender {
		w.order.late(w, b)
	}
}

// wrongOrder moves what a call waited from one kind to another.
func (w *rankAnalysis) wrongOrder(b *blocked) {
	w.add(b, LateSender, -1)
	w.add(b, WrongOrder, 1)
	w.each(b.as(LateSender, -b.waited))
	w.each(b.as(WrongOrder, b.waited))
}

// add counts a wait, or takes it back. It also informs the late rank, which alone knows what it did meanwhile.
func (w *rankAnalysis) add(b *blocked, kind Kind, sign int64) {
	r := w.row(rowKey{b.place, kind})
	r.count += uint64(sign)
	r.waited += sign * b.waited
	r.ranks[b.rank] += sign * b.waited
	if b.free >= 0 {
		r.late[b.by.rank] += sign * b.waited
		c := r.cause(b.by.place)
		c.waited += sign * b.waited
		c.compute += sign * min(b.waited, b.free)
		return
	}
	x := once.GetOrMake(w.asks, int(b.by.rank), func() *asking { return &asking{} })
	x.ask(question{b.at, b.waited, b.place, b.by.place, kind, b.by.stream, sign})
}
