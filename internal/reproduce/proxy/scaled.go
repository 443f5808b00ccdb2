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
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A ScalableProgram is a program for any number of ranks: its values are formulas. The caller supplies the order of
// calls.
type ScalableProgram struct {
	g *generator
	v *variant

	TracedRankCounts []int // numbers of ranks of the traced runs
	Memory           []ScalableMemory
	RequestDistances []*expr.Expr // the largest value of these is the number of request creations for which a request must be kept

	lines      []scaledLine
	indent     int
	top        []definition      // definitions that others use come first
	names      map[string]string // names of definitions, by body
	parameters int
}

// A ScalableCall is a call of a ScalableProgram.
type ScalableCall struct {
	Call               *trace.Call             // one of the recorded calls
	TracedValues       []int64                 // values of Call
	Formulas           map[int]*expr.Expr      // by position in TracedValues: the values that are formulas
	ArrayFormulas      map[int]ArrayFormula    // by position of an array's length: arrays of variable length
	RequestFormulas    map[int]RequestFormulas // by index of the parameter
	RequestMakerNumber int                     // number of the call in RequestFormulas; -1: it makes no request
	GapLaw             stats.Law               // gap before the call in ns, as a law of the number of ranks
}

// An ArrayFormula is an array of variable length, whose elements are given by a formula.
type ArrayFormula struct{ Length, Element *expr.Expr }

// RequestFormulas identify a call's requests: by the number of the call that made each, and how many requests that
// call made since.
type RequestFormulas struct {
	AllPending                     bool       // the call gets all pending requests; the other fields are not used
	IsArray                        bool       // the parameter is an array
	Length                         *expr.Expr // for an array of variable length: its length; MakingCalls and RequestsMadeSince then have one formula each, for any element
	MakingCalls, RequestsMadeSince []*expr.Expr
}

// c writes a C expression for the address of the requests; "" without any.
func (r *RequestFormulas) c() string {
	code := func(i int) string {
		return fmt.Sprintf("request_code(%s, %s)", r.MakingCalls[i], r.RequestsMadeSince[i])
	}
	switch {
	case r.AllPending:
		return "all_pending()"
	case r.Length != nil:
		return fmt.Sprintf("these((int)(%s), LIST64(%[1]s, %s))", r.Length, code(0))
	case len(r.MakingCalls) == 0:
		return ""
	case !r.IsArray:
		return fmt.Sprintf("request(ago(%s, %s))", r.MakingCalls[0], r.RequestsMadeSince[0])
	}
	var list []string
	for i := range r.MakingCalls {
		list = append(list, code(i))
	}
	return fmt.Sprintf("these(%d, A64(%s))", len(list), strings.Join(list, ", "))
}

// PrefixSumExpr is an expression for the sum of a list's elements before the current one.
func PrefixSumExpr(element *expr.Expr) *expr.Expr { return expr.External("sum_before", element) }

// LoopIterationExpr is the iteration number of the loop at a depth.
func LoopIterationExpr(depth int) *expr.Expr { return expr.External(fmt.Sprintf("i%d", depth)) }

// LoopTripCountExpr is the trip count of the loop at a depth.
func LoopTripCountExpr(depth int) *expr.Expr { return expr.External(fmt.Sprintf("n%d", depth)) }

// NewScalableProgram begins a program for runs on several numbers of ranks; r is one of them. plan must cover all
// ranks of all runs.
func NewScalableProgram(r *trace.Reader, plan *reissue.ResourcePlan, strings map[uint64]string, o Options) (*ScalableProgram, error) {
	k, err := r.Rank(0)
	if err != nil {
		return nil, err
	}
	g := newGenerator(r, o)
	g.strings, g.plan = strings, plan
	v := &variant{members: []int{0}, ranks: []*trace.Rank{k}, plan: plan, begin: -1}
	g.list = []*variant{v}
	return &ScalableProgram{g: g, v: v, names: make(map[string]string)}, nil
}

// LineInvariantValues returns the values that must be equal in calls made by one line of a program. Arrays must have equal
// lengths, or variable lengths with anyLength.
func LineInvariantValues(f *trace.Function, vals []int64, anyLength bool) ([]int64, error) {
	c, shape, err := decode(f, vals)
	if err != nil || !anyLength {
		return shape, err
	}
	w := walker{vals: vals, shape: []int64{vals[0]}}
	for i := range f.Params {
		for _, n := range []*node{&c.in[i], &c.out[i]} {
			switch w.note(int64(n.typ)); n.typ {
			case trace.TypeNone:
			case trace.TypeArray:
				w.note(min(n.n, 0))
			default:
				w.scalar(n.typ, &signature.Span{First: n.at, IsOutput: n == &c.out[i]})
			}
		}
	}
	return w.shape, nil
}

