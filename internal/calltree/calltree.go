// Package calltree finds what a program looks like: one tree of the functions, loops and calls of a rank, with
// counts and times. Loops and functions are those of the machine code where that is known (package tree), else what
// the order of calls shows, after Grosclaude et al., Tracing MPI binaries for knowledge discovery. It works on the
// compressed form: its cost follows the size of that, not the number of calls.
//
// Whoever names a loop or a function of a run names a node of this tree.
package calltree

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// Locator returns the source location of the call site of an MPI function or, with "" for its name, of a frame around
// one.
type Locator func(function string, s trace.Site) symbolise.Place

// Places returns the places of a call site and of the recorded frames around it, innermost first.
func (w Locator) Places(function string, s trace.Site) []symbolise.Place {
	list := []symbolise.Place{w(function, s)}
	for o := s.Caller; o != nil; o = o.Caller {
		list = append(list, w("", *o))
	}
	between := func(p symbolise.Place) bool { return p.IsStub() }
	if slices.ContainsFunc(list, between) {
		if own := slices.DeleteFunc(slices.Clone(list), between); len(own) > 0 {
			list = own
		}
	}
	return symbolise.MergeInterpreted(list)
}

// StartFunctions names the start functions of a stream's threads; "" if unknown.
func (w Locator) StartFunctions(k *trace.Rank, stream int) string {
	var names []string
	for _, s := range k.StartFunctions(stream) {
		p := w("", s)
		names = append(names, p.ThreadFunction())
	}
	return strings.Join(names, ", ")
}

// Stack returns the functions at a call site, innermost first, including those of the recorded frames around it. text
// has the places of these frames.
func (w Locator) Stack(function string, s trace.Site) (frames []symbolise.Frame, text string) {
	frames = []symbolise.Frame{}
	for i, place := range w.Places(function, s) {
		frames = append(frames, place.Frames...)
		if i > 0 {
			text += " < "
		}
		text += place.String()
	}
	return frames, text
}

// A Tree is the functions, loops and calls of one rank, as a tree that all ranks of its class share.
type Tree struct {
	Trace           string   `json:"trace"`
	Command         string   `json:"command"`
	WorldRanks      int      `json:"world"` // ranks of the run
	Class           int      `json:"class"`
	ClassRanks      []int    `json:"ranks"`    // ranks of the class, which share the structure
	Rank            int      `json:"rank"`     // the rank whose counts and bytes the tree has
	TripCountsVary  bool     `json:"varies"`   // trip counts differ between the ranks
	TimesKind       string   `json:"times"`    // mean: of the class; exact or bounded: from each call's own; unknown: the trace has none
	TimedRanks      []int    `json:"times_of"` // ranks whose times are used
	Sites           []Site   `json:"sites"`
	Threads         []Thread `json:"threads"`
	FromMachineCode bool     `json:"code,omitempty"` // functions and loops are those of the program's machine code
	// ExceededStackLimit is the number of recorded frames of a stack, if some calls could not be placed because they have
	// more; else 0.
	ExceededStackLimit int `json:"stacks_cut_short,omitempty"`
	terminals          int
}

// Timeless reports whether the trace has no times.
func (p *Tree) Timeless() bool { return p.TimesKind == trace.NoSample.String() }

// A Thread is the calls of one thread of the rank. Each node has its times in ns, as means over the ranks. If the trace
// has no times of single calls, nodes with equal calls share their mean.
type Thread struct {
	Number        int     `json:"thread"`
	StartFunction string  `json:"made_for,omitempty"` // the thread's start functions; "": unknown
	Total         Sums    `json:"total"`
	Body          []*Node `json:"body"`
	// SharedMeanCalls is the number of calls in the structure that share a mean with equal calls elsewhere in it, as the
	// trace does not separate their times.
	SharedMeanCalls int `json:"shared_times,omitempty"`
	// NoPathTransitions is how often a call followed another although the machine code has no path between them, as
	// far as the code is known.
	NoPathTransitions uint64 `json:"lost_steps,omitempty"`
}

