package trace

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/prefix"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// A Lane gives the values of a terminal that differ from call to call on a rank:
// a tag that counts, an offset that moves on. Signature and Terminal have those of
// the first call. It is safe for use by several goroutines at once.
//
// What tools compute from terminals alone does not depend on such values: they are
// tags, offsets in memory, windows and files, and tags in statuses.
type Lane struct {
	values []int
	first  []int64 // parallel to values
	steps  *grammar.Grammar
	by     [][]int64 // by step, by value
	length uint64    // of steps

	sums  []*prefix.Sums // by value
	calls func() *Occurrences
}

// Values returns which of the signature's values differ, in rising order.
func (l *Lane) Values() []int { return l.values }

// Len returns the number of calls.
func (l *Lane) Len() uint64 { return l.length + 1 }

// First returns the values in the first call, parallel to Values.
func (l *Lane) First() []int64 { return l.first }

// Structure returns the steps between calls as loops and sequences. What a Node
// calls a terminal is the number of a step.
func (l *Lane) Structure() Node {
	return Node{Kind: SequenceNode, Count: 1, Terminal: -1, g: l.steps}
}

// Steps returns what each step adds to each of Values.
func (l *Lane) Steps() [][]int64 { return l.by }

// At returns the values in the i-th call, parallel to Values.
func (l *Lane) At(i uint64) []int64 {
	vals := make([]int64, len(l.first))
	for k := range vals {
		vals[k] = l.first[k] + l.sums[k].Before(min(i, l.length))
	}
	return vals
}

// Bounds returns the least and the greatest value that the k-th of Values has,
// in time proportional to the compressed steps.
func (l *Lane) Bounds(k int) (least, most int64) {
	type extent struct{ sum, least, most int64 } // of what is added, behind each step
	all := grammar.Fold(l.steps, extent{}, func(id uint32) extent {
		d := l.by[id][k]
		return extent{d, min(d, 0), max(d, 0)}
	}, func(x, e extent, count uint64) extent {
		// Of n repetitions, the first or the last has the extremes.
		last := x.sum + e.sum*int64(count-1)
		return extent{last + e.sum, min(x.least, x.sum+e.least, last+e.least), max(x.most, x.sum+e.most, last+e.most)}
	})
	return l.first[k] + all.least, l.first[k] + all.most
}

// A laneCursor walks through the values of a lane.
type laneCursor struct {
	lane  *Lane
	steps *grammar.Cursor
	vals  []int64
	sig   []int64 // all values of the call
}

// cursor returns a cursor at the i-th call.
func (l *Lane) cursor(i uint64) *laneCursor {
	c := &laneCursor{lane: l, steps: l.steps.Cursor(), vals: l.At(i)}
	c.steps.Seek(i)
	return c
}

// next moves on to the next call.
func (c *laneCursor) next() {
	if s, ok := c.steps.Next(); ok {
		for k, d := range c.lane.by[s] {
			c.vals[k] += d
		}
	}
}

// Lane returns the lane of a terminal, nil if its calls are all alike.
func (k *Rank) Lane(terminal int) *Lane {
	if k.lanes == nil {
		return nil
	}
	return k.lanes[terminal]
}

// openLanes evaluates the lanes of a rank's class. Each has to have a value for
// every call of its terminal, and these stand in one stream.
func (k *Rank) openLanes() error {
	x := k.class.lanes
	if x == nil {
		return nil
	}
	grammars := make([]*grammar.Grammar, len(x.list))
	for i := range x.list {
		grammars[i] = x.list[i].steps
	}
	if len(x.varying) > 0 {
		var err error
		grammars, err = withCounts(grammars, x.varying, func(i int) int64 { return x.counts[i].At(k.index, int64(k.number)) })
		if err != nil {
			return err
		}
	}
	calls, streams := make([]uint64, k.Terminals()), make([]int, k.Terminals())
	for s := range k.streams {
		for t, n := range k.Counts(s) {
			if calls[t] += n; n > 0 {
				streams[t]++
			}
		}
	}
	k.lanes = make([]*Lane, k.Terminals())
	for i := range x.list {
		of := &x.list[i]
		l := &Lane{values: of.values, steps: grammars[i], length: grammars[i].Len()}
		if streams[of.terminal] > 1 {
			return fmt.Errorf("lane of terminal %d, which %d streams have", of.terminal, streams[of.terminal])
		}
		if l.length+1 != calls[of.terminal] {
			return fmt.Errorf("lane of terminal %d: %d steps for %d calls", of.terminal, l.length, calls[of.terminal])
		}
		sig := k.Signature(of.terminal)
		for _, p := range of.values {
			l.first = append(l.first, sig[p])
		}
		for _, step := range of.by {
			vals := make([]int64, len(step))
			for j, seq := range step {
				vals[j] = seq.At(k.index, int64(k.number))
			}
			l.by = append(l.by, vals)
		}
		l.sum()
		l.calls = sync.OnceValue(func() *Occurrences {
			stream := 0
			for s := range k.streams {
				if k.Counts(s)[of.terminal] > 0 {
					stream = s
				}
			}
			return k.Occurrences(stream, func(t int) bool { return t == of.terminal })
		})
		k.lanes[of.terminal] = l
	}
	return nil
}

