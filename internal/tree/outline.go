// An Outline shows from the machine code where a program calls MPI: the functions that lead to MPI calls, and the
// loops around them. It includes code that never runs.

package tree

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// An Outline is what the code of one binary says of its MPI calls: the functions that lead to them, and the loops
// around them.
type Outline struct {
	Path           string `json:"path"`
	TotalFunctions int    `json:"of"` // number of functions in the binary
	// Functions that lead to MPI calls: first those reached from main, in the order of calls, then all others.
	Functions    []OutlineFunction `json:"functions"`
	MPICallSites int               `json:"calls"` // number of places that call MPI
	// Number of loops that contain such a place, or a call of a function that leads to one.
	LoopCount int `json:"loops"`
	// Number of calls through pointers in Functions; where these lead is unknown.
	PointerCalls int      `json:"pointers"`
	Notes        []string `json:"notes"` // reasons why the outline is incomplete
}

// An OutlineFunction is a function that leads to an MPI call, with the loops and calls in its body that do.
type OutlineFunction struct {
	Name   string `json:"name"`
	Symbol string `json:"symbol,omitempty"` // linker's name of the function
	Place
	Body []OutlineNode `json:"body"`
	// Branches are groups of nodes of Body on exclusive paths: one run of the body reaches at most one path of a
	// branch.
	Branches     []code.Branch `json:"branches,omitempty"`
	PointerCalls int           `json:"pointers,omitempty"` // number of calls through pointers in the function
}

// A Place is a place in the code.
type Place struct {
	Offset uint64 `json:"offset"` // relative to the load address of the binary
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	// Functions inlined at this place, innermost first, each with the place in its own source.
	Inlined []string `json:"inlined,omitempty"`
}

// The kinds of nodes.
const (
	KindLoop    = "loop"
	KindMPICall = "mpi"  // a call of MPI
	KindCall    = "call" // a call of a function that leads to an MPI call
)

// An OutlineNode is a loop or a call in the body of a function.
type OutlineNode struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"` // name of the called function; "" for a loop
	Place
	// TailCall is set if the call is a jump: the called function returns to this function's caller, and call stacks
	// do not show this function.
	TailCall bool `json:"tail,omitempty"`
	// MultipleEntries is set for a loop that can be entered at several instructions.
	MultipleEntries bool `json:"irreducible,omitempty"`
	// Counter is the place of a loop counter in the machine, with its step. The place is a callee-saved register, or
	// a word of the function's frame by its distance from the frame's address. Each iteration changes the counter by
	// the step, and it is valid at all calls in the loop that the outline has. "": there is no such counter.
	Counter string        `json:"counter,omitempty"`
	Body    []OutlineNode `json:"body,omitempty"` // loops and calls in a loop; empty for a call
	// Branches are groups of nodes of Body on exclusive paths, as in OutlineFunction.
	Branches []code.Branch `json:"branches,omitempty"`
}

// NewOutline returns the outline of the binary m. Source lines are from s.
func NewOutline(m *code.Image, s *symbolise.Symboliser) *Outline {
	o := &outliner{image: m, places: s, out: &Outline{Path: m.Path, Functions: []OutlineFunction{}, Notes: []string{}}}
	all := m.Functions()
	o.out.TotalFunctions = len(all)
	o.reach(all)
	for _, name := range []string{"main", "MAIN__"} {
		for _, f := range all {
			if f.Symbol() == name {
				o.visit(f)
			}
		}
	}
	for _, f := range all {
		o.visit(f)
	}
	if len(o.unread) > 0 {
		o.note(len(o.unread), "function", fmt.Sprintf("can't be shown: %s", o.unread[0]))
	}
	if o.lost > 0 {
		o.note(o.lost, "jump", "through a table that was not found: loops may be missing")
	}
	if o.undecoded > 0 {
		o.note(o.undecoded, "place", "in these functions where no instruction is: loops may be missing")
	}
	return o.out
}

type outliner struct {
	image     *code.Image
	places    *symbolise.Symboliser
	out       *Outline
	leads     map[*code.Function]bool // functions that lead to an MPI call
	seen      map[*code.Function]bool
	unread    []string
	lost      int
	undecoded int
}

func (o *outliner) note(n int, thing, text string) {
	if n != 1 {
		thing += "s"
	}
	o.out.Notes = append(o.out.Notes, fmt.Sprintf("%d %s %s", n, thing, text))
}

