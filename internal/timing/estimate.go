// The ranks of a run compare their clocks, so that what they did can be
// put on one time line. Ranks that read the same clock are found first; of each clock
// one rank exchanges messages with another's, over a binomial tree of the clocks, once
// when the run begins and once when it ends.
//
// It is not about how a clock is read or calibrated, and it sets no clock.
//
// Invariants:
//
//  1. Ranks with one clock send a message up a tree and get one back, no more, and
//     no offset is made up between them.
//  2. An offset is from the exchange with the least round trip, and off by half of
//     that at most, however unequal the ways there and back; along the tree
//     both add up. How far clocks drift apart in the milliseconds that a comparison
//     lasts is left out.
//  3. A time between the two comparisons is put on the time line with no more error than
//     theirs, if no clock drifts more than any hardware does.
//  4. All ranks make each call here together, or none of them does.

package timing

import (
	"encoding/binary"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A Transport moves bytes between ranks. Both sides of a message know its length.
type Transport interface {
	Rank() int
	Size() int
	Send(to int, data []byte) error
	Recv(from int, data []byte) error
}

// rounds is how often two ranks compare their clocks: each time by a message there and one back.
const rounds = 12

// SharedClocks is which ranks share a clock.
type SharedClocks struct {
	leaders []int       // by number of the clock: the lowest rank that has it, in rising order
	own     int         // number of this rank's clock
	runs    []rankRange // on rank 0 only: all ranks in order, with the numbers of their clocks
}

// A rankRange is consecutive ranks with the same clock. id is the clock's id or, in SharedClocks, its number; ranks
// is how many ranks they are.
type rankRange struct{ id, ranks uint64 }

// Len returns the number of clocks.
func (c *SharedClocks) Len() int { return len(c.leaders) }

// EachRankClock yields the number of each rank's clock, in order of ranks. It works on rank 0 only.
func (c *SharedClocks) EachRankClock(yield func(clock int) bool) {
	for _, r := range c.runs {
		for range r.ranks {
			if !yield(int(r.id)) {
				return
			}
		}
	}
}

// FindSharedClocks finds which ranks share a clock: those that pass the same id. All ranks call it together.
func FindSharedClocks(t Transport, id uint64) (*SharedClocks, error) {
	runs := []rankRange{{id, 1}}
	parent, children := tree(t.Rank(), t.Size())
	for _, child := range children {
		theirs, err := recvRuns(t, child)
		if err != nil {
			return nil, fmt.Errorf("clock: %w", err)
		}
		if last := &runs[len(runs)-1]; last.id == theirs[0].id {
			last.ranks += theirs[0].ranks
			theirs = theirs[1:]
		}
		runs = append(runs, theirs...)
	}
	c := &SharedClocks{}
	var list []rankRange // by number of the clock: its id, and its lowest rank in field ranks
	if parent < 0 {
		list = c.number(runs)
	} else {
		err := sendRuns(t, parent, runs)
		if err == nil {
			list, err = recvRuns(t, parent)
		}
		if err != nil {
			return nil, fmt.Errorf("clock: %w", err)
		}
	}
	for i := len(children) - 1; i >= 0; i-- {
		if err := sendRuns(t, children[i], list); err != nil {
			return nil, fmt.Errorf("clock: %w", err)
		}
	}
	for i, x := range list {
		c.leaders = append(c.leaders, int(x.ranks))
		if x.id == id {
			c.own = i
		}
	}
	return c, nil
}

// number numbers the clocks in the order of their lowest ranks. It returns the id of each clock and, in field ranks,
// its lowest rank.
func (c *SharedClocks) number(runs []rankRange) (list []rankRange) {
	index := make(map[uint64]uint64)
	rank := uint64(0)
	for _, r := range runs {
		n, fresh := once.NumberOf(index, r.id)
		if fresh {
			list = append(list, rankRange{r.id, rank})
		}
		c.runs = append(c.runs, rankRange{n, r.ranks})
		rank += r.ranks
	}
	return list
}

// A ClockEstimate is the difference between a clock and rank 0's clock at one time.
type ClockEstimate struct {
	ReadingNs  int64 // reading of the clock at that time
	OffsetNs   int64 // rank 0's clock at the same time, minus ReadingNs
	MaxErrorNs int64 // largest possible error of OffsetNs
}

// Estimate compares the clocks with rank 0's. All ranks call it together; now reads the rank's own clock in ns. Rank
// 0 gets one estimate for each clock, its own first; all other ranks get nil.
func (c *SharedClocks) Estimate(t Transport, now func() int64) ([]ClockEstimate, error) {
	if c.Len() < 2 || c.leaders[c.own] != t.Rank() {
		return nil, nil
	}
	parent, children := tree(c.own, c.Len())
	list := make([]ClockEstimate, 1, 1+len(children))
	for _, child := range children {
		theirs, err := c.serve(t, child, now)
		if err != nil {
			return nil, fmt.Errorf("clock: %w", err)
		}
		list = append(list, theirs...)
	}
	if parent >= 0 {
		if err := c.ask(t, c.leaders[parent], now, list); err != nil {
			return nil, fmt.Errorf("clock: %w", err)
		}
		return nil, nil
	}
	// So far each offset is relative to the clock of the parent in the tree of clocks. In the list, parents precede
	// their children.
	for i := 1; i < len(list); i++ {
		p, _ := tree(i, len(list))
		list[i].OffsetNs += list[p].OffsetNs
		list[i].MaxErrorNs += list[p].MaxErrorNs
	}
	return list, nil
}

// ask compares the rank's clock with that of its parent in the tree of clocks, and sends the parent list: the
// estimates of the clock's subtree.
func (c *SharedClocks) ask(t Transport, parent int, now func() int64, list []ClockEstimate) error {
	var b [8]byte
	own := &list[0]
	for i := range rounds {
		before := now()
		if err := t.Send(parent, b[:]); err != nil {
			return err
		}
		if err := t.Recv(parent, b[:]); err != nil {
			return err
		}
		trip := now() - before
		if bound := (trip + 1) / 2; i == 0 || bound < own.MaxErrorNs {
			at := before + trip/2
			*own = ClockEstimate{at, int64(binary.LittleEndian.Uint64(b[:])) - at, bound}
		}
	}
	var data []byte
	for _, e := range list {
		for _, v := range []int64{e.ReadingNs, e.OffsetNs, e.MaxErrorNs} {
			data = binary.LittleEndian.AppendUint64(data, uint64(v))
		}
	}
	return t.Send(parent, data)
}

// serve does the parent's part of ask for one child, and returns the estimates of the child's subtree.
func (c *SharedClocks) serve(t Transport, child int, now func() int64) ([]ClockEstimate, error) {
	var b [8]byte
	from := c.leaders[child]
	for range rounds {
		if err := t.Recv(from, b[:]); err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint64(b[:], uint64(now()))
		if err := t.Send(from, b[:]); err != nil {
			return nil, err
		}
	}
	list := make([]ClockEstimate, min(child&-child, c.Len()-child))
	data := make([]byte, 24*len(list))
	if err := t.Recv(from, data); err != nil {
		return nil, err
	}
	for i := range list {
		var v [3]int64
		for k := range v {
			v[k] = int64(binary.LittleEndian.Uint64(data[24*i+8*k:]))
		}
		list[i] = ClockEstimate{v[0], v[1], v[2]}
	}
	return list, nil
}

// tree returns the parent and the children of i in the binomial tree over 0 … n-1; the parent of 0 is -1. A subtree
// has consecutive numbers, from its root on. Their number is the lowest bit of the root; none exceeds n-1.
func tree(i, n int) (parent int, children []int) {
	parent = i - i&-i
	if i == 0 {
		parent = -1
	}
	for d := 1; i+d < n && (i == 0 || d < i&-i); d *= 2 {
		children = append(children, i+d)
	}
	return parent, children
}

func sendRuns(t Transport, to int, runs []rankRange) error {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(runs)))
	if err := t.Send(to, b); err != nil {
		return err
	}
	b = b[:0]
	for _, r := range runs {
		b = binary.LittleEndian.AppendUint64(b, r.id)
		b = binary.LittleEndian.AppendUint64(b, r.ranks)
	}
	return t.Send(to, b)
}