// A scaledLine is a line of the program: text, and then the call if there is one.
type scaledLine struct {
	indent int
	text   string
	call   int // index of the call; -1: none
	made   int
	gap    stats.Law
}

func (s *ScalableProgram) line(text string) {
	s.lines = append(s.lines, scaledLine{indent: s.indent, text: text, call: -1})
}

// WriteLoop writes a loop at a depth, from 1 on, and its body.
func (s *ScalableProgram) WriteLoop(depth int, iterations *expr.Expr, body func() error) error {
	i, n := LoopIterationExpr(depth), LoopTripCountExpr(depth)
	s.line(fmt.Sprintf("for (int64_t %s = 0, %s = %s; %[1]s < %[2]s; %[1]s++) {", i, n, iterations))
	s.indent++
	err := body()
	s.indent--
	s.line("}")
	return err
}

// WriteCall writes a call under a condition.
func (s *ScalableProgram) WriteCall(condition *expr.Expr, x *ScalableCall) error {
	c, _, err := decode(x.Call.Func, x.TracedValues)
	if err != nil {
		return err
	}
	c.site, c.c, c.own = x.Call.Site, x.Call, -1
	c.vals, c.lists, c.lane, c.from = [][]int64{x.TracedValues}, x.ArrayFormulas, make(map[int]string), make(map[int]string)
	for at, e := range x.Formulas {
		c.lane[at] = e.CTextAsOperand(expr.CStyle{})
	}
	for i, r := range x.RequestFormulas {
		c.from[i] = r.c()
	}
	if c.lists == nil {
		c.lists = map[int]ArrayFormula{}
	}
	if c.def.Has(mpi.AttrPosix) {
		s.g.cannot("%s: calls on files are not written", c.f.Name)
	}
	s.lines = append(s.lines, scaledLine{s.indent, when(condition), len(s.v.calls), x.RequestMakerNumber, x.GapLaw})
	s.v.calls = append(s.v.calls, c)
	return nil
}

// WriteSwitch writes a switch that makes one of calls, under a condition. The call's index is the value of the formula
// which.
func (s *ScalableProgram) WriteSwitch(condition, which *expr.Expr, calls []*ScalableCall) error {
	s.line(fmt.Sprintf("%sswitch (%s) {", when(condition), which))
	for i, x := range calls {
		s.line(fmt.Sprintf("case %d:", i))
		s.indent++
		if err := s.WriteCall(expr.Number(1), x); err != nil {
			return err
		}
		s.line("break;")
		s.indent--
	}
	s.line("}")
	return nil
}

func when(condition *expr.Expr) string {
	if condition.IsNumber(1) {
		return ""
	}
	return fmt.Sprintf("if (%s) ", condition)
}

// A ScalableMemory is a memory segment that calls use, from offset Low to the largest of the offsets in High.
type ScalableMemory struct {
	Place       reissue.MemorySegment
	LowOffset   int64
	HighOffsets []*expr.Expr
}

func largestOf(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return fmt.Sprintf("largest(%d, (const int64_t[]){%s})", len(list), strings.Join(list, ", "))
}

func texts(list []*expr.Expr) (out []string) {
	for _, e := range list {
		out = append(out, e.String())
	}
	return out
}

// A definition is a named array or function that formulas use.
type definition struct {
	name, text string
	parameter  bool // the traces don't determine its value for all numbers of ranks
	rows       int  // number of rows of its table; 0: it has none
}

// define returns a name for a body, which is written before the program. Equal bodies share a name.
func (s *ScalableProgram) define(body string, text func(name string) string) string {
	return once.GetOrMake(s.names, body, func() string {
		name := fmt.Sprintf("value%d", len(s.names))
		s.top = append(s.top, definition{name: name, text: text(name)})
		return name
	})
}

// ListedElement returns an expression for an element of a list.
func (s *ScalableProgram) ListedElement(list []int64, at *expr.Expr) *expr.Expr {
	body := numbersText(list)
	return expr.TableElement(s.define(body, func(name string) string {
		return fmt.Sprintf("static const int64_t %s[] = {%s};\n\n", name, body)
	}), at)
}

func numbersText(list []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}

// A ValueCase is a value, and the numbers for which it holds.
type ValueCase struct {
	WhenEqualTo []int64
	Value       *expr.Expr
}

// arguments are the variables that definitions may use.
var arguments = []expr.Variable{expr.VariableLoopIteration, expr.VariableLoopTripCount, expr.VariableOuterIteration, expr.VariableListIndex, expr.VariableListLength}

