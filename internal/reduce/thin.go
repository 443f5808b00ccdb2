// ReduceTrace makes traces smaller by merging sizes of messages and collectives that are nearly equal.
//
// Invariants:
//
//  1. Sizes that are equal before are equal after, and of two the greater one is not the lesser after, wherever they
//     occur: sender and receiver agree on a message's size, and it fits into the receive buffer. So a trace
//     that is thinned can be replayed, simulated and matched like any other.
//  2. Which calls there are, their order, partners, tags and call sites MUST stay.
//  3. What was merged is said: the trace has the bins.

package reduce

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// Options control ReduceTrace.
type Options struct {
	PrecisionPercent int   // sizes within 100 - PrecisionPercent percent of each other may be merged
	BudgetBytes      int64 // merge no more sizes than necessary for a file of this size; 0: merge all

	NewTripCountDrawer func(*trace.Reader) TripCountDrawer // makes trip counts synthetic; nil: keep them
	PartnerDrawer      SyntheticPartnerMaker               // makes partners synthetic; nil: keep them
	OrderedTrace       *trace.Reader                       // what OrderCompletions made of the trace; nil: not used

	code int64 // size in bytes of the section on the program's code
}

// A TripCountDrawer makes trip counts synthetic. With a budget it is used only if merging sizes is not enough.
type TripCountDrawer interface {
	RewriteTracks([]*track.Track) error        // changes the tracks of all ranks
	AddSyntheticLoops(*sections.Content) error // changes the merged tracks' content
	Families() int                             // the number of loops that can become synthetic
	Limit(families int)                        // make only this many loops synthetic from now on, the largest first
}

// A KeptReason is why something was kept that could have become synthetic, and for how many such things that holds.
type KeptReason struct {
	Why   string
	Count uint64
}

// KeptReasons sorts reasons by how often they apply, most frequent first.
func KeptReasons(counts map[string]uint64) (list []KeptReason) {
	for why, n := range counts {
		list = append(list, KeptReason{why, n})
	}
	slices.SortFunc(list, func(a, b KeptReason) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Why, b.Why)) })
	return list
}

// SyntheticPartnerMaker makes the partners of messages synthetic: it returns a trace with synthetic messages, the input of all other
// steps. With a budget it is used only if all else is not enough.
type SyntheticPartnerMaker interface {
	Families() (int, error)                   // the number of families of messages that can become synthetic
	Draw(families int) (*trace.Reader, error) // makes this many families synthetic, the largest first
}

// A ReducedTrace is a reduced trace. It is valid until Close.
type ReducedTrace struct {
	*CutResult
	FileBytes             int64           // size of the reduced trace's file
	TripCountDrawer       TripCountDrawer // the drawer that was used; nil: none
	PartnersNotWorthwhile bool            // partners could be synthetic, but the trace would be no smaller
	// SizesNotWorthwhile: sizes could be merged, but the trace would be no smaller.
	SizesNotWorthwhile bool
	// Unchanged is the original trace if reducing gains nothing or it fits the budget; else nil.
	Unchanged *trace.Reader
}

// Write writes the trace to a file.
func (x *ReducedTrace) Write(path string, overwrite bool) error {
	if x.Unchanged != nil {
		return x.Unchanged.Copy(path, overwrite)
	}
	return x.CutResult.Write(path, overwrite)
}

// Close closes the files that the trace is read from.
func (x *ReducedTrace) Close() {
	if x.Unchanged == nil {
		x.CutResult.Close()
	}
}

// same makes the original trace the result.
func (x *ReducedTrace) same(r *trace.Reader) *ReducedTrace {
	x.CutResult, x.FileBytes, x.Unchanged = &CutResult{Content: &sections.Content{}}, r.Size(), r
	return x
}

// codeEntry is an upper bound, in bytes, of the entry in the file's directory for the section on the program's code.
const codeEntry = 16

// ErrOverBudget is wrapped by the error for a budget that can't be met.
var ErrOverBudget = errors.New("too large")

// ErrTripCountsNotSynthetic is returned by a TripCountDrawer that cannot make trip counts synthetic in the merged tracks.
var ErrTripCountsNotSynthetic = errors.New("trip counts can't be made synthetic")

var errThinned = errors.New("was reduced before; take the trace that it was made of")

