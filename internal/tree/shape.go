package tree

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/trace"
)

// plainList is the length up to which a rule's symbols are listed as they are, instead of compressed.
const plainList = 16

// A RuleLabel is the part of the program that a rule of CodeGrammar is.
type RuleLabel struct {
	Vertex    int
	WholeLoop bool // for a loop: the rule is all iterations of an entry; false: one iteration
}

// TitleText returns a description of the label's part of the program, such as "the loop at a.c:5 in f()".
func (l *RuleLabel) TitleText(c *trace.Code) string {
	v := &c.Vertices[l.Vertex]
	switch {
	case v.Kind != trace.LoopVertex:
		return v.Name + "()"
	case l.WholeLoop:
		return fmt.Sprintf("the loop at %s in %s()", v.SourceLocationText(), l.FunctionName(c))
	}
	return fmt.Sprintf("a round of the loop at %s in %s()", v.SourceLocationText(), l.FunctionName(c))
}

// FunctionName returns the name of the function that the label's vertex is in, or is.
func (l *RuleLabel) FunctionName(c *trace.Code) string {
	v := l.Vertex
	for c.Vertices[v].Kind == trace.LoopVertex && c.Vertices[v].Parent >= 0 {
		v = c.Vertices[v].Parent
	}
	return c.Vertices[v].Name
}

// A shaper converts a stream into a grammar in which each rule is a vertex: a call of a function, or a loop.
type shaper struct {
	code   *trace.Code
	ways   *TransitionFinder
	vertex []int // by terminal: its vertex; -1: unknown

	rules  [][]grammar.Symbol
	labels []*RuleLabel
	known  map[string]int32 // by label and symbols: the rule that has them, as a symbol ID
	open   []frame
	last   int
}

// A frame is a vertex that contains the current position. The outermost frame is not a vertex but the thread itself.
type frame struct {
	vertex int
	round  []grammar.Symbol   // symbols so far of the current iteration, or of the current call of the function
	rounds [][]grammar.Symbol // symbols of each completed iteration, for a loop
}

// CodeGrammar returns a sequence of calls as a grammar with the structure of the program's code. It has a rule for
// each call of a function, each loop, and each iteration of a loop. It also returns, by rule, what part of the
// program the rule is; nil for no part. steps are the terminals of the calls in order. vertex is by terminal, -1 if
// unknown.
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
		// The whole thread is one call of its start function, so that this call's rule is the grammar's first.
		s.rules[0], s.labels[0] = s.rules[-root[0].TerminalOrRule], s.labels[-root[0].TerminalOrRule]
	} else {
		s.rules[0] = s.compact(root)
	}
	return s.numbered()
}

// enter moves from the vertex of the latest call to vertex b of the next one: it closes the frames between them and
// opens new ones.
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

// put appends a symbol to the current iteration or call of the innermost open frame.
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

// leave closes frames, innermost first, until only left of them are open.
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

// loop returns the symbol for an entry of a loop with these iterations.
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
		list = flat // shorter: iterations whose counts differ by a constant step need no rules of their own
	} else {
		list = s.compact(list)
	}
	return grammar.Symbol{TerminalOrRule: s.rule(list, &RuleLabel{vertex, true}), Count: 1}
}

// items returns the number of symbols in a list, where only the first iteration of a progression counts.
func items(list []grammar.Symbol) (n int) {
	for len(list) > 0 {
		width, rounds := grammar.FindProgression(list)
		if !steps(list, width) {
			// The list begins with no progression, or with one in which only symbols change, not counts.
			width, rounds = 1, 1
		}
		n += width
		list = list[width*rounds:]
	}
	return n
}

// steps reports whether the counts of the first two iterations, each of width symbols, differ.
func steps(list []grammar.Symbol, width int) bool {
	for i := range width {
		if list[i].Count != list[i+width].Count {
			return true
		}
	}
	return false
}

// rule returns the symbol ID of the rule with this body and label. At the first use it adds the rule.
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

// compact compresses a list of symbols longer than plainList, with rules for what repeats in it.
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

// numbered returns the grammar and its labels, with rules numbered by first use.
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

// RecordedGrammar returns the structure of a stream, as recorded in a trace, as a grammar.
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
