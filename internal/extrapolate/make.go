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

// A maker makes the calls of one rank of an extrapolated run.
type maker struct {
	m       *pattern
	ranks   int64
	rank    int
	out     *trackwriter.Writer
	at      [maxDepth + 1]int32
	long    []int32 // by depth: trip counts of the loops around the current call
	known   map[madeKey]*made
	refused map[string]refusal
	times   []duration // by place: times of one call; nil: no times
	now     uint64

	all      *together
	objects  *handles.HandleState
	requests int           // number of requests that the rank made so far
	of       map[int32]int // by place: number of requests that its calls made so far
	pending  []due
	anywhere int // number of buffer addresses so far that no form gives
	unsaid   int // number of kinds of receives so far whose sizes can't be determined

	lacking
}

type madeKey struct {
	node int
	i, j int32
	key  [maxDepth + 1]int32
}

// A made is a distinct call that was made before, kept for reuse.
type made struct {
	values []int64
	known  bool   // all its values are known
	number uint32 // number of its terminal plus 1; 0: not written yet
	plain  bool   // it neither names requests nor changes objects: it can be repeated as it is
	makes  bool
	// set for a call that changes objects, or has values that MPI determines
	group *group
	env   env
}

// together is the state shared by the ranks of an extrapolated run.
type together struct {
	Options
	world  []int
	lock   sync.Mutex // protects splits
	splits map[splitKey]*colored
	sizes  *unsaid // nil: sizes for receives without a determined size are not looked up
}

// A due is a pending request.
type due struct {
	number, nth int // number among all requests of the rank, and among those of its place, from 0
	place       int32
	status      []int64
}

// A refusal is why a value is not determined, and the value's forms.
type refusal struct {
	why      string
	forms    []form
	vanishes bool // the reason is a vanishing
}

// refuse records that the value with this name is not determined.
func (x *maker) refuse(slot string, why error, forms []form) {
	if _, known := x.refused[slot]; !known {
		x.refused[slot] = refusal{why.Error(), forms, errors.As(why, new(*vanishing))}
	}
}

// mostMade is the largest trip count of a loop that is made for a rank.
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
	id := madeKey{n.number, int32(e[expr.VariableLoopIteration]), int32(e[expr.VariableOuterIteration]), key}
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

// value evaluates a fitted value for the variables e. It is 0 where the guard of the loop around it does not hold.
func (x *maker) value(f *fitted, e *env) (int64, error) {
	if f.guard != nil && !x.passes(f.guard, f.guarded, e[expr.VariableRank]) {
		return 0, nil
	}
	if f.turn == 0 {
		return f.value(e)
	}
	at := *e
	at[expr.VariableFixedIteration] = int64(x.at[f.turn])
	return f.value(&at)
}

// passes reports whether the condition of a guard holds on a rank, in the current iteration of the loop at a depth.
func (x *maker) passes(g *guard, depth int, rank int64) bool {
	e := env{expr.VariableRankCount: x.ranks, expr.VariableRank: rank, expr.VariableLoopIteration: int64(x.at[depth]), expr.VariableLoopTripCount: int64(x.long[depth])}
	v, ok := g.condition.Eval(&e)
	return ok && v != 0
}

// values evaluates all values of a call, in the layout of program.values. known is false if some value is not
// determined.
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
		if buffers[i-1] { // the offset of a buffer, which address has returned with the segment
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
		at[expr.VariableListLength] = n
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
		for at[expr.VariableListIndex] = 0; c.any != nil && known && at[expr.VariableListIndex] < n; at[expr.VariableListIndex]++ {
			for w := range c.any {
				take(&c.any[w], &at)
			}
		}
	}
	return out, known
}

// address returns the buffer address that a call passes; an unknown address if no form gives it.
func (x *maker) address(p *place, g *group, cell int, e env) []int64 {
	segment, err := x.value(&g.cells[cell].one, &e)
	offset, failed := x.value(&g.cells[cell+1].one, &e)
	if err == nil && failed == nil {
		return []int64{segment, offset}
	}
	x.anywhere++
	return []int64{signature.PackSegName(model.FirstUncomparableAddress+int64(cell), 0, signature.SegClassUnknown), 0}
}

// allPending is a value in place of a number of requests: all that are pending.
const allPending = expr.NoValue + 1

// pendingAt returns, for a call that always gets all pending requests, the index, among its values, of the count of
// requests; -1 for other calls.
func (p *place) pendingAt() int {
	for i, f := range p.fields {
		if f.kind == pending && i == 2 && p.fields[1].kind == words && p.fields[1].width == 1 {
			return 1
		}
	}
	return -1
}

var errRequest = errors.New("it names a request that nothing made")

// call writes a call, and what it changes: its times, pending requests and objects.
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

// complete removes completed requests, given by their numbers, from the pending ones.
func (x *maker) complete(done []int) {
	if len(done) > 0 {
		x.pending = slices.DeleteFunc(x.pending, func(d due) bool { return slices.Contains(done, d.number) })
	}
}

// time records the times of a call at a place, and advances the rank's clock.
func (x *maker) time(place int32, terminal uint32) {
	if x.times == nil {
		return
	}
	d := x.times[place]
	x.out.SetLastCallTimes(0, terminal, x.now+d.gap, x.now+d.gap+d.inside)
	x.now += d.gap + d.inside
}

// track adds the request that a call makes to the pending ones.
func (x *maker) track(place int32, c *made) {
	if !c.makes {
		return
	}
	x.pending = append(x.pending, due{x.requests, x.of[place], place, c.values[len(c.values)-statusWords:]})
	x.of[place]++
	x.requests++
}

// raw converts a call's fitted values to those of a signature, in which requests are distances. done lists the numbers
// of the requests that it completes; -1: an unknown one.
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
		x.requestless = false // the call also completes requests of calls that were left out
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
				case signature.StatusFormFilled, signature.StatusFormIgnored:
					out = append(out, s...)
				case signature.StatusFormOfSend:
					out = append(out, s[0], s[4])
				default:
					out = append(out, s[0])
				}
			}
		}
	}
	return out, done, nil
}

// rankOf makes the calls of a rank in a run on a number of ranks.
func (m *pattern) rankOf(ranks int64, rank int, times []duration, all *together) (*maker, error) {
	x := &maker{
		m: m, ranks: ranks, rank: rank, out: trackwriter.NewWriter(rank, 0), known: make(map[madeKey]*made), refused: make(map[string]refusal), of: make(map[int32]int),
		times: times, all: all, objects: handles.NewHandleState(rank, all.world),
	}
	x.out.AddTablesOf(m.tables)
	return x, x.loop(m.shape.root, 0, 1)
}
