package diff

import (
	"fmt"

	"github.com/spoor-hpc/spoor/trace"
)

// maxWalked is up to how many calls are compared one by one.
const maxWalked = 1 << 32

// ahead returns how many calls of a stream are known to be equal at its beginning,
// without looking at each; err if those that have to be looked at are too many.
func (c *comparison) ahead(a, b *trace.Rank, stream int) (uint64, error) {
	common := uint64(0)
	if !c.o.Renamed && !c.o.AnyOrder && stream < a.Streams() && stream < b.Streams() {
		n, err := c.numbers(a, b)
		if err != nil {
			return 0, err
		}
		common = trace.Common(a, b, stream, n.a, n.b)
	}
	if stream >= a.Streams() || stream >= b.Streams() {
		return common, nil
	}
	left := min(a.Len(stream), b.Len(stream)) - common
	if left > maxWalked && (c.o.Renamed || c.o.AnyOrder || c.lanes(a, b)) {
		return 0, fmt.Errorf("rank %d: thread %d: the structures differ, and %d calls are too many to compare one by one", a.Number(), stream, left)
	}
	return common, nil
}

// lanes reports whether calls have values that a distinct call doesn't tell.
func (c *comparison) lanes(a, b *trace.Rank) bool {
	for _, k := range []*trace.Rank{a, b} {
		for t := range k.Terminals() {
			if k.Lane(t) != nil {
				return true
			}
		}
	}
	return false
}

// numbers are numbers of two ranks' terminals: equal ones are equal calls.
type numbers struct{ a, b []uint64 }

// numbers compares the distinct calls of two ranks with each other. Those with lanes are
// as good as different, unless they have the same number in both and all values alike.
func (c *comparison) numbers(a, b *trace.Rank) (*numbers, error) {
	out := &numbers{make([]uint64, a.Terminals()), make([]uint64, b.Terminals())}
	type bucket struct {
		name   string
		result int64
		params int
		values uint64
	}
	known := make(map[bucket][]uint64)
	var calls []*trace.Call // by number - 1; nil: has a lane
	next := func(x *trace.Call) uint64 {
		calls = append(calls, x)
		return uint64(len(calls))
	}
	number := func(k *trace.Rank, t int) (uint64, error) {
		if k.Lane(t) != nil {
			return next(nil), nil
		}
		x, err := k.Terminal(t)
		if err != nil {
			return 0, err
		}
		key := bucket{x.Name(), x.Return, len(x.Params), c.plainValues(x)}
		for _, n := range known[key] {
			if c.o.equalCalls(calls[n-1], x) {
				return n, nil
			}
		}
		n := next(x)
		known[key] = append(known[key], n)
		return n, nil
	}
	var err error
	for t := range out.a {
		if out.a[t], err = number(a, t); err != nil {
			return nil, err
		}
	}
	for t := range out.b {
		if t < len(out.a) && a.Lane(t) != nil && a.Lane(t).Same(b.Lane(t)) {
			x, err := a.Terminal(t)
			if err != nil {
				return nil, err
			}
			y, err := b.Terminal(t)
			if err != nil {
				return nil, err
			}
			if c.o.equalCalls(x, y) {
				out.b[t] = out.a[t]
				continue
			}
		}
		if out.b[t], err = number(b, t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// plainValues makes a number of values that equal calls have in common.
func (c *comparison) plainValues(x *trace.Call) uint64 {
	sum := uint64(0)
	for i := range x.Params {
		v := &x.Params[i].In
		if v.Type == trace.Int && !isAddress(v.Num) || v.Type == trace.Handle {
			sum = (sum ^ uint64(v.Num)) * 0x9e3779b97f4a7c15
		}
		sum++
	}
	return sum
}
