package profile

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// Callers is the calls of all ranks as a tree of functions, from main down.
type Callers struct {
	Trace    string           `json:"trace"`
	Command  string           `json:"command"`
	Ranks    int              `json:"ranks"`
	SpanNs   int64            `json:"span_ns"`            // from first call to last, sum over the ranks
	Timeless bool             `json:"no_times,omitempty"` // the trace has no times
	Stacks   bool             `json:"stacks"`             // some call has more than one recorded frame
	Sites    []calltree.Site  `json:"sites"`
	Total    calltree.Sums    `json:"total"`
	Body     []*calltree.Node `json:"body"` // nodes are functions and calls only
}

// Callers builds the tree from the table's rows. Functions with equal names and equal callers are one node, from
// whichever line they are called.
func (f *CallSiteTable) Callers() *Callers {
	c := &Callers{Trace: f.Trace, Command: f.Command, Ranks: f.Ranks, SpanNs: f.SpanNs, Timeless: f.Timeless, Body: []*calltree.Node{}}
	leaves := make(map[*calltree.Node][]*calltree.Node)
	for i := range f.Rows {
		x := &f.Rows[i]
		sums := calltree.Sums{Calls: x.Calls, ComputeNs: float64(x.Gap.Sum), BytesOut: x.Bytes.Out, BytesIn: x.Bytes.In, Values: attachedOf(x.AttachedValues)}
		sums.AddTime(x.Function, float64(x.Duration.Sum))
		c.Total.Add(&sums)
		c.Stacks = c.Stacks || x.HasCallers
		body := &c.Body
		var in *calltree.Node
		for _, s := range x.Path {
			k := slices.IndexFunc(*body, func(n *calltree.Node) bool { return n.Kind == "function" && n.Function == s.Name })
			if k < 0 {
				k = len(*body)
				*body = append(*body, &calltree.Node{Kind: "function", Function: s.Name})
			}
			in = (*body)[k]
			in.Sums.Add(&sums)
			body = &in.Body
		}
		text := ""
		if len(x.Path) > 0 {
			text = x.Path[len(x.Path)-1].Place
		}
		k := slices.IndexFunc(leaves[in], func(n *calltree.Node) bool {
			s := &c.Sites[n.Site-1]
			return s.Function == x.FunctionSite.Function && s.Module == x.Module && s.Offset == x.Offset
		})
		if k >= 0 { // the same call, reached from another line of a caller
			n := leaves[in][k]
			n.Sums.Add(&sums)
			n.Rounds = n.Sums.Calls
			continue
		}
		c.Sites = append(c.Sites, calltree.Site{Function: x.FunctionSite.Function, Module: x.Module, Offset: x.Offset, Frames: x.Frames, Text: x.Place, ShortText: text, Path: x.Path})
		n := &calltree.Node{Kind: "call", Site: len(c.Sites), Entries: x.Calls, Rounds: x.Calls, LeastRounds: 1, MostRounds: 1, Sums: sums}
		leaves[in] = append(leaves[in], n)
		*body = append(*body, n)
	}
	return c
}

// callerSorts are the sort orders of the tree.
var callerSorts = map[string]func(n *calltree.Node) float64{
	"time": func(n *calltree.Node) float64 { return n.Sums.TotalNs() }, "mpi": func(n *calltree.Node) float64 { return n.Sums.InCallsNs() },
	"calls":   func(n *calltree.Node) float64 { return float64(n.Sums.Calls) },
	"bytes":   func(n *calltree.Node) float64 { return float64(n.Sums.BytesOut) + float64(n.Sums.BytesIn) },
	"compute": func(n *calltree.Node) float64 { return n.Sums.ComputeNs },
	"mean":    func(n *calltree.Node) float64 { return n.Sums.InCallsNs() / float64(max(1, n.Sums.Calls)) },
}

// CallerSortOrders are the names of the orders.
var CallerSortOrders = []string{"time", "mpi", "calls", "mean", "bytes", "compute"}

// SortBy orders each level of the tree, largest first.
func (c *Callers) SortBy(by string) { c.sort(c.Body, callerSorts[by]) }

func (c *Callers) sort(list []*calltree.Node, key func(*calltree.Node) float64) {
	slices.SortStableFunc(list, func(a, b *calltree.Node) int {
		return cmp.Or(cmp.Compare(key(b), key(a)), strings.Compare(c.name(a), c.name(b)))
	})
	for _, n := range list {
		c.sort(n.Body, key)
	}
}

// name is the function of a node, with the line of a call.
func (c *Callers) name(n *calltree.Node) string {
	if n.Site == 0 {
		return n.Function
	}
	s := &c.Sites[n.Site-1]
	return strings.TrimSpace(s.Function + " " + s.ShortText)
}

// Text writes the tree.
func (c *Callers) Text(w io.Writer, v View) {
	head := fmt.Sprintf("%s: %s, %s calls, %s computing, %s", c.Trace, show.FormatPlural(c.Ranks, "rank"), show.FormatGrouped(c.Total.Calls),
		show.FormatDuration(c.Total.ComputeNs), c.Total.InCallsText())
	p := &Profile{&calltree.Tree{Sites: c.Sites}}
	if c.Timeless {
		p.TimesKind = trace.NoSample.String()
		head = fmt.Sprintf("%s: %s, %s calls, %v", c.Trace, show.FormatPlural(c.Ranks, "rank"), show.FormatGrouped(c.Total.Calls), trace.ErrNoTimes)
	}
	p.lines(w, head, c.Body, c.Total.TotalNs(), v)
	if !c.Stacks {
		fmt.Fprintln(w, "\nCalls were recorded without their stacks; spoor run without --stack 0 has them.")
	}
}

// CSV writes a line for each call, with the functions that led to it separated
// by semicolons, times in nanoseconds.
func (c *Callers) CSV(w io.Writer) {
	type line struct {
		path, function, module string
		offset                 uint64
		calltree.Sums
	}
	lines := func(add func(line)) {
		var walk func(list []*calltree.Node, path []string)
		walk = func(list []*calltree.Node, path []string) {
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
	show.WriteCSV(w, lines, func(r *show.Row, x line) {
		r.Text("path", x.path).Text("function", x.function).Text("module", x.module).Value("offset", fmt.Sprintf("0x%x", x.offset)).Value("calls", x.Calls)
		if !c.Timeless {
			r.Value("time_ns", uint64(x.InCallsNs())).Value("compute_ns", uint64(x.ComputeNs))
		}
		r.Value("bytes_out", x.BytesOut).Value("bytes_in", x.BytesIn)
	})
}
