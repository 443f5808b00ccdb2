package ops

import (
	"fmt"
	"slices"
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// An Amount is how many bytes calls send and receive.
type Amount struct {
	BytesOut uint64 `json:"bytes_out"`
	BytesIn  uint64 `json:"bytes_in"`
}

// AddMultiple adds b, n times.
func (a *Amount) AddMultiple(b Amount, n uint64) {
	a.BytesOut += b.BytesOut * n
	a.BytesIn += b.BytesIn * n
}

// EqualAmounts is a number of calls that move the same amount.
type EqualAmounts struct {
	PerCall Amount
	Calls   uint64
}

// A ClassAmounts computes the amounts of the ranks of one class.
type ClassAmounts struct {
	r     *trace.Reader
	first *trace.Rank
	x     *trace.Columns
	calls []*call // by terminal; nil if its calls move no data
	seen  []bool  // by terminal: calls has been computed

	constant []bool       // by terminal: the amount is the same on all ranks and at all positions
	amounts  []Amount     // by terminal: the amount if constant
	odd      map[int]bool // by terminal: its signature has different layouts on different ranks
	counts   []uint64
	totals   []Amount
	moved    [][]EqualAmounts

	// handles reports whether handles mean the same on all ranks, computed at its first call. shared is their meaning
	// on the first rank, if it serves for all ranks; nil: it does not, or this is not known yet.
	handles func() (bool, error)
	shared  *handles.Rank
	// pieces has, by terminal and stream, the terminal's calls, divided where handles change their meaning.
	pieces map[int][][]handles.OccurrenceGroup
}

// NewClassAmounts returns the ClassAmounts of a class of r.
func NewClassAmounts(r *trace.Reader, class int) (*ClassAmounts, error) {
	x, err := r.Columns(class)
	if err != nil {
		return nil, err
	}
	k, err := r.Rank(x.Ranks()[0])
	if err != nil {
		return nil, err
	}
	n := k.Terminals()
	c := &ClassAmounts{r: r, first: k, x: x, calls: make([]*call, n), seen: make([]bool, n), odd: make(map[int]bool), pieces: make(map[int][][]handles.OccurrenceGroup)}
	c.handles = sync.OnceValues(c.sameHandles)
	return c, nil
}

// call returns the compiled call of a terminal, cached; nil if it moves nothing.
func (c *ClassAmounts) call(t int) (*call, error) {
	if c.seen[t] {
		return c.calls[t], nil
	}
	p, err := compile(c.first, t)
	if err != nil {
		return nil, err
	}
	if c.calls[t], c.seen[t] = p, true; p == nil {
		return nil, nil
	}
	for _, at := range p.shape {
		if _, ok := c.x.Uniform(t, at); !ok && !c.x.AllUniform(t) {
			c.odd[t] = true
		}
	}
	return p, nil
}

// all compiles all terminals, for sums over them.
func (c *ClassAmounts) all() error {
	if c.totals != nil {
		return nil
	}
	for t := range c.calls {
		if _, err := c.call(t); err != nil {
			return err
		}
	}
	n := len(c.calls)
	c.constant, c.amounts, c.totals, c.moved = make([]bool, n), make([]Amount, n), make([]Amount, n), make([][]EqualAmounts, n)
	return nil
}

// sameHandles reports whether handles provably have the same meaning on all ranks, by the values of the calls that make
// them. The own rank in a communicator does not count: see view.rank.
func (c *ClassAmounts) sameHandles() (bool, error) {
	for t := range c.calls {
		called := c.first.CallWithoutParams(t)
		if f := called.Func; !f.Has(trace.AttrCreatesComm) && !f.Has(trace.AttrCreatesType) && !f.Has(trace.AttrPersistent) || c.x.AllUniform(t) {
			continue
		}
		made, err := c.first.Terminal(t)
		if err != nil {
			return false, err
		}
		if f := made.Func; made.NewComm == nil && !f.Has(trace.AttrCreatesType) && !f.Has(trace.AttrPersistent) {
			continue
		}
		if _, err := c.call(t); err != nil || c.odd[t] {
			return false, err
		}
		at, err := c.first.Positions(t)
		if err != nil {
			return false, err
		}
		matters := []int{0}
		for i := range made.Params {
			switch kind := made.Params[i].Kind(); {
			case at.Params[i].Out < 0:
			case kind == mpi.KindDatatype || kind == mpi.KindComm || kind == mpi.KindRequest:
				matters = append(matters, at.Params[i].Out)
			}
		}
		switch {
		case made.NewType != nil:
			matters = append(matters, at.NewObjectValues+trace.NewTypeSizePosition)
		case made.NewComm != nil:
			matters = append(matters, at.NewObjectValues+trace.NewCommSizePosition, at.NewObjectValues+trace.NewCommRemoteSizePosition)
		default:
			return false, nil
		}
		for _, at := range matters {
			if _, ok := c.x.Uniform(t, at); !ok {
				return false, nil
			}
		}
	}
	return true, nil
}

// EachRank calls f with the amounts of each rank of the class in turn: how often it
// made each distinct call, and what these calls moved, all of them together.
// The slices are good until f returns.
func (c *ClassAmounts) EachRank(f func(member int, counts []uint64, totals []Amount) error) error {
	if err := c.all(); err != nil {
		return err
	}
	same := false // all ranks have the counts and totals of the first one
	for member := range c.x.Ranks() {
		if !same {
			if err := c.rank(member); err != nil {
				return err
			}
			if same = member == 0 && !c.x.CountsVary(); same {
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

// RankAmounts returns the amounts of one rank, as EachRank passes them to f.
func (c *ClassAmounts) RankAmounts(number int) (counts []uint64, totals []Amount, err error) {
	member, ok := slices.BinarySearch(c.x.Ranks(), number)
	if !ok {
		return nil, nil, fmt.Errorf("ops: rank %d is of another class", number)
	}
	if err = c.all(); err != nil {
		return nil, nil, err
	}
	if err = c.rank(0); err == nil && member > 0 {
		err = c.rank(member)
	}
	return c.counts, c.totals, err
}

// rank computes counts and totals of a rank.
func (c *ClassAmounts) rank(member int) error {
	w := &evaluator{c: c, member: member}
	if member == 0 || c.x.CountsVary() {
		k, err := w.rank()
		if err != nil {
			return err
		}
		c.counts = make([]uint64, len(c.calls))
		for stream := range k.Streams() {
			for t, n := range k.TerminalCounts(stream) {
				c.counts[t] += n
			}
		}
	}
	for t := range c.calls {
		if c.calls[t] == nil || member > 0 && c.constant[t] {
			if member == 0 || c.x.CountsVary() {
				c.move(t, nil)
				c.move(t, &EqualAmounts{c.amounts[t], c.counts[t]})
			}
			continue
		}
		if err := w.total(t); err != nil {
			return err
		}
	}
	return w.err
}

// move adds calls of a terminal to the sums of the rank; nil resets them.
func (c *ClassAmounts) move(t int, m *EqualAmounts) {
	if m == nil {
		c.totals[t], c.moved[t] = Amount{}, c.moved[t][:0]
		return
	}
	c.totals[t].AddMultiple(m.PerCall, m.Calls)
	c.moved[t] = append(c.moved[t], *m)
}

// SingleCallAmounts returns what the single calls of a terminal move, on the rank that EachRank is visiting.
func (c *ClassAmounts) SingleCallAmounts(t int) []EqualAmounts { return c.moved[t] }

// An evaluator computes amounts from the signatures of one rank.
type evaluator struct {
	c      *ClassAmounts
	member int
	odd    map[int]*call // by terminal in c.odd: its call, compiled for this rank
	k      *trace.Rank
	x      *handles.Rank
	err    error
}

func (w *evaluator) rank() (*trace.Rank, error) {
	switch {
	case w.k != nil:
	case w.member == 0:
		w.k = w.c.first
	default:
		var err error
		if w.k, err = w.c.r.Rank(w.c.x.Ranks()[w.member]); err != nil {
			return nil, err
		}
	}
	return w.k, nil
}

// objects returns the meanings of the rank's handles. It records errors in w.err.
func (w *evaluator) objects() *handles.Rank {
	if w.x == nil && w.err == nil {
		var k *trace.Rank
		if k, w.err = w.rank(); w.err == nil {
			w.x, w.err = handles.TableOf(w.c.r).Rank(k)
		}
	}
	if w.x == nil {
		return &handles.Rank{} // no handle has a meaning
	}
	return w.x
}

// meanings returns the meanings of the rank's handles; those of the first rank if they are equal.
func (w *evaluator) meanings() *handles.Rank {
	if w.member > 0 && w.c.shared != nil {
		return w.c.shared
	}
	return w.objects()
}

// piecesOf divides the calls of a terminal, by stream, into pieces in which handles keep their meaning.
func (w *evaluator) piecesOf(t int) ([][]handles.OccurrenceGroup, error) {
	c := w.c
	if list := c.pieces[t]; list != nil && c.shared != nil {
		return list, nil
	}
	k, err := w.rank()
	if err != nil {
		return nil, err
	}
	made, err := k.Terminal(t)
	if err != nil {
		return nil, err
	}
	x := w.objects()
	if w.err != nil {
		return nil, w.err
	}
	var list [][]handles.OccurrenceGroup
	for stream := range k.Streams() {
		list = append(list, x.GroupOccurrences(stream, made))
	}
	if w.member == 0 {
		c.pieces[t] = list
		if same, err := c.handles(); err != nil {
			return nil, err
		} else if same && !c.x.CountsVary() {
			c.shared = x
		}
	}
	return list, nil
}

// call returns a compiled call, compiled for this rank if its layout differs. It records errors in w.err.
func (w *evaluator) call(t int) *call {
	p, err := w.c.call(t)
	if err != nil {
		w.err = err
		return nil
	}
	if w.member == 0 || !w.c.odd[t] {
		return p
	}
	if w.odd[t] == nil {
		k, err := w.rank()
		if err == nil {
			p, err = compile(k, t)
		}
		if err == nil && p == nil {
			err = fmt.Errorf("%s: rank %d: terminal %d is another call than in its class", w.c.r.Name(), k.Number(), t)
		}
		if err != nil {
			w.err = err
			return nil
		}
		if w.odd == nil {
			w.odd = make(map[int]*call)
		}
		w.odd[t] = p
	}
	return w.odd[t]
}

// amount returns the amount of a call at a position.
func (w *evaluator) amount(t int, v *view) Amount {
	v.w = w
	p := w.call(t)
	if p == nil {
		return Amount{}
	}
	return p.amount(v.values(t), v)
}

// total adds all calls of a terminal. If handles change their meaning, it evaluates each piece.
func (w *evaluator) total(t int) error {
	c := w.c
	var v view
	a := w.amount(t, &v)
	c.move(t, nil)
	always := true // the amount is the same at all positions
	if v.askedHandle {
		list, err := w.piecesOf(t)
		if err != nil {
			return err
		}
		pieces := 0
		for stream := range list {
			for _, p := range list[stream] {
				at := view{stream: stream, index: p.ExampleIndex}
				b := w.amount(t, &at)
				c.move(t, &EqualAmounts{b, p.Count})
				v.varies, v.askedRank = v.varies || at.varies, v.askedRank || at.askedRank
				always = always && (pieces == 0 || a == b)
				a = b
				pieces++
			}
		}
	} else {
		c.move(t, &EqualAmounts{a, c.counts[t]})
	}
	if w.member > 0 {
		return nil
	}
	c.amounts[t] = a
	c.constant[t] = !v.varies && !v.askedRank && !c.odd[t] && always
	if v.askedHandle && c.constant[t] {
		same, err := c.handles()
		if err != nil {
			return err
		}
		c.constant[t] = same
	}
	return nil
}

// A MemberAmounts computes what single calls of one rank of a class move. It is not safe for use
// by several goroutines at once.
type MemberAmounts struct{ w *evaluator }

// Member returns the MemberAmounts of rank k, which must be of the class; x is the meaning of its handles.
func (c *ClassAmounts) Member(k *trace.Rank, x *handles.Rank) (*MemberAmounts, error) {
	member, ok := slices.BinarySearch(c.x.Ranks(), k.Number())
	if !ok {
		return nil, fmt.Errorf("ops: rank %d is of another class", k.Number())
	}
	return &MemberAmounts{&evaluator{c: c, member: member, k: k, x: x}}, nil
}

// Amounts returns what a call of a terminal moves at its position, and with blocks set the blocks of each member.
// For a call that makes a persistent request, it is what each start of the request moves.
func (m *MemberAmounts) Amounts(terminal, stream int, index uint64, blocks bool) Transfers {
	p := m.w.call(terminal)
	if p == nil || p.means == nil {
		return Transfers{}
	}
	v := view{w: m.w, stream: stream, index: index, blocks: blocks}
	get := v.values(terminal)
	if get(0) != 0 {
		return Transfers{}
	}
	return p.shares(get, &v)
}
