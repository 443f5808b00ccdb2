package proxy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/trace"
)

// The gap before a call is the mean of the original's gaps at that place, on that rank. If the trace has histograms,
// the proxy samples the gap from the bins, each as often as the original did. So frequent and rare gaps in the
// iterations of a loop stay apart.

// Bins are used instead of the mean if the longest gap is at least spread times the shortest one, and at least long
// nanoseconds.
const (
	spread = 1.5
	long   = 10_000
)

// even limits the error of writing one gap for all ranks: together, all such gaps may misstate a rank's computation
// time by at most this share.
const even = 0.02

// A gapOf is a gap whose text is not written yet.
type gapOf struct {
	*timed
	mean  float64   // mean over the calls of all ranks, in ns
	ranks []float64 // by rank: mean in ns; NaN: the rank has no such gap
	calls []float64
	worst float64 // largest error, as a share of a rank's computation, if every rank got the mean
}

// gapTexts writes the expressions of all gaps. A gap is one number for all ranks if the error is small.
func (g *generator) gapTexts() {
	totals := make([]float64, g.r.Ranks())
	for _, v := range g.list {
		for _, p := range v.placed {
			for m, rank := range v.members {
				for leaf := range p.mean {
					x := p.at(m, leaf)
					totals[rank] += x.TotalGapNs()
				}
			}
		}
	}
	var list []*gapOf
	for _, p := range g.parts {
		for _, c := range p.copies {
			for k := range c.steps {
				for _, t := range []*timed{c.steps[k].gap, c.steps[k].entry} {
					if t != nil {
						list = append(list, g.gapOf(t, totals))
					}
				}
			}
		}
	}
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(a, b *gapOf) int { return cmp.Compare(a.worst, b.worst) })
	wrong := make([]float64, len(totals))
	for _, x := range order {
		fits := x.worst > 0
		for rank, ns := range x.ranks {
			if x.worst > 0 && !math.IsNaN(ns) {
				fits = fits && wrong[rank]+math.Abs(ns-x.mean)*x.calls[rank] <= even*totals[rank]
			}
		}
		if !fits {
			continue // the error is 0 already, or too large for one number
		}
		for rank, ns := range x.ranks {
			if !math.IsNaN(ns) {
				wrong[rank] += math.Abs(ns-x.mean) * x.calls[rank]
			}
		}
		x.worst = 0
	}
	for _, x := range list {
		x.text = g.gapText(x)
	}
}

// gapOf sums up the ranks' gaps before a line. totals is the computation of each rank, in ns.
func (g *generator) gapOf(t *timed, totals []float64) *gapOf {
	x := &gapOf{timed: t, ranks: make([]float64, len(totals)), calls: make([]float64, len(totals))}
	for i := range t.of {
		o := &t.of[i]
		p := o.v.placed[o.stream]
		for m, rank := range o.v.members {
			leaf := p.at(m, o.leaf)
			ns, calls := o.gap(leaf)
			x.ranks[rank] += ns * float64(calls)
			x.calls[rank] += float64(calls)
		}
	}
	var sum, calls float64
	for rank := range x.ranks {
		sum, calls = sum+x.ranks[rank], calls+x.calls[rank]
		x.ranks[rank] /= x.calls[rank] // NaN without calls
	}
	x.mean = sum / max(1, calls)
	for rank, ns := range x.ranks {
		if off := math.Abs(ns-x.mean) * x.calls[rank]; off > 1e-9*totals[rank] {
			x.worst = max(x.worst, off/max(1, totals[rank]))
		}
	}
	return x
}

// gapText writes a gap as an expression in C: samples of bins, or a mean.
func (g *generator) gapText(x *gapOf) string {
	if bins := g.bins(x); bins != "" {
		if x.worst == 0 {
			return bins
		}
		list := make([]float64, len(x.ranks))
		for rank, ns := range x.ranks {
			list[rank] = ns / x.mean
		}
		return g.byRank(list, func(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }) + " * " + bins
	}
	if x.worst == 0 {
		return microseconds(x.mean)
	}
	return g.byRank(x.ranks, microseconds)
}

// alike is the largest relative difference between ranks' numbers that are written as one.
const alike = 0.01

// byRank writes an expression in C for a number of each rank, given in list; text writes one number.
func (g *generator) byRank(list []float64, text func(float64) string) string {
	var sorted []float64
	for _, v := range list {
		if !math.IsNaN(v) {
			sorted = append(sorted, v)
		}
	}
	slices.Sort(sorted)
	var kinds []float64
	for i := 0; i < len(sorted); {
		k, sum := i, 0.0
		for ; k < len(sorted) && sorted[k] <= (1+alike)*sorted[i]; k++ {
			sum += sorted[k]
		}
		kinds = append(kinds, sum/float64(k-i))
		i = k
	}
	nearest := func(v float64) int {
		best := 0
		for i, k := range kinds {
			if math.Abs(k-v) < math.Abs(kinds[best]-v) {
				best = i
			}
		}
		return best
	}
	if len(kinds) == 1 {
		return text(kinds[0])
	}
	if len(kinds) == 2 {
		var of [2][]int
		for rank, v := range list {
			if !math.IsNaN(v) {
				of[nearest(v)] = append(of[nearest(v)], rank)
			}
		}
		f := newFitter(g, nil)
		for i := range of {
			if c, ok := f.condition(of[i], of[1-i]); ok {
				return fmt.Sprintf("(%s ? %s : %s)", c, text(kinds[i]), text(kinds[1-i]))
			}
		}
	}
	entries := make([]string, len(list))
	for rank, v := range list {
		if entries[rank] = "0"; !math.IsNaN(v) {
			entries[rank] = text(v)
		}
	}
	return g.table("double", entries) + "[rank]"
}

