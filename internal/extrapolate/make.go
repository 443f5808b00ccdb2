package extrapolate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/track/trackwriter"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A maker makes the calls of one rank of a run that nobody made.
type maker struct {
	m       *pattern
	ranks   int64
	rank    int
	out     *trackwriter.Writer
	at      [maxDepth + 1]int32
	long    []int32 // iterations of the loops that are open, by depth
	known   map[madeKey]*made
	refused map[string]refusal
	times   []duration // by place; nil: not known
	now     uint64

	all      *together
	objects  *handles.HandleState
	requests int           // made so far
	of       map[int32]int // the same by place
	pending  []due
	anywhere int // addresses that can't be determined
	unsaid   int // kinds of receives so far whose sizes can't be determined

	lacking
}

type madeKey struct {
	node int
	i, j int32
	key  [maxDepth + 1]int32
}

// A made is a call that was made before.
type made struct {
	values []int64
	known  bool   // all values are
	number uint32 // of its terminal, from 1
	plain  bool   // it names no requests
	makes  bool
	group  *group // of a call that changes objects, or has values that MPI determines
	env    env
}

// together is what the ranks of a run that is made share.
type together struct {
	Options
	world  []int
	lock   sync.Mutex // of splits
	splits map[splitKey]*colored
	sizes  *unsaid // of messages, where receives have none that can be determined; nil: these are not looked up
}

// A due is a request that is not complete.
type due struct {
	number, nth int // of all, and of its place's
	place       int32
	status      []int64
}

// A refusal is a slot without a value: why, and if forms differ, these.
type refusal struct {
	why      string
	forms    []form
	vanishes bool // it would be 0, see vanishing
}

// refuse notes that a slot has no value.
func (x *maker) refuse(slot string, why error, forms []form) {
	if _, known := x.refused[slot]; !known {
		x.refused[slot] = refusal{why.Error(), forms, errors.As(why, new(*vanishing))}
	}
}

// mostMade bounds the calls of a rank.
const mostMade = 1 << 28

func (x *maker) loop(l *node, depth int, n int32) error {
	for len(x.long) <= depth {
		x.long = append(x.long, 0)
	}
	x.long[depth] = n
	for i := range n {
		x.at[depth] = i
		for _, c := range l.children {
			if err := x.node(c, depth+1); err != nil {
				return err
			}
		}
	}
	x.at[depth] = 0
	return nil
}

func (x *maker) node(n *node, depth int) error {
	if in := x.m.guards[n.around[len(n.around)-1].number]; in != nil && !x.passes(&in.guard, len(n.around)-1, int64(x.rank)) {
		return nil
	}
	mask, open := x.m.fixed(n)
	at := n.keyed(x.at)
	key := reduced(at, mask)
	g := x.m.groups[n.number][key]
	if g == nil {
		why := fmt.Errorf("no run has iteration %v of the loops around it", key[1:len(n.around)])
		switch {
		case len(open) > 2:
			why = errors.New("more than two loops around it are not equally long in all runs")
		case x.m.groups[n.number] == nil:
			why = fmt.Errorf("more than %s iterations differ", show.FormatGrouped(mostGroups))
		}
		x.refuse(x.m.text(n), why, nil)
		x.leave(n)
		return nil
	}
	e := x.m.env(n, open, x.ranks, x.rank, at, func(l *node) int32 { return x.long[len(l.around)] })
	there, err := x.value(&g.there, &e)
	if err != nil {
		x.refuse(g.there.text, err, g.there.forms)
		x.leave(n)
		return nil
	}
	if n.place < 0 {
		if own := x.m.guards[n.number]; own != nil && there > 0 {
			if err := x.m.sameGuards(own, x.ranks, x.rank); err != nil {
				x.refuse(g.there.text, err, nil)
				x.leave(n)
				return nil
			}
		}
		if there > mostMade {
			x.refuse(g.there.text, fmt.Errorf("rank %d would have %d", x.rank, there), nil)
			x.leave(n)
			return nil
		}
		return x.loop(n, depth, int32(there))
	}
	if there == 0 {
		return nil
	}
	p := &x.m.places[n.place]
	id := madeKey{n.number, int32(e[expr.LoopIteration]), int32(e[expr.OuterIteration]), key}
	if d := x.m.turned[n.number]; d > 0 {
		id.i = x.at[d]
	}
	c := x.known[id]
	if c == nil {
		c = &made{plain: true}
		x.known[id] = c
		if c.values, c.known = x.values(p, g, e); !c.known {
			x.leave(n)
			return nil
		}
		p.resolve(c.values)
		for _, f := range p.fields {
			c.plain = c.plain && f.kind < requests && !p.names(f)
			c.makes = c.makes || p.makes(f)
		}
		if handles.ChangesHandles(p.function) || slices.ContainsFunc(p.fields, func(f field) bool { return f.kind == determined }) {
			c.plain, c.group, c.env = false, g, e
		}
	}
	if !c.known {
		x.leave(n)
		return nil
	}
	return x.call(n, p, c)
}

