package proxy

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/trace"
)

// Where a trace says which functions and loops of the program its calls are in, these are the parts of the proxy: the same calls in the
// same order under a structure that is found anew, a rule for each function as it ran and for each round of a loop. What the
// compression found is often shorter, but may begin in the middle of a round.

const (
	maxShaped = 1 << 22 // calls, of all members of a variant together
	longer    = 2       // how much longer the structure may become,
	listed    = 200     // unless it has no more symbols than this
	plainList = 16      // symbols in a row that are written as they are
)

// A label says what of the program a part is.
type label struct {
	vertex int
	whole  bool // of a loop: all its rounds, not one
}

// title tells labels apart.
func (l *label) title(c *trace.Code) string {
	v := &c.Vertices[l.vertex]
	switch {
	case v.Kind != trace.LoopVertex:
		return v.Name + "()"
	case l.whole:
		return fmt.Sprintf("the loop at %s in %s()", v.Where(), l.function(c))
	}
	return fmt.Sprintf("a round of the loop at %s in %s()", v.Where(), l.function(c))
}

// function is the one that a label is of.
func (l *label) function(c *trace.Code) string {
	v := l.vertex
	for c.Vertices[v].Kind == trace.LoopVertex && c.Vertices[v].Parent >= 0 {
		v = c.Vertices[v].Parent
	}
	return c.Vertices[v].Name
}

// A shaper makes a stream's structure by the vertices of its calls.
type shaper struct {
	code   *trace.Code
	ways   *tree.Ways
	vertex []int // by terminal

	rules  [][]grammar.Symbol
	labels []*label
	known  map[string]int32 // rules by content
	open   []frame
	last   int
}

// A frame is a vertex that the sequence is in; the first is the thread itself.
type frame struct {
	vertex int
	round  []grammar.Symbol   // or what a function did so far
	rounds [][]grammar.Symbol // of a loop, those that are over
}

// shape finds structures anew that follow the program's code.
func (g *generator) shape(v *variant) error {
	if g.o.Code == nil {
		return nil
	}
	calls := uint64(0)
	for _, k := range v.ranks {
		for s := range k.Streams() {
			calls += k.Len(s)
		}
	}
	if calls > maxShaped {
		return nil
	}
	ways := tree.NewWays(g.o.Code)
	for stream := range v.stepwise {
		var first *stepwise
		for m, k := range v.ranks {
			vertex, err := tree.Vertices(g.r, k, g.o.Code)
			if err != nil {
				return err
			}
			for _, f := range v.finishes {
				vertex = append(vertex, vertex[f.terminal])
			}
			s := &shaper{code: g.o.Code, ways: ways, vertex: vertex, known: make(map[string]int32)}
			shaped, labels := s.run(v.sequence(k, stream))
			if m > 0 && !shaped.Equal(first.g) {
				first = nil
				break
			}
			if n := size(shaped); n > listed && n > longer*v.symbols(k, stream) {
				first = nil
				break
			}
			if m == 0 {
				first = &stepwise{g: shaped, labels: labels}
			}
		}
		if first == nil {
			continue
		}
		if old := v.stepwise[stream]; old != nil {
			first.runs, first.steps = old.runs, old.steps
		}
		v.stepwise[stream] = first
	}
	return nil
}

// sequence are the steps of a stream on a member.
func (v *variant) sequence(k *trace.Rank, stream int) func(yield func(int) bool) {
	s := v.stepwise[stream]
	if s == nil {
		return k.Sequence(stream)
	}
	return func(yield func(int) bool) {
		for n := range s.g.All() {
			if !yield(int(n)) {
				return
			}
		}
	}
}

func (v *variant) symbols(k *trace.Rank, stream int) int {
	if s := v.stepwise[stream]; s != nil {
		return size(s.g)
	}
	return k.Symbols(stream)
}

// run takes all steps of a stream and returns their structure, and what each of its rules is.
func (s *shaper) run(steps func(yield func(int) bool)) (*grammar.Grammar, []*label) {
	s.rules, s.labels = [][]grammar.Symbol{nil}, []*label{nil}
	s.open, s.last = []frame{{vertex: -1}}, -1
	for t := range steps {
		if v := s.vertex[t]; v >= 0 {
			s.enter(v)
			s.last = v
		}
		s.put(grammar.Symbol{ID: int32(t), Count: 1})
	}
	s.leave(1)
	root := s.open[0].round
	if len(root) == 1 && root[0].Count == 1 && root[0].ID < 0 {
		// The thread is one call of its function.
		s.rules[0], s.labels[0] = s.rules[-root[0].ID], s.labels[-root[0].ID]
	} else {
		s.rules[0] = s.compact(root)
	}
	return s.numbered()
}

// enter goes from the last call's vertex to the next one's.
func (s *shaper) enter(b int) {
	kept, round := s.ways.Turn(s.last, b)
	s.leave(1 + kept)
	if round {
		f := &s.open[kept]
		f.rounds, f.round = append(f.rounds, f.round), nil
	}
	for _, v := range s.ways.Around(b)[kept:] {
		s.open = append(s.open, frame{vertex: v})
	}
}

// put appends a symbol to what is open.
func (s *shaper) put(x grammar.Symbol) {
	f := &s.open[len(s.open)-1]
	f.round = appendSymbol(f.round, x)
}

func appendSymbol(list []grammar.Symbol, x grammar.Symbol) []grammar.Symbol {
	if n := len(list); n > 0 && list[n-1].ID == x.ID {
		list[n-1].Count += x.Count
		return list
	}
	return append(list, x)
}

