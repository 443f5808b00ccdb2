package rsd

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

// A unit is ranks whose streams of one thread differ only in values. Such streams are folded once.
type unit struct {
	ranks []int
	items []*item
	nodes []unitNode // which node of the result each of its items is in, also of the items in loops
}

type unitNode struct {
	node *Node
	item *item
}

// ByOrder finds the nests of ranks from the order of their calls: what repeats is a loop, and the sequences of ranks
// are merged by their heaviest common subsequence. So a call site may occur at several places, such as before a loop
// and in it. Loops match if their trip counts are equal at a precision in percent: at 100 they must be identical, 0
// accepts any. The error wraps ErrTooFewLoops if too few loops are found to show the calls.
func ByOrder(r *trace.Reader, ranks []int, precision int) ([]*Nests, error) {
	return ofThreads(r, ranks, func(thread int) (*Nests, error) {
		n, err := byOrder(r, ranks, thread, precision)
		if err != nil {
			err = fmt.Errorf("thread %d: %w", thread, err)
		}
		return n, err
	})
}

func byOrder(r *trace.Reader, ranks []int, thread, precision int) (*Nests, error) {
	numbers := newNumbering(r)
	t := tolerance{precision, make(map[uint64][]uint64)}
	if precision < 100 {
		units, err := unitsOf(r, ranks, thread, tolerance{precision: 100}, numbers)
		if err != nil && !errors.Is(err, ErrTooFewLoops) {
			return nil, err
		}
		for _, u := range units {
			t.learn(u.items)
		}
	}
	units, err := unitsOf(r, ranks, thread, t, numbers)
	if err != nil {
		return nil, err
	}
	items, err := align(units, t, func(c int) bool { return numbers.fences[c] })
	if err != nil {
		return nil, err
	}
	f := &filler{r: r, thread: thread, units: units, out: &Nests{Thread: thread}}
	f.out.Nodes = f.nodes(items)
	of := make(map[int]*unit)
	for _, u := range units {
		for _, rank := range u.ranks {
			of[rank] = u
		}
	}
	for _, rank := range ranks {
		if u := of[rank]; u != nil {
			if err := f.rank(rank, u); err != nil {
				return nil, err
			}
		}
	}
	ended(f.out.Nodes)
	return f.out, nil
}

// unitsOf folds the ranks' streams of a thread into items: once for all ranks whose streams differ only in values.
func unitsOf(r *trace.Reader, ranks []int, thread int, t tolerance, numbers *numbering) (units []*unit, err error) {
	known := make(map[int]*unit) // by number of a class whose ranks have equal streams
	for _, rank := range ranks {
		if u := known[r.ClassOf(rank)]; u != nil {
			u.ranks = append(u.ranks, rank)
			continue
		}
		k, err := r.Rank(rank)
		if err != nil {
			return nil, err
		}
		if thread >= k.Streams() {
			continue
		}
		list, err := numbers.contexts(k)
		if err != nil {
			return nil, err
		}
		u := &unit{ranks: []int{rank}}
		if u.items, err = newFolder(t, func(t int) int { return list[t] }).fold(k.Structure(thread)); err != nil {
			return units, fmt.Errorf("rank %d: %w", rank, err)
		}
		units = append(units, u)
		if k.ClassHasEqualCounts() {
			known[k.Class()] = u
		}
	}
	return units, nil
}

// align merges the sequences of all units.
func align(units []*unit, t tolerance, fence func(context int) bool) (all []*sharedItem, err error) {
	for i, u := range units {
		list := sharedItemsOf(u.items, i, fence)
		if i == 0 {
			all = list
			continue
		}
		a := &aligner{t, make(map[weighing]float64), make(map[splitting]*sharedItem)}
		if all = a.merge(all, list); size(all) > mostNodes {
			return nil, ErrTooFewLoops
		}
	}
	if size(all) > mostNodes {
		return nil, ErrTooFewLoops
	}
	return all, nil
}

func size(list []*sharedItem) int {
	n := len(list)
	for _, j := range list {
		n += size(j.body)
	}
	return n
}

// A filler makes the nodes of the result from the merged items, and adds each rank's values to them.
type filler struct {
	r      *trace.Reader
	thread int
	units  []*unit
	out    *Nests
}

func (f *filler) nodes(list []*sharedItem) (out []*Node) {
	for _, j := range list {
		if j.isLoop && j.most == 1 {
			out = append(out, f.nodes(j.body)...)
			continue
		}
		n := &Node{}
		if j.isLoop {
			n.TripCounts = new(stats.NumberDistribution)
			n.Body = f.nodes(j.body)
		}
		for _, p := range j.parts {
			u := f.units[p.unit]
			u.nodes = append(u.nodes, unitNode{n, p.item})
		}
		out = append(out, n)
	}
	return out
}

// rank adds a rank's calls and trip counts to the nodes of its unit u.
func (f *filler) rank(rank int, u *unit) error {
	k, err := f.r.Rank(rank)
	if err != nil {
		return err
	}
	marks, err := reduce.CallReductionsOf(f.r, k)
	if err != nil {
		return err
	}
	f.out.Ranks = append(f.out.Ranks, rank)
	f.out.CallsPerRank.Add(int64(k.CallCount(f.thread)), 1, rank)
	for _, x := range u.nodes {
		x.node.Ranks = append(x.node.Ranks, rank)
		if x.item.loop() {
			for n, times := range x.item.over {
				x.node.TripCounts.Add(int64(n), times, rank)
			}
			continue
		}
		total := uint64(0)
		for _, t := range slices.Sorted(maps.Keys(x.item.counts)) {
			if x.node.Event == nil {
				x.node.Event = newEvent(k.CallWithoutParams(t), f.r.Ranks())
			}
			if err := x.node.Event.add(k, t, x.item.counts[t], marks); err != nil {
				return err
			}
			total += x.item.counts[t]
		}
		x.node.Event.called(rank, total)
	}
	return nil
}

// ended sets Times of nodes once all calls were added, and Around to Times: no iterations without them are known.
func ended(list []*Node) {
	for _, n := range list {
		if e := n.Event; e != nil {
			e.end()
			n.Executions = uint64(e.CallsPerRank.Sum)
		} else {
			n.Executions = n.TripCounts.Count
			ended(n.Body)
		}
		n.PossibleExecutions = n.Executions
	}
}
