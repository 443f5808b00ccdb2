package trace

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
)

// A Histogram is the times of calls in nanoseconds, over all ranks of a class. It covers one terminal, or all
// terminals of the same function and site that have no histogram of their own.
type Histogram struct {
	Terminal int
	// PreviousFunctionSite is the place of the thread's previous call, or NoPreviousFunctionSite. A place is a pair of function and
	// site. Places are numbered from 0 in the order of their first terminals; see Reader.TerminalFunctionSites.
	PreviousFunctionSite int
	Duration, Gap        Hist
}

// A Hist is a histogram whose bin bounds adapt to its samples, times in nanoseconds.
type Hist interface {
	Bins() []HistBin // in rising order
	Total() HistBin  // all samples as one bin; its Count is 0 in an empty histogram
	Count() uint64   // how many samples there are

	// Quantile returns an estimate of the q-quantile: the value that a fraction q (0 to 1) of the samples doesn't
	// exceed. It is 0 for an empty histogram. Quantile(0) and Quantile(1) are exact.
	Quantile(q float64) float64
	// ShareBelow returns an estimate of the fraction (0 to 1) of samples that are at most v.
	ShareBelow(v float64) float64
}

// A HistBin summarises the samples between Min and Max.
type HistBin struct {
	Count            uint64
	Min, Max         uint64
	Mean, Variance   float64
	MinRank, MaxRank int // the ranks whose samples Min and Max are; -1: unknown
}

// shown implements Hist without exporting types of the internal package hist.
type shown struct{ *hist.Hist }

func (h shown) Bins() []HistBin {
	list := h.Hist.Bins()
	out := make([]HistBin, len(list))
	for i := range list {
		out[i] = histBin(&list[i])
	}
	return out
}

func (h shown) Total() HistBin {
	all := h.Hist.Total()
	return histBin(&all)
}

func histBin(b *hist.Bin) HistBin {
	return HistBin{b.Count, b.Min, b.Max, b.Mean, b.Variance(), int(b.MinRank), int(b.MaxRank)}
}

// TerminalFunctionSites returns the place of each terminal of a class. A place is a pair of function and site, as a number
// from 0 in the order of first terminals.
func (r *Reader) TerminalFunctionSites(class int) ([]int, error) {
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	of, _ := sections.NumberPlaces(c.Groups())
	return of, nil
}

// Histograms returns the histograms of a class, over all of its ranks; nil if
// none were kept.
func (r *Reader) Histograms(class int) ([]Histogram, error) {
	_, list, err := r.timeLineTimes(class)
	if err != nil || list == nil {
		return nil, err
	}
	out := make([]Histogram, len(list))
	for i := range list {
		x := &list[i]
		out[i] = Histogram{x.Terminal, x.PreviousPlace, shown{x.Duration}, shown{x.Gap}}
	}
	return out, nil
}

// checkHistograms compares the numbers of samples in the histograms of class n with the numbers of its calls.
func (r *Reader) checkHistograms(n int, list []sections.Histogram, calls []uint64) error {
	all, sum := uint64(0), uint64(0)
	for _, c := range calls {
		all += c
	}
	for _, h := range list {
		if h.Duration.Count() != h.Gap.Count() {
			return r.failed(container.SectionTimes, fmt.Errorf("class %d: terminal %d: histograms of %d durations and %d gaps: %w",
				n, h.Terminal, h.Duration.Count(), h.Gap.Count(), ErrFormat))
		}
		sum += h.Duration.Count()
	}
	if sum > all {
		return r.failed(container.SectionTimes, fmt.Errorf("class %d: histograms of %d calls, there are %d: %w", n, sum, all, ErrFormat))
	}
	return nil
}
