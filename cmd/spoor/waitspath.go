package main

import (
	"fmt"
	"io"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/show"
)

// printCriticalPath shows the critical path by call site and rank.
func printCriticalPath(w io.Writer, rep *waits.Report, top show.Limit) {
	p := rep.Path
	if p == nil {
		fmt.Fprintln(w, "ranks waited too often to keep what the path is found from")
		return
	}
	if len(p.Sites) == 0 {
		fmt.Fprintln(w, "no rank left a track")
		return
	}
	ns := func(v int64) string { return show.Duration(float64(v)) }
	part := func(v int64) string { return show.Share(float64(v), float64(p.RunNs)) }
	fmt.Fprintf(w, "critical path: %s, ends on rank %d, %s from rank to rank; %s outside of MPI", ns(p.RunNs), p.Rank, show.Plural(uint64(p.Hops), "step"), part(p.OutsideNs))
	if p.SpoorNs > 0 {
		fmt.Fprintf(w, ", %s spoor's or not traced", part(p.SpoorNs))
	}
	fmt.Fprint(w, "\n\n")
	share := func(v int64) float64 { return float64(v) / max(1, float64(p.RunNs)) }
	show.Part(w, p.Sites, top, func(s waits.PathSite) float64 { return share(s.ComputeNs + s.MPINs) }, func(c *show.Row, s waits.PathSite) {
		c.Share("of path", s.ComputeNs+s.MPINs, p.RunNs).Ns("computed before", s.ComputeNs).Ns("in the call", s.MPINs).Ns("mean of ranks", s.MeanNs)
		c.Ns("beyond", s.ImbalanceNs).Value("most on rank", s.Rank).Text("call", s.Function+" at "+s.Place)
	})
	if len(p.Loops) > 0 {
		fmt.Fprintln(w)
		show.Part(w, p.Loops, top, func(l waits.PathLoop) float64 { return share(l.ComputeNs + l.MPINs) }, func(c *show.Row, l waits.PathLoop) {
			where := "in no loop"
			if l.First != "" {
				where = l.Loop.String()
			}
			c.Share("of path", l.ComputeNs+l.MPINs, p.RunNs).Ns("computed", l.ComputeNs).Ns("in MPI", l.MPINs).Text("loop, with those in it", where)
		})
	}
	fmt.Fprintln(w)
	show.Part(w, p.Ranks, top, func(r waits.PathRank) float64 { return share(r.ComputeNs + r.MPINs) }, func(c *show.Row, r waits.PathRank) {
		c.Value("rank", r.Rank).Share("of path", r.ComputeNs+r.MPINs, p.RunNs).Ns("computed", r.ComputeNs).Ns("in MPI", r.MPINs)
	})
}