// leave closes frames until so many are left.
func (s *shaper) leave(left int) {
	for len(s.open) > left {
		f := s.open[len(s.open)-1]
		s.open = s.open[:len(s.open)-1]
		if s.code.Vertices[f.vertex].Kind == trace.LoopVertex {
			s.put(s.loop(f.vertex, append(f.rounds, f.round)))
		} else {
			s.put(grammar.Symbol{ID: s.rule(s.compact(f.round), &label{vertex: f.vertex}), Count: 1})
		}
	}
}

// loop is a loop that was left.
func (s *shaper) loop(vertex int, rounds [][]grammar.Symbol) grammar.Symbol {
	var list, flat []grammar.Symbol
	for _, r := range rounds {
		flat = append(flat, r...)
		if len(r) == 1 && r[0].Count == 1 {
			list = appendSymbol(list, r[0])
			continue
		}
		list = appendSymbol(list, grammar.Symbol{ID: s.rule(s.compact(r), &label{vertex: vertex}), Count: 1})
	}
	if len(list) == 1 {
		return list[0]
	}
	if width, n := grammar.Progression(flat); width*n == len(flat) {
		list = flat // rounds that differ by a step
	} else {
		list = s.compact(list)
	}
	return grammar.Symbol{ID: s.rule(list, &label{vertex, true}), Count: 1}
}

// rule is the rule with a body, the number of a symbol that names it.
func (s *shaper) rule(body []grammar.Symbol, l *label) int32 {
	var key []byte
	if l != nil {
		key = append(key, l.title(s.code)...)
	}
	key = append(key, 0)
	for _, x := range body {
		key = binary.AppendUvarint(binary.AppendVarint(key, int64(x.ID)), x.Count)
	}
	id, known := s.known[string(key)]
	if !known {
		id = -int32(len(s.rules))
		s.known[string(key)] = id
		s.rules, s.labels = append(s.rules, body), append(s.labels, l)
	}
	return id
}

// compact finds what is repeated in a list that is long.
func (s *shaper) compact(list []grammar.Symbol) []grammar.Symbol {
	if len(list) <= plainList {
		return list
	}
	number := make(map[int32]uint32)
	var ids []int32
	b := grammar.NewBuilder()
	for _, x := range list {
		n, known := number[x.ID]
		if !known {
			n = uint32(len(ids))
			number[x.ID] = n
			ids = append(ids, x.ID)
		}
		b.AppendRun(n, x.Count)
	}
	g := b.Grammar()
	rules := make([]int32, len(g.Rules))
	var body func(r int) []grammar.Symbol
	body = func(r int) []grammar.Symbol {
		out := make([]grammar.Symbol, len(g.Rules[r]))
		for i, x := range g.Rules[r] {
			out[i] = x
			if x.ID >= 0 {
				out[i].ID = ids[x.ID]
				continue
			}
			if rules[-x.ID] == 0 {
				rules[-x.ID] = s.rule(body(int(-x.ID)), nil)
			}
			out[i].ID = rules[-x.ID]
		}
		return out
	}
	return body(0)
}

// numbered is the structure with rules in the order of their first use.
func (s *shaper) numbered() (*grammar.Grammar, []*label) {
	g := &grammar.Grammar{Rules: [][]grammar.Symbol{nil}}
	labels := []*label{s.labels[0]}
	number := make(map[int32]int32)
	var body func(list []grammar.Symbol) []grammar.Symbol
	body = func(list []grammar.Symbol) []grammar.Symbol {
		out := make([]grammar.Symbol, len(list))
		for i, x := range list {
			if out[i] = x; x.ID >= 0 {
				continue
			}
			n, known := number[x.ID]
			if !known {
				n = -int32(len(g.Rules))
				number[x.ID] = n
				g.Rules, labels = append(g.Rules, nil), append(labels, s.labels[-x.ID])
				g.Rules[-n] = body(s.rules[-x.ID])
			}
			out[i].ID = n
		}
		return out
	}
	g.Rules[0] = body(s.rules[0])
	return g, labels
}

// A named is a part that stands for something of the program.
type named struct {
	title, ident string
	loop         string   // its place, of a loop
	from         []string // of a function: where it is called
}

// name says what a rule of a stream is; nil if nothing of the program.
func (g *generator) name(v *variant, stream, rule int) *named {
	s := v.stepwise[stream]
	if s == nil || s.labels == nil || s.labels[rule] == nil {
		return nil
	}
	l, c := s.labels[rule], g.o.Code
	at := &c.Vertices[l.vertex]
	n := &named{title: l.title(c), ident: identifier(l.function(c))}
	if at.Kind == trace.LoopVertex {
		n.loop = at.Where()
		n.ident += "_loop"
	} else if at.Parent >= 0 {
		n.from = []string{at.Where()}
	}
	return n
}

// maxFrom is how many places are named from which a function is called.
const maxFrom = 4

// also notes that the part is called from where another one is.
func (n *named) also(o *named) {
	for _, from := range o.from {
		if !slices.Contains(n.from, from) {
			n.from = append(n.from, from)
		}
	}
}

// comment says what the part is.
func (n *named) comment() string {
	text := n.title
	if len(n.from) > 0 {
		text += ", called at " + strings.Join(n.from[:min(len(n.from), maxFrom)], ", ")
		if len(n.from) > maxFrom {
			text += ", …"
		}
	}
	return comment(text)
}

// identifier makes the last part of a name one that C takes behind another.
func identifier(name string) string {
	name, _, _ = strings.Cut(name, "(")
	name, _, _ = strings.Cut(name, "<")
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	name = strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return -1
	}, name)
	return name[:min(len(name), 40)]
}

// partName is the name of a copy of a part.
func (p *part) partName(c *copied) string {
	if p.named == nil || p.named.ident == "" {
		return fmt.Sprintf("part%d", c.number)
	}
	return fmt.Sprintf("part%d_%s", c.number, p.named.ident)
}