// A Node is a call, a loop, a function that calls were made in if the trace has stacks, or a part. A part occurs in
// several places and has its body at the first of them. A call that follows itself is one node: LeastRounds to
// MostRounds calls in a row, Entries times.
//
// With machine code, a function node is one call site of the function, counted as often as MPI was called in it. A
// recursive function has a recursion in it whose iterations are its calls. Calls at no known place are listed
// separately.
type Node struct {
	Kind          string   `json:"kind"`            // call, loop, function, part, recursion or elsewhere
	SiteNumber    int      `json:"site,omitempty"`  // of a call: number in Tree.Sites, from 1
	PeerFormulas  string   `json:"peers,omitempty"` // for a call: source, destination or root, as functions of the rank
	VaryingValues []string `json:"lanes,omitempty"` // for a call: values that change each time, such as "tag 0..99 by 1"
	PartNumber    int      `json:"part,omitempty"`  // of a part: number within the thread, from 1
	Entries       uint64   `json:"entered"`         // how often the loop is entered, or the part reached
	Rounds        uint64   `json:"rounds"`          // iterations of all entries
	LeastRounds   uint64   `json:"least"`           // least iterations of an entry
	MostRounds    uint64   `json:"most"`
	// RoundsStep is by how many iterations each entry exceeds the previous one. The first entry has LeastRounds, or
	// MostRounds if RoundsStep is negative. 0: there is no such step.
	RoundsStep int64 `json:"step,omitempty"`
	Sums       Sums  `json:"total"`
	// EntryComputeNs is, for a loop or a call that follows itself, the mean compute time before its first call. The
	// mean is over entries that do not also enter an outer loop. nil: unknown.
	EntryComputeNs *float64 `json:"entry_compute_ns,omitempty"`
	// LaterIterationComputeNs is the mean compute time before that first call in further iterations, if another loop begins
	// with the same call; else nil.
	LaterIterationComputeNs *float64 `json:"further_compute_ns,omitempty"`
	// Of a call or loop: compute time before its very first call and, of a call, the duration of that call, if far
	// longer than for later ones. EntryComputeNs then excludes it.
	FirstComputeNs *float64 `json:"first_compute_ns,omitempty"`
	FirstCallNs    *float64 `json:"first_mpi_ns,omitempty"`
	Body           []*Node  `json:"body,omitempty"`
	// Branches are nodes of the body on exclusive paths: an iteration reaches the nodes of at most one path.
	Branches  []code.Branch `json:"branches,omitempty"`
	AllArmsNs float64       `json:"-"` // for a node of kind way, an arm of a branch: ns of all arms of the branch

	// Function is a function's name. Only machine code shows how often it was called.
	Function    string `json:"function,omitempty"`
	CallerPlace string `json:"from,omitempty"` // of a function: place of its call in the calling function

	Place string `json:"place,omitempty"` // for a loop or call, from machine code: file and line, or offset
	// RoundsAreLowerBound says that, for a loop, iterations without MPI calls are possible and not counted. For a recursion
	// it says that some stacks were truncated in it.
	RoundsAreLowerBound bool `json:"at_least,omitempty"`
	// EntriesAreLowerBound says that a loop may have been entered more often, with fewer iterations each time.
	EntriesAreLowerBound bool `json:"unsure,omitempty"`
	// RoundsByProgram is the number of a loop's iterations over all entries, if a program compiled with the compiler pass
	// of papers/ counted them itself.
	RoundsByProgram *AttachedSum `json:"counted,omitempty"`

	Terminals []int  `json:"-"` // of a call: the terminals of the calls in it
	offset    uint64 // of a loop from machine code: offset in the module
}

// ShownBody returns the body for display: each arm of a branch becomes a node of kind way, which exists only here.
func (n *Node) ShownBody() []*Node { return n.shown(0, len(n.Body), n.Branches) }

