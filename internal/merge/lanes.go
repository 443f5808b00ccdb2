package merge

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
)

var (
	errLanes = errors.New("lanes don't fit their terminals")
	errOrder = errors.New("terminals are not numbered by first occurrence")
)

// check returns an error for a shape that would make an unreadable file: one with terminals that occur in no stream, or
// with lanes of terminals that don't exist.
func (s *classShape) check() error {
	if n, ok := grammar.CountTerminals(s.streams); !ok || n != s.terminals() {
		return errOrder
	}
	last := -1
	for i := range s.lanes {
		l := &s.lanes[i]
		if l.terminal <= last || l.terminal >= s.terminals() {
			return errLanes
		}
		last = l.terminal
		if err := signature.CheckLane(l.values, s.skeleton(last).width, l.steps, l.kinds); err != nil {
			return err
		}
	}
	return nil
}

// checkLengths refuses streams that are too long. It also refuses a lane that does not have a step for each call of
// its terminal, or whose terminal occurs in several streams. orders are the sequences of the lanes' steps.
func (s *classShape) checkLengths(streams, orders []*grammar.Grammar) error {
	total := uint64(0)
	for _, g := range streams {
		if err := g.Check(); err != nil {
			return err
		}
		sum, carry := bits.Add64(total, g.Len(), 0)
		if carry != 0 {
			return errLanes
		}
		total = sum
	}
	return s.checkLanes(streams, orders)
}

// checkLanes checks lanes only, for streams that are known to be valid.
func (s *classShape) checkLanes(streams, orders []*grammar.Grammar) error {
	if len(orders) == 0 {
		return nil
	}
	used, err := signature.TerminalUsageOf(streams, s.terminals())
	if err != nil {
		return err
	}
	for i, g := range orders {
		if err := g.Check(); err != nil {
			return err
		}
		if err := used.CheckLane(s.lanes[i].terminal, g); err != nil {
			return err
		}
	}
	return nil
}

// leafSteps takes over the values of the steps of a rank's lanes.
func (c *class) leafSteps(tr *track.Track) {
	for i := range tr.Lanes {
		for _, step := range tr.Lanes[i].StepValues {
			for _, d := range step {
				c.steps = append(c.steps, column.ColumnOf(d))
			}
		}
	}
}

// laneContent sets in out the lanes of a class, and divides the repetition counts into those of streams and of lanes.
func (c *class) laneContent(out *sections.Class, sh *classShape) {
	if len(sh.lanes) == 0 {
		return
	}
	own := grammar.CountRepeatedSymbols(sh.streams)
	out.RepetitionCounts, out.LaneRepetitionCounts = c.counts[:own:own], c.counts[own:]
	next := 0
	for _, of := range sh.lanes {
		l := signature.LaneColumns{Terminal: of.terminal, ValueIndices: of.values, Steps: of.steps}
		for range of.kinds {
			l.StepColumns = append(l.StepColumns, c.steps[next:next+len(l.ValueIndices)])
			next += len(l.ValueIndices)
		}
		out.Lanes = append(out.Lanes, l)
	}
}

// Values that change in equal steps are a lane on ranks where they do so for long enough, and distinct calls on
// others. An example is the tags of a sweep that wrap around in its middle on some ranks. Such ranks make the same
// calls, but have no class in common. To unite them, a class is rewritten without lanes.

// A class is rewritten without lanes only if its lanes have at most this many calls, and this many values over all
// members.
const (
	maxRemoved       = 1 << 16
	maxRemovedValues = 1 << 20
)

// withoutLanes returns the class without lanes: itself if it has none, nil if the result would be too large. It
// returns one class for each distinct set of repetition counts.
func (c *class) withoutLanes() []*class {
	sh := c.shape()
	if len(sh.lanes) == 0 {
		return []*class{c}
	}
	if c.plain != nil {
		return c.plain
	}
	var list []*class
	for _, d := range c.evenParts() {
		plain := d.evenWithoutLanes()
		if plain == nil {
			return nil
		}
		list = append(list, plain)
	}
	c.plain = list
	return list
}