// reach finds the functions that lead to MPI calls. It leaves out the MPI library's own functions, which a statically
// linked program contains.
func (o *outliner) reach(all []*code.Function) {
	o.leads, o.seen = make(map[*code.Function]bool), make(map[*code.Function]bool)
	callers := make(map[*code.Function][]*code.Function)
	var work []*code.Function
	for _, f := range all {
		if mpi.FunctionOfSymbol(f.Symbol()) != "" {
			o.seen[f] = true
			continue
		}
		list, names := f.Callees()
		for i, g := range list {
			switch {
			case mpi.FunctionOfSymbol(names[i]) != "":
				if !o.leads[f] {
					o.leads[f] = true
					work = append(work, f)
				}
			case g != nil:
				callers[g] = append(callers[g], f)
			}
		}
	}
	for len(work) > 0 {
		g := work[len(work)-1]
		work = work[:len(work)-1]
		for _, f := range callers[g] {
			if !o.leads[f] {
				o.leads[f] = true
				work = append(work, f)
			}
		}
	}
}

// visit adds a function to the outline and then those that it calls, if they lead to MPI and were not added before.
func (o *outliner) visit(first *code.Function) {
	for work := []*code.Function{first}; len(work) > 0; {
		f := work[len(work)-1]
		work = work[:len(work)-1]
		if o.seen[f] || !o.leads[f] {
			continue
		}
		o.seen[f] = true
		b, err := f.Body()
		if err != nil {
			o.unread = append(o.unread, err.Error())
			continue
		}
		callees := o.show(f, b)
		slices.Reverse(callees)
		work = append(work, callees...)
	}
}

// show adds function f with body b to the outline. It returns the functions called in it, in the order in which the
// calls are listed.
func (o *outliner) show(f *code.Function, b *code.Body) (callees []*code.Function) {
	place := o.place(f.Start(), true)
	name := place.function
	if name == "" {
		name = fmt.Sprintf("fn@0x%x", f.Start()-o.image.LinkBias)
	}
	out := OutlineFunction{Name: name, Symbol: f.Symbol(), Place: place.Place}
	o.lost += b.UnresolvedJumps
	o.undecoded += b.UndecodedCount

	type item struct {
		order int // position of the call's block, or of the loop's header, as of function order
		addr  uint64
		call  *code.Call
		loop  int
	}
	within := make(map[int][]item) // by loop: the calls and loops directly in it; code.NoIndex: those in no loop
	needed := make(map[int]bool)   // loops that are in the outline
	for i := range b.Calls {
		c := &b.Calls[i]
		if !c.IsResolved {
			out.PointerCalls++
		}
		if mpi.FunctionOfSymbol(c.CalleeSymbol) == "" && !o.leads[c.Callee] {
			continue
		}
		l := b.Graph.InnermostLoop[c.Block]
		within[l] = append(within[l], item{order(b, c.Block), c.Addr, c, code.NoIndex})
		for ; l != code.NoIndex && !needed[l]; l = b.Graph.Loops[l].Parent {
			needed[l] = true
			h := b.Graph.Loops[l].Header
			p := b.Graph.Loops[l].Parent
			within[p] = append(within[p], item{order(b, h), b.Blocks[h].Lo, nil, l})
		}
	}
	var nodes func(loop int) ([]OutlineNode, []*code.Call, []code.Branch)
	nodes = func(loop int) ([]OutlineNode, []*code.Call, []code.Branch) {
		list, calls := []OutlineNode{}, []*code.Call(nil)
		var places []code.BodyItem
		items := within[loop]
		slices.SortFunc(items, func(x, y item) int { return cmp.Or(cmp.Compare(x.order, y.order), cmp.Compare(x.addr, y.addr)) })
		for _, it := range items {
			if it.call == nil {
				places = append(places, code.BodyItem{Block: b.Graph.Loops[it.loop].Header, Loop: it.loop})
				l := &b.Graph.Loops[it.loop]
				o.out.LoopCount++
				n := OutlineNode{Kind: KindLoop, Place: LocateLoop(o.image, b, l, o.frames), MultipleEntries: l.Irreducible}
				var inside []*code.Call
				n.Body, inside, n.Branches = nodes(it.loop)
				n.Counter = loopCounter(f, it.loop, inside)
				list, calls = append(list, n), append(calls, inside...)
				continue
			}
			calls = append(calls, it.call)
			places = append(places, code.BodyItem{Block: it.call.Block, Addr: it.call.Addr, Loop: code.NoIndex})
			n := OutlineNode{Kind: KindMPICall, Name: mpi.FunctionOfSymbol(it.call.CalleeSymbol), TailCall: it.call.IsTail}
			if n.Name != "" {
				o.out.MPICallSites++
			} else {
				n.Kind, n.Name = KindCall, o.name(it.call.Callee)
				callees = append(callees, it.call.Callee)
			}
			n.Place = o.place(it.call.ReturnAddr, false).Place
			if it.call.IsTail {
				n.Place = o.place(it.call.Addr, true).Place
			}
			list = append(list, n)
		}
		if len(list) > code.MaxBranchItems {
			return list, calls, nil
		}
		return list, calls, code.Branches(len(list), b.ExclusiveItems(loop, places))
	}
	out.Body, _, out.Branches = nodes(code.NoIndex)
	o.out.PointerCalls += out.PointerCalls
	o.out.Functions = append(o.out.Functions, out)
	return callees
}

