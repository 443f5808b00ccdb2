package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/papers/codecs"
)

// printRatios prints a row for each program and a column for each codec.
func printRatios(w io.Writer, all []*program) {
	fmt.Fprint(w, "| program | ranks | calls |")
	for _, r := range all[0].Results {
		fmt.Fprintf(w, " %s |", r.Codec)
	}
	fmt.Fprint(w, " place / sz | place / sz-sig | place / hist-sig |\n|---|--:|--:|")
	for range all[0].Results {
		fmt.Fprint(w, "--:|")
	}
	fmt.Fprintln(w, "--:|--:|--:|")
	for _, p := range all {
		fmt.Fprintf(w, "| %s | %d | %d |", p.Name, p.Ranks, p.Calls)
		by := map[string]float64{}
		for _, r := range p.Results {
			by[r.Codec] = r.Ratio
			fmt.Fprintf(w, " %.2f |", r.Ratio)
		}
		fmt.Fprintf(w, " %.2f | %.2f | %.2f |\n", by["place"]/by["sz"], by["place"]/by["sz-sig"], by["place"]/by["hist-sig"])
	}
}

const codecHead = "codec | ratio | gaps | PSNR | durations | PSNR | max error | encode ns | MB/s | decode ns | MB/s |"

// printCodecs prints a row for each codec. Ratios are geometric means over the programs, PSNR and ns are arithmetic
// means. The largest error is that of all programs; MB/s follow from the means of ns.
func printCodecs(w io.Writer, all []*program) {
	fmt.Fprintln(w, "| "+codecHead+"\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for i := range all[0].Results {
		m := result{Codec: all[0].Results[i].Codec}
		n := float64(len(all))
		for _, p := range all {
			r := p.Results[i]
			m.Ratio += math.Log(r.Ratio) / n
			m.Gaps += math.Log(r.Gaps) / n
			m.Durations += math.Log(r.Durations) / n
			m.GapNoise += r.GapNoise / n
			m.DurationNoise += r.DurationNoise / n
			m.Worst = max(m.Worst, r.Worst)
			m.EncodeNs += r.EncodeNs / n
			m.DecodeNs += r.DecodeNs / n
		}
		m.Ratio, m.Gaps, m.Durations = math.Exp(m.Ratio), math.Exp(m.Gaps), math.Exp(m.Durations)
		fmt.Fprintf(w, "| %s\n", m.row())
	}
}

// printDetails prints a row for each program and codec.
func printDetails(w io.Writer, all []*program) {
	fmt.Fprintln(w, "| program | "+codecHead+"\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, p := range all {
		for _, r := range p.Results {
			fmt.Fprintf(w, "| %s | %s\n", p.Name, r.row())
		}
	}
}

func (r *result) row() string {
	return fmt.Sprintf("%s | %.2f | %.2f | %s | %.2f | %s | %.4f | %s | %s |", r.Codec, r.Ratio,
		r.Gaps, noise(r.GapNoise), r.Durations, noise(r.DurationNoise), r.Worst, speed(r.EncodeNs), speed(r.DecodeNs))
}

func noise(v float64) string {
	if v == 0 {
		return "exact"
	}
	return fmt.Sprintf("%.1f", v)
}

func speed(ns float64) string {
	if ns < 0.5 {
		return "- | -" // too few values to measure a processor time
	}
	return fmt.Sprintf("%.0f | %.0f", ns, codecs.RawBytesPerTime*1e3/ns)
}

func printHistograms(w io.Writer, all []*program) {
	fmt.Fprintln(w, "| program | distinct calls | gaps: mean rank error | worst | median value error | durations: mean rank error | worst | median value error |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|--:|--:|")
	for _, p := range all {
		h := &p.Hist
		fmt.Fprintf(w, "| %s | %d |", p.Name, h.Lists[0].N)
		for _, l := range h.Lists {
			n := float64(max(l.N, 1))
			fmt.Fprintf(w, " %.1f %% | %.1f %% | %.1f %% |", 100*l.Mean/n, 100*l.Worst, 100*l.Value/n)
		}
		fmt.Fprintln(w)
	}
}

// histogramErrors is the errors of quantiles that are taken from histograms. Each terminal with enough calls has a
// histogram of its gaps (Lists[0]) and one of its durations (Lists[1]).
type histogramErrors struct {
	Lists [2]struct {
		N                  int
		Mean, Worst, Value float64
	}
}

// enough is the least number of calls of a terminal whose histograms are judged.
const enough = 100

func (h *histogramErrors) add(keys []uint32, b series.Batch) {
	for i, list := range [][]uint64{b.Gaps, b.Durations} {
		byKey := map[uint32][]uint64{}
		for at, k := range keys {
			byKey[k] = append(byKey[k], list[at])
		}
		for _, values := range byKey {
			if len(values) < enough {
				continue
			}
			l := &h.Lists[i]
			mean, worst, value := errorsOf(values)
			l.N++
			l.Mean += mean
			l.Value += value
			l.Worst = max(l.Worst, worst)
		}
	}
}

// errorsOf compares the percentiles 1 to 99 of a histogram of values with the sorted values. mean and worst are the
// errors in rank, from 0 to 1; value is the median relative error of a percentile.
func errorsOf(values []uint64) (mean, worst, value float64) {
	h := hist.New(hist.DefaultBins, 0)
	for _, v := range values {
		h.Add(v)
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n := float64(len(sorted))
	var off []float64
	const steps = 99
	for i := 1; i <= steps; i++ {
		q := float64(i) / (steps + 1)
		got := h.Quantile(q)
		below := func(x float64) float64 {
			at, _ := slices.BinarySearchFunc(sorted, x, func(v uint64, x float64) int {
				if float64(v) < x {
					return -1
				}
				return 1
			})
			return float64(at) / n
		}
		// A value that occurs several times is the quantile of a range of q: within the range the error is 0.
		d := max(below(got-0.5)-q, q-below(got+0.5), 0)
		mean += d / steps
		worst = max(worst, d)
		exact := float64(sorted[int(q*n)])
		off = append(off, math.Abs(got-exact)/max(exact, 1))
	}
	slices.Sort(off)
	return mean, worst, off[len(off)/2]
}
