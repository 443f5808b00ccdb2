// Package rounds finds loops whose trip counts can be synthetic, drawn from a distribution, instead of being in the
// trace. It makes tracks without these trip counts.
//
// Invariants:
//
//  1. Ranks that exchange messages in a loop, or call a collective function together, MUST draw the same number each
//     time. So a loop is synthetic only if all members of a communicator are in it together. All of its messages must
//     be received in the same run of it, by position among all messages between the two ranks.
//  2. Nothing MUST be pending from one iteration to the next: no request, and no object that an iteration makes.
//  3. Whatever isn't certain MUST stay unchanged, and the reason is told.
//
// As iterations are self-contained, one iteration more or less doesn't change the ranks' state afterwards: a run that
// did not hang before does not hang with synthetic trip counts.
package rounds

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/papers/rsd"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// Options say which trip counts count as equal, and with which seed synthetic ones are drawn.
type Options struct {
	PrecisionPercent int // percent: trip counts within 100 - Precision percent of each other count as equal
	Seed             uint64
}

// A TripCountDrawer replaces trip counts of loops by synthetic ones while a trace is made from trace r.
type TripCountDrawer struct {
	r        *trace.Reader
	o        Options
	most     int
	ranks    []*rank
	families []*family
	drawing  *grammar.SyntheticTripCounts
	kept     map[string]uint64
	failed   error // why nothing could be made synthetic
}

// New returns a Drawer for a trace.
func New(r *trace.Reader, o Options) *TripCountDrawer {
	return &TripCountDrawer{r: r, o: o, most: 1 << 30}
}

// Limit sets how many families of loops get synthetic trip counts in the next trace, the most expensive first.
func (d *TripCountDrawer) Limit(families int) { d.most = families }

// Families returns the number of families of loops whose trip counts could be replaced in the last trace.
func (d *TripCountDrawer) Families() int { return len(d.families) }

// KeptReasons lists why the last trace keeps loops whose trip counts vary, with the number of runs of these loops.
func (d *TripCountDrawer) KeptReasons() []reduce.KeptReason {
	list := reduce.KeptReasons(d.kept)
	if d.failed != nil {
		list = append(list, reduce.KeptReason{Why: d.failed.Error()})
	}
	return list
}

// A run is an execution of a loop whose iterations have equal calls.
type run struct {
	body   *body
	first  uint64 // index of its first call
	rounds uint64
}

// A body is the calls of one iteration of a loop.
type body struct {
	node     *node
	terminal []int // the calls, as terminals of the track
	original []int // the calls, as terminals of the trace
	makes    bool  // its calls make requests
	number   int   // index in the rank's drawn; -1: it isn't there
}

// A node is a loop on a rank, with all iterations that make calls from the same call sites to the same partners.
type node struct {
	rank   *rank
	shape  string
	runs   uint64
	rounds []uint64
	why    string // why its trip counts can't be synthetic; "": they can, as far as is known
	ops    map[channel]*traffic
	group  *group
}

// keep stores why the trip counts of a loop can't be synthetic, unless a reason is stored already.
func (n *node) keep(why string) {
	n.why = cmp.Or(n.why, why)
}

// A rank is what the Drawer knows of one rank.
type rank struct {
	k      *trace.Rank
	t      *track.Track
	events []event // by terminal of the trace
	runs   []run
	bodies map[string]*body
	nodes  map[string]*node
	list   []*node
	drawn  []*body
	calls  int64 // number of calls with synthetic trip counts minus the number of recorded calls
	ns     int64 // estimated time in ns with synthetic trip counts minus the recorded time
}

// A group is loops of different ranks that communicate with each other, so that their trip counts have to be equal.
type group struct {
	nodes []*node
	key   int64
	of    *family
}

// A family is groups whose loops have equal call sites. Their synthetic trip counts are drawn from one distribution.
type family struct {
	groups []*group
	rounds stats.NumberDistribution // trip counts of all runs
	cost   float64
	number int
}

