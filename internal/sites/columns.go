package sites

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/show"
)

// Known says what is known of all sites of a table: columns of what is not are left out.
type Known struct {
	TimeNs int64 // of all ranks and threads together
	Times  bool
	Waits  bool // who waited for whom
}

// wide is the width from which on a table has its less important columns.
const wide = 112

// Columns are those of a table of call sites, in order. Of a column that is added here text, CSV, JSON, the page, the database,
// comparisons and the docs know.
func Columns(known Known) show.Columns[Site] {
	return append(Names(), Measures(known)...)
}

// Names are the columns that say which call site a row is.
func Names() show.Columns[Site] {
	return show.Columns[Site]{
		{Name: "function", Unit: show.Word, Doc: "MPI function", Value: func(s Site) any { return s.At.Function }},
		{Name: "place", Unit: show.Word, Doc: "call site", Value: func(s Site) any { return s.Place }},
		{Name: "module", Unit: show.Word, Doc: "program or library that the call is in", Value: func(s Site) any { return s.Module }},
		{Name: "address", Unit: show.Word, Doc: "where in it", Value: func(s Site) any { return fmt.Sprintf("0x%x", s.Offset) }},
		{Name: "addresses", Unit: show.Count, Doc: "addresses that are this one call site, as compilers copy calls", Value: func(s Site) any { return s.Addresses }},
	}
}

// Measures are the columns with what the calls took and moved.
func Measures(known Known) show.Columns[Site] {
	list := show.Columns[Site]{}
	add := func(there bool, c show.Column[Site]) {
		if there {
			list = append(list, c)
		}
	}
	t := known.Times
	bytes, ranks := wide, wide
	if known.Waits {
		ranks += 20
	}
	if !t {
		bytes, ranks = 1, 1
	}
	add(t, show.Column[Site]{Name: "time", Unit: show.Ns, Room: 1, Old: "ns",
		Doc: "time of all ranks in these calls", Value: func(s Site) any { return s.Time.Sum }})
	add(t, show.Column[Site]{Name: "of run", Unit: show.Fraction, Room: 1,
		Doc: "its share of all ranks' time from first to last call", Value: func(s Site) any { return float64(s.Time.Sum) / float64(max(1, known.TimeNs)) }})
	add(known.Waits, show.Column[Site]{Name: "waited", Unit: show.Ns, Room: 1, Blank: true,
		Doc: "part of the time in which ranks waited for other ranks ([waits](waits.md))", Value: func(s Site) any { return s.WaitedNs }})
	add(true, show.Column[Site]{Name: "calls", Unit: show.Count, Room: 1,
		Doc: "number of calls", Value: func(s Site) any { return s.Calls }})
	add(true, show.Column[Site]{Name: "ranks", Unit: show.Count, Room: ranks,
		Doc: "ranks that make them", Value: func(s Site) any { return s.Spent.Ranks }})
	add(t, show.Column[Site]{Name: "mean", Unit: show.Ns, Room: 1,
		Doc: "time of a call", Value: func(s Site) any { return s.Time.Mean() }})
	add(t, show.Column[Site]{Name: "deviation", Unit: show.Ns,
		Doc: "standard deviation of the time of a call", Value: func(s Site) any { return s.Time.Deviation() }})
	add(t, show.Column[Site]{Name: "min", Unit: show.Ns,
		Doc: "shortest call", Value: func(s Site) any { return s.Time.Min }})
	add(t, show.Column[Site]{Name: "max", Unit: show.Ns, Room: ranks,
		Doc: "longest call", Value: func(s Site) any { return s.Time.Max }})
	add(t, show.Column[Site]{Name: "max rank",
		Doc: "rank that had the longest call", Value: func(s Site) any { return s.Time.MaxRank }})
	add(t, show.Column[Site]{Name: "most", Unit: show.Ns,
		Doc: "largest total of a rank", Value: func(s Site) any { return s.Spent.Max }})
	add(t, show.Column[Site]{Name: "most rank",
		Doc: "rank that has it", Value: func(s Site) any { return s.Spent.MaxRank }})
	add(t, show.Column[Site]{Name: "imbalance", Unit: show.Ratio, Room: 1,
		Doc:   "largest total of a rank divided by the mean over the ranks that make the call; \"≥\" marks a lower bound",
		Value: func(s Site) any { return s.Imbalance() }, Text: imbalance})
	add(t, show.Column[Site]{Name: "lost", Unit: show.Ns,
		Doc: "what the rank with the largest total has more than the mean",
		Value: func(s Site) any {
			return max(0, float64(s.Spent.Max)-float64(s.Time.Sum)/float64(max(1, s.Spent.Ranks)))
		}})
	add(t, show.Column[Site]{Name: "compute", Unit: show.Ns, Room: ranks + 30,
		Doc: "time outside MPI before these calls, of all ranks", Value: func(s Site) any { return s.Before.Sum }})
	add(true, show.Column[Site]{Name: "bytes", Unit: show.Size,
		Doc: "payload in both directions", Value: func(s Site) any { return s.Bytes.Out + s.Bytes.In }})
	add(true, show.Column[Site]{Name: "median message", Unit: show.Size, Room: ranks + 10, Blank: true,
		Doc: "median of what a call sends, or receives if it sends nothing", Value: func(s Site) any { return s.MedianSize() }})
	add(true, show.Column[Site]{Name: "bytes out", Unit: show.Size, Room: bytes, Blank: true,
		Doc: "payload that leaves the ranks", Value: func(s Site) any { return s.Bytes.Out }})
	add(true, show.Column[Site]{Name: "bytes in", Unit: show.Size, Room: bytes, Blank: true,
		Doc: "payload that reaches them", Value: func(s Site) any { return s.Bytes.In }})
	return list
}

// imbalance writes how unevenly the ranks share the time.
func imbalance(s Site) string {
	switch {
	case s.Spent.Ranks < 2:
		return ""
	case s.AtLeast:
		return fmt.Sprintf("≥ %.2f", s.Imbalance())
	}
	return fmt.Sprintf("%.2f", s.Imbalance())
}
