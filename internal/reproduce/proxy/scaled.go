package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A Scaled is a program for any number of ranks: its values are expressions of rank and ranks, in C, with what
// scaled/scaled.h declares. Whoever has these expressions says in what order calls are made.
type Scaled struct {
	g *generator
	v *variant
}

// A ScaledCall is a call of such a program.
type ScaledCall struct {
	Call     *trace.Call    // one that was made
	Vals     []int64        // of that one
	Texts    map[int]string // by position in Vals: values that are expressions
	Lists    map[int]List   // by position of an array's length: those of any length
	Requests map[int]string // by parameter: where its requests are
	Made     int            // a number for the call if it makes a request, else -1
}

// A List is an array of any length: its element is an expression of k and m.
type List struct{ Length, Element string }

// NewScaled begins the program of a run on several numbers of ranks, of which r is one. plan has what all ranks of all of them need.
func NewScaled(r *trace.Reader, plan *reissue.Plan, strings map[uint64]string, o Options) (*Scaled, error) {
	k, err := r.Rank(0)
	if err != nil {
		return nil, err
	}
	g := newGenerator(r, o)
	g.strings, g.plan = strings, plan
	v := &variant{members: []int{0}, ranks: []*trace.Rank{k}, plan: plan, begin: -1}
	g.list = []*variant{v}
	return &Scaled{g, v}, nil
}

// Shape is what must be alike in calls that one line of a program makes. Arrays are alike if they are as long, or if either may have any length.
func Shape(f *trace.Function, vals []int64, anyLength bool) ([]int64, error) {
	c, shape, err := decode(f, vals)
	if err != nil || !anyLength {
		return shape, err
	}
	w := walker{vals: vals, shape: []int64{vals[0]}}
	for i := range f.Params {
		for _, n := range []*node{&c.in[i], &c.out[i]} {
			switch w.note(int64(n.typ)); n.typ {
			case trace.None:
			case trace.Array:
				w.note(min(n.n, 0))
			default:
				w.scalar(n.typ, &signature.Span{At: n.at, Out: n == &c.out[i]})
			}
		}
	}
	return w.shape, nil
}

// Add adds a call, which has the number that is returned.
func (s *Scaled) Add(x ScaledCall) (int, error) {
	c, _, err := decode(x.Call.Func, x.Vals)
	if err != nil {
		return 0, err
	}
	c.site, c.c, c.own = x.Call.Site, x.Call, -1
	c.vals, c.lane, c.lists, c.from = [][]int64{x.Vals}, x.Texts, x.Lists, x.Requests
	if c.lists == nil {
		c.lists = map[int]List{}
	}
	if c.def.Has(mpi.Posix) {
		s.g.cannot("%s: calls on files are not written", c.f.Name)
	}
	s.v.calls = append(s.v.calls, c)
	return len(s.v.calls) - 1, nil
}

// A ScaledLine is a line of the program: text, and behind it the call of that number, if it has one.
type ScaledLine struct {
	Indent    int
	Text, Gap string
	Call      int // -1: none
	Made      int
}

// A ScaledArea is a segment of memory that calls use: its bounds are expressions.
type ScaledArea struct {
	Place     reissue.Place
	Low, High string
}

// A Definition is that of a name that expressions use.
type Definition struct {
	Name, Text string
	Parameter  bool // the traces don't determine it on all numbers of ranks
	Rows       int  // of tables
}

// A ScaledText is what a program consists of beside its calls.
type ScaledText struct {
	Top      []Definition // what others use is before them
	Memory   []ScaledArea
	Distance string // places for one-shot requests
	Traced   []int
	Lines    []ScaledLine
}

