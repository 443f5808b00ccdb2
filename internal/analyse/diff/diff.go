// Package diff finds where two traces begin to differ. It compares calls and
// their values, not files: how a trace is compressed plays no role.
//
// Ranks of equal structure are compared by their distinct calls alone; only
// where something differs are calls expanded, up to the first difference.
package diff

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// Options say what counts as a difference.
type Options struct {
	CompareSites            bool   // call sites, and addresses of callback functions, must be equal
	IgnoreCallers           bool   // sites are compared without their callers, as only one of the traces has call stacks
	IgnoreAddresses         bool   // addresses are not compared
	AllowRenamedValues      bool   // addresses, file names and attribute keys may differ if they map one to one
	AllowMovedBlocks        bool   // memory blocks may differ if they map one to one; unfollowed blocks are all equal
	AllowAnyCompletionOrder bool   // requests may finish in another order, and tests may find nothing more or less often
	PrecedingCallCount      int    // number of calls before the difference that Difference.PrecedingCallsA has
	Progress                func() // called after each rank; may be nil

	names *renaming
}

// corresponds reports whether different addresses are no difference if they map one to one between the traces.
func (o *Options) corresponds() bool { return o.AllowRenamedValues || o.AllowMovedBlocks }

// A Difference is the first difference of a rank between two traces.
type Difference struct {
	Rank            int           `json:"rank"`
	NonCallText     string        `json:"what,omitempty"` // what differs if it isn't a call; "": see the fields below
	Stream          int           `json:"thread"`
	CallIndex       uint64        `json:"index"`
	CallA           *trace.Call   `json:"first"`            // the first trace's differing call; nil: its stream has ended
	CallB           *trace.Call   `json:"second"`           // the second trace's differing call; nil: its stream has ended
	PrecedingCallsA []*trace.Call `json:"before,omitempty"` // the calls of the first trace before CallA
}

// HasStacks reports whether any call of a trace was recorded with a call stack, not only its call site's address.
func HasStacks(r *trace.Reader) (bool, error) {
	sites, err := r.Sites()
	return slices.ContainsFunc(sites, func(s trace.Site) bool { return s.Caller != nil }), err
}

type comparison struct {
	a, b *trace.Reader
	o    Options
}

// CompareTraces yields the first difference of each rank that differs between the traces, in the order of ranks.
func CompareTraces(a, b *trace.Reader, o Options) iter.Seq2[*Difference, error] {
	c := &comparison{a, b, o}
	return func(yield func(*Difference, error) bool) {
		for rank := range max(a.Ranks(), b.Ranks()) {
			d, err := c.rank(rank)
			if err != nil {
				yield(nil, err)
				return
			}
			if d != nil && !yield(d, nil) {
				return
			}
			if o.Progress != nil {
				o.Progress()
			}
		}
	}
}

// rankOf returns a rank of a trace, or nil if the trace has no track of it.
func rankOf(r *trace.Reader, rank int) (*trace.Rank, error) {
	if rank >= r.Ranks() {
		return nil, nil
	}
	k, err := r.Rank(rank)
	if errors.Is(err, trace.ErrNoTrack) {
		return nil, nil
	}
	return k, err
}

func (c *comparison) rank(rank int) (*Difference, error) {
	a, err := rankOf(c.a, rank)
	if err != nil {
		return nil, err
	}
	b, err := rankOf(c.b, rank)
	switch {
	case err != nil:
		return nil, err
	case a == nil && b == nil:
		return nil, nil
	case a == nil:
		return &Difference{Rank: rank, NonCallText: "only the second trace has this rank"}, nil
	case b == nil:
		return &Difference{Rank: rank, NonCallText: "only the first trace has this rank"}, nil
	}
	m := newMatcher(a, b, c.o)
	same, err := c.sameDistinct(a, b, m)
	if err != nil {
		return nil, err
	}
	if !same {
		if c.o.corresponds() { // comparing the distinct calls may have assumed a wrong mapping of addresses: start anew
			m = newMatcher(a, b, c.o)
		}
		compare := c.stream
		if c.o.AllowAnyCompletionOrder {
			compare = c.anyOrder
		}
		for stream := range max(a.Streams(), b.Streams()) {
			d, err := compare(a, b, stream, m)
			if d != nil && err == nil {
				if same, err = c.threads(a, b); same && err == nil {
					break
				}
			}
			if d != nil || err != nil {
				return d, err
			}
		}
	}
	return nil, nil
}

// sameDistinct reports whether two ranks have equal grammars and equal distinct calls. If not, their sequences of calls
// may still be equal.
func (c *comparison) sameDistinct(a, b *trace.Rank, m *matcher) (bool, error) {
	if a.Streams() != b.Streams() || a.Terminals() != b.Terminals() {
		return false, nil
	}
	for t := range a.Terminals() {
		if equal, err := m.equal(t, t); !equal || err != nil {
			return false, err
		}
		if !a.Lane(t).Same(b.Lane(t)) {
			return false, nil
		}
	}
	for s := range a.Streams() {
		if !sameStructure(a.Structure(s), b.Structure(s)) {
			return false, nil
		}
	}
	return true, nil
}

