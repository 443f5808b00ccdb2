package signature

import (
	"errors"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/pack"
	"github.com/spoor-hpc/spoor/internal/timing"
)

var (
	errTwice = errors.New("a signature appears twice")
	errLane  = errors.New("a lane that does not fit")
)

// Save writes the whole table.
func (t *Table) Save(w *pack.Writer) {
	t.SaveKeys(w, 0)
	t.saveLanes(w)
	for n := range uint32(t.Len()) {
		duration, gap := t.TimesOf(n)
		saveStat(w, &duration)
		saveStat(w, &gap)
	}
}

// Load reads what Save wrote.
func (t *Table) Load(r *pack.Reader, may May) {
	*t = Table{PromoteAfter: t.PromoteAfter}
	t.LoadKeys(r, may)
	t.loadLanes(r)
	if r.Err() != nil {
		return
	}
	for n := range uint32(t.Len()) {
		times := t.Times(n)
		loadStat(r, &times.Duration)
		loadStat(r, &times.Gap)
	}
}

// SaveKeys writes the signatures from number first on. None is ever taken back,
// so whoever has the older ones needs no more.
func (t *Table) SaveKeys(w *pack.Writer, first int) {
	w.Uint(uint64(t.Len() - first))
	for n := first; n < t.Len(); n++ {
		k := t.Key(uint32(n))
		w.Uint(uint64(k[0]))
		w.Fixed(k.Site())
		w.Ints(k[KeyHeader:])
	}
}

// LoadKeys appends what SaveKeys wrote. What was a lane becomes one again, without
// its values.
func (t *Table) LoadKeys(r *pack.Reader, may May) {
	for range r.Count(10) {
		k := make(Key, KeyHeader, 16)
		head := r.Uint()
		k[0], k[1] = int64(head), int64(r.Fixed())
		k = append(k, r.Ints()...)
		if r.Err() == nil && head>>threadShift != 0 {
			r.Check(t.loadLaneKey(k, may))
			continue
		}
		h := hash(k)
		if _, twice := t.lookUp(k, h); r.Err() != nil || twice {
			r.Check(errTwice)
			return
		}
		n := t.insert(k, h)
		if words := may(k); len(words) > 0 {
			t.note(n, words)
		}
	}
}

// loadLaneKey adds a signature with a lane, which has a family by now.
func (t *Table) loadLaneKey(k Key, may May) error {
	h := hash(k)
	if _, twice := t.lookUp(k, h); twice {
		return errTwice
	}
	words := len(k) - KeyHeader - 1
	if words < 1 || k[len(k)-1] < 1 || k[len(k)-1] > int64(words) || k.Thread() > maxThread {
		return errLane
	}
	like := append(Key{int64(k.Call()), int64(k.Site())}, k.Values()...)
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
	f := t.family(like, in)
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

func (t *Table) saveLanes(w *pack.Writer) {
	for _, l := range t.lanes.list {
		l.save(w)
	}
}

func (t *Table) loadLanes(r *pack.Reader) {
	for _, l := range t.lanes.list {
		if r.Err() == nil {
			l.load(r)
		}
	}
}

func (l *Lane) save(w *pack.Writer) {
	w.Ints(l.first)
	w.Ints(l.last)
	w.Ints(l.steps)
	w.Uint(uint64(l.prev + 1))
	w.Bytes(l.order.AppendBinary(nil))
	l.noted = len(l.chain)
}

func (l *Lane) load(r *pack.Reader) {
	first, last, steps := r.Ints(), r.Ints(), r.Ints()
	width := len(l.words)
	if len(first) != width || len(last) != width || len(steps)%width != 0 {
		r.Check(errLane)
		return
	}
	l.first, l.last = first, last
	for ; len(steps) > 0; steps = steps[width:] {
		if n := l.Kinds(); l.number(steps[:width]) != uint32(n) {
			r.Check(errLane)
			return
		}
	}
	l.prev = uint32(r.Index(l.Kinds()+1)) - 1
	g, _, err := grammar.Decode([]byte(r.String()))
	if err != nil {
		r.Check(err)
		return
	}
	for _, n := range g.Terminals() {
		if int(n) >= l.Kinds() {
			r.Check(errLane)
			return
		}
	}
	l.order, l.noted = grammar.Restore(g), l.Kinds()
}

// CheckLanes refuses lanes that no call came into.
func (t *Table) CheckLanes(r *pack.Reader) {
	for _, l := range t.lanes.list {
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

func saveStat(w *pack.Writer, s *timing.Stat) {
	w.Uint(s.Count)
	w.Uint(s.Sum)
	w.Uint(s.Min)
	w.Uint(s.Max)
	w.Uint(s.Squares.Hi)
	w.Uint(s.Squares.Lo)
}

func loadStat(r *pack.Reader, s *timing.Stat) {
	s.Count, s.Sum, s.Min, s.Max = r.Uint(), r.Uint(), r.Uint(), r.Uint()
	s.Squares.Hi, s.Squares.Lo = r.Uint(), r.Uint()
}
