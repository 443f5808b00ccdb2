package main

import (
	"fmt"
	"io"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/columns"
	"github.com/spoor-hpc/spoor/internal/units"
)

// printCriticalPath shows the critical path by call site and rank.
func printCriticalPath(w io.Writer, rep *waits.Report, top int) error {
	p := rep.Path
	if p == nil {
		_, err := fmt.Fprintln(w, "ranks waited too often to keep what the path is found from")
		return err
	}
	if len(p.Sites) == 0 {
		_, err := fmt.Fprintln(w, "no rank left a track")
		return err
	}
	ns := func(v int64) string { return units.Duration(float64(v)) }
	part := func(v int64) string { return units.Share(float64(v), float64(p.RunNs)) }
	fmt.Fprintf(w, "critical path: %s, ends on rank %d, %s from rank to rank; %s outside of MPI", ns(p.RunNs), p.Rank, units.Plural(uint64(p.Hops), "step"), part(p.OutsideNs))
	if p.SpoorNs > 0 {
		fmt.Fprintf(w, ", %s spoor's or not traced", part(p.SpoorNs))
	}
	fmt.Fprint(w, "\n\n")
	sites := columns.Table[waits.PathSite]{
		{Head: "of path", Value: func(s waits.PathSite) any { return part(s.ComputeNs + s.MPINs) }},
		{Head: "computed before", Value: func(s waits.PathSite) any { return s.ComputeNs }, Unit: columns.Duration},
		{Head: "in the call", Value: func(s waits.PathSite) any { return s.MPINs }, Unit: columns.Duration},
		{Head: "mean of ranks", Value: func(s waits.PathSite) any { return s.MeanNs }, Unit: columns.Duration},
		{Head: "beyond", Value: func(s waits.PathSite) any { return s.ImbalanceNs }, Unit: columns.Duration},
		{Head: "most on rank", Value: func(s waits.PathSite) any { return s.Rank }},
		{Head: "call", Value: func(s waits.PathSite) any { return s.Function + " at " + s.Place }, Left: true},
	}
	if err := sites.Text(w, p.Sites, top); err != nil {
		return err
	}
	if len(p.Loops) > 0 {
		fmt.Fprintln(w)
		loops := columns.Table[waits.PathLoop]{
			{Head: "of path", Value: func(l waits.PathLoop) any { return part(l.ComputeNs + l.MPINs) }},
			{Head: "computed", Value: func(l waits.PathLoop) any { return l.ComputeNs }, Unit: columns.Duration},
			{Head: "in MPI", Value: func(l waits.PathLoop) any { return l.MPINs }, Unit: columns.Duration},
			{Head: "loop, with those in it", Left: true, Value: func(l waits.PathLoop) any {
				if l.Place == "" {
					return "in no loop"
				}
				return l.Function + " " + l.Place
			}},
		}
		if err := loops.Text(w, p.Loops, top); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	return columns.Table[waits.PathRank]{
		{Head: "rank", Value: func(r waits.PathRank) any { return r.Rank }},
		{Head: "of path", Value: func(r waits.PathRank) any { return part(r.ComputeNs + r.MPINs) }},
		{Head: "computed", Value: func(r waits.PathRank) any { return r.ComputeNs }, Unit: columns.Duration},
		{Head: "in MPI", Value: func(r waits.PathRank) any { return r.MPINs }, Unit: columns.Duration},
	}.Text(w, p.Ranks, top)
}