// sameStructure reports whether two grammars are equal, up to the numbers of rules. It compares each pair of rules
// once.
func sameStructure(a, b trace.Node) bool {
	seen := make(map[[2]int]bool)
	var same func(a, b trace.Node) bool
	same = func(a, b trace.Node) bool {
		if a.Kind != b.Kind || a.Count != b.Count || a.Terminal != b.Terminal || (a.Rule < 0) != (b.Rule < 0) {
			return false
		}
		pair := [2]int{a.Rule, b.Rule}
		if a.Rule < 0 || seen[pair] {
			return true
		}
		seen[pair] = true
		return slices.EqualFunc(a.Children(), b.Children(), same)
	}
	return same(a, b)
}

// stream finds the first call in which a stream of the two ranks differs; nil: none differs.
func (c *comparison) stream(a, b *trace.Rank, stream int, m *matcher) (*Difference, error) {
	first, err := c.ahead(a, b, stream)
	if err != nil {
		return nil, err
	}
	nextA, stopA := iter.Pull2(callsOf(a, stream, first))
	defer stopA()
	nextB, stopB := iter.Pull2(callsOf(b, stream, first))
	defer stopB()
	for index := first; ; index++ {
		x, err, okA := nextA()
		if err != nil {
			return nil, err
		}
		y, err, okB := nextB()
		if err != nil {
			return nil, err
		}
		if !okA && !okB {
			return nil, nil
		}
		if okA && okB {
			if equal, err := m.same(x, y); err != nil {
				return nil, err
			} else if equal {
				continue
			}
		}
		d := &Difference{Rank: a.Number(), Stream: stream, CallIndex: index, CallA: x, CallB: y}
		d.PrecedingCallsA, err = before(a, stream, index, c.o.PrecedingCallCount)
		return d, err
	}
}

// callsOf yields a stream's calls from number first on. It yields nothing if there is no such stream.
func callsOf(k *trace.Rank, stream int, first uint64) iter.Seq2[*trace.Call, error] {
	if stream >= k.Streams() {
		return func(func(*trace.Call, error) bool) {}
	}
	return k.CallsFrom(stream, first)
}

func before(k *trace.Rank, stream int, index uint64, n int) ([]*trace.Call, error) {
	first := index - min(index, uint64(n))
	if first == index || stream >= k.Streams() {
		return nil, nil
	}
	var list []*trace.Call
	for c, err := range k.CallsFrom(stream, first) {
		if err != nil {
			return nil, err
		}
		if c.Index >= index {
			break
		}
		list = append(list, c)
	}
	return list, nil
}

// maxWalked is the largest number of calls of a stream that are compared one by one.
const maxWalked = 1 << 32

// ahead returns how many calls at a stream's beginning are known to be equal from the grammars alone. It returns an
// error if the number of calls left to compare one by one is above maxWalked.
func (c *comparison) ahead(a, b *trace.Rank, stream int) (uint64, error) {
	common := uint64(0)
	if !c.o.corresponds() && !c.o.AllowAnyCompletionOrder && stream < a.Streams() && stream < b.Streams() {
		n, err := c.numbers(a, b)
		if err != nil {
			return 0, err
		}
		common = trace.CommonPrefix(a, b, stream, n.a, n.b)
	}
	if stream >= a.Streams() || stream >= b.Streams() {
		return common, nil
	}
	left := min(a.CallCount(stream), b.CallCount(stream)) - common
	if left > maxWalked && (c.o.corresponds() || c.o.AllowAnyCompletionOrder || c.lanes(a, b)) {
		return 0, fmt.Errorf("rank %d: thread %d: the structures differ, and %d calls are too many to compare one by one", a.Number(), stream, left)
	}
	return common, nil
}

// lanes reports whether any distinct call of either rank has a lane.
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

// numbers has a number for each terminal of ranks a and b. Terminals with equal numbers are equal calls.
type numbers struct{ a, b []uint64 }

// numbers gives the distinct calls of two ranks numbers, equal ones for equal calls. Calls with lanes count as
// different from all others, unless they have the same terminal number and equal values in both traces.
func (c *comparison) numbers(a, b *trace.Rank) (*numbers, error) {
	out := &numbers{make([]uint64, a.Terminals()), make([]uint64, b.Terminals())}
	type bucket struct {
		name   string
		result int64
		params int
		values uint64
	}
	known := make(map[bucket][]uint64)
	var calls []*trace.Call // the first call with a number, by number − 1; nil: a call with a lane
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

// plainValues hashes those values of a call that no option lets differ between equal calls.
func (c *comparison) plainValues(x *trace.Call) uint64 {
	sum := uint64(0)
	for i := range x.Params {
		v := &x.Params[i].In
		if v.Type == trace.TypeInt && !isAddress(v.Num) || v.Type == trace.TypeHandle {
			sum = (sum ^ uint64(v.Num)) * 0x9e3779b97f4a7c15
		}
		sum++
	}
	return sum
}