// ReduceTrace reduces a trace. progress is called after each rank.
func ReduceTrace(r *trace.Reader, o Options, progress func(ranks int)) (*ReducedTrace, error) {
	sizes, failed := r.MergedSizes()
	loops, failed2 := r.SyntheticLoops()
	who, failed3 := r.SyntheticMessages()
	if err := cmp.Or(failed, failed2, failed3); err != nil {
		return nil, err
	}
	if sizes != nil || loops != nil || who != nil {
		return nil, errThinned
	}
	if o.BudgetBytes > 0 && r.Size() <= o.BudgetBytes {
		return new(ReducedTrace).same(r), nil
	}
	for _, s := range r.Sections() {
		if s.Name == container.SectionNames[container.SectionCode] {
			o.code = s.StoredBytes + codeEntry
		}
	}
	from := r
	if o.OrderedTrace != nil {
		from = o.OrderedTrace
	}
	x, err := withPartners(from, o, progress)
	if err != nil {
		return nil, err
	}
	if x.FileBytes >= r.Size() {
		x.Close()
		return x.same(r), nil
	}
	if from != r {
		err = x.TakeCode(r)
	}
	return x, err
}

// withPartners makes partners synthetic if possible, then reduces the rest.
func withPartners(r *trace.Reader, o Options, progress func(ranks int)) (*ReducedTrace, error) {
	x, err := thinOf(r, o, progress)
	if o.PartnerDrawer == nil || err != nil && !(errors.Is(err, ErrOverBudget) && o.BudgetBytes > 0) || err == nil && o.BudgetBytes > 0 {
		return x, err
	}
	families, failed := o.PartnerDrawer.Families()
	if failed != nil || families == 0 {
		if failed != nil && x != nil {
			x.Close()
			x = nil
		}
		return x, cmp.Or(failed, err)
	}
	// drawn reduces a trace with this many families of synthetic messages.
	all := o
	all.BudgetBytes = 0
	drawn := func(n int) (*ReducedTrace, error) {
		from, err := o.PartnerDrawer.Draw(n)
		if err != nil {
			return nil, err
		}
		x, err := thinOf(from, all, progress)
		if err == nil {
			err = x.TakeCode(r)
		}
		return x, err
	}
	y, failed := drawn(families)
	switch {
	case failed != nil:
		if x != nil {
			x.Close()
		}
		return nil, failed
	case o.BudgetBytes == 0 && y.FileBytes >= x.FileBytes:
		y.Close()
		x.PartnersNotWorthwhile = true
		return x, nil
	case o.BudgetBytes == 0:
		x.Close()
		return y, nil
	}
	y.Close()
	if y.FileBytes > o.BudgetBytes {
		return nil, fmt.Errorf("%w: %d bytes with all that can be given up at tolerance %d%%, partners included, and %d were asked for", ErrOverBudget, y.FileBytes, 100-o.PrecisionPercent, o.BudgetBytes)
	}
	return fewest(families, o.BudgetBytes, drawn)
}

// thinOf reduces a trace without changing partners.
func thinOf(r *trace.Reader, o Options, progress func(ranks int)) (*ReducedTrace, error) {
	s, err := surveyOf(r, progress)
	if err != nil {
		return nil, err
	}
	s.code = o.code
	var drawer TripCountDrawer
	if o.NewTripCountDrawer != nil {
		drawer = o.NewTripCountDrawer(r)
	}
	list := s.families()
	// merge merges the first n families and writes the trace.
	merge := func(n, precision int, d TripCountDrawer) (*ReducedTrace, error) {
		for i, f := range list {
			if i < n {
				f.merge(precision)
			} else {
				f.merge(100)
			}
		}
		return s.write(list, precision, d, progress)
	}
	try := func(n, precision int) (*ReducedTrace, error) { return merge(n, precision, nil) }
	if o.BudgetBytes == 0 {
		x, err := merge(len(list), o.PrecisionPercent, drawer)
		if err != nil || x.Content.MergedSizes == nil {
			return x, err
		}
		// Merged sizes may take more space than the originals, which may follow from other values.
		y, err := merge(0, o.PrecisionPercent, drawer)
		if err != nil {
			x.Close()
			return nil, err
		}
		if y.FileBytes <= x.FileBytes {
			y.SizesNotWorthwhile = true
			x, y = y, x
		}
		y.Close()
		return x, nil
	}
	best, err := try(0, 100)
	if err != nil || best.FileBytes <= o.BudgetBytes {
		return best, err
	}
	best.Close()
	if best, err = try(len(list), o.PrecisionPercent); err != nil {
		return nil, err
	}
	best.Close()
	if best.FileBytes > o.BudgetBytes && drawer != nil {
		return s.drawn(list, o, drawer, progress)
	}
	if best.FileBytes > o.BudgetBytes {
		return nil, fmt.Errorf("%w: %d bytes with all sizes merged at tolerance %d%%, and %d were asked for; the rest is what calls there are, with whom, and times: see spoor info",
			ErrOverBudget, best.FileBytes, 100-o.PrecisionPercent, o.BudgetBytes)
	}
	fits, above := o.PrecisionPercent, 100
	for above-fits > 1 {
		x, err := try(len(list), (fits+above)/2)
		if err != nil {
			return nil, err
		}
		x.Close()
		if x.FileBytes <= o.BudgetBytes {
			fits = (fits + above) / 2
		} else {
			above = (fits + above) / 2
		}
	}
	return fewest(len(list), o.BudgetBytes, func(n int) (*ReducedTrace, error) { return try(n, fits) })
}

