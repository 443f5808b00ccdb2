package goal

import "errors"

// ErrTooMany says that a schedule has more operations or dependencies than it can number.
var ErrTooMany = errors.New("more than 4 billion operations or dependencies")

// A Builder makes a schedule, one rank after the other.
type Builder struct {
	s     Schedule
	edges []edge // of the rank under way, in order
}

// An edge lets an operation wait for another one.
type edge struct {
	waits, other uint32
	start        bool
}

// most is how many operations there can be, and how many dependencies; the number after it means no operation.
const most = 1<<32 - 2

// Rank begins the next rank.
func (b *Builder) Rank() {
	b.endRank()
	b.s.first = append(b.s.first, uint32(len(b.s.Ops)))
}

// Add gives the rank under way an operation and returns its number.
func (b *Builder) Add(o Op) (uint32, error) {
	if len(b.s.Ops) >= most {
		return 0, ErrTooMany
	}
	b.s.Ops = append(b.s.Ops, o)
	b.s.needs = append(b.s.needs, 0)
	return uint32(len(b.s.Ops) - 1), nil
}

// AfterStart lets an operation of the rank under way wait for the start of another one of it.
func (b *Builder) AfterStart(op, other uint32) error { return b.wait(edge{op, other, true}) }

// AfterEnd lets an operation of the rank under way wait for the end of another one of it.
func (b *Builder) AfterEnd(op, other uint32) error { return b.wait(edge{op, other, false}) }

func (b *Builder) wait(e edge) error {
	if len(b.s.dependents)+len(b.edges) >= most {
		return ErrTooMany
	}
	b.edges = append(b.edges, e)
	b.s.needs[e.waits]++
	return nil
}

// endRank sorts the rank's edges by the operation waited for: first those that wait for its
// start, then those for its end, each in the order in which they came.
func (b *Builder) endRank() {
	if len(b.s.first) == 0 {
		return
	}
	s := &b.s
	from := int(s.first[len(s.first)-1])
	at := make([]uint32, 2*(len(s.Ops)-from))
	place := func(e edge) *uint32 {
		i := 2 * (int(e.other) - from)
		if !e.start {
			i++
		}
		return &at[i]
	}
	for _, e := range b.edges {
		*place(e)++
	}
	next := uint32(len(s.dependents))
	for i, n := range at {
		at[i] = next
		if i%2 == 0 {
			s.starts = append(s.starts, next)
		} else {
			s.ends = append(s.ends, next)
		}
		next += n
	}
	s.dependents = append(s.dependents, make([]uint32, len(b.edges))...)
	for _, e := range b.edges {
		p := place(e)
		s.dependents[*p] = e.waits
		*p++
	}
	b.edges = b.edges[:0]
}

// Schedule ends the last rank and returns all of them.
func (b *Builder) Schedule() *Schedule {
	b.endRank()
	s := b.s
	s.first = append(s.first, uint32(len(s.Ops)))
	s.starts = append(s.starts, uint32(len(s.dependents)))
	*b = Builder{}
	return &s
}
