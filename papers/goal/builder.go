package goal

import "errors"

// ErrTooMany is returned for a schedule with more operations or dependencies than can be numbered.
var ErrTooMany = errors.New("more than 4 billion operations or dependencies")

// A Builder makes a schedule, one rank after the other.
type Builder struct {
	s     Schedule
	edges []edge // dependencies between operations of the current rank, in the order in which they were added
}

// An edge makes an operation wait for another one.
type edge struct {
	waits, other uint32
	start        bool
}

// most is the largest number of operations, and of dependencies. 1<<32 - 1 is left for none, which means no operation.
const most = 1<<32 - 2

// BeginRank begins the next rank.
func (b *Builder) BeginRank() {
	b.endRank()
	b.s.first = append(b.s.first, uint32(len(b.s.Ops)))
}

// Add adds an operation to the current rank and returns its number.
func (b *Builder) Add(o Op) (uint32, error) {
	if len(b.s.Ops) >= most {
		return 0, ErrTooMany
	}
	b.s.Ops = append(b.s.Ops, o)
	b.s.needs = append(b.s.needs, 0)
	return uint32(len(b.s.Ops) - 1), nil
}

// AfterStart makes an operation of the current rank wait for the start of another one.
func (b *Builder) AfterStart(op, other uint32) error { return b.wait(edge{op, other, true}) }

// AfterEnd makes an operation of the current rank wait for the end of another one.
func (b *Builder) AfterEnd(op, other uint32) error { return b.wait(edge{op, other, false}) }

func (b *Builder) wait(e edge) error {
	if len(b.s.dependents)+len(b.edges) >= most {
		return ErrTooMany
	}
	b.edges = append(b.edges, e)
	b.s.needs[e.waits]++
	return nil
}

// endRank sorts the rank's edges by the operation waited for. Waits for its start precede those for its end;
// otherwise the order is kept.
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

// Schedule ends the last rank and returns the schedule.
func (b *Builder) Schedule() *Schedule {
	b.endRank()
	s := b.s
	s.first = append(s.first, uint32(len(s.Ops)))
	s.starts = append(s.starts, uint32(len(s.dependents)))
	*b = Builder{}
	return &s
}
