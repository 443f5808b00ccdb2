package signature

import (
	"encoding/binary"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/prefix"
)

// The calls that came before a family had a lane are plain signatures. In the end
// they go into the lane, too, if they all came before its first call: a loop is then
// a loop from its first iteration on.
const (
	maxFold      = 4096    // calls
	maxFoldLanes = 64      // of a stream
	maxFoldWork  = 1 << 20 // symbols of a grammar that are appended anew
)

// A Folding says which calls go into lanes that were made after them.
type Folding struct {
	Streams []*grammar.Grammar
	into    map[uint32]uint32   // plain signature → the one with the lane
	from    map[uint32][]uint32 // the other way
	lanes   map[uint32]Sequence
}

// A Sequence is the values of a lane: those of the first call, what each kind of
// step adds, and the steps in order, numbered by first occurrence.
type Sequence struct {
	First []int64
	Kinds [][]int64
	Order *grammar.Grammar
}

// Fold finds them, given the grammars of all threads.
func (t *Table) Fold(streams []*grammar.Grammar) *Folding {
	f := &Folding{
		Streams: append([]*grammar.Grammar(nil), streams...),
		into:    make(map[uint32]uint32), from: make(map[uint32][]uint32), lanes: make(map[uint32]Sequence),
	}
	if len(t.lanes.list) == 0 {
		return f
	}
	counts := make([][]uint64, len(streams))
	for s, g := range streams {
		counts[s] = g.Counts(t.Len())
	}
	lanes := make([]int, len(streams))
	for n := range uint32(t.Len()) {
		l := t.Lane(n)
		if l == nil {
			continue
		}
		s := t.Key(n).Thread()
		if s >= len(streams) || counts[s][n] == 0 {
			continue
		}
		if lanes[s]++; lanes[s] <= maxFoldLanes {
			f.lane(t, n, s, counts)
		}
	}
	for s, g := range f.Streams {
		f.stream(s, g)
	}
	return f
}

// lane looks for what goes into a lane.
func (f *Folding) lane(t *Table, n uint32, stream int, counts [][]uint64) {
	of := t.Key(n)
	var list []uint32
	calls := uint64(0)
	for i := t.lanes.before[t.lanes.laneOf[n]]; i != None; i = t.lanes.older[i] {
		if _, taken := f.into[i]; taken || !fitsWords(of, t.Key(i)) {
			continue
		}
		for s := range counts {
			if s != stream && counts[s][i] > 0 {
				return // another thread made such calls, too
			}
		}
		if counts[stream][i] > 0 {
			list = append(list, i)
			calls += counts[stream][i]
		}
	}
	if calls == 0 || calls > maxFold {
		return
	}
	wanted := map[uint32]bool{n: true}
	for _, i := range list {
		wanted[i] = true
	}
	sums := prefix.New(f.Streams[stream], func(i uint32) int64 {
		if wanted[i] {
			return 1
		}
		return 0
	})
	own := t.Lane(n)
	var steps sequence
	for k := range int64(calls) {
		_, i := sums.Nth(k)
		if i == n {
			return // some came later: they were calls of callbacks
		}
		key := t.Key(i)
		vals := make([]int64, len(own.words))
		for x, w := range own.words {
			vals[x] = key[w]
		}
		steps.add(vals)
	}
	steps.add(own.first)
	kinds := make([]uint32, own.Kinds())
	for k := range kinds {
		kinds[k] = steps.number(own.Step(uint32(k)))
	}
	if !steps.order.AppendAll(own.Order(), func(k uint32) uint32 { return kinds[k] }, maxFoldWork) {
		return
	}
	f.lanes[n] = Sequence{steps.first, steps.kinds, steps.order.Grammar()}
	f.from[n] = list
	for _, i := range list {
		f.into[i] = n
	}
}

// stream renumbers the grammar of a thread.
func (f *Folding) stream(s int, g *grammar.Grammar) {
	any := false
	for _, n := range g.Terminals() {
		_, ok := f.into[n]
		any = any || ok
	}
	if !any {
		return
	}
	b := grammar.NewBuilder()
	to := func(n uint32) uint32 {
		if l, ok := f.into[n]; ok {
			return l
		}
		return n
	}
	if b.AppendAll(g, to, maxFoldWork) {
		f.Streams[s] = b.Grammar()
		return
	}
	for _, n := range g.Terminals() {
		for _, i := range f.from[n] {
			delete(f.into, i)
		}
		delete(f.from, n)
		delete(f.lanes, n)
	}
}

// From returns the plain signatures whose calls are in a lane now.
func (f *Folding) From(n uint32) []uint32 { return f.from[n] }

// Sequence returns the values of the lane of signature number n.
func (f *Folding) Sequence(t *Table, n uint32) Sequence {
	if s, ok := f.lanes[n]; ok {
		return s
	}
	l := t.Lane(n)
	s := Sequence{First: l.first, Order: l.Order()}
	for k := range l.Kinds() {
		s.Kinds = append(s.Kinds, l.Step(uint32(k)))
	}
	return s
}

// A sequence is one that is being made.
type sequence struct {
	first, last []int64
	kinds       [][]int64
	known       map[string]uint32
	order       *grammar.Builder
}

func (s *sequence) add(vals []int64) {
	if s.first == nil {
		s.first, s.last, s.known, s.order = vals, vals, make(map[string]uint32), grammar.NewBuilder()
		return
	}
	step := make([]int64, len(vals))
	for i := range vals {
		step[i] = vals[i] - s.last[i]
	}
	s.last = vals
	s.order.Append(s.number(step))
}

func (s *sequence) number(step []int64) uint32 {
	var key []byte
	for _, d := range step {
		key = binary.AppendVarint(key, d)
	}
	n, ok := s.known[string(key)]
	if !ok {
		n = uint32(len(s.kinds))
		s.known[string(key)] = n
		s.kinds = append(s.kinds, step)
	}
	return n
}
