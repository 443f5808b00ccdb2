package profile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/trace"
)

// Histograms holds the histograms of a trace: for each call site those of the durations of its calls, and of the gaps
// before them.
type Histograms struct {
	// TimesKind is how the times are known: exact, bounded (each within the error asked for at recording), or
	// histogram (the trace keeps histograms). Bins of the trace that were split or merged are estimates: a time may
	// also be between two of them. Counts, extremes and means over all bins are exact.
	TimesKind string          `json:"times"`
	Ranks     []int           `json:"ranks"` // the ranks whose calls are counted
	Sites     []HistogramSite `json:"sites"` // call sites, those with the largest sum of durations first
}

// A HistogramSite is a function, of MPI or for files, called from one place in the code, with the calls' histograms.
type HistogramSite struct {
	Number   int        `json:"number"` // from 1, in the order of first occurrence in the classes
	Function string     `json:"function"`
	Place    string     `json:"site"`
	Site     trace.Site `json:"-"`
	CallHistograms
	// CallsAfterEach is the calls split by the preceding call of their thread; nil unless HistogramOptions.ByPrecedingCall.
	CallsAfterEach []CallsAfter `json:"after,omitempty"`
}

// A CallsAfter is the calls of a site that directly follow calls of another site in their thread.
type CallsAfter struct {
	PrecedingSiteNumber int    `json:"number"` // Number of the preceding HistogramSite; 0: the first calls of threads
	PrecedingFunction   string `json:"function,omitempty"`
	PrecedingPlace      string `json:"site,omitempty"`
	CallHistograms
}

// A CallHistograms is the histograms of the durations of some calls, and of the gaps before these calls.
type CallHistograms struct {
	Duration Histogram `json:"duration"`
	Gap      Histogram `json:"gap"`
}

// A Histogram is the bins of a histogram, and one bin of all times. Times are in ns.
type Histogram struct {
	HistogramBin
	Bins []HistogramBin `json:"bins"`
}

// A HistogramBin counts times from Min to Max, both included. MinRank and MaxRank are the ranks that had these two.
type HistogramBin struct {
	Count       uint64  `json:"calls"`
	MinNs       uint64  `json:"least_ns"`
	MaxNs       uint64  `json:"most_ns"`
	MinRank     int     `json:"least_rank"`
	MaxRank     int     `json:"most_rank"`
	MeanNs      float64 `json:"mean_ns"`
	DeviationNs float64 `json:"deviation_ns"`
}

// HistogramOptions select what histograms are made of.
type HistogramOptions struct {
	Wanted func(s *HistogramSite) bool // selects call sites; nil: all
	// OnlyRank is the only rank whose calls count (with histograms by class: all ranks of its class). Negative: all ranks.
	OnlyRank        int
	ByPrecedingCall bool                    // also make histograms by preceding call: HistogramSite.CallsAfterEach
	NameSite        func(trace.Site) string // names a call site; nil: module and offset
	// Progress is called with the number of ranks or classes done, and with their total. It may be nil.
	Progress func(done, ranks int)
}

// ErrNoHistograms is returned for a trace without times or histograms.
var ErrNoHistograms = errors.New("no histograms")

// MaxHistogramBins is the largest number of bins of a histogram that is shown.
const MaxHistogramBins = 16

// HistogramsOf makes the histograms of a trace.
func HistogramsOf(r *trace.Reader, o HistogramOptions) (*Histograms, error) {
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	c, err := newCollector(r, o)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(c.wanted, true) {
		return &Histograms{Ranks: c.ranks, Sites: []HistogramSite{}}, nil
	}
	kind, err := r.TimeKind()
	if err != nil {
		return nil, err
	}
	rep := &Histograms{TimesKind: kind.String()}
	if kind.OfTheCallItself() {
		err = c.series(r, rep)
	} else {
		rep.TimesKind = trace.HistogramSample.String()
		err = c.histograms(r, rep)
	}
	if err != nil {
		return nil, err
	}
	rep.Sites = c.finish()
	return rep, nil
}

