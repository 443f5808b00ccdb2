// Package volume tells how many bytes calls move: those of the buffers that
// they read to send, and of the buffers that they fill. It works on classes of
// ranks and never expands a trace.
//
// What goes out is what the process hands to MPI: a broadcast is counted once,
// not once for each receiver, an all-to-all with all its blocks. What comes in is
// what the status says of a blocking receive, and the posted size of a
// non-blocking one; both are counted where the call is that names the buffer,
// those of persistent requests where they are started. MPI_IN_PLACE counts like
// the buffer it saves, files like messages, MPI_PROC_NULL and failed calls not at
// all. Packing and local reductions move nothing.
//
// The package knows nothing of how collective calls are carried out.
package volume

import (
	"fmt"
	"slices"

	"spoor/internal/objects"
	"spoor/trace"
)

// An Amount is a number of bytes that go out and that come in.
type Amount struct {
	Out uint64 `json:"bytes_out"`
	In  uint64 `json:"bytes_in"`
}

// Add adds b, n times.
func (a *Amount) Add(b Amount, n uint64) {
	a.Out += b.Out * n
	a.In += b.In * n
}

// A Class computes the amounts of the ranks of one class.
type Class struct {
	r     *trace.Reader
	first *trace.Rank
	x     *trace.Columns
	calls []*call // by terminal; nil if it does not matter

	constant []bool   // by terminal: the amount is the same on all ranks
	amounts  []Amount // of one call on the rank that was looked at last
	makers   []int
	odd      map[int]bool // terminals whose signatures are laid out differently from rank to rank
	counts   []uint64
	totals   []Amount
	unstable bool           // of the rank that was looked at last
	table    *objects.Table // of a class that makes distributed graphs
}

// Of prepares a class.
func Of(r *trace.Reader, class int) (*Class, error) {
	x, err := r.Columns(class)
	if err != nil {
		return nil, err
	}
	k, err := r.Rank(x.Ranks()[0])
	if err != nil {
		return nil, err
	}
	n := k.Terminals()
	c := &Class{
		r: r, first: k, x: x, calls: make([]*call, n), constant: make([]bool, n), amounts: make([]Amount, n),
		totals: make([]Amount, n), odd: make(map[int]bool),
	}
	for t := range n {
		p, err := compile(k, t, x.Width(t))
		if err != nil {
			return nil, err
		}
		if c.calls[t] = p; p == nil {
			continue
		}
		if p.topology == distributed && c.table == nil {
			if c.table, err = objects.New(r); err != nil {
				return nil, err
			}
		}
		if p.makes != nothing {
			c.makers = append(c.makers, t)
		}
		for _, at := range p.shape {
			if _, ok := x.Same(t, at); !ok && !x.AllSame(t) {
				c.odd[t] = true
			}
		}
	}
	return c, nil
}

// Each calls f with the amounts of each rank of the class in turn: how often it
// made each distinct call, and what these calls moved, all of them together.
// The slices are good until f returns.
func (c *Class) Each(f func(member int, counts []uint64, totals []Amount) error) error {
	same := false // what the rank before had is right for all
	for member := range c.x.Ranks() {
		if !same {
			if err := c.rank(member); err != nil {
				return err
			}
			if same = member == 0 && !c.x.Varies() && !c.unstable; same {
				for t, p := range c.calls {
					same = same && (p == nil || c.constant[t])
				}
			}
		}
		if err := f(member, c.counts, c.totals); err != nil {
			return err
		}
	}
	return nil
}

// Rank returns the amounts of one rank, as Each does.
func (c *Class) Rank(number int) (counts []uint64, totals []Amount, err error) {
	member, ok := slices.BinarySearch(c.x.Ranks(), number)
	if !ok {
		return nil, nil, fmt.Errorf("volume: rank %d is of another class", number)
	}
	if err = c.rank(0); err == nil && member > 0 {
		err = c.rank(member)
	}
	return c.counts, c.totals, err
}