func (n *Node) shown(from, to int, branches []code.Branch) (out []*Node) {
	for _, b := range branches {
		out = append(out, n.Body[from:b.Arms[0].FirstItem]...)
		first, branch, text := len(out), 0.0, "either"
		if len(b.Arms) == 1 {
			text = "if"
		}
		for _, w := range b.Arms {
			way := &Node{Kind: "way", Function: text, Rounds: w.TakenCount, Body: n.shown(w.FirstItem, w.EndItem, w.Branches)}
			if w.TakenCount > 0 {
				way.Function += fmt.Sprintf(" (%s of %s%s)", show.FormatGrouped(w.TakenCount), show.FormatPlural(n.Rounds, "iteration"), n.which(w.TakenIterations))
			}
			for _, x := range n.Body[w.FirstItem:w.EndItem] {
				way.Sums.Add(&x.Sums)
			}
			out = append(out, way)
			from, branch, text = w.EndItem, branch+way.Sums.TotalNs(), "or"
		}
		for _, way := range out[first:] {
			way.AllArmsNs = branch
		}
	}
	return append(out, n.Body[from:to]...)
}

// which renders in which iterations of loop n an arm of a branch was taken; "" if unknown.
func (n *Node) which(i *code.IterationPattern) string {
	switch {
	case i == nil:
		return ""
	case n.Entries > 1:
		return ", each time " + i.String()
	}
	return ": " + i.String()
}

// A Site is a function, of MPI or for files, called from one place in the code. Sites are numbered from 1 in the order
// in which the class's ranks first call them.
type Site struct {
	Function  string            `json:"function"`
	Module    string            `json:"module"`
	Offset    uint64            `json:"offset"`
	Frames    []symbolise.Frame `json:"frames"`
	Text      string            `json:"-"`
	ShortText string            `json:"-"` // Text without the function, for calls within function nodes
	Path      []CallPathStep    `json:"-"`
	HasStack  bool              `json:"-"`                // the frames around it were recorded
	Values    []AttachedSummary `json:"values,omitempty"` // attached to the calls of all ranks of the class
}

// Options determine how the tree is made.
type Options struct {
	Locate Locator
	Code   *trace.Code // take functions and loops from the machine code; nil: from the order of calls
	// OwnTimes selects the rank's own times if the trace has the time of each call; reading them takes time. Else times
	// are those of its class.
	OwnTimes      bool
	StructureOnly bool // omit times, peers, bytes and attached values
}

// LocateByOffset is a Locator that uses no debug information: it returns module and offset.
func LocateByOffset(_ string, s trace.Site) symbolise.Place {
	return symbolise.Place{Module: s.Module, Offset: s.Offset}
}

// Build makes the tree of a rank. If the trace has the time of each call, Build reads those of the rank, and of other
// ranks of its class, up to maxTimed calls in all.
func Build(r *trace.Reader, rank int, o Options) (*Tree, error) {
	if o.Locate == nil {
		o.Locate = LocateByOffset
	}
	k, err := r.Rank(rank)
	if err != nil {
		return nil, err
	}
	x, err := r.Columns(k.Class())
	if err != nil {
		return nil, err
	}
	b := &builder{k: k, x: x, Options: o, peers: make(map[int]string), p: &Tree{
		Trace: r.Name(), Command: r.Meta()[trace.MetaCommand], WorldRanks: r.Ranks(), Class: k.Class(), ClassRanks: x.Ranks(), Rank: rank,
		TripCountsVary: x.CountsVary(), TimesKind: "mean",
	}}
	if b.ranks, err = b.timed(r); err != nil {
		return nil, err
	}
	b.of = make([]string, k.Streams())
	for stream := range b.of {
		b.of[stream] = b.Locate.StartFunctions(k, stream)
	}
	if err := b.terminals(r); err != nil {
		return nil, err
	}
	if o.Code != nil {
		if b.placer, err = newPlacer(r, k, o.Code); err != nil {
			return nil, err
		}
		b.p.FromMachineCode = true
	}
	for stream := range k.Streams() {
		if err := b.times(stream); err != nil {
			return nil, err
		}
		if o.Code != nil {
			b.p.Threads = append(b.p.Threads, b.placed(stream))
			continue
		}
		b.thread(stream)
	}
	return b.p, b.err
}

// maxTimed limits how many calls' times are read for one tree.
const maxTimed = 1 << 22