// Values of key.from that are no index of a call site. anywhere means all calls, whatever precedes them. start
// means calls that nothing precedes: the first of each thread.
const (
	anywhere = -2
	start    = trace.NoPreviousFunctionSite
)

// A key is the indices, in collector.sites, of a call site and of the preceding call's site.
type key struct{ site, from int }

// A collector numbers call sites and collects times by site.
type collector struct {
	o      HistogramOptions
	sites  []HistogramSite
	wanted []bool
	of     map[trace.FunctionSite]int
	ranks  []int   // the ranks that HistogramOptions.OnlyRank selects
	class  [][]int // by class and terminal: index in sites of the call's site
	tables map[key]*CallHistograms
}

// newCollector numbers all call sites of a trace, wanted or not.
func newCollector(r *trace.Reader, o HistogramOptions) (*collector, error) {
	if o.NameSite == nil {
		o.NameSite = func(s trace.Site) string { return s.String() }
	}
	c := &collector{o: o, of: make(map[trace.FunctionSite]int), class: make([][]int, r.Classes()), tables: make(map[key]*CallHistograms)}
	for class := range r.Classes() {
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			return nil, err
		}
		list := make([]int, k.Terminals())
		for terminal := range list {
			call, err := k.Terminal(terminal)
			if err != nil {
				return nil, err
			}
			list[terminal] = c.site(call)
		}
		c.class[class] = list
	}
	if o.OnlyRank < 0 {
		for rank := range r.Ranks() {
			if r.ClassOf(rank) >= 0 {
				c.ranks = append(c.ranks, rank)
			}
		}
		return c, nil
	}
	if _, err := r.Rank(o.OnlyRank); err != nil {
		return nil, err
	}
	c.ranks = []int{o.OnlyRank}
	return c, nil
}

func (c *collector) site(call *trace.Call) int {
	p := call.FunctionSite().WithoutCallers() // histograms are by call site, over all callers
	n, fresh := once.NumberOf(c.of, p)
	if fresh {
		s := HistogramSite{Number: n + 1, Function: p.Function, Place: c.o.NameSite(p.Site), Site: p.Site}
		c.sites = append(c.sites, s)
		c.wanted = append(c.wanted, c.o.Wanted == nil || c.o.Wanted(&s))
	}
	return n
}

// histograms collects the trace's histograms.
func (c *collector) histograms(r *trace.Reader, rep *Histograms) error {
	type pair struct{ duration, gap *hist.Hist }
	sums := make(map[key]*pair)
	add := func(k key, h *trace.Histogram) {
		// A sum of histograms has more bins than one of them, so that merging loses less.
		p := once.GetOrMake(sums, k, func() *pair {
			return &pair{hist.New(MaxHistogramBins, hist.NoRank), hist.New(MaxHistogramBins, hist.NoRank)}
		})
		p.duration.Merge(hist.Unwrap(h.Duration))
		p.gap.Merge(hist.Unwrap(h.Gap))
	}
	some := false
	for class, sites := range c.class {
		members := r.Members(class)
		if c.o.OnlyRank >= 0 && r.ClassOf(c.o.OnlyRank) != class {
			continue
		}
		rep.Ranks = append(rep.Ranks, members...)
		list, err := r.Histograms(class)
		if err != nil {
			return err
		}
		before, err := c.before(r, class)
		if err != nil {
			return err
		}
		for i := range list {
			h := &list[i]
			some = some || h.Duration.Count() > 0
			site := sites[h.Terminal]
			if !c.wanted[site] {
				continue
			}
			add(key{site, anywhere}, h)
			switch {
			case !c.o.ByPrecedingCall:
			case h.PreviousFunctionSite == trace.NoPreviousFunctionSite:
				add(key{site, start}, h)
			default:
				add(key{site, before[h.PreviousFunctionSite]}, h)
			}
		}
		c.o.Progress(class+1, len(c.class))
	}
	slices.Sort(rep.Ranks)
	if !some {
		return ErrNoHistograms
	}
	for k, p := range sums {
		c.tables[k] = &CallHistograms{ofHist(p.duration), ofHist(p.gap)}
	}
	return nil
}

