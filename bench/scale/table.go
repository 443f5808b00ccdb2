package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

func printHead(w io.Writer) {
	fmt.Fprintf(w, "%-7s %6s %8s %5s | %8s %8s %7s %8s | %9s %9s %8s %7s | %7s %7s %7s | %8s %8s %6s\n",
		"program", "ranks", "events", "class", "calls", "content", "times", "process",
		"pilgrim", "+zstd", "+names", "ratio", "merge", "path", "encode", "to root", "largest", "peak")
}

func printRow(w io.Writer, r *Result) {
	plain, packed, named, ratio := "-", "-", "-", "-"
	if p := r.Pilgrim; p.Known {
		least := ""
		if p.Bound {
			least = ">"
		}
		plain, packed = least+amount(p.Plain), least+amount(p.Packed)
		if p.Named > 0 {
			named = least + amount(p.Named)
		}
		ratio = fmt.Sprintf("%.2f", float64(r.Pilgrim.Packed)/float64(r.Content))
	}
	fmt.Fprintf(w, "%-7s %6d %8s %5d | %8d %8d %7d %8d | %9s %9s %8s %7s | %7s %7s %7s | %8s %8s %6s\n",
		r.Program.Name, r.Ranks, amount(int(r.Events)), r.Classes, r.Calls, r.Content, r.Times, r.Process,
		plain, packed, named, ratio, span(r.Merge), span(r.Path), span(r.Encode),
		amount(r.Message), amount(r.Largest), amount(int(r.Peak)))
}

func printSections(w io.Writer, r *Result) {
	var parts []string
	sum := 0
	for _, s := range r.Sections {
		parts = append(parts, fmt.Sprintf("%s %d/%d", s.Name, s.Stored, s.Raw))
		sum += int(s.Stored)
	}
	fmt.Fprintf(w, "        %s, head %d, verified %d\n", strings.Join(parts, ", "), r.File-sum, r.Verified)
}

// amount writes a number with three digits.
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

// printSummary says which of the promises hold.
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
		if r := at[name][4096]; r != nil && r.Message > 100_000 {
			fmt.Fprintf(w, "%s on 4096 ranks: a message of %d bytes reaches the root\n", name, r.Message)
		}
		small, large := at[name][1024], at[name][16384]
		for _, r := range results {
			if r.Program.Name == name && r.Pilgrim.Known && r.Content > r.Pilgrim.Packed {
				fmt.Fprintf(w, "%s on %d ranks: %d bytes, Pilgrim with zstd %d\n", name, r.Ranks, r.Content, r.Pilgrim.Packed)
			}
			if r.Program.Name == name && r.Pilgrim.Named > 0 && r.Calls > r.Pilgrim.Named {
				fmt.Fprintf(w, "%s on %d ranks: with names %d bytes, Pilgrim with zstd and names %d\n", name, r.Ranks, r.Calls, r.Pilgrim.Named)
			}
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
