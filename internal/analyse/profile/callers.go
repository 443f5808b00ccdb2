package profile

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/columns"
	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/trace"
)

// A step is a function on the way from main to a call, and the place in it from
// where the way goes on: line, or offset.
type step struct {
	name string
	at   string
}

// path returns the functions around a call site, outermost first, as far as
// frames were recorded and functions inlined.
func (w Where) path(function string, s trace.Site) []step {
	var list []step
	for _, place := range slices.Backward(w.places(function, s)) {
		if len(place.Frames) == 0 {
			list = append(list, step{filepath.Base(place.Module), fmt.Sprintf("+0x%x", place.Offset)})
		}
		for k := len(place.Frames) - 1; k >= 0; k-- {
			list = append(list, step{place.Frames[k].Name(), at(&place.Frames[k])})
			if k == 0 && place.Precision == symbolise.LineInfo {
				list[len(list)-1].at += place.Apart()
			}
		}
	}
	return list
}

func at(f *symbolise.Frame) string {
	if f.Line > 0 || f.File != "" && f.Inlined {
		text := f.Text()
		return text[len(f.Name())+1:]
	}
	if f.Tail && f.Offset == 0 { // it isn't known from where in it
		return ""
	}
	return fmt.Sprintf("+0x%x", f.Offset)
}

// common is how many functions two paths share: called from the same places.
func common(a, b []step) int {
	n := 0
	for n < len(a) && n < len(b) && a[n].name == b[n].name && (n == 0 || a[n-1].at == b[n-1].at) {
		n++
	}
	return n
}

// A grouper puts what was called within a function into a node of it. A loop
// whose rounds all are within one call of a function stands inside of it: that
// it is around the call instead can't be seen from outside.
type grouper struct {
	sites []Site
	parts map[int][]step // what a part's calls share, by its number
}

// shared is what the paths of all calls below a node have in common.
func (g *grouper) shared(n *Node) []step {
	switch {
	case n.Site > 0:
		return g.sites[n.Site-1].path
	case n.Part > 0 && g.parts[n.Part] != nil:
		return g.parts[n.Part]
	}
	var all []step
	for i, c := range n.Body {
		if below := g.shared(c); i == 0 {
			all = below
		} else {
			all = all[:common(all, below)]
		}
	}
	if n.Part > 0 {
		g.parts[n.Part] = all
	}
	return all
}

// group groups neighbours within a function, depth functions down from main.
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
		n := &Node{Kind: "function", Function: first[depth].name}
		if depth > 0 {
			n.From = first[depth-1].at
		}
		from := i
		for ; i < len(list) && common(first, g.shared(list[i])) > depth; i++ {
			n.Sums.add(&list[i].Sums)
		}
		n.Body = g.group(list[from:i], depth+1)
		out = append(out, n)
	}
	return out
}

// Place is where a call is, in short where its functions stand around it.
func (s *Site) Place() string {
	if s.At != "" {
		return s.At
	}
	return s.Text
}

// grouped puts functions around the parts of a thread if stacks were recorded.
func (p *Profile) grouped(body []*Node) []*Node {
	if !slices.ContainsFunc(p.Sites, func(s Site) bool { return s.deep }) {
		return body
	}
	for i := range p.Sites {
		if x := &p.Sites[i]; len(x.path) > 0 {
			x.At = x.path[len(x.path)-1].at
		}
	}
	g := grouper{p.Sites, make(map[int][]step)}
	return g.group(body, 0)
}

// plain takes functions out again.
func plain(list []*Node) []*Node {
	var out []*Node
	for _, n := range list {
		if n.Kind == "function" {
			out = append(out, plain(n.Body)...)
			continue
		}
		if n.Body != nil {
			c := *n
			c.Body = plain(n.Body)
			n = &c
		}
		out = append(out, n)
	}
	return out
}

// Callers is the calls of all ranks by the functions that led to them, a tree
// from main down.
type Callers struct {
	Trace    string  `json:"trace"`
	Command  string  `json:"command"`
	Ranks    int     `json:"ranks"`
	SpanNs   int64   `json:"span_ns"`            // from first call to last, sum over the ranks
	Timeless bool    `json:"no_times,omitempty"` // the trace has no times
	Stacks   bool    `json:"stacks"`             // more than one frame of a call was recorded
	Sites    []Site  `json:"sites"`
	Total    Sums    `json:"total"`
	Body     []*Node `json:"body"` // kinds are function and call
}

