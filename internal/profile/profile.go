// Package profile shows what a program looks like and where its time goes: as
// nested loops with calls, call sites and the computation before each call, after
// Grosclaude et al., Tracing MPI binaries for knowledge discovery; or as a flat
// table of call sites over all ranks. Both work on the compressed form: their
// cost follows its size, not the number of calls.
//
// The package does not find out which line a call site is (package symbolise
// does), and does not judge what it shows.
package profile

import (
	"slices"

	"spoor/internal/symbolise"
	"spoor/internal/volume"
	"spoor/trace"
)

// Where tells what is known of the code at a call site.
type Where func(trace.Site) symbolise.Place

// stack returns the functions at a call site, innermost first, those of the
// frames around it included if they were recorded; and the same as text.
func (w Where) stack(s trace.Site) (frames []symbolise.Frame, text string) {
	place := w(s)
	frames, text = append([]symbolise.Frame{}, place.Frames...), place.String()
	for o := s.Outer; o != nil; o = o.Outer {
		place = w(*o)
		frames = append(frames, place.Frames...)
		text += " < " + place.String()
	}
	return frames, text
}

// A Profile is the shape of one rank of a class.
type Profile struct {
	Trace   string   `json:"trace"`
	Command string   `json:"command"`
	World   int      `json:"world"` // ranks of the run
	Class   int      `json:"class"`
	Ranks   []int    `json:"ranks"`  // of the class; they share the shape
	Rank    int      `json:"rank"`   // whose counts and bytes these are
	Varies  bool     `json:"varies"` // the others run loops another number of times
	Times   string   `json:"times"`  // mean: of the class; exact or bounded: the rank's own
	Sites   []Site   `json:"sites"`
	Threads []Thread `json:"threads"`
}

// A Thread is what one thread of the rank did. Times are means of each distinct
// call, those of the class or the rank's own, times how often the rank made it,
// in nanoseconds.
type Thread struct {
	Number int     `json:"thread"`
	Total  Sums    `json:"total"`
	Body   []*Node `json:"body"`
}

// Sums are what a part of the program comes to.
type Sums struct {
	Calls    uint64  `json:"calls"`
	Compute  float64 `json:"compute_ns"` // outside MPI, before the calls
	MPI      float64 `json:"mpi_ns"`     // inside the calls
	BytesOut uint64  `json:"bytes_out"`
	BytesIn  uint64  `json:"bytes_in"`
}

// Time is all of it.
func (s *Sums) Time() float64 { return s.Compute + s.MPI }

func (s *Sums) add(t *Sums) {
	s.Calls += t.Calls
	s.Compute += t.Compute
	s.MPI += t.MPI
	s.BytesOut += t.BytesOut
	s.BytesIn += t.BytesIn
}

func (s Sums) times(n uint64) Sums {
	return Sums{s.Calls * n, s.Compute * float64(n), s.MPI * float64(n), s.BytesOut * n, s.BytesIn * n}
}

// A Node is a call, a loop, a function that calls were made in if the trace has
// stacks, or a part that occurs in several places and has its body only where it
// first does. A call that follows itself is one node: Least to Most of them,
// Entered times.
type Node struct {
	Kind    string   `json:"kind"`            // call, loop, function or part
	Site    int      `json:"site,omitempty"`  // of a call: number in the list of sites, from 1
	Peers   string   `json:"peers,omitempty"` // of a call: whom it is about, as functions of the rank
	Lanes   []string `json:"lanes,omitempty"` // of a call: values that are others each time, as "tag 0..99 by 1"
	Part    int      `json:"part,omitempty"`  // number within the thread, from 1
	Entered uint64   `json:"entered"`         // how often the loop is begun, or the part reached
	Rounds  uint64   `json:"rounds"`          // all of them together
	Least   uint64   `json:"least"`           // rounds once it is begun
	Most    uint64   `json:"most"`
	Sums    Sums     `json:"total"`
	Body    []*Node  `json:"body,omitempty"`

	Function string `json:"function,omitempty"` // of a function; how often it was called is not known
	From     string `json:"from,omitempty"`     // the place in the function around it
}

