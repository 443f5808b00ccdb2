// Package sums adds up the calls of a trace by class of ranks and call site, and what each rank did; a Summary has the
// whole trace in one value. It needs no name of a call site, so that the library in the MPI process may have it, too;
// package sites names what it finds.
//
// Invariants:
//
//  1. A row is all calls of one function from one call site by the ranks of one class. Each distinct call of a class is in one row.
//  2. Times are those of the trace. What ranks have of them is exact where a row has one sum of ranks in the trace; of several an
//     extreme is a bound.
package sums

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A Table has the calls of a trace by class and call site.
type Table struct {
	Reader  *trace.Reader
	Rows    []ClassRow // in order of classes; in a class, in order of the site's first distinct call
	Classes []ClassSums
	Ranks   []RankSums // by rank, for all ranks of the run; those without a track have no times
}

// A ClassRow is the calls of one class from one call site.
type ClassRow struct {
	Class        int
	FunctionSite trace.FunctionSite // with the recorded frames of the call's callers
	Function     *trace.Function
	CallSums
	// Distributions over the ranks of their total time in these calls. There are several if the trace separates the
	// calls, e.g. by the lengths of arrays.
	TimePerRank []trace.Spread
	// Like TimePerRank, for the gaps before these calls.
	GapPerRank []trace.Spread
}

// CallSums are sums over calls, with times in ns.
type CallSums struct {
	Calls    uint64     `json:"-"`
	Duration trace.Stat `json:"-"` // durations of the calls
	Gap      trace.Stat `json:"-"` // gaps before the calls
	Bytes    ops.Amount `json:"-"`
	// By size: number of calls that send this many bytes, or receive them if they send nothing. Calls that move
	// nothing are left out.
	Sizes         map[uint64]uint64             `json:"-"`
	AttachedStats map[string]trace.AttachedStat `json:"-"` // values attached to the calls, by name
}

// Merge adds the sums of o to s.
func (s *CallSums) Merge(o *CallSums) {
	s.Calls += o.Calls
	s.Duration.Merge(o.Duration)
	s.Gap.Merge(o.Gap)
	s.Bytes.AddMultiple(o.Bytes, 1)
	for size, calls := range o.Sizes {
		s.size(size, calls)
	}
	for name, v := range o.AttachedStats {
		s.attach(name, v)
	}
}

func (s *CallSums) size(bytes, calls uint64) {
	if bytes == 0 || calls == 0 {
		return
	}
	if s.Sizes == nil {
		s.Sizes = make(map[uint64]uint64)
	}
	s.Sizes[bytes] += calls
}

// MedianSize returns the median of Sizes, over the calls that move data; 0 if none does.
func (s *CallSums) MedianSize() uint64 {
	var all, below uint64
	for _, calls := range s.Sizes {
		all += calls
	}
	for _, size := range slices.Sorted(maps.Keys(s.Sizes)) {
		if below += s.Sizes[size]; 2*below >= all {
			return size
		}
	}
	return 0
}

func (s *CallSums) attach(name string, v trace.AttachedStat) {
	if s.AttachedStats == nil {
		s.AttachedStats = make(map[string]trace.AttachedStat)
	}
	sum := s.AttachedStats[name]
	sum.Merge(v)
	s.AttachedStats[name] = sum
}

// A ClassSums is sums over the calls of one class of ranks.
type ClassSums struct {
	Members         []int
	Threads         int
	RowByTerminal   []int    // by distinct call of the class: index of its row in Table.Rows
	CallsByTerminal []uint64 // by distinct call of the class: number of calls of all ranks
	// Number of calls of the rank that made fewest, and of the rank that made most.
	MinRankCalls, MaxRankCalls uint64
}

// A RankSums is what one rank did.
type RankSums struct {
	Rank   int    `json:"rank"`
	Class  int    `json:"-"` // -1 if the rank left no track
	Host   string `json:"host"`
	SpanNs int64  `json:"span_ns"`
	// With several threads: sum over threads of the time from first to last call. With one thread: SpanNs.
	ThreadTimeNs int64  `json:"time_ns"`
	MPINs        int64  `json:"mpi_ns"`
	PosixIONs    int64  `json:"files_ns,omitempty"` // time in I/O calls outside MPI
	Calls        uint64 `json:"calls"`
	BytesOut     uint64 `json:"bytes_out"`
	BytesIn      uint64 `json:"bytes_in"`
}

// Options say what to add up.
type Options struct {
	WithRankCalls  bool                                        // count calls, too, rank by rank
	WithBytes      bool                                        // compute bytes, too, which takes longest
	Ranks          []int                                       // only calls of these ranks, ascending; nil: all
	Representative func(trace.FunctionSite) trace.FunctionSite // returns the site that a site is merged with; nil: no merging
	// Called after the calls of each rank were counted; may be nil.
	OnRankDone func()
	// OnClassDone is called for each class once its rows are complete, with the times of its distinct calls, which the
	// table does not keep; may be nil.
	OnClassDone func(t *Table, class int, times []trace.Times) error
}

