package timing

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// What each rank computes and waits is known to 2 % in every mode, as the ranks measured it
// themselves, and the ranks that are late for the barrier are named.
func TestRankTotals(t *testing.T) {
	const ranks = 6
	a := build(t, "late.c", ranks)
	for _, mode := range []string{"stats", "hist", "hist-sig", "lossless", "place", "zfp"} {
		mpis.Steady(t, func(complain func(string, ...any)) { rankTotals(t, a, mode, ranks, complain) })
	}
	table(t, a, ranks)
}

// rankTotals traces the program in a timing mode, and complains of what the trace has otherwise than the ranks measured it.
func rankTotals(t *testing.T, a *app, mode string, ranks int, complain func(string, ...any)) {
	t.Helper()
	r := a.trace("--timing", mode)
	measured := a.measured()
	for rank, m := range measured {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		totals, err := k.Totals()
		if err != nil {
			t.Fatal(err)
		}
		same := func(what string, got, want float64) {
			// The clock is read twice, and the process may lose its core in between.
			if math.Abs(got-want) > 0.02*want+3e6 {
				complain("%s, rank %d: %s %.0f ns, measured %.0f", mode, rank, what, got, want)
			}
		}
		if w := m.barrier.work + m.reduce.work; totals.Gap.Ns < 0.98*w || !totals.Gap.IsOfRank() || !totals.Duration.IsOfRank() {
			complain("%s, rank %d: computed %+v, measured %.0f at least", mode, rank, totals.Gap, w)
		}
		seen := 0
		for _, s := range totals.Sites {
			c, err := k.Terminal(s.FirstTerminal)
			if err != nil {
				t.Fatal(err)
			}
			want := m.barrier
			switch c.Name() {
			case "MPI_Allreduce":
				want = m.reduce
			case "MPI_Barrier":
			default:
				continue
			}
			seen++
			same("before "+c.Name(), s.Gap.Ns, want.work)
			same("in "+c.Name(), s.Duration.Ns, want.wait)
		}
		if seen != 2 {
			complain("%s: %d call sites", mode, seen)
		}
	}
	inside(t, a, mode, measured, complain)
	// On a busy machine ranks may sleep for so long that these are no groups.
	var before [2][]float64 // computed before the barriers, by even ranks and by odd ones
	for rank, m := range measured {
		before[rank%2] = append(before[rank%2], m.barrier.work)
	}
	spread := func(x []float64) float64 { return slices.Max(x) - slices.Min(x) }
	if slices.Min(before[0])-slices.Max(before[1]) > 2*max(spread(before[0]), spread(before[1])) {
		late(t, a, mode, measured, complain)
	}
}

// measured is what a rank of late.c has measured itself, in ns.
type measured struct {
	span            float64 // from behind MPI_Init to the end of the rounds
	barrier, reduce struct{ work, wait float64 }
	each            [8]float64 // computed before each barrier
}

// measured reads what the ranks wrote down.
func (a *app) measured() []measured {
	a.t.Helper()
	ranks := make([]measured, a.ranks)
	for rank := range ranks {
		text, err := os.ReadFile(filepath.Join(a.job.Dir, fmt.Sprintf("rank%d.txt", rank)))
		if err != nil {
			a.t.Fatal(err)
		}
		m := &ranks[rank]
		to := []any{&m.span, &m.barrier.work, &m.barrier.wait, &m.reduce.work, &m.reduce.wait}
		for i := range m.each {
			to = append(to, &m.each[i])
		}
		if _, err := fmt.Sscan(string(text), to...); err != nil {
			a.t.Fatal(err)
		}
	}
	return ranks
}

