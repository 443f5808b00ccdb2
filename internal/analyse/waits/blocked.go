package waits

import "github.com/spoor-hpc/spoor/internal/once"

// A blocked is a call in which its rank may have waited.
type blocked struct {
	arrival       // when and where the waiting rank arrived
	end     int64 // when the call returned
	open    int   // number of operations for which the other rank's arrival isn't known yet
	opened  bool  // open was ever above 0
	told    bool  // all operations of the call have been added
	known   bool  // the analysis can interpret some operation of the call
	settled bool

	kind   Kind
	waited int64
	by     arrival // arrival of the rank that the call waited for, the last to arrive
	// free is ns that the late rank had been outside of MPI before it arrived. Below 0: not known here, so
	// that rank is asked.
	free int64
	got  int64 // for LateSender: position of the message among those that the rank received, from 1
}

// waitsFor records that another rank arrived at an operation. Only the last arrival counts. Ties go to the lower
// kind, then to the lower rank, so that the result doesn't depend on the order of the analysis.
func (b *blocked) waitsFor(kind Kind, other arrival, free, turn int64) {
	w := min(other.at, b.end) - b.at
	if w > b.waited || w == b.waited && w > 0 && (kind < b.kind || kind == b.kind && other.rank < b.by.rank) {
		b.kind, b.waited, b.by, b.free, b.got = kind, w, other, free, turn
	}
}

// as returns a Wait for the call, with the given kind and length in ns.
func (b *blocked) as(kind Kind, ns int64) Wait {
	return Wait{int(b.rank), int(b.stream), kind, b.at, ns, int(b.by.rank)}
}

// opens adds an operation whose other side isn't known yet.
func (b *blocked) opens() {
	b.open++
	b.opened = true
}

// met reports that one more operation's other side is known.
func (w *rankAnalysis) met(b *blocked) {
	if b.open--; b.open == 0 && b.told {
		w.settle(b)
	}
}

// settle counts the call's wait once all its operations are known.
func (w *rankAnalysis) settle(b *blocked) {
	if b.settled = true; b.waited <= 0 {
		return
	}
	w.WaitedNs += b.waited
	w.add(b, b.kind, 1)
	w.each(b.as(b.kind, b.waited))
	w.rider.AddWait(int(b.stream), b.at, b.waited)
	if w.hops != nil {
		w.hops.add(b)
	}
	if b.kind == LateSender {
		w.order.late(w, b)
	}
}

// wrongOrder counts a wait that was LateSender as WrongOrder.
func (w *rankAnalysis) wrongOrder(b *blocked) {
	w.add(b, LateSender, -1)
	w.add(b, WrongOrder, 1)
	w.each(b.as(LateSender, -b.waited))
	w.each(b.as(WrongOrder, b.waited))
}

// add counts a wait (sign 1), or takes it back (-1). If this rank doesn't know what the late rank did meanwhile, add
// sends that rank a question instead of counting the cause.
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
