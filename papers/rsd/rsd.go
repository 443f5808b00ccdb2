// Package rsd shows what ranks did as loop nests. Events (RSDs) are the calls of a function from one call site, with
// the ranks that made them and their values. Loops (PRSDs) have their trip counts. The size of the result grows with
// the program, not with the run: values are constants, formulas of the rank, or histograms.
package rsd

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

// Nests are the loop nests of one thread, over all ranks that have it.
type Nests struct {
	Thread       int
	Ranks        []int
	CallsPerRank stats.NumberDistribution // over the ranks: the number of calls that the thread makes on each
	Nodes        []*Node
}

// A Node is an event or a loop.
type Node struct {
	Ranks      []int
	Event      *Event
	TripCounts *stats.NumberDistribution // of a loop: the trip counts of all its executions; nil for an event
	Body       []*Node
	// Executions is how often the node is run on all ranks: the event's number of calls, or of executions of the loop.
	// Around is how often it could be run: the number of iterations of the loop around it, outside of loops the number
	// of ranks. ByOrder sets it to Times.
	Executions, PossibleExecutions uint64
}

// IsLoop reports whether a node is a loop.
func (n *Node) IsLoop() bool { return n.Event == nil }

// numbering gives each context a number, from 0, in order of first occurrence.
type numbering struct {
	r      *trace.Reader
	known  map[context]int
	of     map[classTerminal]int
	fences []bool // by number of a context: whether any of its calls is a collective of several ranks
}

func newNumbering(r *trace.Reader) *numbering {
	return &numbering{r: r, known: make(map[context]int), of: make(map[classTerminal]int)}
}

type classTerminal struct{ class, terminal int }

func (n *numbering) context(k *trace.Rank, terminal int) (_ int, err error) {
	at := classTerminal{k.Class(), terminal}
	if c, ok := n.of[at]; ok {
		return c, nil
	}
	call := k.CallWithoutParams(terminal)
	x := context{call.Func.ID, call.Site}
	c, fresh := once.NumberOf(n.known, x)
	if fresh {
		n.fences = append(n.fences, false)
	}
	if !n.fences[c] && call.Func.Has(trace.AttrCollective) {
		if n.fences[c], err = ops.RemoteCallsOf(n.r, k, false).InvolvesOthers(terminal); err != nil {
			return 0, err
		}
	}
	n.of[at] = c
	return c, nil
}

// contexts returns, by terminal of a rank, the number of the call's context.
func (n *numbering) contexts(k *trace.Rank) ([]int, error) {
	list := make([]int, k.Terminals())
	for t := range list {
		c, err := n.context(k, t)
		if err != nil {
			return nil, err
		}
		list[t] = c
	}
	return list, nil
}

// ofThreads finds the nests of each thread that any of the ranks has.
func ofThreads(r *trace.Reader, ranks []int, find func(thread int) (*Nests, error)) (out []*Nests, err error) {
	most := 0
	for _, rank := range ranks {
		k, err := r.Rank(rank)
		if err != nil {
			return nil, err
		}
		most = max(most, k.Streams())
	}
	for thread := range most {
		n, err := find(thread)
		if err != nil {
			return nil, err
		}
		if len(n.Ranks) > 0 {
			out = append(out, n)
		}
	}
	return out, nil
}

// BySites finds the loop nests of ranks from call sites alone. Each site has one place in the program. Places are in
// the order in which the ranks first reach them. A step to the same or an earlier place is another iteration of a loop.
// So calls from one site are one event even if ranks make them in different orders.
func BySites(r *trace.Reader, ranks []int) ([]*Nests, error) {
	return ofThreads(r, ranks, func(thread int) (*Nests, error) { return bySites(r, ranks, thread) })
}

func bySites(r *trace.Reader, ranks []int, thread int) (*Nests, error) {
	b, err := surveyed(r, ranks, thread)
	if err != nil {
		return nil, err
	}
	b.events = make([]*Event, len(b.shape.Items))
	b.loops = make([]*Node, len(b.shape.Loops))
	for i := range b.loops {
		b.loops[i] = &Node{TripCounts: new(stats.NumberDistribution)}
	}
	out := &Nests{Thread: thread}
	for _, rank := range ranks {
		if err := b.rank(rank, out); err != nil {
			return nil, err
		}
	}
	out.Nodes = b.tree(calltree.NoLoop, len(out.Ranks))
	return out, nil
}

// surveyed returns a builder that knows the places and loops (shape) of a thread of the ranks.
func surveyed(r *trace.Reader, ranks []int, thread int) (*builder, error) {
	b := newBuilder(r, thread)
	for _, rank := range ranks {
		if err := b.survey(rank); err != nil {
			return nil, err
		}
	}
	b.shape = calltree.FindLoopOrder(len(b.numbers.known), b.courses)
	return b, nil
}

// A builder makes the nests of a thread.
type builder struct {
	r       *trace.Reader
	thread  int
	numbers *numbering
	courses []calltree.ObservedOrder
	shape   *calltree.LoopOrder
	events  []*Event // by place
	loops   []*Node
	rounds  map[int]map[int]map[uint64]uint64 // by class with equal streams, by loop, by trip count: executions
	done    map[int]bool                      // by class that was surveyed: whether its ranks have equal streams
}