// timed returns the ranks whose times are read, including the rank itself: all of the class, or fewer so that they
// have at most maxTimed calls. If the trace keeps only means, the rank itself is enough, as they are of the whole
// class.
func (b *builder) timed(r *trace.Reader) ([]*trace.Rank, error) {
	ranks, calls := []*trace.Rank{b.k}, b.k.TotalCallCount()
	if b.StructureOnly {
		return ranks, nil
	}
	if kept, err := b.k.HasTimeOfEachCall(); err != nil || !kept {
		b.p.TimedRanks = b.p.ClassRanks
		return ranks, err
	}
	for _, n := range b.p.ClassRanks {
		if b.OwnTimes || calls > maxTimed {
			break
		}
		if n == b.k.Number() {
			continue
		}
		k, err := r.Rank(n)
		if err != nil {
			return nil, err
		}
		if calls += k.TotalCallCount(); calls <= maxTimed {
			ranks = append(ranks, k)
		}
	}
	for _, k := range ranks {
		b.p.TimedRanks = append(b.p.TimedRanks, k.Number())
	}
	slices.Sort(b.p.TimedRanks)
	return ranks, nil
}

// times determines the time of a call at each leaf of a thread.
func (b *builder) times(stream int) error {
	b.leaves = b.k.Leaves(stream)
	b.label, b.each, b.entry = make([]int, b.leaves.Len()), make([]Sums, b.leaves.Len()), make([]float64, b.leaves.Len())
	b.enters, b.calls = make([][]entries, b.leaves.Len()), b.leaves.Counts(b.k)
	b.first, b.begins = make([]firstCall, b.leaves.Len()), b.leaves.FirstPositions(b.k)
	b.shared, b.total = 0, 0
	if b.StructureOnly {
		for leaf := range b.each {
			t := b.leaves.Terminal(leaf)
			b.label[leaf], b.each[leaf] = b.site[t], b.amount[t]
		}
		return nil
	}
	var sums []trace.LeafTimes
	for _, k := range b.ranks {
		times, kind, err := b.leaves.Times(k)
		if err != nil {
			return err
		}
		b.p.TimesKind = kind.String()
		if sums == nil {
			sums = times
			continue
		}
		for leaf := range sums {
			sums[leaf].Add(&times[leaf])
		}
	}
	attached, err := b.attached()
	if err != nil {
		return err
	}
	for leaf := range b.each {
		t := b.leaves.Terminal(leaf)
		b.label[leaf], b.each[leaf] = b.site[t], b.amount[t]
		if attached != nil {
			b.each[leaf].Values = attached[leaf]
		}
		if x := &sums[leaf]; x.Calls > 0 {
			b.total += (x.SumGapNs + x.SumDurationNs) / float64(len(b.ranks))
			if x.IsShareOfSum {
				b.shared++
			}
			b.each[leaf].ComputeNs = x.SumGapNs / float64(x.Calls)
			c := b.k.CallWithoutParams(t)
			b.each[leaf].AddTime(c.Func, x.SumDurationNs/float64(x.Calls))
			b.entry[leaf] = b.each[leaf].ComputeNs
			b.first[leaf].compute, b.first[leaf].mpi = x.MeanFirstCallNs(uint64(len(b.ranks)))
			if x.Entries > 0 {
				later := *x
				if later.RemoveSlowFirst(); later.Entries == 0 {
					later = *x
				}
				b.entry[leaf] = later.SumEntryGapNs / float64(later.Entries)
				for loops := range len(x.OuterEntries) + 1 {
					e := x.EnteringAtLeast(loops + 1)
					further := math.NaN()
					if len(x.OuterEntries) > 0 {
						further = later.MeanGapEntering(loops)
					}
					b.enters[leaf] = append(b.enters[leaf], entries{float64(e.Calls) / float64(x.Calls), later.MeanGapEntering(loops + 1), further})
				}
			} else if b.p.TimesKind == trace.MeanSample.String() || b.p.Timeless() {
				b.entry[leaf] = math.NaN()
			}
		}
	}
	return nil
}

