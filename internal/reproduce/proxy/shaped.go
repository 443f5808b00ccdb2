package proxy

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// If a trace has the functions and loops of the program around its calls, the proxy has the same ones. The same calls
// in the same order get a new structure, with a rule for each function and each iteration of a loop. The trace's
// grammar is often shorter, but its rules may begin in the middle of an iteration.

const (
	maxShaped = 1 << 22 // largest number of calls of all members of a variant
	longer    = 3       // factor by which the new structure may be longer than the old one, in encoded form
	listed    = 400     // size in bytes that the new structure may have, in encoded form, even if that is longer
)

// shape builds structures that follow the program's code.
func (g *generator) shape(v *variant) error {
	if g.o.Code == nil {
		return nil
	}
	calls := uint64(0)
	for _, k := range v.ranks {
		calls += k.TotalCallCount()
	}
	if calls > maxShaped {
		return nil
	}
	ways := tree.NewTransitionFinder(g.o.Code)
	for stream := range v.stepwise {
		var first *stepwise
		for m, k := range v.ranks {
			vertex := tree.VertexByTerminal(k, g.o.Code)
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
			shaped, labels := ways.CodeGrammar(vertex, v.sequence(k, stream))
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

// sequence yields the steps of a stream on a member.
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

// recorded is the trace's grammar of a stream, or the grammar of its steps.
func (v *variant) recorded(k *trace.Rank, stream int) *grammar.Grammar {
	if s := v.stepwise[stream]; s != nil {
		return s.g
	}
	return tree.RecordedGrammar(k.Structure(stream))
}

// A named is a function or loop of the traced program, for the comment and name of a C function.
type named struct {
	title, ident string
	loop         string   // of a loop: its place in the source
	from         []string // of a function: the places where it is called
}

// name returns the function or loop that a rule of a stream represents, or nil.
func (g *generator) name(v *variant, stream, rule int) *named {
	s := v.stepwise[stream]
	if s == nil || s.labels == nil || s.labels[rule] == nil {
		return nil
	}
	l, c := s.labels[rule], g.o.Code
	at := &c.Vertices[l.Vertex]
	n := &named{title: l.TitleText(c), ident: identifier(l.FunctionName(c))}
	if at.Kind == trace.LoopVertex {
		n.loop = at.SourceLocationText()
		if rounds := g.counted[loopLine(at)]; rounds > 0 {
			n.loop += fmt.Sprintf(", the program counted %s rounds on all ranks", show.FormatGrouped(rounds))
		}
		n.ident += "_loop"
	} else if at.Parent >= 0 {
		n.from = []string{at.SourceLocationText()}
	}
	return n
}

// loopLine returns a loop's file without folder, and line, the key of iteration counts; "" if it isn't known.
func loopLine(v *trace.Vertex) string {
	if v.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(v.File), v.Line)
}

// count reads the iteration counts that the program itself recorded.
func (g *generator) count() error {
	list, err := sums.ListCountedLoops(g.r)
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

// maxFrom is the largest number of callers that a function's comment names.
const maxFrom = 4

// also adds another function's callers.
func (n *named) also(o *named) {
	for _, from := range o.from {
		if !slices.Contains(n.from, from) {
			n.from = append(n.from, from)
		}
	}
}

// comment writes the C comment on the function or loop.
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

// identifier makes the last part of a name valid at the end of a C identifier.
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

// partName returns the name of a function's copy.
func (p *ruleFunction) partName(c *copied) string {
	if p.named == nil || p.named.ident == "" {
		return fmt.Sprintf("part%d", c.number)
	}
	return fmt.Sprintf("part%d_%s", c.number, p.named.ident)
}

// A node is a value or array of a signature: its type, and its position in the signature's values. The values on each
// member are in call.vals.
type node struct {
	typ   trace.Type
	at    int   // position of its first number in the values
	n     int64 // of an array: length or special value; of a status: form
	elems []node
}

// texts writes the elements of an array.
func (n *node) texts(of func(at int) string) []string {
	list := make([]string, len(n.elems))
	for k := range n.elems {
		list[k] = of(n.elems[k].at)
	}
	return list
}

// A call is a distinct call of a variant: its function, and the positions of its values.
type call struct {
	f       *trace.Function
	def     *mpi.Call // nil if this release of spoor doesn't know the function
	site    trace.Site
	outputs bool
	result  node
	in, out []node // by parameter

	vals  [][]int64            // by member: the signature's values
	shape []int64              // values that must be equal on all ranks that share a line
	lane  map[int]string       // by position of a value that differs from call to call: its C expression (LANE(3, 0))
	own   int                  // number of its lane; -1: none
	lists map[int]ArrayFormula // by position of their length: arrays of variable length
	from  map[int]string       // by index of a parameter: C expression of RequestFormulas for its requests
	c     *trace.Call
}

// generalises reports whether the call makes a generalised request.
func (c *call) generalises() bool {
	return c.def.Has(mpi.AttrNonblocking) && c.def.Index("query_fn") >= 0
}

// A walker converts the values of a signature to nodes, and collects the values that must be equal on all ranks that
// share a line.
type walker struct {
	vals  []int64
	shape []int64
}

func decode(f *trace.Function, vals []int64) (*call, []int64, error) {
	spans, err := sections.SpansOf(f, nil, vals)
	if err != nil {
		return nil, nil, err
	}
	def, _ := mpi.CallByID(f.ID)
	c := &call{f: f, def: def, in: make([]node, len(f.Params)), out: make([]node, len(f.Params))}
	w := walker{vals: vals, shape: []int64{vals[0], int64(len(vals))}}
	for i := range spans {
		s := &spans[i]
		c.outputs = c.outputs || s.IsOutput
		switch {
		case s.Param == signature.ParamNewObject:
		case s.Param == signature.ParamResult:
			c.result = w.node(f.ResultType, s)
		case s.IsOutput:
			c.out[s.Param] = w.node(f.Params[s.Param].Type, s)
		default:
			c.in[s.Param] = w.node(f.Params[s.Param].Type, s)
		}
	}
	return c, w.shape, nil
}

func (w *walker) note(v int64) { w.shape = append(w.shape, v) }

func (w *walker) node(t trace.Type, s *signature.Span) node {
	if s.Dims == 0 {
		return w.scalar(t, s)
	}
	n := node{typ: trace.TypeArray, at: s.First, n: w.vals[s.First]}
	w.note(n.n)
	if n.n > 0 {
		n.elems = make([]node, 0, n.n)
		for e := range s.Elements(w.vals) {
			n.elems = append(n.elems, w.node(t, &e))
		}
	}
	return n
}

func (w *walker) scalar(t trace.Type, s *signature.Span) node {
	n := node{typ: t, at: s.First}
	v := w.vals[s.First]
	switch t {
	case trace.TypeNone, trace.TypeInt, trace.TypeTime: // numbers may differ between ranks
	case trace.TypeHandle, trace.TypeMPITObject:
		w.note(min(v, trace.FirstCreatedHandle))
	case trace.TypeRequest:
		switch {
		case v <= 0:
			w.note(v)
		default:
			w.note(1 + v&1)
		}
	case trace.TypeAddress:
		const within = 1 << 8 // class and device are the low 8 bits of a packed segment name
		w.note(v & (within - 1))
		if signature.SegClassOf(v) == signature.SegClassSpecial {
			w.note(w.vals[s.First+1])
		}
	case trace.TypeFunctionRef:
		if !s.IsOutput {
			w.note(v)
		}
	case trace.TypeString:
		if v == 0 {
			w.note(0)
		} else {
			w.note(1)
		}
	case trace.TypeStatus:
		n.n = v
		w.note(v)
	default:
		panic(fmt.Sprintf("proxy: values of type %d can't be compared", t)) // the schema has no values of such a type
	}
	return n
}