// loopCounter returns the text of a counter of the loop that is valid at all of the calls; "" without one.
func loopCounter(f *code.Function, loop int, calls []*code.Call) (text string) {
	for i, c := range calls {
		k, ok := f.LoopCounter(loop, c)
		if !ok || i > 0 && k.String() != text {
			return ""
		}
		text = k.String()
	}
	return text
}

// order returns a block's position in reverse postorder; unreachable blocks come last.
func order(b *code.Body, block int) int {
	if n := b.Graph.ReversePostorder[block]; n != code.NoIndex {
		return n
	}
	return len(b.Blocks)
}

type located struct {
	Place
	function string
}

// place returns the source place of an address. instruction says whether the address is that of an instruction, or is
// where a call returns to.
func (o *outliner) place(addr uint64, instruction bool) located {
	frames := o.frames(addr, instruction)
	l := located{Place: PlaceOf(addr-o.image.LinkBias, frames)}
	if n := len(frames); n > 0 && frames[n-1].Function != "" {
		l.function = frames[n-1].Name()
	}
	return l
}

// frames returns the function at an address, after the functions inlined there, innermost first. instruction says
// whether the address is that of an instruction, or is where a call returns to.
func (o *outliner) frames(addr uint64, instruction bool) []symbolise.Frame {
	look := o.places.PlaceOfReturnOffset
	if instruction {
		look = o.places.PlaceOfCodeOffset
	}
	return look(o.image.Path, "", addr-o.image.LinkBias).Frames
}

// PlaceOf returns the place at an offset in the binary. frames are the functions inlined there, innermost first, and
// last the function itself.
func PlaceOf(offset uint64, frames []symbolise.Frame) Place {
	p := Place{Offset: offset}
	n := len(frames)
	if n == 0 {
		return p
	}
	p.File, p.Line = frames[n-1].File, frames[n-1].Line
	for i := range frames[:n-1] {
		p.Inlined = append(p.Inlined, frames[i].Text())
	}
	return p
}

// name returns the name of a function to show; "fn@" and its address if it has none.
func (o *outliner) name(f *code.Function) string {
	if l := o.place(f.Start(), true); l.function != "" {
		return l.function
	}
	return fmt.Sprintf("fn@0x%x", f.Start()-o.image.LinkBias)
}

// LocateLoop returns the place of a loop: the first line of its header and of its back jumps, in the innermost
// function that contains all of them. Compilers give the back jump of a for or while loop the line where the loop's
// head is. The header of a rotated loop has the first line of the body.
//
// frames returns the functions at an address, with arguments as of outliner.frames.
func LocateLoop(m *code.Image, b *code.Body, l *code.Loop, frames func(addr uint64, instruction bool) []symbolise.Frame) Place {
	lo := b.Blocks[l.Header].Lo
	chain := frames(lo, true)
	for _, latch := range l.Latches {
		chain = common(chain, frames(b.Blocks[latch].Hi, false))
	}
	return PlaceOf(lo-m.LinkBias, chain)
}

// common returns the frames that a and b share, innermost first. The innermost of these gets the lower of its two
// lines.
func common(a, b []symbolise.Frame) []symbolise.Frame {
	if len(a) == 0 || len(b) == 0 || a[len(a)-1].Name() != b[len(b)-1].Name() {
		return a
	}
	i, j := len(a)-1, len(b)-1
	for i > 0 && j > 0 && a[i].File == b[j].File && a[i].Line == b[j].Line && a[i-1].Name() == b[j-1].Name() {
		i, j = i-1, j-1
	}
	shared := slices.Clone(a[i:])
	if n := b[j].Line; n > 0 && b[j].File == shared[0].File && (shared[0].Line == 0 || n < shared[0].Line) {
		shared[0].Line = n
	}
	return shared
}