// rank computes counts and totals of a rank.
func (c *Class) rank(member int) error {
	k := c.first
	if member > 0 && (c.x.Varies() || c.unstable) {
		var err error
		if k, err = c.r.Rank(c.x.Ranks()[member]); err != nil {
			return err
		}
	}
	if member == 0 || c.x.Varies() {
		c.counts = make([]uint64, len(c.calls))
		for stream := range k.Streams() {
			for t, n := range k.Counts(stream) {
				c.counts[t] += n
			}
		}
	}
	w, err := c.evaluator(member)
	if err != nil {
		return err
	}
	e := w.env()
	stable := true
	var sensitive []bool
	for t := range c.calls {
		if c.calls[t] == nil || member > 0 && c.constant[t] && !c.unstable {
			if member == 0 || c.x.Varies() {
				c.totals[t] = Amount{}
				c.totals[t].Add(c.amounts[t], c.counts[t])
			}
			continue
		}
		a, con, unstable := w.amount(t, e)
		c.amounts[t] = a
		if member == 0 {
			c.constant[t] = con
		}
		if unstable {
			if stable = false; sensitive == nil {
				sensitive = make([]bool, len(c.calls))
			}
			sensitive[t] = true
		}
		c.totals[t] = Amount{}
		c.totals[t].Add(a, c.counts[t])
	}
	if stable {
		return nil
	}
	c.unstable = true
	if k.Number() != c.x.Ranks()[member] {
		if k, err = c.r.Rank(c.x.Ranks()[member]); err != nil {
			return err
		}
	}
	for t, yes := range sensitive {
		if yes {
			c.totals[t] = Amount{}
		}
	}
	return w.walk(k, e, sensitive, c.totals)
}

// An evaluator looks at the signatures of one rank.
type evaluator struct {
	c      *Class
	member int
	odd    map[int]*call // taken apart anew
	graphs map[int][2]int64
}

// degrees is how many neighbours the rank hears from and sends to in the graph
// that a terminal makes; none if that is not always the same, or not known.
func (w *evaluator) degrees(terminal int) (in, out int64) {
	d, known := w.graphs[terminal]
	if !known {
		if w.graphs == nil {
			w.graphs = make(map[int][2]int64)
		}
		if rank, err := w.c.r.Rank(w.c.x.Ranks()[w.member]); err == nil {
			in, out, err := w.c.table.Degrees(rank, terminal)
			if err == nil {
				d = [2]int64{int64(in), int64(out)}
			}
		}
		w.graphs[terminal] = d
	}
	return d[0], d[1]
}

func (c *Class) evaluator(member int) (*evaluator, error) {
	w := &evaluator{c: c, member: member}
	if member == 0 || len(c.odd) == 0 {
		return w, nil
	}
	k, err := c.r.Rank(c.x.Ranks()[member])
	if err != nil {
		return nil, err
	}
	w.odd = make(map[int]*call)
	for t := range c.odd {
		if w.odd[t], err = compile(k, t, c.x.Width(t)); err != nil {
			return nil, err
		}
		if w.odd[t] == nil {
			return nil, fmt.Errorf("volume: %s: rank %d: terminal %d is another call than in its class", c.r.Name(), k.Number(), t)
		}
	}
	return w, nil
}

func (w *evaluator) call(t int) *call {
	if p := w.odd[t]; p != nil {
		return p
	}
	return w.c.calls[t]
}

// get reads the values of a terminal, and finds out whether they are the same
// on all ranks. Own rank in a new communicator need not be: see env.rank.
func (w *evaluator) get(t int, same *bool) values {
	p := w.call(t)
	return func(at int) int64 {
		if v, ok := w.c.x.Same(t, at); ok {
			return v
		}
		if p.makes != communicator || at != p.aux+2 {
			*same = false
		}
		return w.c.x.At(t, at, w.member)
	}
}

// env gives each handle the first meaning that the rank gives it, and marks
// those that get others later.
func (w *evaluator) env() *env {
	e := &env{
		world: meaning{int64(w.c.x.Ranks()[w.member]), int64(w.c.r.Ranks()), 0, 1, 1},
		means: make(map[name]meaning), unstable: make(map[name]bool), degrees: w.degrees,
	}
	// What is made of an unstable handle is unstable too.
	for before := -1; before < len(e.unstable); {
		before = len(e.unstable)
		for _, t := range w.c.makers {
			e.forget()
			same := true
			n, m, ok := w.call(t).made(w.get(t, &same), e)
			if w.member == 0 {
				w.c.constant[t] = same && !e.askedRank && !w.c.odd[t]
			}
			if !ok {
				continue
			}
			old, known := e.means[n]
			if !known {
				e.means[n] = m
			}
			if known && old != m || e.askedUnstable {
				e.unstable[n] = true
			}
		}
	}
	return e
}

// amount evaluates a call; constant says that it is the same on all ranks,
// unstable that it is not even so on this one.
func (w *evaluator) amount(t int, e *env) (a Amount, constant, unstable bool) {
	e.forget()
	same := true
	a = w.call(t).amount(w.get(t, &same), e)
	constant = same && !e.askedRank && !w.c.odd[t]
	if e.askedHandle && constant {
		for _, m := range w.c.makers {
			constant = constant && w.c.constant[m]
		}
	}
	if w.call(t).makes != nothing {
		constant = constant && w.c.constant[t]
	}
	return a, constant, e.askedUnstable
}
