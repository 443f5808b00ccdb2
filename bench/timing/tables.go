package main

import (
	"fmt"
	"math"
	"time"

	"spoor/internal/timing/measure"
)

// printRatios prints a row for each program and a column for each codec.
func printRatios(all []*program) {
	fmt.Print("| program | ranks | calls |")
	for _, r := range all[0].results {
		fmt.Printf(" %s |", r.Codec)
	}
	fmt.Print(" place / sz | place / sz-sig | place / hist8 |\n|---|--:|--:|")
	for range all[0].results {
		fmt.Print("--:|")
	}
	fmt.Println("--:|--:|--:|")
	for _, p := range all {
		fmt.Printf("| %s | %d | %d |", p.name, p.ranks, p.calls)
		by := map[string]float64{}
		for _, r := range p.results {
			by[r.Codec] = r.Ratio()
			fmt.Printf(" %.2f |", r.Ratio())
		}
		fmt.Printf(" %.2f | %.2f | %.2f |\n", by["place"]/by["sz"], by["place"]/by["sz-sig"], by["place"]/by["hist8"])
	}
}

// printCodecs prints a row for each codec: means over the programs, geometric
// ones of ratios.
func printCodecs(all []*program) {
	fmt.Println("| codec | ratio | gaps | PSNR | durations | PSNR | max error | encode ns | MB/s | decode ns | MB/s |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for i := range all[0].results {
		var ratio, gaps, durations, gapNoise, durationNoise, worst float64
		var encode, decode time.Duration
		values := int64(0)
		for _, p := range all {
			r := p.results[i]
			ratio += math.Log(r.Ratio())
			gaps += math.Log(r.Gaps.Ratio(r))
			durations += math.Log(r.Durations.Ratio(r))
			gapNoise += r.Gaps.PSNR(r)
			durationNoise += r.Durations.PSNR(r)
			worst = max(worst, r.Worst)
			encode, decode, values = encode+r.Encode, decode+r.Decode, values+r.Values
		}
		n := float64(len(all))
		fmt.Printf("| %s | %.2f | %.2f | %s | %.2f | %s | %.4f | %s | %s |\n", all[0].results[i].Codec, math.Exp(ratio/n),
			math.Exp(gaps/n), noise(gapNoise/n), math.Exp(durations/n), noise(durationNoise/n), worst, speed(encode, values), speed(decode, values))
	}
}

func noise(v float64) string {
	if math.IsInf(v, 0) {
		return "exact"
	}
	return fmt.Sprintf("%.1f", v)
}

func speed(d time.Duration, values int64) string {
	ns := float64(d.Nanoseconds()) / float64(values)
	return fmt.Sprintf("%.0f | %.0f", ns, measure.RawBytes*1e3/ns)
}

func printHistograms(all []*program) {
	fmt.Println("| program | distinct calls | gaps: mean rank error | worst | median value error | durations: mean rank error | worst | median value error |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|")
	for _, p := range all {
		h := &p.hist
		fmt.Printf("| %s | %d |", p.name, h.lists[0].n)
		for _, l := range h.lists {
			n := float64(max(l.n, 1))
			fmt.Printf(" %.1f %% | %.1f %% | %.1f %% |", 100*l.mean/n, 100*l.worst, 100*l.value/n)
		}
		fmt.Println()
	}
}