// makes reports whether a field is the request that a call makes.
func (p *place) makes(f field) bool {
	return f.kind == words && f.out && f.width == 1 && f.param >= 0 && f.param < len(p.function.Params) && p.function.Params[f.param].Type == trace.TypeRequest && p.function.Has(trace.AttrNonblocking)
}

// names reports whether a field is a single request that a call completes.
func (p *place) names(f field) bool {
	return f.kind == words && !f.out && f.width == 2 && f.param >= 0 && f.param < len(p.function.Params) && p.function.Params[f.param].Type == trace.TypeRequest
}

// value evaluates a slot.
func (x *maker) value(f *fitted, e *env) (int64, error) {
	if f.guard != nil && !x.passes(f.guard, f.guarded, e[expr.Rank]) {
		return 0, nil
	}
	if f.turn == 0 {
		return f.value(e)
	}
	at := *e
	at[expr.EqualLoopIteration] = int64(x.at[f.turn])
	return f.value(&at)
}

// passes reports whether the condition of a loop at a depth holds in its iteration on a rank.
func (x *maker) passes(g *guard, depth int, rank int64) bool {
	e := env{expr.Ranks: x.ranks, expr.Rank: rank, expr.LoopIteration: int64(x.at[depth]), expr.LoopLength: int64(x.long[depth])}
	v, ok := g.condition.Eval(&e)
	return ok && v != 0
}

// values evaluates all cells: what the calls of the place have in the program's table; false if one of them has no value.
func (x *maker) values(p *place, g *group, e env) (out []int64, known bool) {
	known = true
	bytes, buffers, ofPending := p.bytesAt(len(g.cells)), p.buffers(), p.pendingAt()
	take := func(f *fitted, e *env) {
		v, err := x.value(f, e)
		if err != nil && len(out) == bytes {
			v, err = x.size(err)
		}
		if err != nil && len(out) == ofPending {
			v, err = allPending, nil
		}
		if err != nil {
			x.refuse(f.text, err, f.forms)
			known = false
		}
		out = append(out, v)
	}
	starts := make([]int, len(g.cells))
	for i := range g.cells {
		c := &g.cells[i]
		starts[i] = len(out)
		if buffers[i-1] { // its offset
			continue
		}
		if buffers[i] {
			out = append(out, x.address(p, g, i, e)...)
			continue
		}
		take(&c.one, &e)
		n := out[len(out)-1]
		for _, each := range c.each {
			for w := range each {
				take(&each[w], &e)
			}
		}
		at := e
		at[expr.ListLength] = n
		if c.sum.factor != 0 && known {
			if from := starts[c.sum.cell]; out[from] == n {
				sum := int64(0)
				for _, v := range out[from+1 : from+1+int(n)] {
					out = append(out, c.sum.factor*sum)
					sum += v
				}
				continue
			}
		}
		for at[expr.ListElement] = 0; c.any != nil && known && at[expr.ListElement] < n; at[expr.ListElement]++ {
			for w := range c.any {
				take(&c.any[w], &at)
			}
		}
	}
	return out, known
}

// address is where a buffer is that a call passes: anywhere, if no form says where.
func (x *maker) address(p *place, g *group, cell int, e env) []int64 {
	segment, err := x.value(&g.cells[cell].one, &e)
	offset, failed := x.value(&g.cells[cell+1].one, &e)
	if err == nil && failed == nil {
		return []int64{segment, offset}
	}
	x.anywhere++
	return []int64{signature.PackSegName(model.FirstUncomparableAddress+int64(cell), 0, signature.SegUnknown), 0}
}

// allPending is a number of requests: of all that are pending.
const allPending = expr.NoValue + 1

// pendingAt is which of a call's values says how many requests it is given, if these are all that are pending; -1: none.
func (p *place) pendingAt() int {
	for i, f := range p.fields {
		if f.kind == pending && i == 2 && p.fields[1].kind == words && p.fields[1].width == 1 {
			return 1
		}
	}
	return -1
}

var errRequest = errors.New("it names a request that nothing made")

// call writes a call.
func (x *maker) call(at *node, p *place, c *made) error {
	number := at.place
	if x.objectless && p.namesOwn(c.values) {
		x.refuse(x.m.text(at), handles.ErrUnknown, nil)
		x.leave(at)
		return nil
	}
	if c.plain && c.number > 0 && x.out.RepeatCall(0, c.number-1) {
		x.track(number, c)
		x.time(number, c.number-1)
		return nil
	}
	raw := c.values
	var done []int
	if !c.plain || c.makes {
		var err error
		if raw, done, err = x.raw(p, c); err != nil {
			x.refuse(x.m.text(at), err, nil)
			x.leave(at)
			x.complete(done)
			return nil
		}
	}
	if c.group != nil {
		var err error
		if raw, err = x.determine(p, c, raw); err != nil {
			x.refuse(x.m.text(at), err, nil)
			x.leave(at)
			return nil
		}
	}
	n, err := x.out.AddCall(0, p.function.ID, p.site, slices.Clone(raw))
	if err != nil {
		return err
	}
	c.number = n + 1
	x.track(number, c)
	x.time(number, n)
	x.complete(done)
	return nil
}

