// Package efficiency measures how evenly the work is spread over the ranks of a run: how much of the time they
// compute, in which calls they wait, and which ranks the others wait for.
//
// The accuracy depends on the times that the trace keeps. If each call has its own time, every total is exact. If
// calls of a class share a summary, the mean is exact, and deviation and extremes have an error of 2 % of their
// distance from the mean. Totals of ranks have an error of a percent, in all and at the most expensive call sites. At
// other call sites, ranks are bounded by the extremes, or count with their class's mean. Each distribution reports
// its accuracy. Histograms, and times of single calls, also show the distribution over calls.
//
// The efficiencies are defined by the POP project's methodology, for MPI processes. With the useful time u of each
// rank (outside of MPI) and the runtime T, load balance is mean(u)/max(u), communication efficiency max(u)/T, and
// parallel efficiency their product, mean(u)/T. Useful time is the sum of the gaps before calls, never a difference
// of other numbers. In a rank with several threads, each thread is a stream from its first call to its last. The rank
// is useful for the share of its run time for which its threads together are. Bounded values are marked as such.
//
// The package finds where time is lost (Findings), not why a rank is slow.
package efficiency

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/trace"

	"github.com/spoor-hpc/spoor/mpi"

	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// A Report says how efficient a run was, and at which call sites ranks lost time.
type Report struct {
	Ranks        int    `json:"ranks"`             // number of ranks with a track
	MissingRanks int    `json:"missing,omitempty"` // number of ranks without a track
	TimesKind    string `json:"timing"`            // how times of calls are known: exact, bounded, by class, none

	Efficiency   Efficiency           `json:"efficiency"`
	UsefulTime   RankTimeDistribution `json:"useful_time"` // each rank's time outside MPI
	MPITime      RankTimeDistribution `json:"mpi_time"`    // each rank's time in MPI
	InitTime     RankTimeDistribution `json:"init"`        // each rank's time in MPI_Init; zero with Options.ExcludeInitFinalize
	FinalizeTime RankTimeDistribution `json:"finalize"`    // each rank's time in MPI_Finalize; zero with Options.ExcludeInitFinalize
	MaxThreads   int                  `json:"threads"`     // largest number of threads of a rank
	ThreadRunNs  float64              `json:"thread_ns"`   // sum of all threads' times from first to last call
	Calls        []CallSite           `json:"calls"`       // in falling order of CostNs

	spent *collector
}

// FinalizeKnown reports whether the trace has the duration of MPI_Finalize. A recorded trace doesn't: it was written
// inside of MPI_Finalize, which has duration 0 in it. An imported trace may have it.
func (r *Report) FinalizeKnown() bool { return r.FinalizeTime.MeanNs*100 > r.InitTime.MeanNs }

// Efficiency has the topmost of the efficiencies that the POP project defines; see the package.
type Efficiency struct {
	Parallel       BoundedShare `json:"parallel"`
	LoadBalance    BoundedShare `json:"load_balance"`
	Communication  BoundedShare `json:"communication"`
	RuntimeNs      int64        `json:"runtime_ns"`
	RuntimeErrorNs int64        `json:"runtime_within_ns"` // largest error of RuntimeNs
}

// A CallSite is the calls of a function from one place, on all ranks that made them. If ranks make the same collective
// call from different places, these are one CallSite.
type CallSite struct {
	Function          string               `json:"function"`
	Site              trace.Site           `json:"-"`
	Place             string               `json:"site"`
	OtherPlaces       []string             `json:"other_sites,omitempty"` // further places of the same collective call
	IsCollective      bool                 `json:"collective"`
	CompletesRequests bool                 `json:"completion"`      // the calls wait for requests or a message: MPI_Wait
	IsLocal           bool                 `json:"alone,omitempty"` // no other rank takes part in the calls
	Count             uint64               `json:"calls"`
	AddressCount      int                  `json:"addresses"` // number of addresses; several if the compiler copied the call
	RankDurations     RankTimeDistribution `json:"duration"`  // sum of the durations of a rank's calls
	RankGaps          RankTimeDistribution `json:"gap"`       // sum of the gaps before a rank's calls
	EstimatedWaitNs   float64              `json:"cost_ns"`   // time that ranks waited in the calls, estimated; see cost

	// CallDurations and CallGaps are the distributions of the durations of single calls, and of the gaps before them;
	// nil if the trace has neither histograms nor times of single calls.
	CallDurations *CallTimeDistribution `json:"single_duration,omitempty"`
	CallGaps      *CallTimeDistribution `json:"single_gap,omitempty"`
}