// inside wants the efficiencies between MPI_Init and MPI_Finalize to be those that the ranks measured.
func inside(t *testing.T, a *app, mode string, measured []measured, complain func(string, ...any)) {
	t.Helper()
	var rep, whole efficiency.Report
	for r, options := range map[*efficiency.Report][]string{&rep: {"--without-init"}, &whole: nil} {
		if err := json.Unmarshal([]byte(a.spoor(append([]string{"efficiency", "--json", "t.spoor"}, options...)...)), r); err != nil {
			t.Fatal(err)
		}
	}
	run, sum, most, waited := 0.0, 0.0, 0.0, 0.0
	for _, m := range measured {
		work := m.barrier.work + m.reduce.work
		run, sum, most = max(run, m.span), sum+work, max(most, work)
		waited += m.barrier.wait + m.reduce.wait
	}
	n := float64(len(measured))
	for _, x := range []struct {
		what           string
		got, want, off float64
	}{
		{"run time", float64(rep.Efficiency.RuntimeNs), run, 3e6 + float64(rep.Efficiency.RuntimeErrorNs)},
		{"time in MPI", rep.MPITime.MeanNs, waited / n, 3e6},
		{"parallel efficiency", rep.Efficiency.Parallel.Value, sum / n / run, 0.01},
		{"load balance", rep.Efficiency.LoadBalance.Value, sum / n / most, 0.01},
		{"communication efficiency", rep.Efficiency.Communication.Value, most / run, 0.01},
	} {
		if math.Abs(x.got-x.want) > 0.02*x.want+x.off {
			complain("%s: %s between MPI_Init and MPI_Finalize %g, measured %g", mode, x.what, x.got, x.want)
		}
	}
	// Call sites are known to a thousandth of all time, MPI_Init's with it, or to a percent.
	if off := float64(rep.Efficiency.RuntimeErrorNs); off > 0.02*run+0.005*float64(whole.Efficiency.RuntimeNs) {
		complain("%s: run time between MPI_Init and MPI_Finalize is known to %g ns of %g only", mode, off, run)
	}
	if rep.InitTime.Ranks != 0 || rep.FinalizeTime.Ranks != 0 {
		complain("%s: %+v and %+v were to be left out", mode, rep.InitTime, rep.FinalizeTime)
	}
}

// late asks for the two groups at the barrier: those that compute long before, and wait little.
func late(t *testing.T, a *app, mode string, measured []measured, complain func(string, ...any)) {
	t.Helper()
	out := a.job.Run(mpis.Root("bin", "spoor"), "efficiency", "--json", "t.spoor")
	if out.Err != nil {
		t.Fatal(out)
	}
	var rep efficiency.Report
	if err := json.Unmarshal([]byte(out.Stdout), &rep); err != nil {
		t.Fatal(err)
	}
	findsBarrier(t, a, mode, measured, rep.Efficiency.RuntimeNs, complain)
	for _, c := range rep.Calls {
		if c.Function != "MPI_Barrier" {
			continue
		}
		g := c.RankGaps.Groups
		if len(g) != 2 || fmt.Sprint(g[0].SomeRanks, g[1].SomeRanks) != "[1 3 5] [0 2 4]" || g[0].IsRankCountEstimated || g[1].IsRankCountEstimated {
			complain("%s: groups before the barrier: %+v", mode, g)
		}
		return
	}
	t.Errorf("%s: no barrier", mode)
}

// findsBarrier wants what info says first to have the barrier, at which three ranks of six wait for the others, and that
// share of the run that the ranks measured: how much longer than all of them on average the one computed that came last, or how
// long they waited.
func findsBarrier(t *testing.T, a *app, mode string, measured []measured, runtime int64, complain func(string, ...any)) {
	t.Helper()
	var info struct {
		Findings []efficiency.Finding `json:"findings"`
	}
	if err := json.Unmarshal([]byte(a.spoor("info", "--json", "t.spoor")), &info); err != nil {
		t.Fatal(err)
	}
	// On a busy machine ranks that were woken late wait for more than for what the last one computed.
	late, waited, least, most := 0.0, 0.0, math.Inf(1), 0.0
	for round := range measured[0].each {
		last, sum := 0.0, 0.0
		for _, m := range measured {
			last, sum = max(last, m.each[round]), sum+m.each[round]
		}
		late += last - sum/float64(a.ranks)
		most += last
	}
	for _, m := range measured {
		waited, least = waited+m.barrier.wait/float64(a.ranks), min(least, m.barrier.wait)
	}
	want := bound{min(late, waited-least) / float64(runtime), max(late, waited) / float64(runtime)}
	off := 0.005
	if timing.Mode(mode).IsLossy() { // what the last one computed is a sum of single times, what all did is not
		off += timing.DefaultRelativeError * most / float64(runtime)
	}
	for _, f := range info.Findings {
		if f.Function == "MPI_Barrier" {
			if f.Share < 0.98*want.low-off || f.Share > 1.02*want.high+off || f.Rank%2 == 1 {
				complain("%s: %+v, measured a share of %.3f", mode, f, want)
			}
			return
		}
	}
	// What takes less than a twentieth is not told: on a busy machine MPI_Init may take nearly all of the run.
	if want.low > 0.06 {
		complain("%s: nothing of the barrier, in which ranks wait %.3f of the run: %+v", mode, want, info.Findings)
	}
}

