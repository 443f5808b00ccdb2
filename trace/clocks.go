package trace

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/timing/clock"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// A Clock says how a clock that ranks read relates to that of rank 0.
type Clock = clock.Line

// Clocks is the clocks of a run, if there is more than one and they were compared.
type Clocks struct {
	List []Clock       // the first is rank 0's, the zero value
	Of   column.Column // by rank: number in List
}

// append and decodeClocks: the section of clocks. A trace of one clock has none.
//
//	clocks = clocks uvarint, clock… behind the first, seq of ranks: clock
//	clock  = at varint, until uvarint, offset varint, (last offset - offset) varint, bound uvarint
func (c *Clocks) append(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(len(c.List)))
	for _, l := range c.List[1:] {
		b = wire.AppendVarint(b, l.AtNs[0])
		b = wire.AppendUvarint(b, uint64(max(0, l.AtNs[1]-l.AtNs[0])))
		b = wire.AppendVarint(b, l.OffsetNs[0])
		b = wire.AppendVarint(b, l.OffsetNs[1]-l.OffsetNs[0])
		b = wire.AppendUvarint(b, uint64(l.BoundNs))
	}
	return column.EncodeSeq(b, &c.Of, nil)
}

// check says what makes the table impossible to write.
func (c *Clocks) check(ranks int) error {
	if c.Of.Len() != ranks {
		return fmt.Errorf("clocks of %d ranks, there are %d", c.Of.Len(), ranks)
	}
	if len(c.List) == 0 || c.List[0] != (Clock{}) {
		return fmt.Errorf("%d clocks, the first of which is not the reference", len(c.List))
	}
	for v := range c.Of.All() {
		if v < 0 || v >= int64(len(c.List)) {
			return fmt.Errorf("a rank has clock %d of %d", v, len(c.List))
		}
	}
	return nil
}

// A clockTable is Clocks as read.
type clockTable struct {
	list []Clock
	of   []int32 // by rank
}

func decodeClocks(r *wire.Reader, ranks int) *clockTable {
	t := &clockTable{}
	n := r.Uvarint()
	if n == 0 || n > uint64(r.Rest()) {
		r.Fail("%d clocks in %d bytes", n, r.Rest())
		return t
	}
	t.list = make([]Clock, 1, n)
	for range n - 1 {
		var l Clock
		l.AtNs[0] = r.Varint()
		l.AtNs[1] = l.AtNs[0] + int64(r.Uvarint())
		l.OffsetNs[0] = r.Varint()
		l.OffsetNs[1] = l.OffsetNs[0] + r.Varint()
		l.BoundNs = int64(r.Uvarint())
		if r.Err() == nil && (l.AtNs[1] < l.AtNs[0] || l.BoundNs < 0) {
			r.Fail("clock %d: compared from %d to %d, within %d", len(t.list), l.AtNs[0], l.AtNs[1], l.BoundNs)
		}
		t.list = append(t.list, l)
	}
	seq := column.DecodeSeq(r, ranks)
	if r.Err() != nil || seq == nil {
		return t
	}
	t.of = make([]int32, ranks)
	for rank := range t.of {
		v := seq.At(rank, 0)
		if v < 0 || v >= int64(len(t.list)) {
			r.Fail("rank %d has clock %d of %d", rank, v, len(t.list))
			return t
		}
		t.of[rank] = int32(v)
	}
	return t
}

func (r *Reader) readClocks() (t *clockTable, err error) {
	if !r.hasSection(container.Clocks) {
		return &clockTable{}, nil
	}
	err = r.section(container.Clocks, func(w *wire.Reader) { t = decodeClocks(w, r.ranks.ranks) })
	return t, err
}

// Clocks returns the clocks of the run, that of rank 0 first. It is empty if all
// ranks read one clock, or if clocks were not compared since the run did not end in
// MPI_Finalize.
func (r *Reader) Clocks() ([]Clock, error) {
	t, err := r.clocks()
	if err != nil {
		return nil, err
	}
	return t.list, nil
}

// Clock returns how the rank's clock relates to rank 0's: the zero value if it is
// the same, or if they were not compared. Processes have times of their own clocks.
func (k *Rank) Clock() (Clock, error) { return k.r.clockOf(k.number) }

func (r *Reader) clockOf(rank int) (Clock, error) {
	t, err := r.clocks()
	if err != nil || t.of == nil {
		return Clock{}, err
	}
	return t.list[t.of[rank]], nil
}

// A line is where a rank's clock is on the run's time line.
type line struct {
	clock  Clock
	origin int64
}

func (l line) common(ns int64) int64 { return l.clock.Common(ns) - l.origin }
func (l line) own(ns int64) int64    { return l.clock.Own(ns + l.origin) }

// line returns the rank's.
func (k *Rank) line() (l line, err error) {
	if l.clock, err = k.Clock(); err != nil {
		return l, err
	}
	l.origin, err = k.r.origin()
	return l, err
}

// findOrigin finds where the time line begins, the first call of the first rank that left a
// track: ns since 1970 on rank 0's clock.
func (r *Reader) findOrigin() (int64, error) {
	for rank, c := range r.places().class {
		if c < 0 {
			continue
		}
		k, err := r.Rank(rank)
		if err != nil {
			return 0, err
		}
		clock, err := k.Clock()
		if err != nil {
			return 0, err
		}
		ns, err := k.began()
		return clock.Common(ns), err
	}
	return 0, nil
}

// began is when the rank's first call began, on its own clock: as its times have it if each
// call has its own, else as the table of processes does, which is rounded.
func (k *Rank) began() (int64, error) {
	s, err := k.openSeries()
	if err != nil {
		return 0, err
	}
	if s != nil && s.Blocks(0) > 0 {
		b, err := k.block(s, 0, 0)
		if err != nil {
			return 0, err
		}
		if len(b.entries) > 0 {
			at, _, _, _ := s.advance(b.drift, b.entries[0], b.kinds[0], s.Begin(0, 0))
			return s.StartNs + s.Ns(at), nil
		}
	}
	p, err := k.Process()
	return p.StartNs, err
}
