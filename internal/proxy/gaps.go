package proxy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"spoor/internal/timing/hist"
)

// The gap before a call is the mean of the original's there. Where a trace has
// histograms, it is drawn from the bins, as often from each as the original had gaps
// there: what a program does in most rounds of a loop and what it does in some stay
// apart.

// gapHists collects the histograms of gaps of a class, by terminal.
func (g *generator) gapHists(class int) (map[int]*hist.Hist, error) {
	list, err := g.r.Histograms(class)
	if err != nil {
		return nil, err
	}
	of := make(map[int]*hist.Hist)
	for _, h := range list {
		if h.Gap == nil {
			continue
		}
		if all := of[h.Terminal]; all != nil {
			all.Merge(h.Gap)
			continue
		}
		of[h.Terminal] = h.Gap.Clone()
	}
	return of, nil
}

// Bins say more than the mean does if the longest gap is far enough from the
// shortest, and long enough to matter: in nanoseconds.
const (
	spread = 1.5
	long   = 10_000
)

// gapTexts makes the text of each line's gap.
func (g *generator) gapTexts() {
	lines := slices.SortedFunc(maps.Values(g.lines), func(a, b *line) int { return cmp.Compare(a.order, b.order) })
	for _, l := range lines {
		l.gapText = microseconds(mean(l))
		if l.hist == nil || l.skip != "" {
			continue
		}
		all, bins := l.hist.Total(), l.hist.Bins()
		if len(bins) < 2 || all.Max < long || float64(all.Max) < spread*float64(all.Min) {
			continue
		}
		var entries []string
		for _, b := range bins {
			share := float64(b.Count) / float64(all.Count)
			entries = append(entries, fmt.Sprintf("{%s, %s}", strconv.FormatFloat(share, 'g', 4, 64), microseconds(b.Mean)))
		}
		l.gapText = "drawn(" + strconv.Itoa(len(bins)) + ", " + g.table("struct gap", entries) + ")"
	}
}

func mean(l *line) float64 {
	if l.gap.Count == 0 {
		return 0
	}
	return float64(l.gap.Sum) / float64(l.gap.Count)
}

// microseconds writes a time of so many nanoseconds with four digits.
func microseconds(ns float64) string {
	if ns >= 1e6 {
		return strconv.FormatFloat(ns/1000, 'f', 0, 64)
	}
	return strconv.FormatFloat(ns/1000, 'g', 4, 64)
}