// evenParts divides a class into classes whose members have equal repetition counts; nil if there are too many. The
// first one gets the statistics of the class as a whole.
func (c *class) evenParts() []*class {
	parts := c.parts()
	if len(parts) < 2 {
		if parts == nil {
			return nil
		}
		return []*class{c}
	}
	if columns := len(c.counts) + len(c.steps) + len(c.values.columns()); columns > maxRemovedValues/len(parts) {
		return nil
	}
	of := make([]int, c.ranks.Len())
	for i := range parts {
		for _, m := range parts[i].members {
			of[m] = i
		}
	}
	ranks := split([]column.Column{c.ranks}, parts, of)
	counts, steps, cols := split(c.counts, parts, of), split(c.steps, parts, of), split(c.values.columns(), parts, of)
	sh := c.shape()
	left := slices.Clone(c.times)
	calls := make([][]uint64, len(parts))
	sum := make([]uint64, len(left))
	for i := range parts {
		calls[i] = make([]uint64, len(left))
		for _, g := range parts[i].repeated() {
			for t, n := range g.TerminalCounts(len(sh.summary)) {
				calls[i][sh.summary[t]] += n * uint64(len(parts[i].members))
				sum[sh.summary[t]] += n * uint64(len(parts[i].members))
			}
		}
	}
	var list []*class
	for i := range parts {
		d := &class{
			key: c.key, decoded: c.decoded, split: c.split, ranks: ranks[i][0],
			counts: counts[i], steps: steps[i], values: values{cols: cols[i], nums: c.values.nums},
			times: left, totals: make(totals, len(c.totals)),
		}
		if i == 0 {
			d.totals, d.attached, d.hists, d.courses = c.totals, c.attached, c.hists, c.courses
		}
		if i < len(parts)-1 {
			d.times = make([]summary, len(left))
			for t := range left {
				if sum[t] > 0 {
					d.times[t] = c.times[t].part(calls[i][t], sum[t], &left[t])
				}
			}
		}
		list = append(list, d)
	}
	c.dealRanked(list, parts)
	return list
}

// split distributes the values of columns to the parts of a class. of is the part of each member.
func split(cols []column.Column, parts []subclass, of []int) [][]column.Column {
	list := make([][]column.Column, len(parts))
	for i := range list {
		list[i] = make([]column.Column, len(cols))
	}
	for k := range cols {
		if v, ok := cols[k].Uniform(); ok {
			for i := range list {
				list[i][k] = column.Constant(v, len(parts[i].members))
			}
			continue
		}
		m := 0
		for v := range cols[k].All() {
			list[of[m]][k].Append(v)
			m++
		}
	}
	return list
}

// evenWithoutLanes is withoutLanes for a class whose members have equal repetition counts.
func (c *class) evenWithoutLanes() *class {
	sh := c.shape()
	streams, orders, ok := c.repeatedAlike()
	if !ok {
		return nil
	}
	width := 1
	for _, l := range sh.lanes {
		width = max(width, len(l.values))
	}
	sum := uint64(0)
	for _, g := range orders {
		if sum += g.Len() + 1; sum > maxRemoved || sum > uint64(maxRemovedValues/width/c.ranks.Len()) {
			return nil
		}
	}
	for _, g := range streams {
		if g.Len() > maxExpanded/minFragments {
			return nil
		}
	}
	u := &laneRemover{c: c, sh: sh, lane: make(map[uint32]*openLane)}
	first := 0
	for i := range sh.lanes {
		l := &sh.lanes[i]
		w := &openLane{shape: l, order: slices.Collect(orders[i].All()), first: first}
		for range l.values {
			w.at = append(w.at, make([]int64, c.ranks.Len()))
		}
		first += l.kinds * len(l.values)
		u.lane[uint32(l.terminal)] = w
	}
	return u.class(streams)
}

// laneRemover is the state of withoutLanes.
type laneRemover struct {
	c         *class
	sh        *classShape
	lane      map[uint32]*openLane // by terminal
	terminals []plainTerminal
	number    map[uint32]uint32 // by old terminal without a lane: its new number
	same      map[string]uint32 // by skeleton and columns of the values, for skeletons in like: the new number
	like      map[int]bool      // by first terminal of a skeleton: whether a terminal with this skeleton has a lane
	keys      []string          // by column of the old class: its key, see the method column; "": not yet computed
}

// An openLane is a lane, with the values that it has at the current call on each member of the class.
type openLane struct {
	shape *laneShape
	order []uint32
	first int // index of the lane's first column in the class's steps
	calls int
	at    [][]int64 // by value of the lane and member: its current value, minus that in the lane's first call
}

// A plainTerminal is a terminal of the new class, where all calls have the same values.
type plainTerminal struct {
	old   uint32
	at    [][]int64         // as openLane.at was in its calls; nil if old has no lane
	calls map[uint32]uint64 // by old terminal: number of calls; several entries if a call in a lane equals other calls
}

