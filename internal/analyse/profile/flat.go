package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// A Flat is a table of call sites over all ranks, as mpiP has it. Counts, times
// and bytes are sums over all calls.
type Flat struct {
	Trace   string `json:"trace"`
	Command string `json:"command"`
	Ranks   int    `json:"ranks"` // with a track
	Calls   uint64 `json:"calls"`
	SpanNs  int64  `json:"span_ns"`            // from first call to last, sum over the ranks
	TimeNs  int64  `json:"time_ns"`            // that, or where a rank has several threads, what they were there
	MPINs   uint64 `json:"mpi_ns"`             // in the calls of MPI below
	FilesNs uint64 `json:"files_ns,omitempty"` // in those that work on files
	// Timeless says that the trace has no times: all that is said of them is 0.
	Timeless bool `json:"no_times,omitempty"`

	// WaitedNs is what ranks waited for others; nil: not known.
	WaitedNs *int64 `json:"waited_ns,omitempty"`

	Rows    []Row       `json:"sites"`
	PerRank []RankTotal `json:"per_rank"`

	stacks bool // rows are of call stacks, not of places alone
}

// A Row is all calls of one function from one place.
type Row struct {
	Function string            `json:"function"`
	Module   string            `json:"module"`
	Offset   uint64            `json:"offset"`
	Frames   []symbolise.Frame `json:"frames"`
	Place    string            `json:"-"`
	Path     []calltree.Step   `json:"-"`
	Deep     bool              `json:"-"` // frames around it were recorded

	Calls     uint64  `json:"calls"`
	Ranks     int     `json:"ranks"` // that make the call
	Ns        uint64  `json:"ns"`
	MeanNs    float64 `json:"mean_ns"`
	Deviation float64 `json:"deviation_ns"` // of a call
	MaxNs     uint64  `json:"max_ns"`
	MaxRank   int     `json:"max_rank"`   // that had the longest call
	ComputeNs uint64  `json:"compute_ns"` // outside of calls, before these
	WaitedNs  int64   `json:"waited_ns,omitempty"`
	BytesOut  uint64  `json:"bytes_out"`
	BytesIn   uint64  `json:"bytes_in"`

	// The largest total of a rank, and its ratio to the mean of those that make
	// the call. Where the same place makes calls with arrays of different lengths
	// the largest total is an estimate from below.
	MostNs    uint64  `json:"most_ns"`
	MostRank  int     `json:"most_rank"`
	Imbalance float64 `json:"imbalance"`
	Estimated bool    `json:"imbalance_estimated,omitempty"`

	Values []calltree.Value `json:"values,omitempty"` // attached to the calls

	Predicted *PredictedTime `json:"predicted,omitempty"` // of another machine

	key trace.FunctionSite
	def *trace.Function
}

// A PredictedTime is what calls take on another machine, in ns and over all ranks: themselves,
// and what is computed before them.
type PredictedTime struct {
	Ns        float64 `json:"ns"`
	ComputeNs float64 `json:"compute_ns"`
}

// Predict adds predicted times to the rows. times gives those of a terminal of a class.
func (f *Flat) Predict(r *trace.Reader, times func(class, terminal int) PredictedTime) error {
	rows := make(map[trace.FunctionSite]*Row)
	for i := range f.Rows {
		f.Rows[i].Predicted = &PredictedTime{}
		rows[f.Rows[i].key] = &f.Rows[i]
	}
	for class := range r.Classes() {
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			return err
		}
		for t := range k.Terminals() {
			c := k.Called(t)
			x := times(class, t)
			p := rows[f.keyOf(c)].Predicted
			p.Ns += x.Ns
			p.ComputeNs += x.ComputeNs
		}
	}
	return nil
}

// Wait adds what ranks waited at each place, whatever called the functions around it.
func (f *Flat) Wait(rep *waits.Report) {
	f.WaitedNs = &rep.WaitedNs
	at := make(map[trace.FunctionSite]int64)
	for i := range rep.Sites {
		at[rep.Sites[i].At.Alone()] += rep.Sites[i].WaitedNs
	}
	for i := range f.Rows {
		f.Rows[i].WaitedNs = at[f.Rows[i].key.Alone()]
	}
}

