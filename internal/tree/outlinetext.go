package tree

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/show"
)

// widest is the column beyond which places stand no further to the right.
const widest = 48

// WriteText writes the outline for people: a function, loop or call on each line, with its place.
func (o *Outline) WriteText(out io.Writer) {
	fmt.Fprintf(out, "%s: ", filepath.Base(o.Path))
	if len(o.Functions) == 0 {
		fmt.Fprintf(out, "none of %s leads to an MPI call\n", show.Plural(o.Of, "function"))
	} else {
		verb := "lead"
		if len(o.Functions) == 1 {
			verb = "leads"
		}
		fmt.Fprintf(out, "%s of %s %s to %s, in %s\n", show.Grouped(len(o.Functions)), show.Plural(o.Of, "function"), verb,
			show.Plural(o.Calls, "MPI call"), show.Plural(o.Loops, "loop"))
	}
	if o.Pointers > 0 {
		they := "they lead"
		if o.Pointers == 1 {
			they = "it leads"
		}
		fmt.Fprintf(out, "%s through pointers in these functions: where %s isn't known\n", show.Plural(o.Pointers, "call"), they)
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

// label is what a node's line begins with.
func (n *OutlineNode) label() string {
	var s string
	switch n.Kind {
	case Loop:
		s = "loop"
		if n.Entries {
			s = "loop with several entries"
		}
	case Call:
		s = n.Name + "()"
	default:
		s = n.Name
	}
	if n.Tail {
		s += ", by a jump"
	}
	return s
}

// levels says how much further in each node of a body stands than the body, for branches around it, and calls way with each way that
// begins before a node.
func levels(n int, branches []code.Branch, way func(node, level, number int)) []int {
	in := make([]int, n)
	var look func(list []code.Branch, level int)
	look = func(list []code.Branch, level int) {
		for _, b := range list {
			for k, w := range b.Ways {
				way(w.From, level, k)
				for i := w.From; i < w.To; i++ {
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