func parametersOf(before string) string {
	var list []string
	for _, v := range arguments {
		list = append(list, before+v.String())
	}
	return strings.Join(list, ", ")
}

func argumentsOf() (list []*expr.Expr) {
	for _, v := range arguments {
		list = append(list, expr.VariableExpr(v))
	}
	return list
}

// CasesValue returns an expression for the value of the case that a number falls into.
func (s *ScalableProgram) CasesValue(slot string, at *expr.Expr, cases []ValueCase) *expr.Expr {
	var b strings.Builder
	for _, c := range cases {
		b.WriteString("   ")
		for _, n := range c.WhenEqualTo {
			fmt.Fprintf(&b, " case %d:", n)
		}
		fmt.Fprintf(&b, "\n        return %s;\n", c.Value)
	}
	name := s.define(b.String(), func(name string) string {
		return fmt.Sprintf("static int64_t %s(int64_t at, %s)\n{\n    %s;\n    switch (at) {\n%s    }\n    return only_traced(%q, 0);\n}\n\n",
			name, parametersOf("int64_t "), parametersOf("(void)"), &b, slot)
	})
	return expr.External(name, append([]*expr.Expr{at}, argumentsOf()...)...)
}

// parameter defines a value that the traces don't determine for all numbers of ranks. slot names the value, and why is
// the reason, in a comment of the program.
func (s *ScalableProgram) parameter(slot, why string, rows int, of func(name string) (table, value string)) *expr.Expr {
	s.parameters++
	name := fmt.Sprintf("P%d", s.parameters)
	table, value := of(name)
	s.top = append(s.top, definition{
		name: name, rows: rows, parameter: true,
		text: table + fmt.Sprintf("/* Parameter: %s; %s. */\n#define %s(%s) %s\n\n", slot, why, name, parametersOf(""), value),
	})
	return expr.External(name, argumentsOf()...)
}

// TracedRankCountsOnly returns a formula that is known to be right only for the traced numbers of ranks.
func (s *ScalableProgram) TracedRankCountsOnly(slot, why string, e *expr.Expr) *expr.Expr {
	return s.parameter(slot, why, 0, func(string) (string, string) { return "", fmt.Sprintf("only_traced(%q, %s)", slot, e) })
}

// AgreedFormula returns a formula that is right wherever all formulas of a list agree. Where they differ and even is
// not nil, only those count for which the formula in even is not 0. If these differ, too, or even is nil, the program
// ends.
func (s *ScalableProgram) AgreedFormula(slot string, list, even []*expr.Expr) *expr.Expr {
	return s.parameter(slot, "all of these fit the traces; where they differ the program ends", 0, func(string) (string, string) {
		shares := "NULL"
		if even != nil {
			shares = fmt.Sprintf("(const int64_t[]){%s}", strings.Join(texts(even), ", "))
		}
		return "", fmt.Sprintf("agreed(%q, %d, (const int64_t[]){%s}, %s)", slot, len(list), strings.Join(texts(list), ", "), shares)
	})
}

// TableLookup returns an expression that looks values up in a sorted table. Each row has the values of some
// variables, then the result.
func (s *ScalableProgram) TableLookup(slot string, columns []expr.Variable, rows [][]int64) *expr.Expr {
	var names, lines []string
	for _, v := range columns {
		names = append(names, v.String())
	}
	for _, r := range rows {
		lines = append(lines, numbersText(r))
	}
	variables := strings.Join(names, ", ")
	return s.parameter(slot, "no form fits", len(rows), func(name string) (table, value string) {
		return fmt.Sprintf("static const int64_t table_%s[] = { /* %s, value */\n    %s};\n", name, variables, strings.Join(lines, ",\n    ")),
			fmt.Sprintf("looked_up(%q, %d, %d, table_%s, (const int64_t[]){%s})", slot, len(columns), len(rows), name, variables)
	})
}

// gapText writes the gap before a call, in microseconds.
func gapText(law stats.Law) string {
	if law.Coefficient == 0 {
		return fmt.Sprintf("%.4g", max(0, law.Constant/1000))
	}
	return fmt.Sprintf("grown(%.4g, %.4g, %g, %d)", law.Constant/1000, law.Coefficient/1000, law.Exponent, law.LogExponent)
}