// drawn meets the budget by making trip counts synthetic, for as few loops as possible. The sizes in list are merged
// already.
func (s *survey) drawn(list []*sizeFamily, o Options, d TripCountDrawer, progress func(int)) (*ReducedTrace, error) {
	all, err := s.write(list, o.PrecisionPercent, d, progress)
	if err != nil {
		return nil, err
	}
	all.Close()
	if all.FileBytes > o.BudgetBytes {
		return nil, fmt.Errorf("%w: %d bytes with all sizes merged and all trip counts synthetic that can be at tolerance %d%%, and %d were asked for", ErrOverBudget, all.FileBytes, 100-o.PrecisionPercent, o.BudgetBytes)
	}
	return fewest(d.Families(), o.BudgetBytes, func(n int) (*ReducedTrace, error) {
		d.Limit(n)
		return s.write(list, o.PrecisionPercent, d, progress)
	})
}

// fewest finds the least number of families, up to n, whose merging meets the budget. Merging all n is known to meet
// it.
func fewest(n int, budget int64, try func(n int) (*ReducedTrace, error)) (*ReducedTrace, error) {
	low := 0 // a number of families that is known to be too small
	var best *ReducedTrace
	for n > low+1 || best == nil {
		at := (low + n + 1) / 2
		if n == low+1 {
			at = n
		}
		x, err := try(at)
		if err != nil {
			if best != nil {
				best.Close()
			}
			return nil, err
		}
		if x.FileBytes > budget {
			x.Close()
			low = at
			continue
		}
		if best != nil {
			best.Close()
		}
		best, n = x, at
	}
	return best, nil
}

// families lists the size families that may be merged, those that take most space in the file first.
func (s *survey) families() (list []*sizeFamily) {
	for _, f := range s.of {
		if len(f.sorted) > 1 {
			list = append(list, f)
		}
	}
	cost := make(map[*sizeFamily]float64)
	for _, f := range list {
		cost[f] = f.cost()
	}
	slices.SortFunc(list, func(a, b *sizeFamily) int {
		return cmp.Or(cmp.Compare(cost[b], cost[a]), cmp.Compare(len(b.sorted), len(a.sorted)), slices.CompareFunc(a.ordered(), b.ordered(), compare))
	})
	return list
}