func recvRuns(t Transport, from int) ([]rankRange, error) {
	var b [8]byte
	if err := t.Recv(from, b[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(b[:])
	if n == 0 || n > uint64(t.Size()) {
		return nil, fmt.Errorf("rank %d has %d clocks", from, n)
	}
	data := make([]byte, 16*n)
	if err := t.Recv(from, data); err != nil {
		return nil, err
	}
	runs := make([]rankRange, n)
	for i := range runs {
		runs[i] = rankRange{binary.LittleEndian.Uint64(data[16*i:]), binary.LittleEndian.Uint64(data[16*i+8:])}
	}
	return runs, nil
}

// ClocksFromEstimates returns each clock's line, from two comparisons of the same clocks: at the begin and at the end
// of a run.
func ClocksFromEstimates(first, last []ClockEstimate) []model.Clock {
	lines := make([]model.Clock, min(len(first), len(last)))
	for i := range lines {
		a, b := first[i], last[i]
		lines[i] = model.Clock{
			ComparedAtNs:     [2]int64{a.ReadingNs, b.ReadingNs},
			Rank0MinusThisNs: [2]int64{a.OffsetNs, b.OffsetNs},
			ErrorNs:          max(a.MaxErrorNs, b.MaxErrorNs),
		}
	}
	if len(lines) > 0 {
		lines[0] = model.Clock{}
	}
	return lines
}
