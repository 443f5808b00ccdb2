package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const rowFormat = "%-7s %6s %8s %5s | %8s %8s %7s %8s %8s | %9s %9s %8s %7s | %7s %7s %7s | %8s %8s %6s | %7s\n"

func printHead(w io.Writer) {
	fmt.Fprintf(w, rowFormat, "program", "ranks", "events", "class", "calls", "content", "times", "process", "file",
		"pilgrim", "+zstd", "+names", "ratio", "merge", "path", "encode", "to root", "largest", "peak", "checked")
}

func printRow(w io.Writer, r *Result) { printFields(w, fields(r)) }

// fields is a row of the table.
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
		parts = append(parts, fmt.Sprintf("%s %d/%d", s.Name, s.Stored, s.Raw))
		sum += int(s.Stored)
	}
	fmt.Fprintf(w, "        %s, head %d, verified %d, rank 0 held %d\n", strings.Join(parts, ", "), r.File-sum, r.Verified, r.Held)
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

// onTwoCores bounds how long the merge takes on two cores that always take up what can be
// done: one of them has nothing to do only while the longest chain goes on.
func (r *Result) onTwoCores() time.Duration { return (r.Merge + r.Path) / 2 }

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

// printChecks says for which numbers of ranks a program's traces were read back
// and compared, and for which they are no larger than the baseline.
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
