package signature

import (
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// Calls from before a family had a lane have plain signatures. When the track is made, they go into the lane, too,
// if all of them precede its first call: so a loop is a loop from its first iteration on.
const (
	maxFold      = 4096    // largest number of earlier calls that go into one lane
	maxFoldLanes = 64      // number of lanes of a stream, the first ones, that may get earlier calls
	maxFoldWork  = 1 << 20 // largest number of symbols of a grammar that is rebuilt for this
)

// A Promotion determines which calls go into a lane that was created only after them.
type Promotion struct {
	Streams []*grammar.Grammar
	table   *LaneTable
	into    map[uint32]uint32       // plain signature → the one with the lane
	from    map[uint32][]uint32     // signature with a lane → the plain signatures whose calls go into that lane
	longer  map[uint32]*LaneBuilder // signature with a lane → that lane, beginning with the plain signatures' calls
}

// Promote determines which calls go into later lanes, given the grammars of all threads.
func (t *LaneTable) Promote(streams []*grammar.Grammar) *Promotion {
	f := &Promotion{
		Streams: append([]*grammar.Grammar(nil), streams...),
		table:   t, into: make(map[uint32]uint32), from: make(map[uint32][]uint32), longer: make(map[uint32]*LaneBuilder),
	}
	if len(t.lanes) == 0 {
		return f
	}
	counts := make([][]uint64, len(streams))
	for s, g := range streams {
		counts[s] = g.TerminalCounts(t.Len())
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
			f.lane(n, s, counts)
		}
	}
	for s, g := range f.Streams {
		f.stream(s, g)
	}
	return f
}

// lane determines which calls go into the lane of signature n.
func (f *Promotion) lane(n uint32, stream int, counts [][]uint64) {
	t := f.table
	of := t.Key(n)
	var list []uint32
	calls := uint64(0)
	for i := t.before[t.laneOf[n]]; i != NoStep; i = t.older[i] {
		if _, taken := f.into[i]; taken || !fitsWords(of, t.Key(i)) {
			continue
		}
		for s := range counts {
			if s != stream && counts[s][i] > 0 {
				return // another thread makes such calls, too, but a lane has the calls of one thread
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
	sums := grammar.NewWeightSums(f.Streams[stream], func(i uint32) int64 {
		if wanted[i] {
			return 1
		}
		return 0
	})
	own := t.Lane(n)
	l := newBuilder(own.words)
	for k := range int64(calls) {
		_, i := sums.Nth(k)
		if i == n {
			return // a call with a plain signature follows the lane's first call: it was made by a callback
		}
		l.add(t.Key(i))
	}
	if own.first == nil || !l.addAll(own, maxFoldWork) {
		return
	}
	f.longer[n] = l
	f.from[n] = list
	for _, i := range list {
		f.into[i] = n
	}
}

// stream replaces plain signatures in the grammar of a thread by those with lanes. If the grammar would become too
// large, the thread's calls keep their plain signatures.
func (f *Promotion) stream(s int, g *grammar.Grammar) {
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
		delete(f.longer, n)
	}
}

// PlainSignatures returns the plain signatures whose calls are now in the lane of signature number n.
func (f *Promotion) PlainSignatures(n uint32) []uint32 { return f.from[n] }

// LaneOf returns the lane of signature number n as that of a terminal. vals are the terminal's values except those of
// the lane, and order is as in LaneBuilder.Lane. It returns false if the lane has no values.
func (f *Promotion) LaneOf(n uint32, terminal int, vals []int64, order []int) (Lane, bool) {
	l := f.longer[n]
	if l == nil {
		l = f.table.Lane(n)
	}
	if l.first == nil {
		return Lane{}, false
	}
	return l.Lane(terminal, vals, order), true
}
