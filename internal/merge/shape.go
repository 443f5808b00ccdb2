package merge

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
)

// A classShape is what the ranks of a class have in common: grammars without the
// numbers of repetitions, and skeletons of signatures. Its encoding is the key
// of the class.
type classShape struct {
	streams []*grammar.Grammar // repeated symbols have the count placeholder instead of their own
	repeats int                // number of repeated symbols
	skeletons
	valueLayout
	lanes []laneShape
	// Summaries of times are numbered in the order of their first terminals.
	summary   []int32 // by terminal: number of its summary
	summaries int
	steps     int // number of columns of the lanes' steps
}

// A laneShape is a lane without the values of its steps.
type laneShape struct {
	terminal int
	values   []int
	steps    *grammar.Grammar // sequence of steps; repeated symbols have the count placeholder
	kinds    int              // number of distinct steps
}

// finish computes the fields that follow from the skeletons.
func (s *classShape) finish() {
	s.valueLayout = layoutOf(&s.skeletons)
	s.summary, s.summaries = summariesOf(&s.skeletons)
	s.findSites()
}

// namesFiles reports whether one of the calls passes the name of a file, uses an open file, or is a call of POSIX.
func (s *classShape) namesFiles() bool {
	return slices.ContainsFunc(s.kinds, func(k skeleton) bool {
		call, ok := mpi.CallByID(k.call)
		return ok && (call.Has(mpi.AttrPosix) || call.UsesOpenFile() || call.Index("filename") >= 0)
	})
}

// inner maps the site of each stack to its innermost site, for a track with the shape's calls.
func (s *classShape) inner() map[uint64]uint64 {
	var m map[uint64]uint64
	for _, k := range s.kinds {
		if k.inner != k.site {
			if m == nil {
				m = make(map[uint64]uint64)
			}
			m[k.site] = k.inner
		}
	}
	return m
}

// placeholder replaces all counts above 1.
const placeholder = 2

// key returns the key of a track, which is its encoded shape, and the shape and the repetition counts, in order of
// streams, rules and symbols. So ranks have the same key if they differ in nothing but repetition counts.
//
//	streams, grammars…, skeletons of the terminals, lanes
//	lanes = count, (terminal, values, value…, kinds of steps: uvarints, grammar)…
func key(tr *track.Track) (string, *classShape, []int64) {
	var counts []int64
	sh := &classShape{}
	uncounted := func(g *grammar.Grammar) *grammar.Grammar {
		g = &grammar.Grammar{Rules: slices.Clone(g.Rules)}
		for r, body := range g.Rules {
			own := false
			for i := range body {
				if body[i].Count > 1 {
					if counts = append(counts, int64(body[i].Count)); !own {
						body, own = slices.Clone(body), true
						g.Rules[r] = body
					}
					body[i].Count = placeholder
				}
			}
		}
		return g
	}
	for _, st := range tr.Streams {
		sh.streams = append(sh.streams, uncounted(st.Grammar))
	}
	for i := range tr.Lanes {
		l := &tr.Lanes[i]
		sh.lanes = append(sh.lanes, laneShape{l.Terminal, l.ValueIndices, uncounted(l.Steps), len(l.StepValues)})
		sh.steps += len(l.StepValues) * len(l.ValueIndices)
	}
	sh.repeats = len(counts)
	sh.skeletons = skeletonsOf(tr)
	b := sh.append(nil)
	sh.finish()
	return string(b), sh, counts
}