// ExcessOverMinNs estimates how long ranks waited in the calls, in sum. The rank that spent least time in them arrived last and
// didn't wait; ExcessOverMinNs is how much longer all others were in them.
func (c *CallSite) ExcessOverMinNs() float64 {
	return max(0, c.RankDurations.MeanNs-float64(c.RankDurations.Min.Ns)) * float64(c.RankDurations.Ranks)
}

// cost estimates how long ranks waited in the calls, in ns. For calls that wait for requests or messages, it is their
// whole time, as the late partner is in other calls. For all others, it is ExcessOverMinNs.
func (c *CallSite) cost() float64 {
	if c.CompletesRequests && !c.IsLocal {
		return c.RankDurations.MeanNs * float64(c.RankDurations.Ranks)
	}
	return c.ExcessOverMinNs()
}

// Options say which calls are analysed, and how call sites are named.
type Options struct {
	AllFunctions        bool                    // calls of all functions, not only of functions in which ranks wait
	ExcludeInitFinalize bool                    // times and efficiencies leave out MPI_Init and MPI_Finalize
	NameSite            func(trace.Site) string // names a call site; nil: by module and offset
	SiteNaming          *sites.Naming           // decides which addresses are one call site; nil: each address is one
	Progress            func(done, ranks int)   // called with numbers of ranks, or of classes, that are done; may be nil
}

// Analyse computes a trace's efficiencies, and the times of ranks at call sites.
func Analyse(r *trace.Reader, o Options) (*Report, error) {
	if o.NameSite == nil {
		o.NameSite = func(s trace.Site) string { return s.String() }
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	rep := &Report{Calls: []CallSite{}}
	hosts := func(rank int) string { return procs.At(rank).Host }
	u := &collector{of: make(map[int]*rankSpent)}
	for rank, p := range procs.All() {
		if p.EndState == "" {
			rep.MissingRanks++
			continue
		}
		rep.Ranks++
		u.list = append(u.list, &rankSpent{
			rank: rank, useful: known(max(0, float64(p.FirstThreadNs-p.AllThreadsMPINs))), mpi: known(float64(p.AllThreadsMPINs)),
			runtime: float64(p.FirstThreadNs), off: float64(trace.ProcessRoundingErrorNs(p.FirstThreadNs, r.Ranks())), threads: p.Threads,
		})
		u.of[rank] = u.list[len(u.list)-1]
	}
	rep.spent = u
	kind, err := r.TimeKind()
	if err != nil {
		return nil, err
	}
	rep.TimesKind = kind.String()
	switch {
	case kind >= trace.BoundedSample:
		err = rep.each(r, o, hosts)
	case kind == trace.NoSample:
	default:
		rep.TimesKind = "by class"
		err = rep.classes(r, o, hosts)
	}
	if err != nil {
		return nil, err
	}
	rep.whole(o, hosts)
	slices.SortStableFunc(rep.Calls, func(a, b CallSite) int {
		return cmp.Or(cmp.Compare(b.EstimatedWaitNs, a.EstimatedWaitNs), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Site.Offset, b.Site.Offset))
	})
	return rep, nil
}

// siteOf returns a call's function and call site without callers, as totals are kept by call site, not by call stack.
func (o *Options) siteOf(c *trace.Call) trace.FunctionSite {
	return o.SiteNaming.Representative(c.FunctionSite().WithoutCallers())
}

// An entry collects the times of the calls of one CallSite.
type entry struct {
	collective     bool
	completion     bool
	alone          bool // no other rank takes part in any of the calls looked at so far
	count          uint64
	duration, gaps []rankGroup

	single, singleGap *hist.Hist // histograms of single calls' durations and gaps; nil: none
}

// entries has the entry of each CallSite, in the order in which they were first seen.
type entries struct {
	*meetings
	order []trace.FunctionSite
	known map[trace.FunctionSite]*entry
}

func placesOf(r *trace.Reader, o *Options) (*entries, error) {
	m, err := meetingsOf(r, o)
	return &entries{meetings: m, known: make(map[trace.FunctionSite]*entry)}, err
}

