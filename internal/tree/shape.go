package tree

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/trace"
)

// plainList is the length up to which lists of symbols are not compressed.
const plainList = 16

// A RuleLabel is the part of the program that a rule represents.
type RuleLabel struct {
	Vertex    int
	WholeLoop bool // for a loop: all iterations, instead of one
}

// TitleText is the text that labels of the same meaning share.
func (l *RuleLabel) TitleText(c *trace.Code) string {
	v := &c.Vertices[l.Vertex]
	switch {
	case v.Kind != trace.LoopVertex:
		return v.Name + "()"
	case l.WholeLoop:
		return fmt.Sprintf("the loop at %s in %s()", v.LocationText(), l.FunctionName(c))
	}
	return fmt.Sprintf("a round of the loop at %s in %s()", v.LocationText(), l.FunctionName(c))
}

// FunctionName returns the name of the function around the label's vertex.
func (l *RuleLabel) FunctionName(c *trace.Code) string {
	v := l.Vertex
	for c.Vertices[v].Kind == trace.LoopVertex && c.Vertices[v].Parent >= 0 {
		v = c.Vertices[v].Parent
	}
	return c.Vertices[v].Name
}

// A shaper converts a stream into a grammar that follows the vertices of its calls.
type shaper struct {
	code   *trace.Code
	ways   *TransitionFinder
	vertex []int // by terminal

	rules  [][]grammar.Symbol
	labels []*RuleLabel
	known  map[string]int32 // number of each rule, by its content
	open   []frame
	last   int
}

// A frame is a vertex that contains the current position; the first is the thread itself.
type frame struct {
	vertex int
	round  []grammar.Symbol   // symbols of the current iteration or function call so far
	rounds [][]grammar.Symbol // completed iterations of a loop
}

// CodeGrammar gives a sequence the structure of the program's code: a rule for each call of a function and each iteration
// of a loop. It also returns what each rule represents, nil if no part of the program. steps are the calls in
// order. vertex is by terminal, -1 if unknown.
func (w *TransitionFinder) CodeGrammar(vertex []int, steps iter.Seq[int]) (*grammar.Grammar, []*RuleLabel) {
	s := &shaper{code: w.code, ways: w, vertex: vertex, known: make(map[string]int32)}
	return s.run(steps)
}

func (s *shaper) run(steps iter.Seq[int]) (*grammar.Grammar, []*RuleLabel) {
	s.rules, s.labels = [][]grammar.Symbol{nil}, []*RuleLabel{nil}
	s.open, s.last = []frame{{vertex: -1}}, -1
	for t := range steps {
		if v := s.vertex[t]; v >= 0 {
			s.enter(v)
			s.last = v
		}
		s.put(grammar.Symbol{TerminalOrRule: int32(t), Count: 1})
	}
	s.leave(1)
	root := s.open[0].round
	if len(root) == 1 && root[0].Count == 1 && root[0].TerminalOrRule < 0 {
		// The whole thread is one call of its start function.
		s.rules[0], s.labels[0] = s.rules[-root[0].TerminalOrRule], s.labels[-root[0].TerminalOrRule]
	} else {
		s.rules[0] = s.compact(root)
	}
	return s.numbered()
}

// enter moves from the last call's vertex to the next one's.
func (s *shaper) enter(b int) {
	kept, round := s.ways.CommonVertices(s.last, b)
	s.leave(1 + kept)
	if round {
		f := &s.open[kept]
		f.rounds, f.round = append(f.rounds, f.round), nil
	}
	for _, v := range s.ways.VerticesAround(b)[kept:] {
		s.open = append(s.open, frame{vertex: v})
	}
}

// put appends a symbol to the innermost open frame.
func (s *shaper) put(x grammar.Symbol) {
	f := &s.open[len(s.open)-1]
	f.round = appendSymbol(f.round, x)
}

func appendSymbol(list []grammar.Symbol, x grammar.Symbol) []grammar.Symbol {
	if n := len(list); n > 0 && list[n-1].TerminalOrRule == x.TerminalOrRule {
		list[n-1].Count += x.Count
		return list
	}
	return append(list, x)
}

// leave closes frames until left remain.
func (s *shaper) leave(left int) {
	for len(s.open) > left {
		f := s.open[len(s.open)-1]
		s.open = s.open[:len(s.open)-1]
		if s.code.Vertices[f.vertex].Kind == trace.LoopVertex {
			s.put(s.loop(f.vertex, append(f.rounds, f.round)))
		} else {
			s.put(grammar.Symbol{TerminalOrRule: s.rule(s.compact(f.round), &RuleLabel{Vertex: f.vertex}), Count: 1})
		}
	}
}

