package proxy

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/summary"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/trace"
)

// Where a trace says which functions and loops of the program its calls are in, these are the parts of the proxy: the same calls in the
// same order under a structure that is found anew, a rule for each function as it ran and for each round of a loop. What the
// compression found is often shorter, but may begin in the middle of a round.

const (
	maxShaped = 1 << 22 // calls, of all members of a variant together
	longer    = 3       // how much longer the structure may become as traces have them,
	listed    = 400     // unless it takes no more bytes than this
)

// shape finds structures anew that follow the program's code.
func (g *generator) shape(v *variant) error {
	if g.o.Code == nil {
		return nil
	}
	calls := uint64(0)
	for _, k := range v.ranks {
		calls += k.Total()
	}
	if calls > maxShaped {
		return nil
	}
	ways := tree.NewWays(g.o.Code)
	for stream := range v.stepwise {
		var first *stepwise
		for m, k := range v.ranks {
			vertex := tree.Vertices(k, g.o.Code)
			if v.sources != nil {
				own := vertex
				vertex = make([]int, len(v.calls))
				for t := range vertex {
					vertex[t] = own[v.terminal(m, t)]
				}
			}
			for _, f := range v.finishes {
				vertex = append(vertex, vertex[f.terminal])
			}
			shaped, labels := ways.Shape(vertex, v.sequence(k, stream))
			if m > 0 && !shaped.Equal(first.g) {
				first = nil
				break
			}
			if n := len(shaped.AppendBinary(nil)); n > listed && n > longer*len(v.recorded(k, stream).AppendBinary(nil)) {
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
func (v *variant) sequence(k *trace.Rank, stream int) iter.Seq[int] {
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

// recorded is the structure of a stream that the compression found, or that of its steps.
func (v *variant) recorded(k *trace.Rank, stream int) *grammar.Grammar {
	if s := v.stepwise[stream]; s != nil {
		return s.g
	}
	return tree.Recorded(k.Structure(stream))
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
	at := &c.Vertices[l.Vertex]
	n := &named{title: l.Title(c), ident: identifier(l.Function(c))}
	if at.Kind == trace.LoopVertex {
		n.loop = at.Where()
		if rounds := g.counted[loopLine(at)]; rounds > 0 {
			n.loop += fmt.Sprintf(", the program counted %s rounds on all ranks", show.Grouped(rounds))
		}
		n.ident += "_loop"
	} else if at.Parent >= 0 {
		n.from = []string{at.Where()}
	}
	return n
}

// loopLine is the file without its folder and line of a loop, as those have that count their rounds; "" if it isn't known.
func loopLine(v *trace.Vertex) string {
	if v.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(v.File), v.Line)
}

// count finds out what rounds the program counted.
func (g *generator) count() error {
	list, err := summary.CountedRounds(g.r)
	g.counted = make(map[string]int64)
	for _, x := range list {
		line, _, _ := strings.Cut(x.Loop, " ")
		if _, several := g.counted[line]; several {
			x.Rounds = 0
		}
		g.counted[line] = x.Rounds
	}
	return err
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