// Text returns the place on one line: file:line, or the offset in the binary if lines are unknown. Before it are the
// functions inlined at the place.
func (p *Place) Text() string {
	return (&model.Vertex{Offset: p.Offset, File: p.File, Line: p.Line, Inlined: p.Inlined}).SourceLocationText()
}

// widest is the largest column of the text output at which places begin.
const widest = 48

// WriteText writes the outline for people: each line has a function, loop or call and its place.
func (o *Outline) WriteText(out io.Writer) {
	fmt.Fprintf(out, "%s: ", filepath.Base(o.Path))
	if len(o.Functions) == 0 {
		fmt.Fprintf(out, "none of %s leads to an MPI call\n", show.FormatPlural(o.TotalFunctions, "function"))
	} else {
		verb := "lead"
		if len(o.Functions) == 1 {
			verb = "leads"
		}
		fmt.Fprintf(out, "%s of %s %s to %s, in %s\n", show.FormatGrouped(len(o.Functions)), show.FormatPlural(o.TotalFunctions, "function"), verb,
			show.FormatPlural(o.MPICallSites, "MPI call"), show.FormatPlural(o.LoopCount, "loop"))
	}
	if o.PointerCalls > 0 {
		they := "they lead"
		if o.PointerCalls == 1 {
			they = "it leads"
		}
		fmt.Fprintf(out, "%s through pointers in these functions: where %s isn't known\n", show.FormatPlural(o.PointerCalls, "call"), they)
	}
	column := 0
	for i := range o.Functions {
		f := &o.Functions[i]
		column = max(column, utf8.RuneCountInString(f.Name), width(f.Body, f.Branches, 2))
	}
	p := printer{out, min(column, widest) + 2}
	for i := range o.Functions {
		f := &o.Functions[i]
		fmt.Fprintln(out)
		p.line(0, f.Name, f.Place.Text())
		p.nodes(f.Body, f.Branches, 2)
	}
}

// label returns how the line of a node begins: "loop", or the called function's name.
func (n *OutlineNode) label() string {
	var s string
	switch n.Kind {
	case KindLoop:
		s = "loop"
		if n.MultipleEntries {
			s = "loop with several entries"
		}
	case KindCall:
		s = n.Name + "()"
	default:
		s = n.Name
	}
	if n.TailCall {
		s += ", by a jump"
	}
	return s
}

// levels returns, for each of n nodes of a body, in how many branches it is. For each exclusive path of a branch it
// calls way with the node that begins the path.
func levels(n int, branches []code.Branch, way func(node, level, number int)) []int {
	in := make([]int, n)
	var look func(list []code.Branch, level int)
	look = func(list []code.Branch, level int) {
		for _, b := range list {
			for k, w := range b.Arms {
				way(w.FirstItem, level, k)
				for i := w.FirstItem; i < w.EndItem; i++ {
					in[i]++
				}
				look(w.Branches, level+1)
			}
		}
	}
	look(branches, 0)
	return in
}

func width(list []OutlineNode, branches []code.Branch, indent int) (most int) {
	in := levels(len(list), branches, func(int, int, int) {})
	for i := range list {
		at := indent + 2*in[i]
		most = max(most, at+utf8.RuneCountInString(list[i].label()), width(list[i].Body, list[i].Branches, at+2))
	}
	return most
}

type printer struct {
	out    io.Writer
	column int
}

func (p *printer) line(indent int, label, where string) {
	pad := max(p.column-indent-utf8.RuneCountInString(label), 2)
	fmt.Fprintf(p.out, "%s%s%s%s\n", strings.Repeat(" ", indent), label, strings.Repeat(" ", pad), where)
}

func (p *printer) nodes(list []OutlineNode, branches []code.Branch, indent int) {
	heads := make(map[int][]string)
	in := levels(len(list), branches, func(node, level, number int) {
		text := "or"
		if number == 0 {
			text = "either"
		}
		heads[node] = append(heads[node], strings.Repeat(" ", indent+2*level)+text)
	})
	for i := range list {
		for _, head := range heads[i] {
			fmt.Fprintln(p.out, head)
		}
		n := &list[i]
		where := n.Place.Text()
		if n.Counter != "" {
			where += "  counter " + n.Counter
		}
		p.line(indent+2*in[i], n.label(), where)
		p.nodes(n.Body, n.Branches, indent+2*in[i]+2)
	}
}