// Program writes the program.
func (s *Scaled) Program(x ScaledText) (*Program, error) {
	g, v := s.g, s.v
	v.made = []reissue.Handles{reissue.Made(nil)}
	g.findStatuses()
	v.fitter = newFitter(g, v.members)
	g.findKeyvals()
	var body strings.Builder
	for _, l := range x.Lines {
		text := strings.Repeat("    ", l.Indent+1) + l.Text
		if l.Call < 0 {
			body.WriteString(text + "\n")
			continue
		}
		line := g.line(v, l.Call)
		call := line.text(l.Gap)
		if l.Made >= 0 {
			call += fmt.Sprintf(" made(%d);", l.Made)
		}
		if strings.HasPrefix(l.Text, "if") && strings.Count(call, ";") > 1 {
			call = "{ " + call + " }"
		}
		if line.site != "" {
			call += " // " + line.site
		}
		body.WriteString(text + call + "\n")
	}
	if g.scaled != nil {
		return nil, g.scaled
	}
	var traced []string
	for _, n := range x.Traced {
		traced = append(traced, fmt.Sprint(n))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "/*\n * The MPI calls of: %s\n * Ranks: any number; it was traced on %s. Made by `spoor proxy --scalable` from %s and others.\n",
		comment(g.r.Meta()[trace.MetaCommand]), strings.Join(traced, ", "), comment(filepath.Base(g.r.Name())))
	fmt.Fprintf(&b, " *\n * A line is DO(microseconds since the call before, call). runtime/runtime.h and runtime/scaled.h explain the rest.\n */\n")
	b.WriteString("#include \"runtime/scaled.h\"\n\n")
	p := &Program{Parts: 1, Variants: 1}
	uses := body.String() + x.Distance
	for _, a := range x.Memory {
		uses += a.Low + a.High
	}
	var top []string
	for _, d := range slices.Backward(x.Top) {
		if !regexp.MustCompile(`\b` + d.Name + `[[(]`).MatchString(uses) {
			continue // of outputs
		}
		uses += d.Text
		top = append(top, d.Text)
		p.Rows += d.Rows
		if d.Parameter {
			p.Parameters++
		}
	}
	slices.Reverse(top)
	b.WriteString(strings.Join(top, ""))
	for i := range g.plan.Segments { // what more ranks touch is not known
		if t := &g.plan.Segments[i]; t.Class == trace.Static {
			t.High += moreStatic
		}
	}
	g.declarations(&b)
	for _, t := range g.tables {
		b.WriteString(t + "\n")
	}
	b.WriteString("static int program(void)\n{\n")
	for _, a := range x.Memory {
		if a.Place.Class != trace.Static {
			fmt.Fprintf(&b, "    area(%s, %d, 1, %s, %s);\n", strings.ToUpper(segments[a.Place.Class]), a.Place.ID, a.Low, a.High)
		}
	}
	fmt.Fprintf(&b, "%s%s    return finish();\n}\n\n", local(v.plan), body.String())
	fmt.Fprintf(&b, "int main(void)\n{\n    static const int traced[] = {%s};\n    start(0, \"%s\", 0);\n    scaled(%d, traced);\n    reaches(%s);\n%s",
		strings.Join(traced, ", "), g.o.Compute, len(traced), x.Distance, g.statics())
	b.WriteString("    return program();\n}\n")
	p.Files = g.written(b.Bytes(), "N", "runtime", "scaled")
	p.Files["runtime/formulas.h"] = []byte("/* formulas.h: functions of the number of ranks and the rank. */\n" + expr.Header())
	p.Lines = bytes.Count(b.Bytes(), []byte("\n"))
	return p, nil
}

const moreStatic = 1 << 20

// cannot notes what a program for any number of ranks can't do.
func (g *generator) cannot(format string, args ...any) {
	if err := fmt.Errorf(format, args...); g.scaled == nil || !strings.Contains(g.scaled.Error(), err.Error()) {
		g.scaled = errors.Join(g.scaled, err)
	}
}

// constants has an expression give constants as the MPI at hand has them.
func constants(kind mpi.Kind, text string) string {
	switch kind {
	case mpi.KindInt, mpi.KindCount, mpi.KindCount64, mpi.KindDisp: // MPI_UNDEFINED is no input of them
		return text
	}
	var pairs []string
	for _, c := range mpi.Constants(kind) {
		if c.Value < 0 {
			pairs = append(pairs, fmt.Sprintf("%d, %s", c.Value, c.Name))
		}
	}
	switch {
	case len(pairs) == 0:
		return text
	case kind == mpi.KindRank:
		return "RANK(" + text + ")"
	}
	return fmt.Sprintf("named(%s, %d, (const int64_t[]){%s})", text, len(pairs), strings.Join(pairs, ", "))
}

// list writes an array of any length.
func (w *writer) list(p *trace.ParamDef, l List) string {
	if p.Type != trace.Int {
		w.g.cannot("%s: lists of %s whose length differs", w.c.f.Name, p.Kind)
		return "NULL"
	}
	bits := "32"
	if w.wide(p) {
		bits = "64"
	}
	return fmt.Sprintf("LIST%s(%s, %s)", bits, l.Length, constants(p.Kind, l.Element))
}