// A builder makes the nodes of the tree, with times, from the structure that a nodeShaper or the machine code gives.
type builder struct {
	k *trace.Rank
	x *trace.Columns
	Options
	p   *Tree
	err error

	site   []int         // by terminal: number of its site, from 1
	amount []Sums        // by terminal: sums of one call, without times
	polls  []bool        // by number of a site minus 1: its function tests or probes
	ranks  []*trace.Rank // ranks whose times are used

	leaves *trace.Leaves // of the current thread
	shared int           // number of leaves that share their times with others
	label  []int         // by leaf: number of its site, from 1
	each   []Sums        // by leaf: sums of one call
	entry  []float64     // by leaf: mean compute time, in ns, before calls that enter a loop; NaN: unknown
	total  float64       // ns in the thread's calls and before them, mean over the ranks
	first  []firstCall   // by leaf: the times of its first call
	begins []uint64      // by leaf: index of its first call
	calls  []uint64      // by leaf: number of calls
	enters [][]entries   // by leaf: the loops that begin with it, innermost first, as far as known

	parts  map[int]int    // by shape of a part: its number within the thread
	shapes map[string]int // by encoded kind and parts of a node: number of that shape, for all recursive functions of a thread
	peers  map[int]string // by terminal: text of the ranks that its calls name
	known  map[*node]Sums

	placer *placer  // nil: loops are from the order of calls
	of     []string // by thread: its start functions
}

// terminals computes the sites, and the sums of one call of each terminal.
func (b *builder) terminals(r *trace.Reader) error {
	n := b.k.Terminals()
	b.site, b.amount = make([]int, n), make([]Sums, n)
	b.p.terminals = n
	known := make(map[trace.FunctionSite]int)
	for t := range n {
		c := b.k.CallWithoutParams(t)
		key := c.FunctionSite()
		if known[key] == 0 {
			frames, text := b.Locate.Stack(c.Name(), c.Site)
			b.p.Sites = append(b.p.Sites, Site{
				Function: c.Name(), Module: c.Site.Module, Offset: c.Site.Offset, Frames: frames, Text: text,
				Path: b.Locate.Path(c.Name(), c.Site), HasStack: c.Site.Caller != nil,
			})
			known[key] = len(b.p.Sites)
			def, _ := mpi.CallByID(c.Func.ID)
			b.polls = append(b.polls, def.Has(mpi.AttrPolls))
		}
		b.site[t], b.amount[t].Calls = known[key], 1
	}
	if b.StructureOnly {
		return nil
	}
	values := make(AttachedSumsBySite)
	if err := values.Add(r, b.k.Class(), b.site); err != nil {
		return err
	}
	for i := range b.p.Sites {
		b.p.Sites[i].Values = values.BySite(i + 1)
	}
	amounts, err := ops.NewClassAmounts(r, b.k.Class())
	if err != nil {
		return err
	}
	counts, totals, err := amounts.RankAmounts(b.k.Number())
	if err != nil {
		return err
	}
	for t := range n {
		if counts[t] > 0 {
			b.amount[t].BytesOut, b.amount[t].BytesIn = totals[t].BytesOut/counts[t], totals[t].BytesIn/counts[t]
		}
	}
	return nil
}

func (b *builder) isPoll(site int) bool { return b.polls[site-1] }

func (b *builder) thread(stream int) {
	f := newFolder(b.label, b.isPoll)
	t := Thread{Number: stream, StartFunction: b.of[stream], Body: []*Node{}, SharedMeanCalls: b.shared}
	b.parts, b.known = make(map[int]int), make(map[*node]Sums)
	for _, n := range f.fold(b.leaves.Structure()) {
		t.Body = append(t.Body, b.node(item{n, 1}, &t.Total))
	}
	t.Body = b.p.grouped(t.Body)
	b.p.Threads = append(b.p.Threads, t)
}