// RewriteTracks finds the loops whose trip counts can be synthetic, and rewrites the tracks of all ranks accordingly.
func (d *TripCountDrawer) RewriteTracks(list []*track.Track) error {
	d.ranks, d.families, d.kept, d.drawing = nil, nil, make(map[string]uint64), nil
	if d.o.PrecisionPercent >= 100 {
		return nil
	}
	var numbers []int
	for _, t := range list {
		numbers = append(numbers, t.Rank)
	}
	sites, err := rsd.SitesOf(d.r, numbers, 0)
	if err != nil {
		return err
	}
	comms, err := handles.TableOf(d.r).Comms()
	if err != nil {
		return err
	}
	p := &parser{r: d.r, sites: sites, comms: comms, chosen: make([]bool, sites.Loops()), wild: make(map[wildcard]bool), odd: make(map[int]string)}
	for _, t := range list {
		k, err := d.r.Rank(t.Rank)
		if err != nil {
			return err
		}
		if k.Streams() > 1 {
			d.kept["the rank has several threads"]++
			p.threads = true
			continue
		}
		x := &rank{k: k, t: t, bodies: make(map[string]*body), nodes: make(map[string]*node)}
		if err := p.events(x); err != nil {
			return err
		}
		d.ranks = append(d.ranks, x)
		if err := p.weigh(x); err != nil {
			return err
		}
	}
	if p.threads { // in which order the threads of a rank send their messages is not known
		d.ranks = nil
		return nil
	}
	p.choose()
	for _, x := range d.ranks {
		if err := p.parse(x); err != nil {
			return err
		}
	}
	d.match(p)
	d.group()
	d.bound()
	for _, x := range d.ranks {
		for _, n := range x.list {
			if n.group == nil && n.why != "" && uneven(n.rounds) {
				d.kept[n.why] += n.runs
			}
		}
	}
	if len(d.families) == 0 || d.most == 0 {
		return nil
	}
	d.drawing = &grammar.SyntheticTripCounts{Seed: d.o.Seed}
	for _, f := range d.families[:min(d.most, len(d.families))] {
		f.number = len(d.drawing.Families) + 1
		d.drawing.Families = append(d.drawing.Families, told(&f.rounds, d.o.PrecisionPercent))
	}
	for _, x := range d.ranks {
		x.rewrite(d.drawing)
	}
	span(d.ranks)
	for _, t := range list {
		t.Courses = nil // a course has a time for each recorded call, and some of these calls are gone
	}
	return nil
}

func uneven(list []uint64) bool { return len(list) > 0 && slices.Min(list) != slices.Max(list) }

// bound removes families with more runs than readers accept.
func (d *TripCountDrawer) bound() {
	most := uint64(grammar.MaxDrawsPerRank(len(d.ranks)))
	runs := make(map[*rank]uint64)
	d.families = slices.DeleteFunc(d.families, func(f *family) bool {
		many := make(map[*rank]uint64)
		for _, g := range f.groups {
			for _, n := range g.nodes {
				many[n.rank] += n.runs
			}
		}
		for x, n := range many {
			if runs[x]+n > most {
				f.keep("loops are run too often to draw for each run")
				return true
			}
		}
		for x, n := range many {
			runs[x] += n
		}
		return false
	})
}

// keep leaves a family out of the synthesis, and notes why.
func (f *family) keep(why string) {
	for _, g := range f.groups {
		for _, n := range g.nodes {
			n.keep(why)
			n.group = nil
		}
	}
}

// AddSyntheticLoops replaces the placeholders of synthetic trip counts in the merged classes in c. It stores which
// loops have them, and their distributions, as c.SyntheticLoops.
func (d *TripCountDrawer) AddSyntheticLoops(c *sections.Content) error {
	if d.drawing == nil {
		return nil
	}
	byRank := make(map[int]*rank)
	for _, x := range d.ranks {
		byRank[x.t.Rank] = x
	}
	d.drawing.Loops = make([][]grammar.SyntheticLoop, len(c.Classes))
	for i := range c.Classes {
		if err := d.class(i, &c.Classes[i], byRank); err != nil {
			d.failed = err
			return fmt.Errorf("%w: class %d: %w", reduce.ErrTripCountsNotSynthetic, i, err)
		}
	}
	c.SyntheticLoops = d.drawing
	return nil
}

// mostBins is the largest number of bins of a distribution in the trace.
const mostBins = 64

// told returns the distribution of a family's trip counts as the trace stores it. Trip counts that are equal at the
// precision share a bin. If there are still more than mostBins bins, neighbours are merged into bins of similar weight.
func told(rounds *stats.NumberDistribution, precision int) trace.SyntheticLoops {
	merged := reduce.MergeSizes(rounds.AllBins(), precision, 1)
	var list []stats.Bin
	for _, x := range rounds.AllBins() {
		for len(merged) > 0 && merged[0].High < x.Min {
			merged = merged[1:]
		}
		if len(merged) == 0 || x.Min < merged[0].Low {
			list = append(list, x)
		} else if m := merged[0]; x.Min == m.Low {
			list = append(list, stats.Bin{Min: m.Low, Max: m.High, Sum: float64(m.ReplacingValue) * float64(m.Count), Count: m.Count})
		}
	}
	return trace.SyntheticLoops{
		PrecisionPercent: precision, LoopRuns: rounds.Count,
		Distribution: trace.Distribution{Least: rounds.Min, Most: rounds.Max, Bins: stats.ModelBins(stats.JoinBins(list, mostBins))},
	}
}