// SumCalls adds up the calls of a trace.
func SumCalls(r *trace.Reader, o Options) (*Table, error) {
	t := &Table{Reader: r, Ranks: make([]RankSums, r.Ranks())}
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	for rank, p := range procs.All() {
		t.Ranks[rank] = RankSums{Rank: rank, Class: r.ClassOf(rank), Host: p.Host, SpanNs: p.FirstThreadNs, ThreadTimeNs: p.FirstThreadNs, MPINs: p.AllThreadsMPINs}
	}
	for class := range r.Classes() {
		if err := t.class(class, &o); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Table) class(class int, o *Options) error {
	r := t.Reader
	c := ClassSums{Members: r.Members(class)}
	own := c.Members
	if o.Ranks != nil {
		own = slices.DeleteFunc(slices.Clone(own), func(rank int) bool { return !o.chosen(rank) })
		if len(own) == 0 {
			t.Classes = append(t.Classes, c)
			return nil
		}
	}
	k, err := r.Rank(c.Members[0])
	if err != nil {
		return err
	}
	times, err := r.Times(class)
	if err != nil {
		return err
	}
	if len(times) != k.Terminals() {
		return fmt.Errorf("%s: class %d: times of %d calls, not %d", r.Name(), class, len(times), k.Terminals())
	}
	c.Threads, c.RowByTerminal, c.CallsByTerminal = k.Streams(), make([]int, len(times)), make([]uint64, len(times))
	first := len(t.Rows)
	numbers := make(map[trace.FunctionSite]int)
	for n := range times {
		call := k.CallWithoutParams(n)
		at := call.FunctionSite()
		if o.Representative != nil {
			at = o.Representative(at)
		}
		i, fresh := once.NumberOf(numbers, at)
		if fresh {
			t.Rows = append(t.Rows, ClassRow{Class: class, FunctionSite: at, Function: call.Func})
		}
		c.RowByTerminal[n] = first + i
		x := &t.Rows[first+i]
		x.Duration.Merge(times[n].Duration)
		x.Gap.Merge(times[n].Gap)
		if s := times[n].SiteDurationTotals; s.Ranks > 0 {
			x.TimePerRank = append(x.TimePerRank, s)
		}
		if s := times[n].SiteGapTotals; s.Ranks > 0 {
			x.GapPerRank = append(x.GapPerRank, s)
		}
	}
	if err := t.values(class, c.RowByTerminal); err != nil {
		return err
	}
	if err := t.threads(class, k); err != nil {
		return err
	}
	switch {
	case o.WithBytes:
		err = t.bytes(class, &c, o)
	case o.WithRankCalls:
		err = t.count(&c, o)
	}
	if err == nil && len(own) < len(c.Members) {
		err = t.part(class, &c, first, own)
	}
	t.Classes = append(t.Classes, c)
	if err == nil && o.OnClassDone != nil {
		err = o.OnClassDone(t, class, times)
	}
	return err
}

// chosen reports whether the calls of a rank are to be added up.
func (o *Options) chosen(rank int) bool {
	if o.Ranks == nil {
		return true
	}
	_, found := slices.BinarySearch(o.Ranks, rank)
	return found
}

// part restricts the times of a class's rows, from row first on, to the ranks own. Times of single calls are known
// only of the whole class: least, greatest and deviation remain those of all its ranks.
func (t *Table) part(class int, c *ClassSums, first int, own []int) error {
	rows := t.Rows[first:]
	times, before := make([]trace.Spread, len(rows)), make([]trace.Spread, len(rows))
	all, err := t.Reader.Totals(class)
	if err != nil {
		return err
	}
	for _, rank := range own {
		at, _ := slices.BinarySearch(c.Members, rank)
		spent, idle := make([]float64, len(rows)), make([]float64, len(rows))
		for _, s := range all.ForMember(at).Sites {
			n := c.RowByTerminal[s.FirstTerminal] - first
			spent[n], idle[n] = spent[n]+s.Duration.Ns, idle[n]+s.Gap.Ns
		}
		for n := range rows {
			times[n].Merge(model.SpreadOf(uint64(spent[n]), rank))
			before[n].Merge(model.SpreadOf(uint64(idle[n]), rank))
		}
	}
	for n := range rows {
		x := &rows[n]
		for stat, spread := range map[*trace.Stat]trace.Spread{&x.Duration: times[n], &x.Gap: before[n]} {
			if stat.Count > 0 {
				deviation := stat.Deviation()
				stat.Count, stat.Sum = x.Calls, spread.Sum
				stat.SetDeviation(deviation)
			}
		}
		if x.TimePerRank, x.GapPerRank = []trace.Spread{{Ranks: len(own)}}, nil; t.Reader.HasTimes() {
			x.TimePerRank, x.GapPerRank = times[n:n+1], before[n:n+1]
		}
	}
	return nil
}

// values adds the attached values of a class to its rows; rows is by distinct call. In the trace, the first distinct
// call of a site has the values of all of the site's calls.
func (t *Table) values(class int, rows []int) error {
	all, err := t.Reader.AttachedStats(class)
	for name, list := range all {
		for n, v := range list {
			if v.Count == 0 {
				continue
			}
			t.Rows[rows[n]].attach(name, v)
		}
	}
	return err
}

// threads sets ThreadTimeNs of ranks with several threads, and moves the time of I/O calls from MPINs to PosixIONs.
func (t *Table) threads(class int, k *trace.Rank) error {
	members := t.Reader.Members(class)
	if k.Streams() > 1 {
		all, err := t.Reader.Totals(class)
		if err != nil {
			return err
		}
		for i, rank := range members {
			spent := all.ForMember(i)
			x := &t.Ranks[rank]
			// A thread's times are stored to a percent only, so their sum may be less than MPINs.
			x.ThreadTimeNs = max(x.MPINs, int64(spent.Gap.Ns+spent.Duration.Ns))
		}
	}
	files, err := t.Reader.FileCallNs(class)
	for i, ns := range files {
		x := &t.Ranks[members[i]]
		x.PosixIONs = min(int64(ns), x.MPINs)
		x.MPINs -= x.PosixIONs
	}
	return err
}

// bytes counts the calls of a class's ranks, and the bytes that they move.
func (t *Table) bytes(class int, c *ClassSums, o *Options) error {
	amounts, err := ops.NewClassAmounts(t.Reader, class)
	if err != nil {
		return err
	}
	first := true
	return amounts.EachRank(func(member int, counts []uint64, totals []ops.Amount) error {
		rank := &t.Ranks[c.Members[member]]
		if !o.chosen(rank.Rank) {
			return nil
		}
		for n, count := range counts {
			row := &t.Rows[c.RowByTerminal[n]]
			row.Bytes.AddMultiple(totals[n], 1)
			for _, m := range amounts.SingleCallAmounts(n) {
				row.size(cmp.Or(m.PerCall.BytesOut, m.PerCall.BytesIn), m.Calls)
			}
			rank.BytesOut += totals[n].BytesOut
			rank.BytesIn += totals[n].BytesIn
			t.counted(c, rank, n, count)
		}
		c.rank(first, rank.Calls, o.OnRankDone)
		first = false
		return nil
	})
}

// count counts the calls of a class's ranks, without the bytes that they move.
func (t *Table) count(c *ClassSums, o *Options) error {
	first := true
	for _, number := range c.Members {
		if !o.chosen(number) {
			continue
		}
		k, err := t.Reader.Rank(number)
		if err != nil {
			return err
		}
		rank := &t.Ranks[number]
		for stream := range k.Streams() {
			for n, count := range k.TerminalCounts(stream) {
				t.counted(c, rank, n, count)
			}
		}
		c.rank(first, rank.Calls, o.OnRankDone)
		first = false
	}
	return nil
}

func (t *Table) counted(c *ClassSums, rank *RankSums, n int, count uint64) {
	t.Rows[c.RowByTerminal[n]].Calls += count
	c.CallsByTerminal[n] += count
	rank.Calls += count
}

// rank updates the least and the largest number of calls of a rank. first is set for the class's first rank. step, if
// not nil, is called for the progress display.
func (c *ClassSums) rank(first bool, calls uint64, step func()) {
	if first {
		c.MinRankCalls = calls
	}
	c.MinRankCalls, c.MaxRankCalls = min(c.MinRankCalls, calls), max(c.MaxRankCalls, calls)
	if step != nil {
		step()
	}
}

// AddSpreads adds distributions over the same ranks, e.g. of the times in two kinds of calls. several is true for
// more than one: then the rank with the largest sum is unknown. The result assumes that it is a rank with the largest
// part of one distribution and the mean of the others.
func AddSpreads(list []trace.Spread) (sum trace.Spread, several bool) {
	if len(list) == 0 {
		return trace.Spread{}, false
	}
	sum = list[0]
	if len(list) == 1 {
		return sum, false
	}
	most := -1.0
	total := trace.Spread{Ranks: sum.Ranks}
	for _, x := range list {
		total.Sum += x.Sum
	}
	for _, x := range list {
		if above := float64(x.Max) - x.Mean(); above >= most {
			most, total.MaxRank = above, x.MaxRank
			total.MinRank = x.MinRank
			total.Min = uint64(max(0, total.Mean()-(x.Mean()-float64(x.Min))))
		}
	}
	total.Max = uint64(total.Mean() + most)
	return total, true
}
