package sections

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Clocks is the clocks of a run, if there are several and they were compared, or if several hosts share one.
type Clocks struct {
	List        []model.Clock // the first is rank 0's, the zero value
	ClockOfRank column.Column // by rank: index in List
}

// Append appends the section of clocks, which DecodeClocks reads. A trace of one host lacks it.
//
//	clocks = clocks uvarint, clock… without the first, seq of ranks: clock
//	clock  = at varint, until uvarint, offset varint, (last offset - offset) varint, bound uvarint
func (c *Clocks) Append(b []byte) []byte {
	x := wire.Coder{Buf: wire.AppendUvarint(b, uint64(len(c.List)))}
	for _, l := range c.List[1:] {
		l.ComparedAtNs[1] = max(l.ComparedAtNs[0], l.ComparedAtNs[1])
		codeClock(&x, &l)
	}
	return column.EncodeSeq(x.Buf, &c.ClockOfRank, nil)
}

func codeClock(c *wire.Coder, l *model.Clock) {
	wire.CodeRelative(c, &l.ComparedAtNs[0], 0)
	wire.CodeAbove(c, &l.ComparedAtNs[1], l.ComparedAtNs[0], math.MaxInt)
	wire.CodeRelative(c, &l.Rank0MinusThisNs[0], 0)
	wire.CodeRelative(c, &l.Rank0MinusThisNs[1], l.Rank0MinusThisNs[0])
	wire.CodeBounded(c, &l.ErrorNs, math.MaxInt)
}

// checkClocks returns an error if the table of clocks cannot be written.
func (c *Content) checkClocks() error {
	t := c.Clocks
	if t.ClockOfRank.Len() != c.Ranks {
		return fmt.Errorf("clocks of %d ranks, there are %d", t.ClockOfRank.Len(), c.Ranks)
	}
	if len(t.List) == 0 || t.List[0] != (model.Clock{}) {
		return fmt.Errorf("%d clocks, but the first is not the reference", len(t.List))
	}
	for v := range t.ClockOfRank.All() {
		if v < 0 || v >= int64(len(t.List)) {
			return fmt.Errorf("a rank has clock %d of %d", v, len(t.List))
		}
	}
	return nil
}

// A ClockTable is Clocks as read.
type ClockTable struct {
	List        []model.Clock
	ClockOfRank []int32 // by rank: index in List
}

// DecodeClocks reads the clocks of all ranks.
func DecodeClocks(r *wire.Reader, ranks int) *ClockTable {
	t := &ClockTable{}
	n := r.Uvarint()
	if n == 0 || n > uint64(r.RemainingLen()) {
		r.Fail("%d clocks in %d bytes", n, r.RemainingLen())
		return t
	}
	t.List = make([]model.Clock, 1, n)
	for range n - 1 {
		var l model.Clock
		if codeClock(&wire.Coder{Reader: r}, &l); l.ComparedAtNs[1] < l.ComparedAtNs[0] {
			r.Fail("clock %d: compared from %d to %d, within %d", len(t.List), l.ComparedAtNs[0], l.ComparedAtNs[1], l.ErrorNs)
		}
		t.List = append(t.List, l)
	}
	seq := column.DecodeSeq(r, ranks)
	if r.Err() != nil || seq == nil {
		return t
	}
	t.ClockOfRank = make([]int32, ranks)
	for rank := range t.ClockOfRank {
		v := seq.At(rank, 0)
		if v < 0 || v >= int64(len(t.List)) {
			r.Fail("rank %d has clock %d of %d", rank, v, len(t.List))
			return t
		}
		t.ClockOfRank[rank] = int32(v)
	}
	return t
}
