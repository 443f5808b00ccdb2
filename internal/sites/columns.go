package sites

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/show"
)

// KnownFacts is what is known of all sites of a table. Columns of unknown values are omitted.
type KnownFacts struct {
	TotalTimeNs int64 // time of all threads from first to last call, in ns: column "of run" is a share of it
	HasTimes    bool
	HasWaits    bool // the trace has wait states
}

// wide is the terminal width, in characters, from which on a table shows its less important columns.
const wide = 112

// AllColumns returns the columns of a table of call sites, in order. Text, CSV, JSON, the page, the database,
// comparisons and the docs all follow from them.
func AllColumns(known KnownFacts) show.Columns[Site] {
	return append(NameColumns(), MeasureColumns(known)...)
}

// NameColumns returns the columns that identify a call site: function, place and address.
func NameColumns() show.Columns[Site] {
	return show.Columns[Site]{
		{Name: "function", Unit: show.UnitWord, Doc: "MPI function", Value: func(s Site) any { return s.FunctionSite.Function }},
		{Name: "place", Unit: show.UnitWord, Doc: "call site", Value: func(s Site) any { return s.Place }},
		{Name: "module", Unit: show.UnitWord, Doc: "program or library that the call is in", Value: func(s Site) any { return s.Module }},
		{Name: "address", Unit: show.UnitWord, Doc: "where in it", Value: func(s Site) any { return fmt.Sprintf("0x%x", s.Offset) }},
		{Name: "addresses", Unit: show.UnitCount, Doc: "addresses that are this one call site, as compilers copy calls", Value: func(s Site) any { return s.AddressCount }},
	}
}

// MeasureColumns returns the columns with times, bytes and attached values of the calls.
func MeasureColumns(known KnownFacts) show.Columns[Site] {
	list := show.Columns[Site]{}
	add := func(there bool, c show.Column[Site]) {
		if there {
			list = append(list, c)
		}
	}
	t := known.HasTimes
	bytes, ranks := wide, wide
	if known.HasWaits {
		ranks += 20
	}
	if !t {
		bytes, ranks = 1, 1
	}
	add(t, show.Column[Site]{Name: "time", Unit: show.UnitNs, MinTerminalWidth: 1, OldJSONKey: "ns",
		Doc: "time of all ranks in these calls", Value: func(s Site) any { return s.Duration.Sum }})
	add(t, show.Column[Site]{Name: "of run", Unit: show.UnitFraction, MinTerminalWidth: 1,
		Doc: "its share of all ranks' time from first to last call", Value: func(s Site) any { return float64(s.Duration.Sum) / float64(max(1, known.TotalTimeNs)) }})
	add(known.HasWaits, show.Column[Site]{Name: "waited", Unit: show.UnitNs, MinTerminalWidth: 1, BlankIfZero: true,
		Doc: "part of the time in which ranks waited for other ranks ([waits](waits.md))", Value: func(s Site) any { return s.WaitedNs }})
	add(true, show.Column[Site]{Name: "calls", Unit: show.UnitCount, MinTerminalWidth: 1,
		Doc: "number of calls", Value: func(s Site) any { return s.Calls }})
	add(true, show.Column[Site]{Name: "ranks", Unit: show.UnitCount, MinTerminalWidth: ranks,
		Doc: "ranks that make them", Value: func(s Site) any { return s.TimePerRank.Ranks }})
	add(t, show.Column[Site]{Name: "mean", Unit: show.UnitNs, MinTerminalWidth: 1,
		Doc: "time of a call", Value: func(s Site) any { return s.Duration.Mean() }})
	add(t, show.Column[Site]{Name: "deviation", Unit: show.UnitNs,
		Doc: "standard deviation of the time of a call", Value: func(s Site) any { return s.Duration.Deviation() }})
	add(t, show.Column[Site]{Name: "min", Unit: show.UnitNs,
		Doc: "shortest call", Value: func(s Site) any { return s.Duration.Min }})
	add(t, show.Column[Site]{Name: "max", Unit: show.UnitNs, MinTerminalWidth: ranks,
		Doc: "longest call", Value: func(s Site) any { return s.Duration.Max }})
	add(t, show.Column[Site]{Name: "max rank",
		Doc: "rank that had the longest call", Value: func(s Site) any { return s.Duration.MaxRank }})
	add(t, show.Column[Site]{Name: "most", Unit: show.UnitNs,
		Doc: "largest total of a rank", Value: func(s Site) any { return s.TimePerRank.Max }})
	add(t, show.Column[Site]{Name: "most rank",
		Doc: "rank that has it", Value: func(s Site) any { return s.TimePerRank.MaxRank }})
	add(t, show.Column[Site]{Name: "imbalance", Unit: show.UnitRatio, MinTerminalWidth: 1,
		Doc:   "largest total of a rank divided by the mean over the ranks that make the call; \"≥\" marks a lower bound",
		Value: func(s Site) any { return s.Imbalance() }, Text: imbalance})
	add(t, show.Column[Site]{Name: "lost", Unit: show.UnitNs,
		Doc: "what the rank with the largest total has more than the mean",
		Value: func(s Site) any {
			return max(0, float64(s.TimePerRank.Max)-float64(s.Duration.Sum)/float64(max(1, s.TimePerRank.Ranks)))
		}})
	add(t, show.Column[Site]{Name: "compute", Unit: show.UnitNs, MinTerminalWidth: ranks + 30,
		Doc: "time outside MPI before these calls, of all ranks", Value: func(s Site) any { return s.Gap.Sum }})
	add(true, show.Column[Site]{Name: "bytes", Unit: show.UnitSize,
		Doc: "payload in both directions", Value: func(s Site) any { return s.Bytes.BytesOut + s.Bytes.BytesIn }})
	add(true, show.Column[Site]{Name: "median message", Unit: show.UnitSize, MinTerminalWidth: ranks + 10, BlankIfZero: true,
		Doc: "median of what a call sends, or receives if it sends nothing", Value: func(s Site) any { return s.MedianSize() }})
	add(true, show.Column[Site]{Name: "bytes out", Unit: show.UnitSize, MinTerminalWidth: bytes, BlankIfZero: true,
		Doc: "payload that leaves the ranks", Value: func(s Site) any { return s.Bytes.BytesOut }})
	add(true, show.Column[Site]{Name: "bytes in", Unit: show.UnitSize, MinTerminalWidth: bytes, BlankIfZero: true,
		Doc: "payload that reaches them", Value: func(s Site) any { return s.Bytes.BytesIn }})
	return list
}

// imbalance returns Site.Imbalance as text, after "≥" if it is a lower bound; "" for fewer than two ranks.
func imbalance(s Site) string {
	switch {
	case s.TimePerRank.Ranks < 2:
		return ""
	case s.MaxTimeIsLowerBound:
		return fmt.Sprintf("≥ %.2f", s.Imbalance())
	}
	return fmt.Sprintf("%.2f", s.Imbalance())
}