// table compares the rows of `imbalance --ranks`, as CSV and text, with what the ranks measured.
func table(t *testing.T, a *app, ranks int) {
	t.Helper()
	out := a.job.Run(mpis.Root("bin", "spoor"), "efficiency", "--by-rank", "--csv", "t.spoor")
	if out.Err != nil {
		t.Fatal(out)
	}
	rows, err := csv.NewReader(strings.NewReader(out.Stdout)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, row := range rows[1:] {
		if row[2] != "compute" || row[3] != "MPI_Barrier" {
			continue
		}
		seen++
		rank, _ := strconv.Atoi(row[0])
		ns, _ := strconv.ParseFloat(row[5], 64)
		least := 16e6
		if rank%2 == 0 {
			least = 256e6
		}
		if ns < least || row[7] != "true" {
			t.Errorf("row %q", row)
		}
	}
	if seen != ranks {
		t.Errorf("%d rows of the barrier:\n%s", seen, out.Stdout)
	}
	out = a.job.Run(mpis.Root("bin", "spoor"), "efficiency", "--by-rank", "t.spoor")
	if out.Err != nil || strings.Count(out.Stdout, "\n") < ranks+2 || !strings.Contains(out.Stdout, "compute before MPI_Barrier at main") {
		t.Errorf("table: %v", out)
	}
}

// What a plugin attaches is known for each rank and call site, on whichever thread that was.
func TestRankValues(t *testing.T) {
	const ranks, rounds = 6, 8
	a := build(t, "late.c", ranks)
	so := a.plugin("number.c")
	r := a.trace("--plugin", so)
	for rank := range ranks {
		n := float64(rank + 1)
		sign := float64(rank%2*2 - 1)
		a.values(r, rank, map[string]float64{"work": rounds*1e6*n + 997*rounds*(rounds-1)/2, "balance": rounds * sign * (n + 4) * 12345})
	}
	out := a.job.Run(mpis.Root("bin", "spoor"), "efficiency", "--by-rank", "--csv", "t.spoor")
	if out.Err != nil || strings.Count(out.Stdout, ",balance,MPI_Allreduce,") != ranks || strings.Count(out.Stdout, ",work,,,") != ranks {
		t.Errorf("%v", out)
	}

	const threads, exchanges = 3, 25
	a = build(t, "threads.c", 2)
	so = a.plugin("number.c")
	r = a.trace("--plugin", so)
	for rank := range 2 {
		a.values(r, rank, map[string]float64{"turn": threads * exchanges * float64(rank*400+300)})
	}
}

// plugin compiles one beside the program.
func (a *app) plugin(source string) string {
	t := a.t
	t.Helper()
	header, err := filepath.Abs(mpis.Root("shim", "spoor_plugin.h"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(header, filepath.Join(a.job.Dir, "spoor.h")); err != nil {
		t.Fatal(err)
	}
	so := filepath.Join(a.job.Dir, "number.so")
	cc := exec.Command(a.job.MPI.CC, "-shared", "-fPIC", "-I", a.job.Dir, "-o", so, filepath.Join("testdata", source))
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return so
}

// values compares what was attached on a rank, in all and at its one call site.
func (a *app) values(r *trace.Reader, rank int, want map[string]float64) {
	t := a.t
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	got, err := k.AttachedTotals()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range want {
		v := got[name]
		if v == nil || len(v.Sites) != 1 {
			t.Fatalf("rank %d: %s %+v", rank, name, v)
		}
		for _, x := range []trace.AttachedSum{v.AttachedSum, v.Sites[0].AttachedSum} {
			if !x.IsOfRank() || math.Abs(x.Sum-want) > 0.0102*math.Abs(want) || math.Abs(x.Sum-want) > x.ErrorBound {
				t.Errorf("rank %d: %s %+v, want %.0f", rank, name, x, want)
			}
		}
	}
}