func (u *laneRemover) class(streams []*grammar.Grammar) *class {
	u.number, u.same, u.like = make(map[uint32]uint32), make(map[string]uint32), make(map[int]bool)
	u.keys = make([]string, len(u.c.values.columns()))
	for t := range u.lane {
		u.like[u.sh.like(int(t))] = true
	}
	t := track.Track{SiteWithoutStack: u.sh.inner()}
	for _, g := range streams {
		b := grammar.NewBuilder()
		for old := range g.All() {
			n := u.terminal(old)
			u.terminals[n].calls[old]++
			b.Append(n)
		}
		t.Streams = append(t.Streams, track.Stream{Grammar: b.Grammar()})
	}
	for _, x := range u.terminals {
		k := u.sh.skeleton(int(x.old))
		t.Signatures = append(t.Signatures, signature.Signature{FunctionID: k.call, Site: k.site, Values: make([]int64, k.width)})
	}
	d := &class{ranks: u.c.ranks, totals: u.c.totals, ranked: u.c.ranked, valued: u.c.valued, attached: u.c.attached, split: true}
	d.setShape(&t)
	d.values = u.values(d.decoded)
	d.setTimes(u.times())
	d.uniteHists([]*class{u.c})
	d.uniteCourses([]*class{u.c})
	d.takeOwn(u.c)
	return d
}

// terminal returns the new terminal of the next call, which has the given old one.
func (u *laneRemover) terminal(old uint32) uint32 {
	next := uint32(len(u.terminals))
	l := u.lane[old]
	if l == nil {
		return once.GetOrMake(u.number, old, func() uint32 { return u.add(plainTerminal{old: old}, next) })
	}
	if l.calls > 0 {
		step := l.first + int(l.order[l.calls-1])*len(l.at)
		for i := range l.at {
			m := 0
			for d := range u.c.steps[step+i].All() {
				l.at[i][m] += d
				m++
			}
		}
	}
	l.calls++
	return u.add(plainTerminal{old: old, at: l.at}, next)
}

// add returns the number of a terminal: next if it is new, else that of an equal one. A call in a lane may equal
// one from before the lane.
func (u *laneRemover) add(x plainTerminal, next uint32) uint32 {
	if like := u.sh.like(int(x.old)); u.like[like] {
		id := wire.AppendUvarint(nil, uint64(like))
		for i := range u.sh.skeleton(int(x.old)).width {
			_, key := u.column(&x, i)
			id = wire.AppendString(id, key)
		}
		if n, ok := u.same[string(id)]; ok {
			return n
		}
		u.same[string(id)] = next
	}
	list := x.at
	x.at, x.calls = nil, make(map[uint32]uint64)
	for _, at := range list {
		x.at = append(x.at, slices.Clone(at))
	}
	u.terminals = append(u.terminals, x)
	return next
}

// column returns the column of one value of a new terminal, and a key that is equal for equal columns.
func (u *laneRemover) column(x *plainTerminal, value int) (column.Column, string) {
	num := u.c.values.nums.at(u.sh.at(int(x.old), value))
	col := u.c.values.columns()[num]
	if x.at != nil {
		if i := slices.Index(u.lane[x.old].shape.values, value); i >= 0 {
			col = sum(&col, x.at[i])
			return col, string(col.AppendRuns(nil))
		}
	}
	if u.keys[num] == "" {
		u.keys[num] = string(col.AppendRuns(nil))
	}
	return col, u.keys[num]
}

// values returns the values of the new terminals.
func (u *laneRemover) values(sh *classShape) values {
	v := values{nums: newNumberRow(sh.width)}
	number := make(map[string]uint32)
	for at, p := range sh.places() {
		col, id := u.column(&u.terminals[p.terminal], p.value)
		n, fresh := once.NumberOf(number, id)
		if fresh {
			v.cols = append(v.cols, col)
		}
		v.nums.set(at, n)
	}
	return v
}

func sum(c *column.Column, add []int64) column.Column {
	var out column.Column
	i := 0
	for v := range c.All() {
		out.Append(int64(uint64(v) + uint64(add[i])))
		i++
	}
	return out
}

// times returns the times of the new terminals. Those of an old terminal are distributed to its new ones in proportion
// to their calls; the last one gets the remainder.
func (u *laneRemover) times() []summary {
	type share struct {
		terminal int
		calls    uint64
	}
	before := u.c.byTerminal()
	shares := make([][]share, len(before))
	sums := make([]uint64, len(before))
	for n, x := range u.terminals {
		for old, calls := range x.calls {
			shares[old] = append(shares[old], share{n, calls})
			sums[old] += calls
		}
	}
	list := make([]summary, len(u.terminals))
	like, calls := make([]int, len(u.terminals)), make([]uint64, len(u.terminals))
	for n, x := range u.terminals {
		like[n] = u.sh.like(int(x.old))
		for _, k := range x.calls {
			calls[n] += k
		}
	}
	for old, of := range shares {
		left := before[old]
		for i, x := range of {
			p := left
			if i < len(of)-1 {
				p = before[old].part(x.calls, sums[old], &left)
			}
			list[x.terminal].merge(&p)
		}
	}
	u.c.unpool(list, like, calls)
	return list
}