// Callers arranges the rows of the table by what led to them. Functions of one
// name below the same functions are one, wherever they were called from.
func (f *Flat) Callers() *Callers {
	c := &Callers{Trace: f.Trace, Command: f.Command, Ranks: f.Ranks, SpanNs: f.SpanNs, Timeless: f.Timeless, Body: []*Node{}}
	leaves := make(map[*Node][]*Node)
	for i := range f.Rows {
		x := &f.Rows[i]
		sums := Sums{Calls: x.Calls, Compute: float64(x.ComputeNs), BytesOut: x.BytesOut, BytesIn: x.BytesIn, Values: attachedOf(x.Values)}
		sums.spend(x.def, float64(x.Ns))
		c.Total.add(&sums)
		c.Stacks = c.Stacks || x.deep
		body := &c.Body
		var in *Node
		for _, s := range x.path {
			k := slices.IndexFunc(*body, func(n *Node) bool { return n.Kind == "function" && n.Function == s.name })
			if k < 0 {
				k = len(*body)
				*body = append(*body, &Node{Kind: "function", Function: s.name})
			}
			in = (*body)[k]
			in.Sums.add(&sums)
			body = &in.Body
		}
		text := ""
		if len(x.path) > 0 {
			text = x.path[len(x.path)-1].at
		}
		k := slices.IndexFunc(leaves[in], func(n *Node) bool {
			s := &c.Sites[n.Site-1]
			return s.Function == x.Function && s.Module == x.Module && s.Offset == x.Offset
		})
		if k >= 0 { // the same call, reached from another line of a caller
			n := leaves[in][k]
			n.Sums.add(&sums)
			n.Rounds = n.Sums.Calls
			continue
		}
		c.Sites = append(c.Sites, Site{Function: x.Function, Module: x.Module, Offset: x.Offset, Frames: x.Frames, Text: x.Place, At: text, path: x.path})
		n := &Node{Kind: "call", Site: len(c.Sites), Entered: x.Calls, Rounds: x.Calls, Least: 1, Most: 1, Sums: sums}
		leaves[in] = append(leaves[in], n)
		*body = append(*body, n)
	}
	return c
}

// callerSorts are the orders of a tree of callers.
var callerSorts = map[string]func(n *Node) float64{
	"time": func(n *Node) float64 { return n.Sums.Time() }, "mpi": func(n *Node) float64 { return n.Sums.Inside() },
	"calls":   func(n *Node) float64 { return float64(n.Sums.Calls) },
	"bytes":   func(n *Node) float64 { return float64(n.Sums.BytesOut) + float64(n.Sums.BytesIn) },
	"compute": func(n *Node) float64 { return n.Sums.Compute },
	"mean":    func(n *Node) float64 { return n.Sums.Inside() / float64(max(1, n.Sums.Calls)) },
}

// CallerSorts are the names of the orders.
var CallerSorts = []string{"time", "mpi", "calls", "mean", "bytes", "compute"}

// Sort orders each level of the tree, largest first.
func (c *Callers) Sort(by string) { c.sort(c.Body, callerSorts[by]) }

func (c *Callers) sort(list []*Node, key func(*Node) float64) {
	slices.SortStableFunc(list, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(key(b), key(a)), strings.Compare(c.name(a), c.name(b)))
	})
	for _, n := range list {
		c.sort(n.Body, key)
	}
}

// name is the function of a node, with the line of a call.
func (c *Callers) name(n *Node) string {
	if n.Site == 0 {
		return n.Function
	}
	s := &c.Sites[n.Site-1]
	return strings.TrimSpace(s.Function + " " + s.At)
}

// Text writes the tree.
func (c *Callers) Text(w io.Writer, v View) error {
	head := fmt.Sprintf("%s: %s, %s calls, %s computing, %s", c.Trace, units.Plural(c.Ranks, "rank"), units.Grouped(c.Total.Calls),
		units.Duration(c.Total.Compute), c.Total.insideText())
	p := &Profile{Sites: c.Sites}
	if c.Timeless {
		p.Times = trace.NoSample.String()
		head = fmt.Sprintf("%s: %s, %s calls, %v", c.Trace, units.Plural(c.Ranks, "rank"), units.Grouped(c.Total.Calls), trace.ErrNoTimes)
	}
	if err := p.lines(w, head, c.Body, c.Total.Time(), v); err != nil {
		return err
	}
	if !c.Stacks {
		fmt.Fprintln(w, "\nCalls were recorded without their stacks; spoor run without --stack 0 has them.")
	}
	return nil
}

// CSV writes a line for each call, with the functions that led to it separated
// by semicolons, times in nanoseconds.
func (c *Callers) CSV(w io.Writer) error {
	type line struct {
		path, function, module string
		offset                 uint64
		Sums
	}
	lines := func(add func(line)) {
		var walk func(list []*Node, path []string)
		walk = func(list []*Node, path []string) {
			for _, n := range list {
				if n.Site == 0 {
					walk(n.Body, append(path[:len(path):len(path)], n.Function))
					continue
				}
				s := &c.Sites[n.Site-1]
				add(line{strings.Join(append(path[:len(path):len(path)], c.name(n)), ";"), s.Function, s.Module, s.Offset, n.Sums})
			}
		}
		walk(c.Body, nil)
	}
	return columns.CSV(w, lines, func(r *columns.Row, x line) {
		r.Text("path", x.path).Text("function", x.function).Text("module", x.module).Value("offset", fmt.Sprintf("0x%x", x.offset)).Value("calls", x.Calls)
		if !c.Timeless {
			r.Value("ns", uint64(x.Inside())).Value("compute_ns", uint64(x.Compute))
		}
		r.Value("bytes_out", x.BytesOut).Value("bytes_in", x.BytesIn)
	})
}
