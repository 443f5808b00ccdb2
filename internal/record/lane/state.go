package lane

import (
	"errors"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/pack"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

var errLane = errors.New("a lane that does not fit")

// Save writes the whole table.
func (t *Table) Save(w *pack.Writer) {
	t.SaveKeys(w, 0)
	for _, l := range t.lanes {
		l.save(w)
	}
	t.SaveTimes(w)
}

// Load reads what Save wrote.
func (t *Table) Load(r *pack.Reader, may May) {
	*t = Table{PromoteAfter: t.PromoteAfter}
	t.LoadKeys(r, may)
	for _, l := range t.lanes {
		if r.Err() == nil {
			l.load(r)
		}
	}
	t.LoadTimes(r)
}

// LoadKeys appends what SaveKeys wrote. What was a lane becomes one again, without
// its values.
func (t *Table) LoadKeys(r *pack.Reader, may May) {
	t.Table.LoadKeys(r, func(k signature.Key) error {
		if k.HasLane() {
			return t.loadLaneKey(k, may)
		}
		n := t.insert(k)
		if words := may(k); len(words) > 0 {
			t.join(n, words)
		}
		return nil
	})
}

// loadLaneKey adds a signature with a lane, which has a family by now.
func (t *Table) loadLaneKey(k signature.Key, may May) error {
	words := len(k) - signature.KeyHeader - 1
	if words < 1 || k[len(k)-1] < 1 || k[len(k)-1] > int64(words) || k.Thread() < 0 || k.Thread() > maxThread {
		return errLane
	}
	like := append(signature.Key{int64(k.Call()), int64(k.Site())}, k.Values()...)
	in := may(like)
	next := 0
	for _, w := range k.Lane() {
		for next < len(in) && int64(in[next]) < w {
			next++
		}
		if next == len(in) || int64(in[next]) != w {
			return errLane
		}
		next++
	}
	f := t.familyOf(like, in)
	if f == nil {
		return errLane
	}
	another := f.lane != None && slices.Equal(t.Key(f.lane).Lane(), k.Lane()) && fitsWords(t.Key(f.lane), like)
	if another {
		t.addLane(k, None)
	} else {
		t.promoted(f, t.addLane(k, f.last))
	}
	return nil
}

// maxThread bounds the numbers of threads.
const maxThread = 1 << 20

func (b *Builder) save(w *pack.Writer) {
	w.Ints(b.first)
	w.Ints(b.last)
	w.Ints(b.steps)
	w.Uint(uint64(b.prev + 1))
	w.Bytes(b.order.AppendBinary(nil))
	b.noted = len(b.chain)
}

func (b *Builder) load(r *pack.Reader) {
	first, last, steps := r.Ints(), r.Ints(), r.Ints()
	width := len(b.words)
	if len(first) != width || len(last) != width || len(steps)%width != 0 {
		r.Check(errLane)
		return
	}
	b.first, b.last = first, last
	for ; len(steps) > 0; steps = steps[width:] {
		if n := b.Kinds(); b.number(steps[:width]) != uint32(n) {
			r.Check(errLane)
			return
		}
	}
	b.prev = uint32(r.Index(b.Kinds()+1)) - 1
	g, _, err := grammar.Decode([]byte(r.String()))
	if err != nil {
		r.Check(err)
		return
	}
	for _, n := range g.Terminals() {
		if int(n) >= b.Kinds() {
			r.Check(errLane)
			return
		}
	}
	b.order, b.noted = grammar.Restore(g), b.Kinds()
}

// CheckLanes refuses lanes that no call came into.
func (t *Table) CheckLanes(r *pack.Reader) {
	for _, l := range t.lanes {
		if l.first == nil {
			r.Check(errLane)
			return
		}
	}
}

// Note appends the call that a lane took in last to what Replay goes by.
//
//	note = terminal, step + 1, values if that is 0, what it adds if it is new
func (t *Table) Note(w *pack.Writer, n uint32) {
	l := t.Lane(n)
	w.Uint(uint64(n))
	w.Uint(uint64(l.prev + 1))
	switch {
	case l.prev == None:
		w.Ints(l.first)
	case int(l.prev) >= l.noted:
		w.Ints(l.Step(l.prev))
		l.noted = int(l.prev) + 1
	}
}

// Replay takes in a call that Note has taken down.
func (t *Table) Replay(r *pack.Reader) {
	n := uint32(r.Index(t.Len()))
	if r.Err() != nil {
		return
	}
	l := t.Lane(n)
	if l == nil {
		r.Check(errLane)
		return
	}
	step := r.Index(l.Kinds()+2) - 1
	switch {
	case r.Err() != nil:
	case step < 0 && l.first == nil:
		if first := r.Ints(); len(first) == len(l.words) {
			l.first, l.last = first, slices.Clone(first)
			return
		}
		r.Check(errLane)
	case step < 0 || l.first == nil:
		r.Check(errLane)
	case step == l.Kinds():
		if add := r.Ints(); len(add) == len(l.words) && l.number(add) == uint32(step) {
			l.Advance(uint32(step))
			return
		}
		r.Check(errLane)
	default:
		l.Advance(uint32(step))
	}
}