// Program writes the program.
func (s *ScalableProgram) Program() (*Program, error) {
	g, v := s.g, s.v
	v.made = []reissue.MadeHandleSet{reissue.MadeHandles(nil)}
	g.findStatuses()
	v.fitter = newFitter(g, v.members)
	g.findKeyvals()
	var body strings.Builder
	for _, l := range s.lines {
		text := strings.Repeat("    ", l.indent+1) + l.text
		if l.call < 0 {
			body.WriteString(text + "\n")
			continue
		}
		line := g.line(v, l.call)
		call := line.text(gapText(l.gap))
		if l.made >= 0 {
			call += fmt.Sprintf(" made(%d);", l.made)
		}
		if strings.HasPrefix(l.text, "if") && strings.Count(call, ";") > 1 {
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
	for _, n := range s.TracedRankCounts {
		traced = append(traced, fmt.Sprint(n))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "/*\n * The MPI calls of: %s\n * Ranks: any number; it was traced on %s. Made by `spoor proxy --scalable` from %s and others.\n",
		comment(g.r.Meta()[trace.MetaCommand]), strings.Join(traced, ", "), comment(filepath.Base(g.r.Name())))
	fmt.Fprintf(&b, " *\n * A line is DO(microseconds since the call before, call). runtime/runtime.h and runtime/scaled.h explain the rest.\n */\n")
	b.WriteString("#include \"runtime/scaled.h\"\n\n")
	p := &Program{StructureFunctions: 1, RankVariants: 1}
	reach := largestOf(texts(s.RequestDistances))
	uses := body.String() + reach
	for _, a := range s.Memory {
		uses += " " + largestOf(texts(a.HighOffsets))
	}
	var top []string
	for _, d := range slices.Backward(s.top) {
		if !regexp.MustCompile(`\b` + d.name + `[[(]`).MatchString(uses) {
			continue // it was defined for an output, which the program does not contain
		}
		uses += d.text
		top = append(top, d.text)
		p.UndeterminedTableRows += d.rows
		if d.parameter {
			p.UndeterminedValues++
		}
	}
	slices.Reverse(top)
	b.WriteString(strings.Join(top, ""))
	for i := range g.plan.Segments { // add room, as it is not known what ranks beyond the traced ones use
		if t := &g.plan.Segments[i]; t.Class == trace.AddressStatic {
			t.High += moreStatic
		}
	}
	g.declarations(&b)
	for _, t := range g.tables {
		b.WriteString(t + "\n")
	}
	b.WriteString("static int program(void)\n{\n")
	for _, a := range s.Memory {
		if a.Place.Class != trace.AddressStatic {
			low := a.LowOffset
			if a.Place.Class == trace.AddressStack {
				low -= moreStatic
			}
			fmt.Fprintf(&b, "    area(%s, %d, 1, %d, %s + %d);\n", strings.ToUpper(segments[a.Place.Class]), a.Place.ID, low, largestOf(texts(a.HighOffsets)), moreStatic)
		}
	}
	fmt.Fprintf(&b, "%s%s    return finish();\n}\n\n", local(v.plan), body.String())
	fmt.Fprintf(&b, "int main(void)\n{\n    static const int traced[] = {%s};\n    start(0, \"%s\", 0);\n    scaled(%d, traced);\n    reaches(%s);\n%s",
		strings.Join(traced, ", "), g.o.GapAction, len(traced), reach, g.statics())
	b.WriteString("    return program();\n}\n")
	p.Files = g.written(b.Bytes(), "N", "runtime", "scaled")
	p.Files["runtime/formulas.h"] = []byte("/* formulas.h: functions of the number of ranks and the rank. */\n" + expr.CHeader())
	p.Lines = bytes.Count(b.Bytes(), []byte("\n"))
	return p, nil
}

const moreStatic = 1 << 20

// cannot records something that a program for any number of ranks can't do.
func (g *generator) cannot(format string, args ...any) {
	if err := fmt.Errorf(format, args...); g.scaled == nil || !strings.Contains(g.scaled.Error(), err.Error()) {
		g.scaled = errors.Join(g.scaled, err)
	}
}

// constants wraps an expression so that named constants get the values of the MPI that compiles the program.
func constants(kind mpi.Kind, text string) string {
	switch kind {
	case mpi.KindInt, mpi.KindCount, mpi.KindCount64, mpi.KindDisp: // MPI_UNDEFINED is no input of these kinds
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

// list writes an array of variable length.
func (w *writer) list(p *trace.ParamDef, l ArrayFormula) string {
	if p.Type != trace.TypeInt {
		w.g.cannot("%s: lists of %s whose length differs", w.c.f.Name, p.Kind)
		return "NULL"
	}
	bits := "32"
	if w.wide(p) {
		bits = "64"
	}
	return fmt.Sprintf("LIST%s(%s, %s)", bits, l.Length, constants(p.Kind, l.Element.String()))
}