// A RankTotal is what one rank did.
type RankTotal struct {
	Rank     int    `json:"rank"`
	Host     string `json:"host"`
	SpanNs   int64  `json:"span_ns"`
	TimeNs   int64  `json:"time_ns"` // of several threads, each from its first call to its last; else SpanNs
	MPINs    int64  `json:"mpi_ns"`
	FilesNs  int64  `json:"files_ns,omitempty"` // in calls that work on files
	Calls    uint64 `json:"calls"`
	BytesOut uint64 `json:"bytes_out"`
	BytesIn  uint64 `json:"bytes_in"`
}

// FlatOf makes the table. step is called after each rank.
func FlatOf(r *trace.Reader, where calltree.Where, step func()) (*Flat, error) {
	return flatOf(r, where, false, step)
}

// StacksOf makes the table with rows for each call stack, for Callers. What single ranks spent is known of places alone, and the
// times of calls that differ in nothing but what called the functions around are shared out by their number.
func StacksOf(r *trace.Reader, where calltree.Where, step func()) (*Flat, error) {
	return flatOf(r, where, true, step)
}

func flatOf(r *trace.Reader, where calltree.Where, stacks bool, step func()) (*Flat, error) {
	f := &Flat{
		stacks: stacks, Trace: r.Name(), Command: r.Meta()[trace.MetaCommand], Timeless: !r.HasTimes(), Rows: []Row{}, PerRank: make([]RankTotal, r.Ranks()),
	}
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	for rank, p := range procs.All() {
		f.PerRank[rank] = RankTotal{Rank: rank, Host: p.Host, SpanNs: p.SpanNs, TimeNs: p.SpanNs, MPINs: p.MPINs}
	}
	sums := flatSums{f: f, rows: make(map[trace.FunctionSite]int), values: make(calltree.ValueSums)}
	for class := range r.Classes() {
		if err := sums.class(r, class, where, step); err != nil {
			return nil, err
		}
	}
	for i := range f.Rows {
		sums.finish(i)
	}
	f.PerRank = slices.DeleteFunc(f.PerRank, func(t RankTotal) bool { return r.ClassOf(t.Rank) < 0 })
	f.Ranks = len(f.PerRank)
	for i := range f.PerRank {
		f.SpanNs += f.PerRank[i].SpanNs
		f.TimeNs += f.PerRank[i].TimeNs
	}
	f.sort()
	return f, nil
}

// flatSums collects the table's rows.
type flatSums struct {
	f         *Flat
	rows      map[trace.FunctionSite]int
	durations []trace.Stat
	spreads   []trace.Spread
	values    calltree.ValueSums // by row
}

func (s *flatSums) class(r *trace.Reader, class int, where calltree.Where, step func()) error {
	members := r.Members(class)
	k, err := r.Rank(members[0])
	if err != nil {
		return err
	}
	times, err := r.Times(class)
	if err != nil {
		return err
	}
	if len(times) != k.Terminals() {
		return fmt.Errorf("profile: %s: class %d: times of %d calls, not %d", r.Name(), class, len(times), k.Terminals())
	}
	row := make([]int, len(times))
	spreads := make(map[int][]trace.Spread) // by row
	for t := range times {
		c := k.Called(t)
		i := s.row(c, where)
		row[t] = i
		s.durations[i].Merge(times[t].Duration)
		s.f.Rows[i].ComputeNs += times[t].Gap.Sum
		if x := times[t].DurationTotals; x.Ranks > 0 {
			spreads[i] = append(spreads[i], x)
		} else if s.f.Timeless && spreads[i] == nil {
			spreads[i] = []trace.Spread{{Ranks: len(members)}}
		}
	}
	if err := s.values.Add(r, class, row); err != nil {
		return err
	}
	for i, list := range spreads {
		s.spreads[i].Merge(together(list))
		if len(list) > 1 && len(members) > 1 {
			s.f.Rows[i].Estimated = true
		}
	}
	if k.Streams() > 1 {
		all, err := r.Totals(class)
		if err != nil {
			return err
		}
		for i, rank := range members {
			spent := all.Of(i)
			x := &s.f.PerRank[rank]
			x.TimeNs = max(x.MPINs, int64(spent.Gap.Ns+spent.Duration.Ns)) // each is known to a percent
		}
	}
	files, err := r.FilesNs(class)
	if err != nil {
		return err
	}
	for i, ns := range files {
		x := &s.f.PerRank[members[i]]
		x.FilesNs = min(int64(ns), x.MPINs)
		x.MPINs -= x.FilesNs
	}
	amounts, err := ops.ClassOf(r, class)
	if err != nil {
		return err
	}
	return amounts.Each(func(member int, counts []uint64, totals []ops.Amount) error {
		total := &s.f.PerRank[members[member]]
		for t, n := range counts {
			x := &s.f.Rows[row[t]]
			x.Calls += n
			total.Calls += n
			x.BytesOut += totals[t].Out
			x.BytesIn += totals[t].In
			total.BytesOut += totals[t].Out
			total.BytesIn += totals[t].In
		}
		s.f.Calls += total.Calls
		if step != nil {
			step()
		}
		return nil
	})
}

