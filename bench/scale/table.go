package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

const rowFormat = "%-7s %6s %8s %5s | %8s %8s %7s %8s %8s | %9s %9s %8s %7s | %7s %7s %7s | %8s %8s %6s | %7s\n"

func printHead(w io.Writer) {
	fmt.Fprintf(w, rowFormat, "program", "ranks", "events", "class", "calls", "content", "times", "process", "file",
		"pilgrim", "+zstd", "+names", "ratio", "merge", "path", "encode", "to root", "largest", "peak", "checked")
}

func printRow(w io.Writer, r *Result) { printFields(w, fields(r)) }

// fields returns the values of a row of the table, as text.
func fields(r *Result) []string {
	plain, packed, named, ratio := "-", "-", "-", "-"
	if p := r.Pilgrim; p.Known {
		least := ""
		if p.Bound {
			least = ">"
		}
		plain, packed = least+amount(p.Plain), least+fmt.Sprint(p.Packed)
		if p.Named > 0 {
			named = least + fmt.Sprint(p.Named)
		}
		ratio = fmt.Sprintf("%.2f", float64(p.Packed)/float64(max(r.Content, 1)))
	}
	return []string{
		r.Program.Name, fmt.Sprint(r.Ranks), amount(int(r.Events)), fmt.Sprint(r.Classes),
		fmt.Sprint(r.Calls), fmt.Sprint(r.Content), fmt.Sprint(r.Times), fmt.Sprint(r.Process), fmt.Sprint(r.File),
		plain, packed, named, ratio, span(r.Merge), span(r.Path), span(r.Encode),
		amount(r.Message), amount(r.Largest), amount(int(r.Peak)), fmt.Sprint(r.Verified),
	}
}

func printSections(w io.Writer, r *Result) {
	var parts []string
	sum := 0
	for _, s := range r.Sections {
		parts = append(parts, fmt.Sprintf("%s %d/%d", s.Name, s.StoredBytes, s.RawBytes))
		sum += int(s.StoredBytes)
	}
	fmt.Fprintf(w, "        %s, head %d, verified %d, rank 0 held %d\n", strings.Join(parts, ", "), r.File-sum, r.Verified, r.Held)
}

// amount writes a number with a unit: K, M or G for thousands, millions or billions (e.g. 12.3K).
func amount(n int) string {
	v := float64(n)
	for _, unit := range []string{"", "K", "M"} {
		if v < 1000 || unit == "M" && v < 9999 {
			if unit == "" || v >= 100 {
				return fmt.Sprintf("%.0f%s", v, unit)
			}
			return fmt.Sprintf("%.1f%s", v, unit)
		}
		v /= 1000
	}
	return fmt.Sprintf("%.1fG", v)
}

func span(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", d.Seconds()*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.0fms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}

// onTwoCores is an upper bound of the merge's time on two cores that are busy whenever possible: one of them is idle
// only while ranks of the longest chain, Path, work.
func (r *Result) onTwoCores() time.Duration { return (r.Merge + r.Path) / 2 }

// printSummary prints for each program whether its traces' calls stay within Program.Limit, and how they grow.
func printSummary(w io.Writer, results []*Result) {
	fmt.Fprintln(w)
	at := make(map[string]map[int]*Result)
	var names []string
	for _, r := range results {
		if at[r.Program.Name] == nil {
			at[r.Program.Name] = make(map[int]*Result)
			names = append(names, r.Program.Name)
		}
		at[r.Program.Name][r.Ranks] = r
	}
	for _, name := range names {
		for _, r := range results {
			if r.Program.Name == name && (r.Ranks == 3600 || r.Ranks == 4096) && r.Message > 100_000 && r.Program.Limit > 0 {
				fmt.Fprintf(w, "%s on %d ranks: a message of %d bytes reaches the root\n", name, r.Ranks, r.Message)
			}
		}
		small, large := at[name][1024], at[name][16384]
		printChecks(w, name, results)
		if large != nil {
			fmt.Fprintf(w, "%-7s 16384 ranks are merged in at most %s on two cores\n", name, span(large.onTwoCores()))
		}
		if small == nil || large == nil {
			continue
		}
		if large.Calls > 1024 && large.Program.Limit == 1024 {
			fmt.Fprintf(w, "%s: with names, places and headers %d bytes\n", name, large.Calls)
		}
		growth := 100 * (float64(large.Content)/float64(small.Content) - 1)
		var verdict string
		switch limit := large.Program.Limit; {
		case limit == 0:
			verdict = "no limit: " + large.Program.Grows
		case large.Content > limit:
			verdict = fmt.Sprintf("above %d bytes", limit)
		default:
			verdict = fmt.Sprintf("within %d bytes", limit)
			if large.Program.Grows != "" {
				verdict += "; " + large.Program.Grows
			} else if growth > 20 {
				verdict += ", but grows"
			}
		}
		fmt.Fprintf(w, "%-7s %d bytes at 16384 ranks, %+.0f %% from 1024: %s\n", name, large.Content, growth, verdict)
	}
}

// printChecks prints for which numbers of ranks a program's traces were read back and compared with the calls made, and
// for which they are no larger than by Pilgrim's scheme.
func printChecks(w io.Writer, name string, results []*Result) {
	var all, some, unread, smaller, larger, unknown, whole []string
	for _, r := range results {
		if r.Program.Name != name {
			continue
		}
		n := fmt.Sprint(r.Ranks)
		switch {
		case r.Verified == r.Ranks:
			all = append(all, n)
		case r.Verified > 0 && r.Ranks > 1024:
			some = append(some, n)
		default:
			unread = append(unread, n)
		}
		p := &r.Pilgrim
		if p.Known && !p.Bound && r.Ranks <= 64 && r.File > 0 {
			whole = append(whole, fmt.Sprintf("%.1f times on %d", float64(p.Plain)/float64(r.File), r.Ranks))
		}
		switch {
		case !p.Known || p.Bound && r.Content > p.Packed:
			unknown = append(unknown, n)
		case r.Content > p.Packed || p.Named > 0 && r.Calls > p.Named:
			larger = append(larger, n)
		default:
			smaller = append(smaller, n)
		}
	}
	say := func(what string, list []string) {
		if len(list) > 0 {
			fmt.Fprintf(w, "%-7s %s: %s ranks\n", name, what, strings.Join(list, ", "))
		}
	}
	say("every rank read back and compared", all)
	say("some ranks read back and compared", some)
	say("NOT READ BACK", unread)
	say("no larger than Pilgrim's scheme with zstd, without names and with", smaller)
	say("LARGER than Pilgrim's scheme with zstd, without names or with", larger)
	say("not compared with Pilgrim's scheme", unknown)
	say("the whole file is smaller than Pilgrim's own format, which has a mean for each signature,", whole)
}

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
	const lowX, highX, lowY, highY = 3, 14, 2, 8 // range of the axes: x is log2 of ranks, y is log10 of bytes
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