// before returns, by number of a place in a class, the index of the place's call site in c.sites. Places are numbered
// as in trace.Histogram.PreviousPlace.
func (c *collector) before(r *trace.Reader, class int) ([]int, error) {
	of, err := r.TerminalFunctionSites(class)
	if err != nil {
		return nil, err
	}
	var list []int
	for terminal, p := range of {
		if p == len(list) {
			list = append(list, c.class[class][terminal])
		}
	}
	return list, nil
}

// ofHist converts a histogram without changing its bins.
func ofHist(h *hist.Hist) Histogram {
	bin := func(b hist.Bin) HistogramBin {
		return HistogramBin{b.Count, b.Min, b.Max, int(b.MinRank), int(b.MaxRank), b.Mean, math.Sqrt(b.Variance())}
	}
	s := Histogram{HistogramBin: bin(h.Total()), Bins: []HistogramBin{}}
	for _, b := range h.Bins() {
		s.Bins = append(s.Bins, bin(b))
	}
	return s
}

// series makes the histograms of a trace that has the times of every call.
func (c *collector) series(r *trace.Reader, rep *Histograms) error {
	rep.Ranks = c.ranks
	sums := make(map[key]*tallies)
	add := func(k key, rank int, t *trace.Timing) {
		s := once.GetOrMake(sums, k, newTallies)
		s.duration.add(t.Duration.Ns, int32(rank))
		s.gap.add(t.Gap.Ns, int32(rank))
	}
	for i, rank := range c.ranks {
		k, err := r.Rank(rank)
		if err != nil {
			return err
		}
		sites := c.class[k.Class()]
		for stream := range k.Streams() {
			from := start
			for call, err := range k.TimedTerminals(stream) {
				if err != nil {
					return fmt.Errorf("rank %d: times: %w", rank, err)
				}
				site := sites[call.Terminal]
				if c.wanted[site] {
					add(key{site, anywhere}, rank, &call.Timing)
					if c.o.ByPrecedingCall {
						add(key{site, from}, rank, &call.Timing)
					}
				}
				from = site
			}
		}
		c.o.Progress(i+1, len(c.ranks))
	}
	for k, s := range sums {
		c.tables[k] = &CallHistograms{s.duration.spread(), s.gap.spread()}
	}
	return nil
}

// finish returns the call sites that have calls, with their histograms, the largest sum of durations first.
func (c *collector) finish() []HistogramSite {
	for k, t := range c.tables {
		s := &c.sites[k.site]
		switch k.from {
		case anywhere:
			s.CallHistograms = *t
		case start:
			s.CallsAfterEach = append(s.CallsAfterEach, CallsAfter{CallHistograms: *t})
		default:
			b := &c.sites[k.from]
			s.CallsAfterEach = append(s.CallsAfterEach, CallsAfter{b.Number, b.Function, b.Place, *t})
		}
	}
	list := slices.DeleteFunc(slices.Clone(c.sites), func(s HistogramSite) bool { return s.Duration.Count == 0 })
	slices.SortStableFunc(list, func(a, b HistogramSite) int { return cmp.Compare(b.time(), a.time()) })
	for _, s := range list {
		slices.SortFunc(s.CallsAfterEach, func(a, b CallsAfter) int {
			return cmp.Or(cmp.Compare(b.time(), a.time()), cmp.Compare(a.PrecedingSiteNumber, b.PrecedingSiteNumber))
		})
	}
	return list
}

// time is the sum of all calls' durations.
func (t *CallHistograms) time() float64 { return t.Duration.MeanNs * float64(t.Duration.Count) }