func (p *entries) at(c *trace.Call) *entry {
	key := p.one(c)
	return once.GetOrMake(p.known, key, func() *entry {
		p.order = append(p.order, key)
		return &entry{collective: c.Func.Has(trace.AttrCollective), completion: blocks(c.Func), alone: true}
	})
}

func (r *Report) finish(p *entries, o Options, hosts func(int) string) {
	for _, key := range p.order {
		e := p.known[key]
		if e.alone && !o.AllFunctions {
			continue
		}
		c := CallSite{
			Function: key.Function, Site: key.Site, Place: o.NameSite(key.Site),
			IsCollective: e.collective, CompletesRequests: e.completion, IsLocal: e.alone, Count: e.count, AddressCount: o.SiteNaming.CountAddresses(key),
		}
		for _, other := range p.others(key) {
			c.OtherPlaces = append(c.OtherPlaces, o.NameSite(other.Site))
		}
		c.RankDurations, c.RankGaps = combine(e.duration, hosts), combine(e.gaps, hosts)
		c.EstimatedWaitNs = c.cost()
		c.CallDurations, c.CallGaps = sampleOf(e.single, hosts), sampleOf(e.singleGap, hosts)
		r.Calls = append(r.Calls, c)
	}
}

// wanted reports whether calls of a function are analysed: if ranks wait for others in it, or with AllFunctions.
func (o *Options) wanted(f *trace.Function) bool {
	return o.AllFunctions || blocks(f) || f.Has(trace.AttrCollective) && !f.Has(trace.AttrNonblocking) && !f.Has(trace.AttrPersistent)
}

// blocks reports whether a function waits until another rank has sent, received or done something for its caller.
func blocks(f *trace.Function) bool {
	def, _ := mpi.CallByID(f.ID)
	return meaning.WaitBehaviourOf(def).Blocks
}

// each analyses a trace that has a time for each call: it sums these for each rank.
func (r *Report) each(t *trace.Reader, o Options, hosts func(int) string) error {
	p, err := placesOf(t, &o)
	if err != nil {
		return err
	}
	lone := make(map[int][]bool) // by class, by terminal: whether no other rank takes part in the call
	for k, err := range t.RanksWithTrack() {
		if err != nil {
			return err
		}
		rank := k.Number()
		if lone[k.Class()] == nil {
			if lone[k.Class()], err = aloneIn(t, t.Members(k.Class())); err != nil {
				return err
			}
		}
		type total struct {
			duration, gap     float64
			count             uint64
			single, singleGap *hist.Hist
		}
		totals, wanted := make([]total, k.Terminals()), make([]bool, k.Terminals())
		for terminal := range wanted {
			c := k.CallWithoutParams(terminal)
			wanted[terminal] = o.wanted(c.Func)
		}
		whole := r.spent.own(k)
		for stream := range k.Streams() {
			for c, err := range k.TimedTerminals(stream) {
				if err != nil {
					return fmt.Errorf("rank %d: times: %w", rank, err)
				}
				whole.add(c.Terminal, &c.Timing)
				x := &totals[c.Terminal]
				if !wanted[c.Terminal] {
					continue
				}
				if x.count == 0 {
					x.single, x.singleGap = hist.New(ownBins, int32(rank)), hist.New(ownBins, int32(rank))
				}
				x.single.Add(c.Timing.Duration.Ns)
				x.singleGap.Add(c.Timing.Gap.Ns)
				x.duration += float64(c.Timing.Duration.Ns)
				x.gap += float64(c.Timing.Gap.Ns)
				x.count++
			}
		}
		own, err := k.Totals()
		if err != nil {
			return err
		}
		whole.settle(own)
		sums := make(map[*entry]*total)
		for terminal, x := range totals {
			c := k.CallWithoutParams(terminal)
			if x.count == 0 {
				continue
			}
			e := p.at(c)
			e.alone = e.alone && lone[k.Class()][terminal]
			sum := once.GetOrMake(sums, e, func() *total { return new(total) })
			sum.duration += x.duration
			sum.gap += x.gap
			e.count += x.count
			e.single, e.singleGap = merged(e.single, x.single), merged(e.singleGap, x.singleGap)
		}
		for e, x := range sums {
			e.duration = append(e.duration, single(x.duration, rank))
			e.gaps = append(e.gaps, single(x.gap, rank))
		}
		o.Progress(rank+1, t.Ranks())
	}
	r.finish(p, o, hosts)
	return nil
}

