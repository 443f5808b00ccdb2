package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// writePlot draws bytes over ranks, both logarithmic: one small panel for each
// program, with the two codings of Pilgrim's scheme for comparison.
func writePlot(path string, results []*Result) error {
	var names []string
	of := make(map[string][]*Result)
	for _, r := range results {
		n := r.Program.Name
		if of[n] == nil {
			names = append(names, n)
		}
		of[n] = append(of[n], r)
	}
	const cols, w, h = 4, 250, 190
	rows := (len(names) + cols - 1) / cols
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="10">`+"\n",
		cols*w, rows*h+24)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, l := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="15" fill="%s">%s</text>`+"\n", 40+i*200, l.color, l.name)
	}
	for i, n := range names {
		slices.SortFunc(of[n], func(a, b *Result) int { return a.Ranks - b.Ranks })
		panel(&b, of[n], float64(i%cols*w), float64(i/cols*h+24), w, h)
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

var lines = []struct {
	name, color string
	of          func(*Result) int
}{
	{"spoor", "#0b6e4f", func(r *Result) int { return r.Content }},
	{"Pilgrim's scheme, varints, zstd", "#c1666b", func(r *Result) int { return r.Pilgrim.Packed }},
	{"Pilgrim's scheme, own format", "#8d99ae", func(r *Result) int { return r.Pilgrim.Plain }},
}

func panel(b *strings.Builder, results []*Result, x0, y0, w, h float64) {
	const left, right, top, bottom = 44, 18, 18, 22
	const lowX, highX, lowY, highY = 3, 14, 2, 8 // log2 ranks, log10 bytes
	x := func(ranks int) float64 {
		return x0 + left + (math.Log2(float64(ranks))-lowX)/(highX-lowX)*(w-left-right)
	}
	y := func(bytes int) float64 {
		v := min(max(math.Log10(float64(bytes)), lowY), highY)
		return y0 + h - bottom - (v-lowY)/(highY-lowY)*(h-top-bottom)
	}
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f" font-weight="bold">%s</text>`+"\n", x0+left, y0+12, results[0].Program.About)
	for i, label := range []string{"100 B", "10 KB", "1 MB", "100 MB"} {
		at := y(int(math.Pow10(2 + 2*i)))
		fmt.Fprintf(b, `<path d="M%.1f %.1fH%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n",
			x0+left, at, x0+w-right, x0+left-3, at+3, label)
	}
	for _, p := range []int{16, 128, 1024, 16384} {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">%d</text>`+"\n", x(p), y0+h-bottom+12, p)
	}
	for _, l := range lines {
		var points []string
		for _, r := range results {
			if n := l.of(r); n > 0 {
				points = append(points, fmt.Sprintf("%.1f,%.1f", x(r.Ranks), y(n)))
			}
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(points, " "), l.color)
	}
}