// append appends the key of a shape to b.
func (s *classShape) append(b []byte) []byte {
	b = s.skeletons.append(wire.AppendEncoded(b, func(c *wire.Coder) { grammar.CodeGrammarList(c, &s.streams) }))
	b = wire.AppendUvarint(b, uint64(len(s.lanes)))
	for i := range s.lanes {
		b = s.lanes[i].append(b)
	}
	return b
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
func (s *classShape) decodeLane(r *wire.Reader) laneShape {
	l := laneShape{terminal: r.Int(s.terminals())}
	for range r.Count(1) {
		l.values = append(l.values, r.Int(1<<30))
	}
	l.kinds = r.Int(1 << 30)
	if l.steps = grammar.ReadGrammar(r); r.Err() == nil && l.kinds > len(l.steps.Terminals()) { // each step occurs
		r.Fail("lane of %d kinds of steps, %d occur", l.kinds, len(l.steps.Terminals()))
	}
	return l
}

// A valueIndex identifies a value: its terminal, and its index there.
type valueIndex struct{ terminal, value int }

// places returns the values in the order of the layout.
func (s *classShape) places() []valueIndex {
	list := make([]valueIndex, s.width)
	for n := range s.of {
		for i := range s.skeleton(n).width {
			list[s.at(n, i)] = valueIndex{n, i}
		}
	}
	return list
}

// setShape sets the shape of an even class to that of a track.
func (c *class) setShape(tr *track.Track) {
	var counts []int64
	c.key, c.decoded, counts = key(tr)
	for _, n := range counts {
		c.counts = append(c.counts, column.Constant(n, c.ranks.Len()))
	}
}

// shape returns the class's shape, decoded from its key.
func (c *class) shape() *classShape {
	sh, err := c.parse()
	if err != nil {
		panic(err) // the key was made or checked by this package
	}
	return sh
}

func (c *class) parse() (*classShape, error) {
	if c.decoded == nil {
		sh, err := decodeKey(c.key)
		if err != nil {
			return nil, err
		}
		c.decoded = sh
	}
	return c.decoded, nil
}

// shapeOf returns the shape of a key, from the class with this key if there is one.
func (s *MergedBlock) shapeOf(key string) (*classShape, error) {
	if c := s.index[key]; c != nil {
		return c.shape(), nil
	}
	return decodeKey(key)
}

func decodeKey(key string) (*classShape, error) {
	s := &classShape{}
	r := wire.NewReader([]byte(key), "class key")
	if grammar.CodeGrammarList(&wire.Coder{Reader: r}, &s.streams); r.Err() != nil {
		return nil, r.Err()
	}
	s.repeats = grammar.CountRepeatedSymbols(s.streams)
	n, ok := grammar.CountTerminals(s.streams)
	if !ok {
		return nil, errOrder
	}
	s.skeletons = decodeSkeletons(r, n)
	for range r.Count(5) {
		l := s.decodeLane(r)
		if r.Err() != nil {
			return nil, r.Err()
		}
		s.lanes = append(s.lanes, l)
		s.steps += l.kinds * len(l.values)
		s.repeats += grammar.CountRepeatedSymbols([]*grammar.Grammar{l.steps})
	}
	if err := r.Finish(); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.finish()
	return s, nil
}

// A skeleton is a signature without its values.
type skeleton struct {
	call  uint16
	site  uint64
	inner uint64 // the site without its callers
	width int
}

// skeletons are the distinct skeletons of a class's terminals.
type skeletons struct {
	kinds []skeleton // in order of first occurrence
	first []int      // by index in kinds: the first terminal with the skeleton
	of    []uint32   // by terminal: index of its skeleton in kinds
	width int        // number of values of all terminals
	site  []int      // by index in kinds: the first terminal with the same skeleton except for the stack

	order succession
	known map[skeleton]int
}

func (s *skeletons) terminals() int { return len(s.of) }

func (s *skeletons) skeleton(terminal int) *skeleton { return &s.kinds[s.of[terminal]] }

// like returns the first terminal with the same skeleton.
func (s *skeletons) like(terminal int) int { return s.first[s.of[terminal]] }

// place returns the first terminal with the same skeleton except for the stack. Times of ranks are kept by place,
// not by stack.
func (s *skeletons) place(terminal int) int { return s.site[s.of[terminal]] }

// findSites computes the places of all skeletons.
func (s *skeletons) findSites() {
	s.site = make([]int, len(s.kinds))
	first := make(map[skeleton]int)
	for n, k := range s.kinds {
		k.site = k.inner
		s.site[n] = once.GetOrMake(first, k, func() int { return s.first[n] })
	}
	s.known = nil
}

// add appends the skeleton of a terminal.
func (s *skeletons) add(k skeleton) {
	n := s.order.expected()
	if n < 0 || s.kinds[n] != k {
		if s.known == nil {
			s.known = make(map[skeleton]int)
		}
		var known bool
		if n, known = s.known[k]; !known {
			n = len(s.kinds)
			s.known[k] = n
			s.kinds, s.first = append(s.kinds, k), append(s.first, len(s.of))
		}
	}
	s.addKind(n)
}

func (s *skeletons) addKind(n int) {
	s.of = append(s.of, uint32(n))
	s.width += s.kinds[n].width
	s.order.came(n)
}

// skeletonsOf returns the skeletons of a track's signatures.
func skeletonsOf(tr *track.Track) skeletons {
	calls := tr.AllDistinctCalls()
	s := skeletons{of: make([]uint32, 0, calls.Len())}
	for i := range calls.Len() {
		var k skeleton
		k.call, k.site, k.width = calls.DescribeCall(i)
		if k.inner = k.site; len(tr.SiteWithoutStack) > 0 {
			if inner, ok := tr.SiteWithoutStack[k.site]; ok {
				k.inner = inner
			}
		}
		s.add(k)
	}
	return s
}

// Skeletons are coded by prediction, since calls that differ in values only mostly come in the same order again and
// again. Each is predicted to be the one that last followed its predecessor. The key has the number of correct
// predictions, and the skeletons after wrong ones. So the key of a rank with thousands of distinct calls from a few
// dozen places takes a few hundred bytes besides its grammar.
//
//	skeletons = (2 × right uvarint, unless those were the last: number of an earlier skeleton uvarint
//	            | 2 × right + 1 uvarint, then a new skeleton: call uvarint, site uint64, 2 × values + stack uvarint,
//	              if stack is 1: site without its stack uint64)…
//	right     = number of skeletons in a row that are as predicted
//
// The number of skeletons is known from the grammars.
type succession struct {
	next []int // by index in skeletons.kinds: the one that followed it last; -1: nothing did
	last int
}

// came records that the next terminal has skeleton n.
func (f *succession) came(n int) {
	if len(f.next) > 0 {
		f.next[f.last] = n
	}
	if n == len(f.next) {
		f.next = append(f.next, -1)
	}
	f.last = n
}

// expected returns the predicted skeleton of the next terminal, -1 if unknown.
func (f *succession) expected() int {
	if len(f.next) == 0 {
		return -1
	}
	return f.next[f.last]
}

func (s *skeletons) append(b []byte) []byte {
	var f succession
	right := 0
	for i, kind := range s.of {
		n := int(kind)
		switch k := &s.kinds[n]; {
		case n == f.expected():
			right++
		case s.first[n] != i:
			b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(right)<<1), uint64(n))
			right = 0
		default:
			b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(right)<<1|1), uint64(k.call))
			b = wire.AppendUint64(b, k.site)
			if k.inner == k.site {
				b = wire.AppendUvarint(b, uint64(k.width)<<1)
			} else {
				b = wire.AppendUint64(wire.AppendUvarint(b, uint64(k.width)<<1|1), k.inner)
			}
			right = 0
		}
		f.came(n)
	}
	if right > 0 {
		b = wire.AppendUvarint(b, uint64(right)<<1)
	}
	return b
}

// decodeSkeletons reads the skeletons of the terminals.
func decodeSkeletons(r *wire.Reader, terminals int) skeletons {
	s := skeletons{of: make([]uint32, 0, terminals)}
	for len(s.of) < terminals {
		what := r.Int(2*(terminals-len(s.of)) + 1)
		for range what >> 1 {
			n := s.order.expected()
			if n < 0 {
				r.Fail("terminal of a skeleton that nothing foretells")
				return s
			}
			s.addKind(n)
		}
		switch {
		case len(s.of) == terminals:
		case what&1 != 0:
			k := skeleton{call: r.Uvarint16(), site: r.Uint64()}
			width := r.Int(1 << 31)
			if k.inner, k.width = k.site, width>>1; width&1 != 0 {
				k.inner = r.Uint64()
			}
			s.kinds, s.first = append(s.kinds, k), append(s.first, len(s.of))
			s.addKind(len(s.kinds) - 1)
		default:
			n := r.Int(1 << 30)
			if n >= len(s.kinds) {
				r.Fail("skeleton %d of %d", n, len(s.kinds))
				return s
			}
			s.addKind(n)
		}
		if r.Err() != nil {
			return s
		}
	}
	return s
}