// classes analyses a trace without times of single calls: it takes the sums that the trace has of each class.
func (r *Report) classes(t *trace.Reader, o Options, hosts func(int) string) error {
	p, err := placesOf(t, &o)
	if err != nil {
		return err
	}
	if _, err := sums.SumCalls(t, sums.Options{Representative: o.SiteNaming.Representative, OnClassDone: func(table *sums.Table, class int, times []trace.Times) error {
		o.Progress(class+1, t.Classes())
		return r.class(table, class, times, p, &o)
	}}); err != nil {
		return err
	}
	r.finish(p, o, hosts)
	return nil
}

// class adds the times of one class's calls to p.
func (r *Report) class(table *sums.Table, class int, times []trace.Times, p *entries, o *Options) error {
	t, c := table.Reader, &table.Classes[class]
	k, err := t.Rank(c.Members[0])
	if err != nil {
		return err
	}
	own, err := t.Totals(class)
	if err != nil {
		return err
	}
	ranks := make([]*trace.Totals, len(c.Members))
	for i := range ranks {
		ranks[i] = own.ForMember(i)
	}
	if err := r.spent.class(t, k, times, c.Members, ranks); err != nil {
		return err
	}
	lone, err := aloneIn(t, c.Members)
	if err != nil {
		return err
	}
	type parts struct {
		rows []int
		own  ownTotals
	}
	of := make(map[*entry]*parts)
	var order []*entry
	entries := make(map[int]*entry) // by row of table; nil: the row's function isn't analysed
	for terminal, row := range c.RowByTerminal {
		e, seen := entries[row]
		if call := k.CallWithoutParams(terminal); !seen && o.wanted(call.Func) {
			e = p.at(call)
			s := once.GetOrMake(of, e, func() *parts {
				order = append(order, e)
				s := &parts{}
				s.own.begin(len(c.Members))
				return s
			})
			s.rows = append(s.rows, row)
		}
		entries[row] = e
		if e != nil {
			e.alone = e.alone && lone[terminal]
		}
	}
	for n := range ranks[0].Sites {
		if s := of[p.known[p.one(k.CallWithoutParams(ranks[0].Sites[n].FirstTerminal))]]; s != nil {
			s.own.add(ranks, n)
		}
	}
	for _, e := range order {
		s := of[e]
		var duration, gap trace.Stat
		var spent, idle []trace.Spread
		for _, row := range s.rows {
			x := &table.Rows[row]
			duration.Merge(x.Duration)
			gap.Merge(x.Gap)
			spent, idle = append(spent, x.TimePerRank...), append(idle, x.GapPerRank...)
		}
		e.count += duration.Count
		e.duration = append(e.duration, s.own.duration.parts(spread(duration, spent, c.Members), c.Members)...)
		e.gaps = append(e.gaps, s.own.gap.parts(spread(gap, idle, c.Members), c.Members)...)
	}
	histograms, err := t.Histograms(class)
	if err != nil {
		return err
	}
	for _, h := range histograms {
		call := k.CallWithoutParams(h.Terminal)
		if o.wanted(call.Func) {
			e := p.at(call)
			e.single, e.singleGap = merged(e.single, hist.Unwrap(h.Duration)), merged(e.singleGap, hist.Unwrap(h.Gap))
		}
	}
	return nil
}

// spread returns how the total times of a class's ranks are distributed. s is their sum. The times may consist of
// several parts: each element of several is how one part is spread over the ranks.
func spread(s trace.Stat, several []trace.Spread, members []int) []rankGroup {
	n := len(members)
	totals, _ := sums.AddSpreads(several)
	if n == 1 {
		return []rankGroup{single(float64(s.Sum), members[0])}
	}
	p := rankGroup{ranks: n, mean: float64(s.Sum) / float64(n)}
	if totals.Ranks > 0 {
		p.least = rankNs{float64(totals.Min), int(totals.MinRank)}
		p.most = rankNs{float64(totals.Max), int(totals.MaxRank)}
		p.deviation = totals.Deviation()
		return p.parts(totals, members)
	}
	p.least, p.most = rankNs{p.mean, members[0]}, rankNs{p.mean, members[0]}
	return []rankGroup{p}
}

// square returns x².
func square(x float64) float64 { return math.Pow(x, 2) }
