package calltree

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/trace"
)

// A CallPathStep is a function on the call path from main to a call, and the position in it from which the path continues:
// line, or offset.
type CallPathStep struct {
	Name  string
	Place string
}

// Path returns the functions around a call site, outermost first, from recorded frames and inlined functions.
func (w Locator) Path(function string, s trace.Site) []CallPathStep {
	var list []CallPathStep
	for _, place := range slices.Backward(w.Places(function, s)) {
		if len(place.Frames) == 0 {
			list = append(list, CallPathStep{filepath.Base(place.Module), fmt.Sprintf("+0x%x", place.Offset)})
		}
		for k := len(place.Frames) - 1; k >= 0; k-- {
			f := &place.Frames[k]
			step := CallPathStep{f.Name(), at(f)}
			if f.Function == "<module>" && f.File != "" {
				// python -m runs the main module by _run_code, so that module isn't imported.
				if step.Name = module(f.File); len(list) > 0 && list[len(list)-1].Name != "_run_code" {
					step.Name = symbolise.PythonImportPrefix + imported(f.File)
				}
				if n := len(list); n > 0 && strings.HasPrefix(list[n-1].Name, symbolise.PythonImportPrefix) { // nested imports belong to the outermost
					step.Name = list[n-1].Name
					list = list[:n-1]
				}
			}
			list = append(list, step)
			if k == 0 && place.Precision == symbolise.PrecisionLine {
				list[len(list)-1].Place += place.DistinguishingOffset()
			}
		}
	}
	return list
}

// module names the code of a Python file outside of functions.
func module(file string) string { return filepath.Base(file) + " <module>" }

// imported returns the name under which a Python file is imported: a module, or the folder of a package.
func imported(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".py")
	if name == "__init__" {
		name = filepath.Base(filepath.Dir(file))
	}
	return name
}

func at(f *symbolise.Frame) string {
	if f.Line > 0 || f.File != "" && f.IsInlined {
		text := f.Text()
		return text[len(f.Name())+1:]
	}
	if f.IsTailCaller && f.OffsetInFunction == 0 || f.FunctionStart|f.OffsetInFunction == 0 { // the position in the function is unknown
		return ""
	}
	return fmt.Sprintf("+0x%x", f.OffsetInFunction)
}

// common returns how many steps two paths share from main on.
func common(a, b []CallPathStep) int {
	n := 0
	for n < len(a) && n < len(b) && a[n].Name == b[n].Name && (n == 0 || a[n-1].Place == b[n-1].Place) {
		n++
	}
	return n
}

// A grouper moves calls made within a function into a node of the function. A loop whose iterations are all within
// one call of a function is placed inside of it: the trace cannot show whether the loop is around the call instead.
type grouper struct {
	sites []Site
	parts map[int][]CallPathStep // by number of a part: the common path of its calls
}

// shared returns the common path of all calls below a node.
func (g *grouper) shared(n *Node) []CallPathStep {
	switch {
	case n.SiteNumber > 0:
		return g.sites[n.SiteNumber-1].Path
	case n.PartNumber > 0 && g.parts[n.PartNumber] != nil:
		return g.parts[n.PartNumber]
	}
	var all []CallPathStep
	for i, c := range n.Body {
		if below := g.shared(c); i == 0 {
			all = below
		} else {
			all = all[:common(all, below)]
		}
	}
	if n.PartNumber > 0 {
		g.parts[n.PartNumber] = all
	}
	return all
}

// group groups adjacent nodes of one function, depth functions below main.
func (g *grouper) group(list []*Node, depth int) []*Node {
	var out []*Node
	for i := 0; i < len(list); {
		first := g.shared(list[i])
		if len(first) <= depth {
			if n := list[i]; n.Body != nil {
				n.Body = g.group(n.Body, depth)
			}
			out = append(out, list[i])
			i++
			continue
		}
		n := &Node{Kind: "function", Function: first[depth].Name}
		if depth > 0 {
			n.CallerPlace = first[depth-1].Place
		}
		from := i
		for ; i < len(list) && common(first, g.shared(list[i])) > depth; i++ {
			n.Sums.Add(&list[i].Sums)
		}
		n.Body = g.group(list[from:i], depth+1)
		out = append(out, n)
	}
	return out
}

// Place returns the position of a call, in short form within function nodes.
func (s *Site) Place() string {
	if s.ShortText != "" {
		return s.ShortText
	}
	return s.Text
}

// grouped adds function nodes to a thread's body, if stacks were recorded.
func (p *Tree) grouped(body []*Node) []*Node {
	if !slices.ContainsFunc(p.Sites, func(s Site) bool { return s.HasStack }) {
		return body
	}
	for i := range p.Sites {
		if x := &p.Sites[i]; len(x.Path) > 0 {
			x.ShortText = x.Path[len(x.Path)-1].Place
		}
	}
	g := grouper{p.Sites, make(map[int][]CallPathStep)}
	return g.group(body, 0)
}
