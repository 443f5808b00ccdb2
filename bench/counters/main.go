// Command counters finds out how often the calls of a trace leave open which of several loops went round, or whether rounds passed without
// a call, and how often the program's machine code has a counter that could be read at these calls: in a register or word of a
// frame that is kept during them.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/code/flow"
	"github.com/spoor-hpc/spoor/internal/symbolise"
	"github.com/spoor-hpc/spoor/internal/tailcall"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/trace"
)

func main() {
	verbose := flag.Bool("v", false, "list the loops")
	flag.Parse()
	fmt.Println("| trace | loops | with a counter | marked ≥ | with a counter | marked (?) | told | steps | open | told |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, file := range flag.Args() {
		row, err := measure(file, *verbose)
		if err != nil {
			fmt.Fprintf(os.Stderr, "counters: %s: %v\n", file, err)
			continue
		}
		fmt.Printf("| %s | %s |\n", strings.TrimSuffix(filepath.Base(file), ".spoor"), row)
	}
}

// A loop is one of the tree with its counters.
type loop struct {
	at    map[int]bool // by call below it: whether there is a counter
	kinds map[string]bool
}

func (l *loop) all() bool {
	for _, ok := range l.at {
		if !ok {
			return false
		}
	}
	return len(l.at) > 0
}

func measure(file string, verbose bool) (string, error) {
	r, err := trace.Open(file)
	if err != nil {
		return "", err
	}
	defer r.Close()
	s := symbolise.New(symbolise.Options{})
	tails := tailcall.New(s)
	c, open, err := tree.Opened(r, s, tails)
	if err != nil || c == nil {
		return "", fmt.Errorf("nothing is known of the program's code: %w", err)
	}
	loops, err := counters(r, c, tails)
	if err != nil {
		return "", err
	}
	told := make(map[[2]int]bool) // open steps
	unsure := make(map[int]bool)  // loops that stay so
	for _, o := range open {
		ok := true
		from := o.Loops
		if len(from) > 1 {
			from = from[1:]
		}
		for _, l := range from {
			ok = ok && loops[l].at[o.From] && loops[l].at[o.To]
		}
		told[[2]int{o.From, o.To}] = ok
		for v := c.Vertices[o.To].Parent; !ok && v != o.Loops[len(o.Loops)-1]; v = c.Vertices[v].Parent {
			unsure[v] = true
		}
	}
	var n [9]int
	for v := range c.Vertices {
		x := &c.Vertices[v]
		if x.Kind != trace.LoopVertex {
			continue
		}
		ok := loops[v].all()
		for i, set := range []bool{true, ok, x.AtLeast, x.AtLeast && ok, x.Unsure, x.Unsure && !unsure[v]} {
			if set {
				n[i]++
			}
		}
		if verbose {
			var kinds []string
			for k := range loops[v].kinds {
				kinds = append(kinds, k)
			}
			slices.Sort(kinds)
			fmt.Printf("%s: at least %v, unsure %v, stays so %v: %v\n", x.Where(), x.AtLeast, x.Unsure, unsure[v], kinds)
		}
	}
	if err := steps(r, c, told, n[6:]); err != nil {
		return "", err
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(n[:]), " ", " | "), "[]"), nil
}

// steps counts steps from call to call, those that are open, and those of these that counters would tell.
func steps(r *trace.Reader, c *trace.Code, told map[[2]int]bool, n []int) error {
	for class := range r.Classes() {
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			return err
		}
		vertex, err := tree.Vertices(k, c)
		if err != nil {
			return err
		}
		for stream := range k.Streams() {
			before := -1
			for t := range k.Sequence(stream) {
				v := vertex[t]
				if before >= 0 && v >= 0 {
					n[0]++
					if ok, open := told[[2]int{before, v}]; open {
						if n[1]++; ok {
							n[2]++
						}
					}
				}
				before = v
			}
		}
	}
	return nil
}

// counters looks for those of all loops at all calls.
func counters(r *trace.Reader, c *trace.Code, tails *tailcall.Finder) (map[int]*loop, error) {
	sites, err := r.Sites()
	if err != nil {
		return nil, err
	}
	loops := make(map[int]*loop)
	for _, x := range c.Contexts {
		frames := sites[x.Site].Frames()
		depth := 0 // frames further in
		for v := x.Vertex; v >= 0; v = c.Vertices[v].Parent {
			y := &c.Vertices[v]
			if y.Kind == trace.FunctionVertex && !y.Tail && y.Parent >= 0 {
				depth++
			}
			if y.Kind != trace.LoopVertex {
				continue
			}
			l := loops[v]
			if l == nil {
				l = &loop{make(map[int]bool), make(map[string]bool)}
				loops[v] = l
			}
			kind, ok := "none", false
			if depth < len(frames) {
				kind, ok = counter(tails, frames[depth], y.Offset)
			}
			l.at[x.Vertex] = ok
			l.kinds[kind] = true
		}
	}
	return loops, nil
}

// counter is that of the loop with a header around the call that returns to a site.
func counter(tails *tailcall.Finder, site trace.Site, header uint64) (string, bool) {
	m := tails.Image(site)
	if m == nil {
		return "none", false
	}
	f := m.Func(site.Offset + m.Bias - 1)
	if f == nil {
		return "none", false
	}
	b, err := f.Body()
	if err != nil {
		return "none", false
	}
	call := b.Call(site.Offset + m.Bias)
	if call == nil {
		return "none", false
	}
	for l := b.Graph.Loop[call.Block]; l != flow.None; l = b.Graph.Loops[l].Parent {
		if b.Blocks[b.Graph.Loops[l].Header].Lo-m.Bias != header {
			continue
		}
		if k, ok := f.Counter(l, call); ok {
			return k.String(), true
		}
	}
	return "none", false
}