// loop returns the symbol for a completed loop.
func (s *shaper) loop(vertex int, rounds [][]grammar.Symbol) grammar.Symbol {
	var list, flat []grammar.Symbol
	first, distinct := len(s.rules), 0
	for _, r := range rounds {
		flat = append(flat, r...)
		if len(r) == 1 && r[0].Count == 1 {
			list = appendSymbol(list, r[0])
			continue
		}
		list = appendSymbol(list, grammar.Symbol{TerminalOrRule: s.rule(s.compact(r), &RuleLabel{Vertex: vertex}), Count: 1})
	}
	if len(list) == 1 {
		return list[0]
	}
	for _, body := range s.rules[first:] {
		distinct += len(body)
	}
	if 2*items(flat) < len(list)+distinct {
		list = flat // iterations whose counts differ by a constant step
	} else {
		list = s.compact(list)
	}
	return grammar.Symbol{TerminalOrRule: s.rule(list, &RuleLabel{vertex, true}), Count: 1}
}

// items counts symbols; iterations of a progression count once.
func items(list []grammar.Symbol) (n int) {
	for len(list) > 0 {
		width, rounds := grammar.FindProgression(list)
		if !steps(list, width) {
			width, rounds = 1, 1 // the calls differ between iterations
		}
		n += width
		list = list[width*rounds:]
	}
	return n
}

// steps reports whether a count changes between iterations.
func steps(list []grammar.Symbol, width int) bool {
	for i := range width {
		if list[i].Count != list[i+width].Count {
			return true
		}
	}
	return false
}

// rule returns the symbol ID of the rule with a body, which it creates at the first use.
func (s *shaper) rule(body []grammar.Symbol, l *RuleLabel) int32 {
	var key []byte
	if l != nil {
		key = append(key, l.TitleText(s.code)...)
	}
	key = append(key, 0)
	for _, x := range body {
		key = binary.AppendUvarint(binary.AppendVarint(key, int64(x.TerminalOrRule)), x.Count)
	}
	id, known := s.known[string(key)]
	if !known {
		id = -int32(len(s.rules))
		s.known[string(key)] = id
		s.rules, s.labels = append(s.rules, body), append(s.labels, l)
	}
	return id
}

// compact compresses a list if it is long.
func (s *shaper) compact(list []grammar.Symbol) []grammar.Symbol {
	if len(list) <= plainList {
		return list
	}
	b, ids := grammar.CompressSymbols(list)
	g := b.Grammar()
	rules := make([]int32, len(g.Rules))
	var body func(r int) []grammar.Symbol
	body = func(r int) []grammar.Symbol {
		out := make([]grammar.Symbol, len(g.Rules[r]))
		for i, x := range g.Rules[r] {
			out[i] = x
			if x.TerminalOrRule >= 0 {
				out[i].TerminalOrRule = ids[x.TerminalOrRule]
				continue
			}
			if rules[-x.TerminalOrRule] == 0 {
				rules[-x.TerminalOrRule] = s.rule(body(int(-x.TerminalOrRule)), nil)
			}
			out[i].TerminalOrRule = rules[-x.TerminalOrRule]
		}
		return out
	}
	return body(0)
}

// numbered returns the structure with rules numbered by first use.
func (s *shaper) numbered() (*grammar.Grammar, []*RuleLabel) {
	g := &grammar.Grammar{Rules: [][]grammar.Symbol{nil}}
	labels := []*RuleLabel{s.labels[0]}
	number := make(map[int32]int32)
	var body func(list []grammar.Symbol) []grammar.Symbol
	body = func(list []grammar.Symbol) []grammar.Symbol {
		out := make([]grammar.Symbol, len(list))
		for i, x := range list {
			if out[i] = x; x.TerminalOrRule >= 0 {
				continue
			}
			n, known := number[x.TerminalOrRule]
			if !known {
				n = -int32(len(g.Rules))
				number[x.TerminalOrRule] = n
				g.Rules, labels = append(g.Rules, nil), append(labels, s.labels[-x.TerminalOrRule])
				g.Rules[-n] = body(s.rules[-x.TerminalOrRule])
			}
			out[i].TerminalOrRule = n
		}
		return out
	}
	g.Rules[0] = body(s.rules[0])
	return g, labels
}

// RecordedGrammar returns the structure of a trace as a grammar.
func RecordedGrammar(root trace.Node) *grammar.Grammar {
	g := &grammar.Grammar{Rules: [][]grammar.Symbol{nil}}
	number := make(map[int]int32)
	var body func(n trace.Node) []grammar.Symbol
	body = func(n trace.Node) (list []grammar.Symbol) {
		for _, c := range n.Children() {
			x := grammar.Symbol{TerminalOrRule: int32(c.Terminal), Count: c.Count}
			if c.Rule >= 0 && c.Terminal < 0 {
				id, known := number[c.Rule]
				if !known {
					id = -int32(len(g.Rules))
					number[c.Rule] = id
					g.Rules = append(g.Rules, nil)
					g.Rules[-id] = body(c)
				}
				x.TerminalOrRule = id
			}
			list = append(list, x)
		}
		return list
	}
	g.Rules[0] = body(root)
	return g
}
