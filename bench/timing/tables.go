package main

import (
	"fmt"
	"io"
	"math"

	"github.com/spoor-hpc/spoor/internal/timing/measure"
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

// printCodecs prints a row for each codec: means over the programs, geometric
// ones of ratios.
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

// printDetails prints the same for each program.
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
		return "- | -" // too few values to tell
	}
	return fmt.Sprintf("%.0f | %.0f", ns, measure.RawBytes*1e3/ns)
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