func newBuilder(r *trace.Reader, thread int) *builder {
	return &builder{
		r: r, thread: thread, numbers: newNumbering(r),
		rounds: make(map[int]map[int]map[uint64]uint64), done: make(map[int]bool),
	}
}

// survey adds the order of a rank's contexts to b.courses.
func (b *builder) survey(rank int) error {
	class := b.r.ClassOf(rank)
	if b.done[class] {
		return nil
	}
	k, err := b.r.Rank(rank)
	if err != nil {
		return err
	}
	if b.done[class] = k.ClassHasEqualCounts(); b.thread >= k.Streams() {
		return nil
	}
	list, err := b.numbers.contexts(k)
	if err != nil {
		return err
	}
	s := &survey{of: func(t int) int { return list[t] }, seen: make(map[int]bool), rules: make(map[int]calltree.Transition)}
	s.Transitions = make(map[calltree.Transition]bool)
	s.nodes(k.Structure(b.thread))
	b.courses = append(b.courses, s.ObservedOrder)
	return nil
}

// rank adds a rank's calls to the events, and its trip counts to the loops.
func (b *builder) rank(rank int, out *Nests) error {
	k, err := b.r.Rank(rank)
	if err != nil || b.thread >= k.Streams() {
		return err
	}
	list, err := b.numbers.contexts(k)
	if err != nil {
		return err
	}
	marks, err := reduce.CallReductionsOf(b.r, k)
	if err != nil {
		return err
	}
	out.Ranks = append(out.Ranks, rank)
	out.CallsPerRank.Add(int64(k.CallCount(b.thread)), 1, rank)
	calls := make(map[int]uint64) // by place
	for t, count := range k.TerminalCounts(b.thread) {
		if count == 0 {
			continue
		}
		place := b.shape.Position[list[t]]
		if b.events[place] == nil {
			b.events[place] = newEvent(k.CallWithoutParams(t), b.r.Ranks())
		}
		if err := b.events[place].add(k, t, count, marks); err != nil {
			return err
		}
		calls[place] += count
	}
	for place, count := range calls {
		b.events[place].called(rank, count)
	}
	rounds := b.rounds[k.Class()]
	if rounds == nil {
		c := &counter{s: b.shape, of: func(t int) int { return b.shape.Position[list[t]] }, rules: make(map[int]*stretch)}
		rounds = c.nodes(k.Structure(b.thread)).ended()
		if b.done[k.Class()] {
			b.rounds[k.Class()] = rounds
		}
	}
	for l, over := range rounds {
		b.loops[l].Ranks = append(b.loops[l].Ranks, rank)
		for n, times := range over {
			b.loops[l].TripCounts.Add(int64(n), times, rank)
		}
	}
	return nil
}

// tree returns the nodes directly in a loop; for calltree.NoLoop those outside of all loops. rounds is the loop's
// number of iterations on all ranks, outside of all loops the number of ranks.
func (b *builder) tree(loop, rounds int) (list []*Node) {
	first, last := 0, len(b.shape.Items)-1
	if loop != calltree.NoLoop {
		first, last = b.shape.Loops[loop].First, b.shape.Loops[loop].Last
	}
	for place := first; place <= last; place++ {
		inner := b.shape.InnermostLoop[place]
		if inner == loop {
			e := b.events[place]
			e.end()
			list = append(list, &Node{Ranks: e.Ranks, Event: e, Executions: uint64(e.CallsPerRank.Sum), PossibleExecutions: uint64(rounds)})
			continue
		}
		for b.shape.OuterLoop[inner] != loop {
			inner = b.shape.OuterLoop[inner]
		}
		n := b.loops[inner]
		n.Executions, n.PossibleExecutions = n.TripCounts.Count, uint64(rounds)
		n.Body = b.tree(inner, int(n.TripCounts.Sum))
		list = append(list, n)
		place = b.shape.Loops[inner].Last
	}
	return slices.Clip(list)
}

// Sites are the places of a thread's call sites in the program (numbers from 0, in order), and the loops of places, as
// BySites finds them.
type Sites struct{ b *builder }

// SitesOf finds the places of the call sites that a thread of the ranks has.
func SitesOf(r *trace.Reader, ranks []int, thread int) (*Sites, error) {
	b, err := surveyed(r, ranks, thread)
	return &Sites{b}, err
}

// Places returns the place of each terminal of a rank.
func (s *Sites) Places(k *trace.Rank) ([]int, error) {
	list, err := s.b.numbers.contexts(k)
	for t, c := range list {
		list[t] = s.b.shape.Position[c]
	}
	return list, err
}

// Loops returns the number of loops; outer loops precede nested ones.
func (s *Sites) Loops() int { return len(s.b.shape.Loops) }

// InnermostLoop returns the innermost loop around a place, or -1.
func (s *Sites) InnermostLoop(place int) int { return s.b.shape.InnermostLoop[place] }

// OuterLoop returns the next loop around a loop, or -1.
func (s *Sites) OuterLoop(loop int) int { return s.b.shape.OuterLoop[loop] }

// CommonLoop returns the innermost loop around both places, or -1.
func (s *Sites) CommonLoop(a, b int) int { return s.b.shape.CommonLoop(a, b) }