func compare(a, b key) int {
	if a.collective != b.collective {
		if a.collective {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.n, b.n)
}

func (f *sizeFamily) ordered() (list []key) {
	return slices.SortedFunc(maps.Keys(f.keys), compare)
}

// write makes the trace in which list's bins replace the original sizes. d, if not nil, makes its trip counts
// synthetic.
func (s *survey) write(list []*sizeFamily, precision int, d TripCountDrawer, progress func(int)) (*ReducedTrace, error) {
	var rank *trace.Rank // plans are kept for one rank at a time: all together would exceed the trace
	var plans map[int]*sizePlan
	var x *handles.Rank
	var failed error
	ch := &ValueChange{
		Note: fmt.Sprintf("thinned: sizes that differ by at most %d %% are one, where most was to be gained", 100-precision),
		EditValues: func(k *trace.Rank, terminal int, vals []int64) {
			var err error
			if rank == nil || rank.Number() != k.Number() {
				rank, plans = k, make(map[int]*sizePlan)
				x, err = handles.TableOf(s.r).Rank(k)
			}
			p := plans[terminal]
			if p == nil && err == nil {
				p, err = planOf(k, terminal, vals, x.FixedTypeSize)
				plans[terminal] = p
			}
			if err != nil {
				failed = cmp.Or(failed, err)
				return
			}
			p.apply(vals, func(_ *slot, k key, size int64) int64 { return s.of[s.root(k)].value(size) })
		},
	}
	if d != nil {
		ch.EditTracks = d.RewriteTracks
	}
	part, err := ChangeValues(s.r, ch, progress)
	if err != nil {
		return nil, err
	}
	if failed != nil {
		part.Close()
		return nil, failed
	}
	part.Content.MergedSizes = thinned(list)
	if d != nil {
		if err := d.AddSyntheticLoops(part.Content); err != nil {
			part.Close()
			if errors.Is(err, ErrTripCountsNotSynthetic) {
				d.Limit(0)
				return s.write(list, precision, d, progress)
			}
			return nil, err
		}
	}
	if part.Content.SyntheticLoops != nil {
		part.Content.Meta[trace.MetaNotePrefix+".drawn"] = "trip counts of loops are synthetic: calls are not those of the run"
	}
	if part.Content.MergedSizes == nil {
		delete(part.Content.Meta, trace.MetaNotePrefix+".changed")
	}
	file, err := sections.EncodeFile(part.Content)
	if err != nil {
		part.Close()
		return nil, err
	}
	return &ReducedTrace{CutResult: part, FileBytes: int64(len(file)) + s.code, TripCountDrawer: d}, nil
}

// thinned describes the merged sizes of families, for the reduced trace.
func thinned(list []*sizeFamily) (out []trace.MergedSizes) {
	for _, f := range list {
		if len(f.bins) == 0 {
			continue
		}
		t := trace.MergedSizes{PrecisionPercent: f.precision, UnmergedCalls: f.sizes.Count, Distribution: trace.Distribution{Least: f.sizes.Min, Most: f.sizes.Max, Bins: f.bins}}
		all := false
		for _, k := range f.ordered() {
			switch {
			case k.collective:
				t.Functions = append(t.Functions, uint16(k.n))
			case k == wild:
				all = true
			default:
				t.Tags = append(t.Tags, k.n)
			}
		}
		if all {
			t.Tags = nil
		}
		for _, b := range f.bins {
			t.UnmergedCalls -= b.Count
		}
		out = append(out, t)
	}
	return out
}

// CanMerge reports whether sizes low to high are within 100 - precision percent of the largest.
func CanMerge(low, high int64, precision int) bool {
	return float64(high-low)*100 <= float64(100-precision)*float64(high)
}

// MergeSizes merges sizes, which are in rising order, into bins. It first makes the bin with most calls, so that sizes
// around a mean are not separated. The size that replaces a bin's sizes is a multiple of grain, a whole number of
// elements for senders and receivers. Without such a multiple the sizes stay. Size 0, and a size alone in its bin,
// stay, too.
func MergeSizes(list []stats.Bin, precision int, grain int64) (out []trace.Bin) {
	for len(list) > 0 && list[0].Min <= 0 {
		list = list[1:]
	}
	var split func(list []stats.Bin)
	split = func(list []stats.Bin) {
		for len(list) > 0 {
			first, end := fullest(list, precision)
			split(list[:first])
			if b, ok := merged(list[first:end], grain); ok {
				out = append(out, b)
			}
			list = list[end:]
		}
	}
	split(list)
	slices.SortFunc(out, func(a, b trace.Bin) int { return cmp.Compare(a.Low, b.Low) })
	return out
}

// fullest returns the range of sizes, all within the precision of each other, that has most calls.
func fullest(list []stats.Bin, precision int) (first, end int) {
	var most, count uint64
	from := 0
	for to := range list {
		count += list[to].Count
		for !CanMerge(list[from].Min, list[to].Min, precision) {
			count -= list[from].Count
			from++
		}
		if count > most {
			most, first, end = count, from, to+1
		}
	}
	return first, end
}

// merged returns the bin of the sizes in list. It returns false for a single size, or if no multiple of grain is in
// their range.
func merged(list []stats.Bin, grain int64) (b trace.Bin, ok bool) {
	if len(list) < 2 {
		return b, false
	}
	b.Low, b.High = list[0].Min, list[len(list)-1].Min
	sum := 0.0
	for _, x := range list {
		b.Count += x.Count
		sum += float64(x.Min-b.Low) * float64(x.Count)
	}
	mean := b.Low + int64(sum/float64(b.Count)+0.5)
	b.ReplacingValue = (mean + grain/2) / grain * grain
	if b.ReplacingValue < b.Low {
		b.ReplacingValue = (b.Low + grain - 1) / grain * grain
	}
	if b.ReplacingValue > b.High {
		b.ReplacingValue = b.High / grain * grain
	}
	return b, b.ReplacingValue >= b.Low && b.ReplacingValue <= b.High
}
