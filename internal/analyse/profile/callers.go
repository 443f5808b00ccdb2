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

// CallerTree is the calls of all ranks as a tree: the functions that lead to MPI calls, from main down, with sums of
// times.
type CallerTree struct {
	Trace       string           `json:"trace"`
	Command     string           `json:"command"`
	Ranks       int              `json:"ranks"`
	TotalSpanNs int64            `json:"span_ns"`            // sum over the ranks of the time from first call to last
	Timeless    bool             `json:"no_times,omitempty"` // the trace has no times
	HasStacks   bool             `json:"stacks"`             // some calls were recorded with a call stack
	Sites       []calltree.Site  `json:"sites"`
	Total       calltree.Sums    `json:"total"`
	Body        []*calltree.Node `json:"body"` // outermost functions and calls; the tree has no loops
}

// CallerTree builds the tree of functions from the table's rows. Functions with the same name and the same callers are one
// node, even if they are called from different lines.
func (f *CallSiteTable) CallerTree() *CallerTree {
	c := &CallerTree{Trace: f.Trace, Command: f.Command, Ranks: f.Ranks, TotalSpanNs: f.TotalSpanNs, Timeless: f.Timeless, Body: []*calltree.Node{}}
	leaves := make(map[*calltree.Node][]*calltree.Node)
	for i := range f.Rows {
		x := &f.Rows[i]
		sums := calltree.Sums{Calls: x.Calls, ComputeNs: float64(x.Gap.Sum), BytesOut: x.Bytes.BytesOut, BytesIn: x.Bytes.BytesIn, Values: attachedOf(x.AttachedValues)}
		sums.AddTime(x.Function, float64(x.Duration.Sum))
		c.Total.Add(&sums)
		c.HasStacks = c.HasStacks || x.HasCallers
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
			s := &c.Sites[n.SiteNumber-1]
			return s.Function == x.FunctionSite.Function && s.Module == x.Module && s.Offset == x.Offset
		})
		if k >= 0 { // the node exists: an earlier row is the same call, with another line in one of its callers
			n := leaves[in][k]
			n.Sums.Add(&sums)
			n.Rounds = n.Sums.Calls
			continue
		}
		c.Sites = append(c.Sites, calltree.Site{Function: x.FunctionSite.Function, Module: x.Module, Offset: x.Offset, Frames: x.Frames, Text: x.Place, ShortText: text, Path: x.Path})
		n := &calltree.Node{Kind: "call", SiteNumber: len(c.Sites), Entries: x.Calls, Rounds: x.Calls, LeastRounds: 1, MostRounds: 1, Sums: sums}
		leaves[in] = append(leaves[in], n)
		*body = append(*body, n)
	}
	return c
}

// callerSorts maps names of sort orders to the number by which nodes are sorted.
var callerSorts = map[string]func(n *calltree.Node) float64{
	"time": func(n *calltree.Node) float64 { return n.Sums.TotalNs() }, "mpi": func(n *calltree.Node) float64 { return n.Sums.InCallsNs() },
	"calls":   func(n *calltree.Node) float64 { return float64(n.Sums.Calls) },
	"bytes":   func(n *calltree.Node) float64 { return float64(n.Sums.BytesOut) + float64(n.Sums.BytesIn) },
	"compute": func(n *calltree.Node) float64 { return n.Sums.ComputeNs },
	"mean":    func(n *calltree.Node) float64 { return n.Sums.InCallsNs() / float64(max(1, n.Sums.Calls)) },
}

// CallerSortKeys are the names of the orders in which SortBy can sort.
var CallerSortKeys = []string{"time", "mpi", "calls", "mean", "bytes", "compute"}

// SortBy sorts the nodes in each node's body by a number (e.g. "time"), largest first.
func (c *CallerTree) SortBy(by string) { c.sort(c.Body, callerSorts[by]) }

func (c *CallerTree) sort(list []*calltree.Node, key func(*calltree.Node) float64) {
	slices.SortStableFunc(list, func(a, b *calltree.Node) int {
		return cmp.Or(cmp.Compare(key(b), key(a)), strings.Compare(c.name(a), c.name(b)))
	})
	for _, n := range list {
		c.sort(n.Body, key)
	}
}

// name returns a node's function; if the node is a call, with its line.
func (c *CallerTree) name(n *calltree.Node) string {
	if n.SiteNumber == 0 {
		return n.Function
	}
	s := &c.Sites[n.SiteNumber-1]
	return strings.TrimSpace(s.Function + " " + s.ShortText)
}

// Text writes the tree as text, with layout v.
func (c *CallerTree) Text(w io.Writer, v View) {
	head := fmt.Sprintf("%s: %s, %s calls, %s computing, %s", c.Trace, show.FormatPlural(c.Ranks, "rank"), show.FormatGrouped(c.Total.Calls),
		show.FormatDuration(c.Total.ComputeNs), c.Total.InCallsText())
	p := &Profile{&calltree.Tree{Sites: c.Sites}}
	if c.Timeless {
		p.TimesKind = trace.NoSample.String()
		head = fmt.Sprintf("%s: %s, %s calls, %v", c.Trace, show.FormatPlural(c.Ranks, "rank"), show.FormatGrouped(c.Total.Calls), trace.ErrNoTimes)
	}
	p.lines(w, head, c.Body, c.Total.TotalNs(), v)
	if !c.HasStacks {
		fmt.Fprintln(w, "\nCalls were recorded without their stacks; spoor run without --stack 0 has them.")
	}
}

// CSV writes a row for each call of the tree. The column "path" has the functions that led to it, separated by
// semicolons. Times are in ns.
func (c *CallerTree) CSV(w io.Writer) {
	type line struct {
		path, function, module string
		offset                 uint64
		calltree.Sums
	}
	lines := func(add func(line)) {
		var walk func(list []*calltree.Node, path []string)
		walk = func(list []*calltree.Node, path []string) {
			for _, n := range list {
				if n.SiteNumber == 0 {
					walk(n.Body, append(path[:len(path):len(path)], n.Function))
					continue
				}
				s := &c.Sites[n.SiteNumber-1]
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