// complete takes requests from those that are pending.
func (x *maker) complete(done []int) {
	if len(done) > 0 {
		x.pending = slices.DeleteFunc(x.pending, func(d due) bool { return slices.Contains(done, d.number) })
	}
}

// time has a call take what calls of its place take.
func (x *maker) time(place int32, terminal uint32) {
	if x.times == nil {
		return
	}
	d := x.times[place]
	x.out.SetTimes(0, terminal, x.now+d.gap, x.now+d.gap+d.inside)
	x.now += d.gap + d.inside
}

// track keeps the request that a call makes.
func (x *maker) track(place int32, c *made) {
	if !c.makes {
		return
	}
	x.pending = append(x.pending, due{x.requests, x.of[place], place, c.values[len(c.values)-statusWords:]})
	x.of[place]++
	x.requests++
}

// raw turns a call's values into those of a signature. done are the requests that it completes; -1: none that is known.
func (x *maker) raw(p *place, c *made) (out []int64, done []int, err error) {
	at := 0
	vals := c.values
	distance := func(place, back int64) error {
		if place < 0 {
			out, done = append(out, back), append(done, -1)
			return nil
		}
		nth := x.of[int32(place)] - 1 - int(back)
		i := slices.IndexFunc(x.pending, func(d due) bool { return d.place == int32(place) && d.nth == nth })
		if i < 0 {
			return errRequest
		}
		n := x.pending[i].number
		out, done = append(out, int64(x.requests-n)<<1), append(done, n)
		return nil
	}
	if x.requestless && slices.ContainsFunc(p.fields, func(f field) bool { return f.kind == pending }) {
		x.requestless = false // it completes those that were left out, too
		for _, d := range x.pending {
			done = append(done, d.number)
		}
		return nil, done, errRequest
	}
	for _, f := range p.fields {
		switch {
		case p.names(f):
			if err := distance(vals[at], vals[at+1]); err != nil {
				return nil, nil, err
			}
			at += 2
		case f.kind == words && f.width == 1 && vals[at] == allPending:
			out = append(out, int64(len(x.pending)))
			at++
		case f.kind == words || f.kind == absent:
			out = append(out, vals[at:at+f.width]...)
			at += f.width
		case f.kind == list:
			n := 1 + int(vals[at])*f.width
			out = append(out, vals[at:at+n]...)
			at += n
		case f.kind == requests:
			n := int(vals[at])
			out = append(out, int64(n))
			for k := range n {
				err = cmp.Or(err, distance(vals[at+1+2*k], vals[at+2+2*k]))
			}
			if err != nil {
				return nil, done, err
			}
			at += 1 + 2*n
		case f.kind == completes:
			named := done
			done = nil
			for _, k := range vals[at+1 : at+1+int(vals[at])] {
				if k < 0 || k >= int64(len(named)) {
					return nil, nil, errRequest
				}
				done = append(done, named[k])
			}
		case f.kind == pending:
			out = append(out, int64(len(x.pending)))
			for _, d := range x.pending {
				out, done = append(out, int64(x.requests-d.number)<<1), append(done, d.number)
			}
		case f.kind == statuses:
			if f.width > 0 {
				out = append(out, int64(len(done)))
			}
			for _, n := range done {
				i := sort.Search(len(x.pending), func(i int) bool { return x.pending[i].number >= n })
				if i == len(x.pending) || x.pending[i].number != n {
					return nil, nil, errRequest
				}
				s := x.pending[i].status
				switch s[0] {
				case signature.StatusFilled, signature.StatusIgnored:
					out = append(out, s...)
				case signature.StatusOfSend:
					out = append(out, s[0], s[4])
				default:
					out = append(out, s[0])
				}
			}
		}
	}
	return out, done, nil
}

// rankOf makes a rank.
func (m *pattern) rankOf(ranks int64, rank int, times []duration, all *together) (*maker, error) {
	x := &maker{
		m: m, ranks: ranks, rank: rank, out: trackwriter.NewWriter(rank, 0), known: make(map[madeKey]*made), refused: make(map[string]refusal), of: make(map[int32]int),
		times: times, all: all, objects: handles.NewHandleState(rank, all.world),
	}
	x.out.AddTablesOf(m.tables)
	return x, x.loop(m.shape.root, 0, 1)
}
