package merge

import (
	"spoor/internal/column"
	"spoor/internal/grammar"
	"spoor/internal/track"
	"spoor/internal/wire"
)

// A shape is what the ranks of a class have in common: grammars without the
// numbers of repetitions, and skeletons of signatures. Its encoding is the key
// of the class.
type shape struct {
	streams   []*grammar.Grammar // repeated symbols have the count placeholder
	repeats   int                // number of repeated symbols
	skeletons []skeleton
	width     int // number of values of all terminals
	layout
	like  []int // per terminal: the first one with an equal skeleton
	lanes []laneShape
	steps int // columns of the lanes' steps
}

// A laneShape is a lane without what its steps add.
type laneShape struct {
	terminal int
	values   []int
	steps    *grammar.Grammar // repeated symbols have the count placeholder
	kinds    int              // of steps
}

// finish fills in what follows from the skeletons.
func (s *shape) finish() {
	s.like = make([]int, len(s.skeletons))
	first := make(map[skeleton]int)
	// Calls mostly follow each other as they did before.
	next := make([]int, len(s.skeletons)) // by skeleton: which one came behind it last
	before := 0
	for i, k := range s.skeletons {
		n := next[before]
		if i == 0 || s.skeletons[n] != k {
			var ok bool
			if n, ok = first[k]; !ok {
				n = i
				first[k] = i
			}
		}
		s.like[i] = n
		next[before], before = n, n
	}
	s.layout = layoutOf(s.skeletons, s.like)
}

// A skeleton is a signature without its values.
type skeleton struct {
	call  uint16
	site  uint64
	width int
}

// placeholder stands for any count above 1.
const placeholder = 2

// key encodes the shape of a track and returns it with the counts left out, in
// order of streams, rules and symbols, and with the shape. Ranks whose loops are the same but run
// unequally often so have the same key.
//
//	streams, grammars…, terminals, (call uvarint, site uint64, values uvarint)…, lanes
//	lanes = count, (terminal, values, value…, kinds of steps: uvarints, grammar)…
func key(tr *track.Track) (string, *shape, []int64) {
	var counts []int64
	sh := &shape{}
	b := wire.AppendUvarint(nil, uint64(len(tr.Streams)))
	uncounted := func(g *grammar.Grammar) *grammar.Grammar {
		g = g.Renumber(func(t uint32) uint32 { return t })
		for _, body := range g.Rules {
			for i := range body {
				if body[i].Count > 1 {
					counts = append(counts, int64(body[i].Count))
					body[i].Count = placeholder
				}
			}
		}
		return g
	}
	for _, st := range tr.Streams {
		g := uncounted(st.Grammar)
		b = g.AppendBinary(b)
		sh.streams = append(sh.streams, g)
	}
	for i := range tr.Lanes {
		l := &tr.Lanes[i]
		sh.lanes = append(sh.lanes, laneShape{l.Terminal, l.Values, uncounted(l.Steps), len(l.By)})
		sh.steps += len(l.By) * len(l.Values)
	}
	sh.repeats = len(counts)
	sh.skeletons, sh.width = skeletonsOf(tr)
	sh.finish()
	b = wire.AppendUvarint(b, uint64(len(tr.Sigs)))
	for i := range tr.Sigs {
		b = wire.AppendUvarint(b, uint64(tr.Sigs[i].Call))
		b = wire.AppendUint64(b, tr.Sigs[i].Site)
		b = wire.AppendUvarint(b, uint64(len(tr.Sigs[i].Vals)))
	}
	b = wire.AppendUvarint(b, uint64(len(sh.lanes)))
	for _, l := range sh.lanes {
		b = l.append(b)
	}
	return string(b), sh, counts
}

func (l *laneShape) append(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(l.terminal))
	b = wire.AppendUvarint(b, uint64(len(l.values)))
	for _, p := range l.values {
		b = wire.AppendUvarint(b, uint64(p))
	}
	b = wire.AppendUvarint(b, uint64(l.kinds))
	return l.steps.AppendBinary(b)
}

// decodeLane reads a lane of one of the shape's terminals.
func (s *shape) decodeLane(r *wire.Reader) laneShape {
	l := laneShape{terminal: r.Int(len(s.skeletons))}
	for range r.Count(1) {
		l.values = append(l.values, r.Int(1<<30))
	}
	l.kinds = r.Int(1 << 30)
	g, n, err := grammar.Decode(r.Remaining())
	if r.Check(err); r.Err() != nil {
		return l
	}
	if l.kinds > len(g.Terminals()) { // each occurs
		r.Fail("lane of %d kinds of steps, %d occur", l.kinds, len(g.Terminals()))
		return l
	}
	r.Skip(n)
	l.steps = g
	return l
}

// A place is a value of a terminal.
type place struct{ terminal, value int }

// places returns which values stand where; see layout.
func (s *shape) places() []place {
	list := make([]place, s.width)
	for n, k := range s.skeletons {
		for i := range k.width {
			list[s.at(n, i)] = place{n, i}
		}
	}
	return list
}

// take gives a class whose members are even the shape of a track.
func (c *class) take(tr *track.Track) {
	var counts []int64
	c.key, c.decoded, counts = key(tr)
	for _, n := range counts {
		c.counts = append(c.counts, column.Constant(n, c.ranks.Len()))
	}
}

// skeletonsOf returns the skeletons of a track's signatures, and how many values
// these have together.
func skeletonsOf(tr *track.Track) (list []skeleton, width int) {
	list = make([]skeleton, len(tr.Sigs))
	for i := range tr.Sigs {
		s := &tr.Sigs[i]
		list[i] = skeleton{s.Call, s.Site, len(s.Vals)}
		width += len(s.Vals)
	}
	return list, width
}

// shape returns what the class's key says.
func (c *class) shape() *shape {
	sh, err := c.parse()
	if err != nil {
		panic(err) // the key was made or checked by this package
	}
	return sh
}

func (c *class) parse() (*shape, error) {
	if c.decoded == nil {
		sh, err := decodeKey(c.key)
		if err != nil {
			return nil, err
		}
		c.decoded = sh
	}
	return c.decoded, nil
}

// shapeOf returns what a key says, from the class that has it if there is one.
func (s *State) shapeOf(key string) (*shape, error) {
	if c := s.index[key]; c != nil {
		return c.shape(), nil
	}
	return decodeKey(key)
}

// repeats counts the symbols that have a count.
func repeats(g *grammar.Grammar) (n int) {
	for _, body := range g.Rules {
		for _, sym := range body {
			if sym.Count > 1 {
				n++
			}
		}
	}
	return n
}

func decodeKey(key string) (*shape, error) {
	s := &shape{}
	r := wire.NewReader([]byte(key), "class key")
	for range r.Count(1) {
		g, n, err := grammar.Decode(r.Remaining())
		r.Check(err)
		if r.Err() != nil {
			return nil, r.Err()
		}
		r.Skip(n)
		s.streams = append(s.streams, g)
		s.repeats += repeats(g)
	}
	for range r.Count(10) {
		k := skeleton{r.Uint16(), r.Uint64(), r.Int(1 << 30)}
		s.skeletons = append(s.skeletons, k)
		s.width += k.width
	}
	for range r.Count(5) {
		l := s.decodeLane(r)
		if r.Err() != nil {
			return nil, r.Err()
		}
		s.lanes = append(s.lanes, l)
		s.steps += l.kinds * len(l.values)
		s.repeats += repeats(l.steps)
	}
	if err := r.Done(); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.finish()
	return s, nil
}
