package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
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
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "of path\tcomputed before\tin the call\tmean of ranks\tbeyond\tmost on rank\t  call")
	for i, s := range p.Sites {
		if top > 0 && i == top {
			break
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%d\t  %s at %s\n", part(s.ComputeNs+s.MPINs), ns(s.ComputeNs), ns(s.MPINs), ns(s.MeanNs), ns(s.ImbalanceNs), s.Rank, s.Function, s.Place)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if top > 0 && len(p.Sites) > top {
		fmt.Fprintf(w, "%d more: --top 0\n", len(p.Sites)-top)
	}
	if len(p.Loops) > 0 {
		fmt.Fprintln(w)
		tw = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(tw, "of path\tcomputed\tin MPI\t  loop, with those in it")
		for i, l := range p.Loops {
			if top > 0 && i == top {
				break
			}
			where := "in no loop"
			if l.Place != "" {
				where = l.Function + " " + l.Place
			}
			fmt.Fprintf(tw, "%s\t%s\t%s\t  %s\n", part(l.ComputeNs+l.MPINs), ns(l.ComputeNs), ns(l.MPINs), where)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
		if top > 0 && len(p.Loops) > top {
			fmt.Fprintf(w, "%d more: --top 0\n", len(p.Loops)-top)
		}
	}
	fmt.Fprintln(w)
	tw = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "rank\tof path\tcomputed\tin MPI\t")
	for i, r := range p.Ranks {
		if top > 0 && i == top {
			break
		}
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t\n", r.Rank, part(r.ComputeNs+r.MPINs), ns(r.ComputeNs), ns(r.MPINs))
	}
	return tw.Flush()
}