// node converts an item to a node and adds the item's sums to sum.
func (b *builder) node(x item, sum *Sums) *Node {
	n := x.n
	out := &Node{Entries: x.times, Rounds: x.times, LeastRounds: 1, MostRounds: 1}
	switch {
	case n.kind == callKind:
		out.Kind = "call"
		b.call(out, n.terms, x.times)
		out.Entries, out.Rounds = out.Sums.Calls, out.Sums.Calls
	case n.isRun():
		out.Kind = "call"
		f := nodeShaper{shapes: map[string]int{}}
		run := f.asRun(n)
		out.Entries, out.Rounds, out.LeastRounds, out.MostRounds = run.entered*x.times, run.rounds*x.times, run.least, run.most
		out.RoundsStep = run.trips.each()
		leaf := run.body[0]
		b.call(out, leaf.n.terms, leaf.times*x.times)
		out.EntryComputeNs, out.LaterIterationComputeNs = b.entered(run)
		b.firstOf(out, run.lead, x.times, out.EntryComputeNs)
	case n.kind == loopKind:
		out.Kind = "loop"
		out.EntryComputeNs, out.LaterIterationComputeNs = b.entered(n)
		b.firstOf(out, n.lead, x.times, out.EntryComputeNs)
		out.Entries, out.Rounds, out.LeastRounds, out.MostRounds, out.RoundsStep = n.entered*x.times, n.rounds*x.times, n.least, n.most, n.trips.each()
		b.nodes(out, n.body, x.times)
		out.sayOnce()
	default:
		out.Kind = "part"
		out.Entries, out.Rounds = n.entered*x.times, n.entered*x.times
		number, again := b.parts[n.shape]
		if !again {
			number = len(b.parts) + 1
			b.parts[n.shape] = number
		}
		if out.PartNumber = number; again {
			out.Sums = b.sums(n).Scaled(x.times)
			break
		}
		b.nodes(out, n.body, x.times)
	}
	sum.Add(&out.Sums)
	return out
}

// nodes adds the items of a body to a node that occurs a number of times.
func (b *builder) nodes(out *Node, body []item, times uint64) {
	for _, x := range body {
		if !x.n.isEntry() {
			out.Body = append(out.Body, b.node(item{x.n, x.times * times}, &out.Sums))
		}
	}
}

// entries is the calls at a leaf that enter a loop.
type entries struct {
	part    float64 // share of all calls at the leaf
	gap     float64 // mean ns of compute time before calls that enter this loop, but no outer one
	further float64 // mean ns of compute time before calls that begin another iteration; NaN: not known separately
}

// entered returns the mean compute time before the entries of a loop, and before its further iterations; nil if
// unknown.
func (b *builder) entered(n *node) (entry, further *float64) {
	sum, more, calls := 0.0, 0.0, n.lead.sum()
	if calls == 0 || n.most < 2 {
		return nil, nil
	}
	for _, t := range n.lead {
		entry, again := b.entry[t.leaf], math.NaN()
		for _, e := range b.enters[t.leaf] {
			if math.Abs(e.part*float64(b.calls[t.leaf])-float64(t.count)) < 0.5 {
				entry, again = e.gap, e.further
			}
		}
		sum, more = sum+entry*float64(t.count), more+again*float64(t.count)
	}
	if sum /= float64(calls); math.IsNaN(sum) {
		return nil, nil
	}
	if more /= float64(calls); math.IsNaN(more) {
		return &sum, nil
	}
	return &sum, &more
}

// call sets the fields of a call node. list is the calls in one occurrence of the node; times is the number of
// occurrences.
func (b *builder) call(out *Node, list terms, times uint64) {
	out.SiteNumber = b.label[list[0].leaf]
	for _, t := range list {
		out.Terminals = append(out.Terminals, b.leaves.Terminal(t.leaf))
		sum := b.each[t.leaf].Scaled(t.count * times)
		out.Sums.Add(&sum)
	}
	if b.StructureOnly {
		return
	}
	b.firstOf(out, list, times, nil)
	peers, err := b.peersOf(list)
	if err != nil {
		b.err = err
	}
	out.PeerFormulas = peers
	for _, t := range list {
		for _, text := range b.k.LaneTexts(b.leaves.Terminal(t.leaf)) {
			if !slices.Contains(out.VaryingValues, text) {
				out.VaryingValues = append(out.VaryingValues, text)
			}
		}
	}
}