// A Site is a function called from a place. Sites are numbered from 1 in the
// order in which the class's ranks first get there.
type Site struct {
	Function string            `json:"function"`
	Module   string            `json:"module"`
	Offset   uint64            `json:"offset"`
	Frames   []symbolise.Frame `json:"frames"`
	Text     string            `json:"-"`
	at       string            // Text without the function, if known
	path     []step
	deep     bool    // frames around it were recorded
	Values   []Value `json:"values,omitempty"` // attached to the calls of all ranks of the class
}

// Of makes the profile of a rank as one of its class, with the class's times.
func Of(r *trace.Reader, rank int, where Where) (*Profile, error) {
	return of(r, rank, where, false)
}

// OfRank makes the profile of a rank, with its own times if the trace has the
// time of each call, which takes as long as reading them all.
func OfRank(r *trace.Reader, rank int, where Where) (*Profile, error) {
	return of(r, rank, where, true)
}

func of(r *trace.Reader, rank int, where Where, own bool) (*Profile, error) {
	k, err := r.Rank(rank)
	if err != nil {
		return nil, err
	}
	x, err := r.Columns(k.Class())
	if err != nil {
		return nil, err
	}
	b := &builder{k: k, x: x, where: where, peers: make(map[int]string), p: &Profile{
		Trace: r.Name(), Command: r.Meta()[trace.MetaCommand], World: r.Ranks(), Class: k.Class(), Ranks: x.Ranks(), Rank: rank,
		Varies: x.Varies(), Times: "mean",
	}}
	if err := b.terminals(r); err != nil {
		return nil, err
	}
	for stream := range k.Streams() {
		if own && len(b.p.Ranks) > 1 { // a single rank has its own times anyway
			if err := b.ownTimes(stream); err != nil {
				return nil, err
			}
		}
		b.thread(stream)
	}
	return b.p, b.err
}

// ownTimes puts the times of a thread's calls in place of means, if the trace
// has the time of each call.
func (b *builder) ownTimes(stream int) error {
	type sum struct{ duration, gap, calls uint64 }
	var sums []sum
	worst := trace.ExactSample
	for c, err := range b.k.Timings(stream) {
		if err != nil {
			return err
		}
		if c.Timing.Duration.Kind < trace.BoundedSample {
			return nil
		}
		if sums == nil {
			sums = make([]sum, len(b.each))
		}
		worst = min(worst, c.Timing.Duration.Kind)
		x := &sums[c.Terminal]
		x.duration += c.Timing.Duration.Ns
		x.gap += c.Timing.Gap.Ns
		x.calls++
	}
	for t, x := range sums {
		if x.calls > 0 {
			b.each[t].Compute, b.each[t].MPI = float64(x.gap)/float64(x.calls), float64(x.duration)/float64(x.calls)
		}
	}
	if sums != nil {
		b.p.Times = worst.String()
	}
	return nil
}

// A builder turns folded rules into nodes with times.
type builder struct {
	k     *trace.Rank
	x     *trace.Columns
	where Where
	p     *Profile
	err   error

	label []int          // by terminal: number of the site
	each  []Sums         // by terminal: of one call
	parts map[int]int    // shape of a part → its number in the thread
	peers map[int]string // by terminal
	known map[*node]Sums
}

type siteKey struct {
	function string
	site     trace.Site
}