// keyOf tells the rows apart.
func (f *Flat) keyOf(c *trace.Call) trace.FunctionSite {
	if f.stacks {
		return c.FunctionSite()
	}
	return c.FunctionSite().Alone()
}

// row returns the number of the row of a call.
func (s *flatSums) row(c *trace.Call, where calltree.Where) int {
	key := s.f.keyOf(c)
	i, fresh := once.Number(s.rows, key)
	if fresh {
		frames, text := where.Stack(c.Name(), key.Site)
		s.f.Rows = append(s.f.Rows, Row{
			Function: c.Name(), Module: c.Site.Module, Offset: c.Site.Offset, Frames: frames, Place: text,
			Path: where.Path(c.Name(), key.Site), Deep: c.Site.Outer != nil, key: key, def: c.Func,
		})
		s.durations, s.spreads = append(s.durations, trace.Stat{}), append(s.spreads, trace.Spread{})
	}
	return i
}

// together adds up what the same ranks have of several sums. Which rank has most
// of all together is not known: that which has most of one of them, and as much
// as others of the rest.
func together(list []trace.Spread) trace.Spread {
	sum := list[0]
	if len(list) == 1 {
		return sum
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
	return total
}

func (s *flatSums) finish(i int) {
	x, d, totals := &s.f.Rows[i], s.durations[i], s.spreads[i]
	x.Ns, x.MeanNs, x.Deviation, x.MaxNs, x.MaxRank = d.Sum, d.Mean(), d.Deviation(), d.Max, int(d.MaxRank)
	x.Ranks, x.MostNs, x.MostRank = totals.Ranks, totals.Max, int(totals.MaxRank)
	if mean := totals.Mean(); mean > 0 {
		x.Imbalance = float64(totals.Max) / mean
	}
	x.Values = s.values.Of(i)
	if x.def.Has(trace.Posix) {
		s.f.FilesNs += d.Sum
	} else {
		s.f.MPINs += d.Sum
	}
}

// OfTimes reports whether an order of functions is one of times.
func OfTimes(sort string) bool { return !slices.Contains([]string{"calls", "bytes"}, sort) }

// DefaultSort is the order of tables of a trace.
func DefaultSort(r *trace.Reader) string {
	if !r.HasTimes() {
		return "calls"
	}
	return "time"
}

// sort orders the rows by time, or by calls where there are no times, largest first.
func (f *Flat) sort() {
	key := func(x *Row) uint64 { return x.Ns }
	if f.Timeless {
		key = func(x *Row) uint64 { return x.Calls }
	}
	slices.SortStableFunc(f.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(key(&b), key(&a)), strings.Compare(a.Function, b.Function), strings.Compare(a.Place, b.Place),
			strings.Compare(a.Module, b.Module), cmp.Compare(a.Offset, b.Offset))
	})
}