// bins writes the bins from which a gap is sampled; "" if the mean suffices.
func (g *generator) bins(x *gapOf) string {
	type source struct{ class, terminal int }
	seen := make(map[source]bool)
	var all *hist.Hist
	for i := range x.of {
		o := &x.of[i]
		s := source{o.v.ranks[0].Class(), o.v.placed[o.stream].leaves.Terminal(o.leaf)}
		if o.v.hists == nil || seen[s] || s.terminal >= len(o.v.calls) {
			continue
		}
		seen[s] = true
		switch h := o.v.hists.GapsBefore(s.terminal); {
		case h == nil:
		case all == nil:
			all = h.Clone()
		default:
			all.Merge(h)
		}
	}
	if all == nil || x.mean <= 0 || g.o.GapModel == GapsMean {
		return ""
	}
	if total := all.Total(); total.Max < long || float64(total.Max) < spread*float64(total.Min) {
		return ""
	}
	calls := x.each()
	parts := all.Tilt(x.mean).Bins()
	if len(parts) < 2 || calls < fewest {
		return ""
	}
	scale := x.mean / drawnMean(parts, min(calls, largest))
	var entries []string
	for _, p := range parts {
		entries = append(entries, fmt.Sprintf("{%s, %s}", strconv.FormatFloat(p.Share, 'g', 4, 64), microseconds(scale*p.Mean)))
	}
	return fmt.Sprintf("DRAWN(%d, %d, %s)", calls, len(parts), g.table("struct gap", entries))
}

// fewest is the number of calls per rank below which the mean is as good as bins. largest is the number above which the
// samples' sum need not be corrected.
const (
	fewest  = 8
	largest = 1 << 14
)

// each returns approximately how many calls with the gap a rank makes, on average.
func (x *gapOf) each() uint32 {
	var sum, ranks float64
	for _, n := range x.calls {
		if n > 0 {
			sum, ranks = sum+n, ranks+1
		}
	}
	return uint32(min(sum/max(1, ranks)+0.5, math.MaxInt32))
}

// drawnMean returns the mean of the samples that a program takes in some number of calls.
func drawnMean(parts []hist.TiltedBin, calls uint32) float64 {
	sum := 0.0
	for i := range calls {
		at := (float64(i) + 0.5) / float64(calls)
		k := 0
		for ; k < len(parts)-1 && at >= parts[k].Share; k++ {
			at -= parts[k].Share
		}
		sum += parts[k].Mean
	}
	return sum / float64(calls)
}

// microseconds writes ns nanoseconds in microseconds, with four digits.
func microseconds(ns float64) string {
	if ns >= 1e6 {
		return strconv.FormatFloat(ns/1000, 'f', 0, 64)
	}
	return strconv.FormatFloat(ns/1000, 'g', 4, 64)
}

// If each call has its own gap, the gaps are in a file for each rank, which the program reads as it runs:
//
// 	gaps = per thread: bytes uint32; per thread: nanoseconds uvarint…

// maxFollowed is the largest total size in bytes of all ranks' gap files.
const maxFollowed = 1 << 30

// follow writes the files with the gaps before all calls.
func (g *generator) follow(files map[string][]byte) error {
	total := 0
	for _, v := range g.list {
		for i, k := range v.ranks {
			var head, all []byte
			for stream := range k.Streams() {
				list, err := g.each(k, stream)
				if err != nil {
					return err
				}
				head = wire.AppendUint32(head, uint32(len(list)))
				all = append(all, list...)
			}
			if total += len(all); total > maxFollowed {
				return fmt.Errorf("the gaps before all calls take more than %d bytes", maxFollowed)
			}
			files[fmt.Sprintf("gaps/%d", v.members[i])] = append(head, all...)
		}
	}
	return nil
}

// each lists the gaps before a stream's calls: recorded ones, samples of histograms, or means by place.
func (g *generator) each(k *trace.Rank, stream int) (b []byte, err error) {
	line, err := reissue.NewCallTimeEstimator(g.r, k, stream)
	if err != nil {
		return nil, err
	}
	x := trace.TimedCall{Call: new(trace.Call)}
	for t, err := range k.TimedTerminals(stream) {
		if err != nil {
			return nil, err
		}
		x.Timing = t.Timing
		if line != nil {
			x.Terminal = t.Terminal
			line.SetNextTimes(&x)
		}
		if b = wire.AppendUvarint(b, x.Timing.Gap.Ns); len(b) > maxFollowed {
			return nil, fmt.Errorf("the gaps before all calls take more than %d bytes", maxFollowed)
		}
	}
	return b, nil
}