// terminals finds the sites, and what one call of each terminal comes to.
func (b *builder) terminals(r *trace.Reader) error {
	times, err := b.k.Times()
	if err != nil {
		return err
	}
	n := b.k.Terminals()
	b.label, b.each = make([]int, n), make([]Sums, n)
	known := make(map[siteKey]int)
	for t := range n {
		c, err := b.k.Terminal(t)
		if err != nil {
			return err
		}
		key := siteKey{c.Name(), c.Site}
		if known[key] == 0 {
			frames, text := b.where.stack(c.Site)
			b.p.Sites = append(b.p.Sites, Site{
				Function: c.Name(), Module: c.Site.Module, Offset: c.Site.Offset, Frames: frames, Text: text,
				path: b.where.path(c.Site), deep: c.Site.Outer != nil,
			})
			known[key] = len(b.p.Sites)
		}
		b.label[t] = known[key]
		b.each[t] = Sums{Calls: 1, Compute: times[t].Gap.Mean(), MPI: times[t].Duration.Mean()}
	}
	values := make(valueSums)
	if err := values.add(r, b.k.Class(), b.label); err != nil {
		return err
	}
	for i := range b.p.Sites {
		b.p.Sites[i].Values = values.of(i + 1)
	}
	amounts, err := volume.Of(r, b.k.Class())
	if err != nil {
		return err
	}
	counts, totals, err := amounts.Rank(b.k.Number())
	if err != nil {
		return err
	}
	for t := range n {
		if counts[t] > 0 {
			b.each[t].BytesOut, b.each[t].BytesIn = totals[t].Out/counts[t], totals[t].In/counts[t]
		}
	}
	return nil
}

func (b *builder) thread(stream int) {
	f := newFolder(b.label)
	t := Thread{Number: stream, Body: []*Node{}}
	b.parts, b.known = make(map[int]int), make(map[*node]Sums)
	for _, n := range f.fold(b.k.Structure(stream)) {
		t.Body = append(t.Body, b.node(item{n, 1}, &t.Total))
	}
	t.Body = b.p.grouped(t.Body)
	b.p.Threads = append(b.p.Threads, t)
}

// node makes the node of an item and adds what it comes to to a sum.
func (b *builder) node(x item, sum *Sums) *Node {
	n := x.n
	out := &Node{Entered: x.times, Rounds: x.times, Least: 1, Most: 1}
	switch {
	case n.kind == callKind:
		out.Kind = "call"
		b.call(out, n.terms, x.times)
		out.Entered, out.Rounds = out.Sums.Calls, out.Sums.Calls
	case n.isRun():
		out.Kind = "call"
		f := folder{shapes: map[string]int{}}
		run := f.asRun(n)
		out.Entered, out.Rounds, out.Least, out.Most = run.entered*x.times, run.rounds*x.times, run.least, run.most
		leaf := run.body[0]
		b.call(out, leaf.n.terms, leaf.times*x.times)
	case n.kind == loopKind:
		out.Kind = "loop"
		out.Entered, out.Rounds, out.Least, out.Most = n.entered*x.times, n.rounds*x.times, n.least, n.most
		for _, y := range n.body {
			out.Body = append(out.Body, b.node(item{y.n, y.times * x.times}, &out.Sums))
		}
	default:
		out.Kind = "part"
		out.Entered, out.Rounds = n.entered*x.times, n.entered*x.times
		number, again := b.parts[n.shape]
		if !again {
			number = len(b.parts) + 1
			b.parts[n.shape] = number
		}
		if out.Part = number; again {
			out.Sums = b.sums(n).times(x.times)
			break
		}
		for _, y := range n.body {
			out.Body = append(out.Body, b.node(item{y.n, y.times * x.times}, &out.Sums))
		}
	}
	sum.add(&out.Sums)
	return out
}

// call fills in a call that was made a number of times for each term.
func (b *builder) call(out *Node, list terms, times uint64) {
	out.Site = b.label[list[0].terminal]
	for _, t := range list {
		sum := b.each[t.terminal].times(t.count * times)
		out.Sums.add(&sum)
	}
	peers, err := b.peersOf(list)
	if err != nil {
		b.err = err
	}
	out.Peers = peers
	for _, t := range list {
		for _, text := range b.k.LaneTexts(t.terminal) {
			if !slices.Contains(out.Lanes, text) {
				out.Lanes = append(out.Lanes, text)
			}
		}
	}
}

// sums is what one occurrence of a node comes to, computed once.
func (b *builder) sums(n *node) Sums {
	total, known := b.known[n]
	if known {
		return total
	}
	for _, t := range n.terms {
		sum := b.each[t.terminal].times(t.count)
		total.add(&sum)
	}
	for _, x := range n.body {
		sum := b.sums(x.n).times(x.times)
		total.add(&sum)
	}
	b.known[n] = total
	return total
}