// sum prepares seeking. Values that move alike share their sums.
func (l *Lane) sum() {
	l.sums = make([]*prefix.Sums, len(l.first))
	known := make(map[string]*prefix.Sums)
	var key []byte
	for k := range l.sums {
		key = key[:0]
		for _, step := range l.by {
			key = wire.AppendVarint(key, step[k])
		}
		s := known[string(key)]
		if s == nil {
			s = prefix.New(l.steps, func(s uint32) int64 { return l.by[s][k] })
			known[string(key)] = s
		}
		l.sums[k] = s
	}
}

// Signatures yields, for each call of a stream in program order, its terminal and
// all of its values, as Signature has them. They are good until the next call is asked for.
func (k *Rank) Signatures(stream int) iter.Seq2[int, []int64] {
	return func(yield func(int, []int64) bool) {
		plain := make([][]int64, k.Terminals())
		lanes := k.walkLanes(0)
		for n := range k.streams[stream].All() {
			t := int(n)
			vals := plain[t]
			switch {
			case k.Lane(t) != nil:
				vals = lanes.next(t)
			case vals == nil:
				vals = k.Signature(t)
				plain[t] = vals
			}
			if !yield(t, vals) {
				return
			}
		}
	}
}

// laneWalk is where the lanes of a rank stand while one goes through a stream.
type laneWalk struct {
	k       *Rank
	index   uint64
	cursors []*laneCursor // by terminal
}

func (k *Rank) walkLanes(index uint64) *laneWalk {
	if k.lanes == nil {
		return nil
	}
	return &laneWalk{k: k, index: index, cursors: make([]*laneCursor, len(k.lanes))}
}

// call returns the next call of a terminal, evaluated.
func (w *laneWalk) call(t *template, terminal int) (*Call, error) {
	return w.k.evaluate(t, terminal, w.next(terminal))
}

// next returns the values of the next call of a terminal.
func (w *laneWalk) next(terminal int) []int64 {
	c := w.cursors[terminal]
	if c == nil {
		l := w.k.lanes[terminal]
		before := uint64(0)
		if w.index > 0 {
			before = l.calls().Before(w.index)
		}
		c = l.cursor(before)
		c.sig = w.k.Signature(terminal)
		w.cursors[terminal] = c
	} else {
		c.next()
	}
	for i, p := range c.lane.values {
		c.sig[p] = c.vals[i]
	}
	return c.sig
}

// evaluate returns a call of a terminal with values of its own.
func (k *Rank) evaluate(t *template, terminal int, sig []int64) (*Call, error) {
	tables, err := k.r.tables()
	if err != nil {
		return nil, err
	}
	c, err := readCall(t.call.Func, sig, &tables.lookup)
	if err != nil {
		return nil, k.r.failed(container.Lanes, fmt.Errorf("rank %d: terminal %d: %w: %w", k.number, terminal, err, ErrFormat))
	}
	c.Rank, c.Terminal, c.Site = k.number, terminal, t.call.Site
	return c, nil
}

// Same reports whether two lanes have the same values in every call, as far as that
// can be told without expanding them.
func (l *Lane) Same(o *Lane) bool {
	if l == nil || o == nil {
		return l == o
	}
	return l.length == o.length && slices.Equal(l.values, o.values) && slices.Equal(l.first, o.first) &&
		slices.EqualFunc(l.by, o.by, slices.Equal[[]int64]) && l.steps.Equal(o.steps)
}

// text renders what the k-th of Values does: "0..999 by 1", or its bounds.
func (l *Lane) text(k int) string {
	last := l.At(l.length)[k]
	if len(l.by) == 0 || last == l.first[k] && len(l.by) == 1 {
		return fmt.Sprint(l.first[k])
	}
	step := l.by[0][k]
	for _, s := range l.by {
		if s[k] != step {
			least, most := l.Bounds(k)
			return fmt.Sprintf("from %d to %d", least, most)
		}
	}
	return fmt.Sprintf("%d..%d by %d", l.first[k], last, step)
}

// LaneTexts says for people how the values of a terminal's lane go on: "tag 0..999 by 1";
// nil if it has none.
func (k *Rank) LaneTexts(terminal int) []string {
	l := k.Lane(terminal)
	if l == nil {
		return nil
	}
	names := valueNames(k.r.byID[k.class.terminals[terminal].group.call], k.Signature(terminal))
	var list []string
	for i, p := range l.values {
		if text := names[p] + " " + l.text(i); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// Extremes returns two calls of a terminal that no call was: one with the least of
// each value in its lane, one with the greatest. Without a lane both are Terminal's.
// They bound the memory that the calls use.
func (k *Rank) Extremes(terminal int) (least, most *Call, err error) {
	t, err := k.template(terminal)
	l := k.Lane(terminal)
	if err != nil || l == nil {
		return t.call, t.call, err
	}
	low, high := k.Signature(terminal), k.Signature(terminal)
	for i, p := range l.values {
		low[p], high[p] = l.Bounds(i)
	}
	if least, err = k.evaluate(&t, terminal, low); err == nil {
		most, err = k.evaluate(&t, terminal, high)
	}
	return least, most, err
}
