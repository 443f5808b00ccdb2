package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/reproduce/replay"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// A replayReport is what spoor replay --json prints: times of the replay and of the traced run, in ns.
type replayReport struct {
	Trace    string       `json:"trace"`
	Timeless bool         `json:"no_times,omitempty"` // the trace has no times, so those of the traced run are 0
	Files    bool         `json:"files,omitempty"`    // times in MPI include times in calls on files
	MPI      string       `json:"mpi"`
	Launcher string       `json:"launcher"`
	Ranks    []replayRank `json:"ranks"`
	Wall     int64        `json:"wall_ns"`          // largest of the ranks' times since all ranks were in MPI_Init
	Original int64        `json:"original_wall_ns"` // largest of the ranks' times in the traced run
	Job      int64        `json:"job_ns"`           // duration of the replay's job, with start and end of the ranks
}

type replayRank struct {
	replay.Report
	Original replayTimes `json:"original"`
}

// replayTimes are a rank's times in the traced run. Times in MPI and between calls are sums over the rank's threads.
type replayTimes struct {
	Wall          int64 `json:"wall_ns"`
	MPI           int64 `json:"mpi_ns"`
	MPIWithin     int64 `json:"mpi_within_ns"`
	Compute       int64 `json:"compute_ns"`
	ComputeWithin int64 `json:"compute_within_ns"`
	Known         bool  `json:"known"` // MPI and Compute are the rank's own; else its share of what its class spent
}

func reportReplay(cmd *cobra.Command, o replayOptions, r *trace.Reader, runner *launch.Runner, dir string, job time.Duration) error {
	rep, err := readReports(r, dir)
	if err != nil {
		return err
	}
	rep.Files = o.io != ""
	rep.MPI, rep.Launcher, rep.Job = runner.Flavour, strings.Join(runner.CommandTemplate, " "), int64(job)
	return o.print(cmd, rep, func(w io.Writer) { printReplay(w, rep) }, nil)
}

// readReports reads the reports that the ranks of the replay wrote, and adds the times of the traced run.
func readReports(r *trace.Reader, dir string) (*replayReport, error) {
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	spent := make(map[int]efficiency.RankTotals)
	if r.HasTimes() {
		list, err := efficiency.TotalsByRank(r, efficiency.Options{})
		if err != nil {
			return nil, err
		}
		for _, x := range list {
			spent[x.Rank] = x
		}
	}
	rep := &replayReport{Trace: r.Name(), Timeless: !r.HasTimes()}
	for rank := range r.Ranks() {
		b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("rank.%d", rank)))
		if err != nil {
			return nil, fmt.Errorf("report of rank %d: %w; do all nodes see this directory?", rank, err)
		}
		var x replayRank
		if err := json.Unmarshal(b, &x.Report); err != nil {
			return nil, fmt.Errorf("report of rank %d: %w", rank, err)
		}
		p := procs.At(rank)
		span, of := p.FirstThreadNs+p.FirstThreadTracingOffNs(), spent[rank]
		x.Original = replayTimes{
			Wall: span, MPI: int64(of.MPI.Ns), MPIWithin: int64(of.MPI.ErrorNs), Compute: int64(of.Compute.Ns), ComputeWithin: int64(of.Compute.ErrorNs),
			Known: of.MPI.IsOfRank && of.Compute.IsOfRank,
		}
		rep.Original = max(rep.Original, span)
		rep.Ranks = append(rep.Ranks, x)
	}
	reports := make([]*replay.Report, len(rep.Ranks))
	for i := range reports {
		reports[i] = &rep.Ranks[i].Report
	}
	replay.SubtractInitWait(reports)
	for _, x := range reports {
		rep.Wall = max(rep.Wall, x.WallNs)
	}
	return rep, nil
}

func printReplay(w io.Writer, rep *replayReport) {
	seconds := func(ns int64) string { return show.FormatDuration(float64(ns)) }
	fmt.Fprintf(w, "%s: %s replayed with %s\n", rep.Trace, show.FormatPlural(len(rep.Ranks), "rank"), rep.Launcher)
	in := "in MPI"
	if rep.Files {
		in = "in calls"
	}
	if rep.Timeless {
		fmt.Fprintf(w, "wall time %s; the original's is not known: %v\n\n", seconds(rep.Wall), trace.ErrNoTimes)
	} else {
		fmt.Fprintf(w, "wall time %s, original %s (%+.1f %%)\n\n", seconds(rep.Wall), seconds(rep.Original),
			100*(float64(rep.Wall)/float64(max(1, rep.Original))-1))
	}
	const room = 16
	var different int64
	guessed := false
	sum := func(ns, within int64, known bool) string {
		switch {
		case !known:
			return "~" + seconds(ns)
		case within > ns/50: // smaller errors aren't printed, as all times have one of about 1 %
			return seconds(ns) + " ± " + seconds(within)
		}
		return seconds(ns)
	}
	for _, x := range rep.Ranks {
		different += x.DifferentResults
	}
	show.WriteText(w, rep.Ranks[:min(room, len(rep.Ranks))], 0, func(c *show.Row, x replayRank) {
		c.Value("rank", x.Rank).Count("calls", x.Calls).Ns("wall", x.WallNs)
		if rep.Timeless {
			c.Ns(in, x.MPINs)
			return
		}
		of := &x.Original
		c.Ns("original", of.Wall).Ns(in, x.MPINs).Ns("held", x.HeldNs).Value("original", sum(of.MPI, of.MPIWithin, of.Known))
		c.Ns("computing", x.ComputeNs).Value("original", sum(of.Compute, of.ComputeWithin, of.Known))
		guessed = guessed || !of.Known
	})
	if n := len(rep.Ranks) - room; n > 0 {
		fmt.Fprintf(w, "and %s (--json has all)\n", show.FormatPlural(n, "more rank"))
	}
	if guessed {
		fmt.Fprintln(w, "~ not known of the rank: its part in what ranks like it spent")
	}
	var dropped, receives int64
	for _, x := range rep.Ranks {
		dropped, receives = dropped+x.DroppedCalls, receives+x.DerivedReceives
	}
	if dropped+receives > 0 {
		fmt.Fprintf(w, "\n%s for what others send; %s of the trace left out, which receive, probe, wait or test\n", show.FormatPlural(receives, "receive"), show.FormatPlural(dropped, "call"))
	}
	if different == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s returned something else than in the trace:\n", show.FormatPlural(different, "call"))
	shown := 0
	for _, x := range rep.Ranks {
		for _, e := range x.Examples {
			if shown++; shown <= 5 {
				fmt.Fprintf(w, "  rank %d: %s\n", x.Rank, e)
			}
		}
	}
}
