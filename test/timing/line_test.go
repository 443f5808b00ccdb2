package timing

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// spoor runs the tool where the program ran, and returns what it prints.
func (a *app) spoor(args ...string) string {
	a.t.Helper()
	out := a.job.Run(append([]string{mpis.Root("bin", "spoor")}, args...)...)
	if out.Err != nil {
		a.t.Fatalf("%v: %v", args, out)
	}
	return out.Stdout
}

// truth is what a rank of line.c measured, in ns.
func (a *app) truth(rank int) map[string]float64 {
	a.t.Helper()
	text, err := os.ReadFile(filepath.Join(a.job.Dir, fmt.Sprintf("truth.%d", rank)))
	if err != nil {
		a.t.Fatal(err)
	}
	out := make(map[string]float64)
	for line := range strings.Lines(string(text)) {
		var name string
		var n, s float64
		if _, err := fmt.Sscan(line, &name, &n, &s); err != nil {
			a.t.Fatalf("%q: %v", line, err)
		}
		out[name] = s * 1e9
	}
	return out
}

// A stretch is what the calls of a rank's first thread add up to.
type stretch struct {
	first, end  int64 // the first call's begin, the last one's end
	rankEnd     int64
	gaps, calls float64
	spoor       float64
	outside     float64 // gaps before MPI_Iprobe
	ends        float64 // gaps before MPI_Comm_rank, the first call of all, and MPI_Finalize, the last
	started     float64 // of spoor, behind MPI_Init
	whole       float64 // from when MPI_Init had returned to the end of the last MPI_Iprobe
	kind        trace.SampleKind
}

func stretchOf(t *testing.T, r *trace.Reader, rank int) (s stretch) {
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	last, init := int64(math.MinInt64), int64(0)
	for c, err := range k.TimedCalls(0) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Index == 0 {
			s.first, init, s.kind = c.StartNs, c.EndNs(), c.Timing.Duration.Kind
		}
		if c.StartNs < last || c.EndNs() < c.StartNs {
			t.Fatalf("rank %d: call %d is from %d to %d, the one before began at %d", rank, c.Index, c.StartNs, c.EndNs(), last)
		}
		last = c.StartNs
		s.end = max(s.end, c.EndNs())
		s.gaps += float64(c.Timing.Gap.Ns)
		s.calls += float64(c.Timing.Duration.Ns)
		s.spoor += float64(c.Timing.RecorderNs)
		if c.Timing.AsidesBeforeGap {
			s.started = float64(c.Timing.RecorderNs)
		}
		if c.Name() == "MPI_Iprobe" {
			s.outside += float64(c.Timing.Gap.Ns)
			s.whole = float64(c.EndNs()-init) - s.started
		} else {
			s.ends += float64(c.Timing.Gap.Ns)
		}
	}
	if s.rankEnd, err = k.EndNs(); err != nil {
		t.Fatal(err)
	}
	return s
}

func about(got, want, share, abs float64) bool { return math.Abs(got-want) <= share*want+abs }

// checkLine holds the time line of a trace against what the program measured, and against
// itself through every verb that prints some of it.
func (a *app) checkLine(r *trace.Reader, polls int) {
	t := a.t
	t.Helper()
	end, err := r.EndNs()
	if err != nil {
		t.Fatal(err)
	}
	var all, want stretch
	ranks := float64(r.Ranks())
	// Clocks and wrappers, each call, but not the first touch of the ring's pages, which are mapped in the recorder's time; and
	// another process may run between two clocks, the program's and the recorder's.
	noise := 1e6 + 150*float64(polls)
	for rank := range r.Ranks() {
		noise += max(0, a.truth(rank)["starved"]) / ranks
	}
	most := 0.0    // of a rank
	drawn := false // what gaps and calls add up to is chance
	first := int64(0)
	for rank := range r.Ranks() {
		s := stretchOf(t, r, rank)
		first = min(first, s.first)
		truth := a.truth(rank)
		if rank == 0 && s.first != 0 {
			t.Errorf("rank 0's first call begins at %d", s.first)
		}
		if s.end > s.rankEnd || s.rankEnd > end {
			t.Errorf("rank %d: the last call ends at %d, the rank at %d, the run at %d", rank, s.end, s.rankEnd, end)
		}
		if !about(float64(s.end-s.first), float64(s.rankEnd-s.first), 0.012, 1e4) {
			t.Errorf("rank %d: calls are from %d to %d, the rank ends at %d", rank, s.first, s.end, s.rankEnd)
		}
		most = max(most, float64(s.rankEnd-s.first)-s.spoor)
		// The statistics are those of a class of ranks.
		if s.kind.OfTheCallItself() && !about(s.whole, truth["whole"], 0.02, 2e6+max(0, truth["starved"])) {
			t.Errorf("rank %d: %.3f ms from the end of MPI_Init to that of the last poll, want %.3f", rank, s.whole/1e6, truth["whole"]/1e6)
		}
		if s.spoor == 0 || s.started == 0 || s.started > s.spoor {
			t.Errorf("rank %d: spoor took %.0f ns, %.0f to start", rank, s.spoor, s.started)
		}
		if s.kind.OfTheCallItself() {
			// What spoor took is kept to 1.6 %, which is much where it waited long for a processor.
			room := 1e3*math.Sqrt(float64(polls)) + 0.016*s.spoor
			if sum := s.gaps + s.calls + s.spoor; !about(sum, float64(s.rankEnd-s.first), 0.003, room) && s.kind == trace.ExactSample {
				t.Errorf("rank %d: gaps, calls and spoor's time are %.0f, the rank takes %d", rank, sum, s.rankEnd-s.first)
			}
		}
		drawn = drawn || s.kind == trace.HistogramSample
		all.gaps += s.gaps
		all.calls += s.calls
		all.spoor += s.spoor
		all.outside += s.outside
		all.started += s.started
		all.whole += float64(s.rankEnd - s.first)
		want.outside += truth["outside"]
		// Behind MPI_Init, before the program first reads its clock, and behind the last time, before MPI_Finalize, another process may
		// run, too: on a busy machine only.
		if rest := s.ends - (truth["outside"] - truth["polls"]); rest > 1e6 && truth["starved"] > 5e6 {
			want.outside += rest
		}
		want.gaps += truth["polls"]
		want.calls += truth["calls"]
	}
	if !drawn && (!about(all.outside, want.gaps, 0.02, ranks*noise) || !about(all.gaps, want.outside, 0.02, ranks*noise)) {
		t.Errorf("%.3f ms before polls, %.3f before all calls, want %.3f and %.3f", all.outside/1e6, all.gaps/1e6, want.gaps/1e6, want.outside/1e6)
	}
	if !drawn && !about(all.gaps+all.calls+all.spoor, all.whole, 0.012, ranks*1e4) {
		t.Errorf("gaps %.3f, calls %.3f and spoor's time %.3f are not %.3f ms", all.gaps/1e6, all.calls/1e6, all.spoor/1e6, all.whole/1e6)
	}
	if drains := all.spoor - all.started; drains > want.calls || polls > 10000 && drains < ranks*1e4 {
		t.Errorf("spoor took %.3f ms while the program was in %.3f ms of calls", drains/1e6, want.calls/1e6)
	}

	var info struct {
		End   int64   `json:"end_ns"`
		Spoor float64 `json:"spoor_ns"`
		Start float64 `json:"spoor_start_ns"`
		MPI   float64 `json:"mpi_ns"`
		All   float64 `json:"thread_ns"`
	}
	a.json(&info, "info", "--json", "t.spoor")
	if info.End != end || !about(info.Spoor, all.spoor, 0.02, 0) || !about(info.Start, all.started, 0.02, 0) || !about(info.All+info.Spoor, all.whole, 0.02, 0) {
		t.Errorf("info says %+v; the end is %d, spoor's time %.0f, %.0f to start, calls and gaps %.0f", info, end, all.spoor, all.started, all.gaps+all.calls)
	}
	if text := a.spoor("info", "t.spoor"); !regexp.MustCompile(`(?m)^spoor +[\d.]+ [mµn]?s a rank during the run, .* to start`).MatchString(text) {
		t.Errorf("info has no line of spoor's time:\n%s", text)
	}
	var im struct {
		Efficiency struct {
			Runtime float64 `json:"runtime_ns"`
		}
		Useful struct {
			Mean float64 `json:"mean_ns"`
		} `json:"useful_time"`
	}
	a.json(&im, "efficiency", "--json", "t.spoor")
	if !about(im.Useful.Mean*ranks, want.outside, 0.02, ranks*noise) || !about(im.Efficiency.Runtime, most, 0.02, 1e6) {
		t.Errorf("imbalance says %+v; gaps are %.0f a rank, the longest took %.0f", im, want.outside/ranks, most)
	}
	inside := all.whole - all.spoor - want.outside
	if drawn {
		inside = 0
	}
	a.checkReport(&all, inside, ranks*noise, first, end)
	a.checkAt(r, end)
}

func (a *app) json(to any, args ...string) {
	a.t.Helper()
	if err := json.Unmarshal([]byte(a.spoor(args...)), to); err != nil {
		a.t.Fatalf("%v: %v", args, err)
	}
}

// checkReport looks at what the page embeds; calls is the time in MPI, 0 if it is drawn.
func (a *app) checkReport(all *stretch, calls, noise float64, first, end int64) {
	t := a.t
	t.Helper()
	var data struct {
		Summary struct {
			End int64 `json:"end_ns"`
		}
		Timeline struct {
			Start     int64 `json:"start_ns"`
			End       int64 `json:"end_ns"`
			Rows      []struct{ Share []float64 }
			Functions []struct {
				Category int
				Calls    uint64
				Ns       float64
			}
		}
	}
	a.json(&data, "report", "--json", "t.spoor")
	tl := &data.Timeline
	if data.Summary.End != end || tl.End != end || tl.Start != first {
		t.Errorf("report: the run is from %d to %d (%d), want %d to %d", tl.Start, tl.End, data.Summary.End, first, end)
	}
	spoor, inside := 0.0, 0.0
	for _, row := range tl.Rows {
		for c, share := range row.Share {
			if ns := share * float64(end-first); c == 6 {
				spoor += ns
			} else {
				inside += ns
			}
		}
	}
	for _, f := range tl.Functions {
		if f.Category == 6 && (f.Calls != 0 || !about(f.Ns, all.spoor, 0.02, 1e5)) {
			t.Errorf("report: %+v, spoor took %.0f", f, all.spoor)
		}
	}
	if !about(spoor, all.spoor, 0.02, 1e5) || calls > 0 && !about(inside, calls, 0.02, noise) {
		t.Errorf("report paints %.3f ms in spoor and %.3f in MPI, want %.3f and %.3f", spoor/1e6, inside/1e6, all.spoor/1e6, calls/1e6)
	}
}

// checkAt asks what the first and the last rank did when spoor started, and at the end.
func (a *app) checkAt(r *trace.Reader, end int64) {
	t := a.t
	t.Helper()
	for _, rank := range []int{0, r.Ranks() - 1} {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		last := int64(0)
		for c, err := range k.TimedCallsFrom(0, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Timing.AsidesBeforeGap {
				at := seconds(c.Timing.AsidesBeforeCall(c.Index, last, c.StartNs)[0].StartNs + int64(c.Timing.RecorderNs)/2)
				var m struct {
					Index  uint64
					State  string
					Inside bool
				}
				a.json(&m, "dump", "--json", "--rank", fmt.Sprint(rank), "--at", at, "t.spoor")
				if m.State != "spoor" || m.Inside || m.Index != c.Index-1 {
					t.Errorf("rank %d at %s: %+v, want spoor", rank, at, m)
				}
				if text := a.spoor("dump", "--rank", fmt.Sprint(rank), "--at", at, "t.spoor"); !strings.Contains(text, "in spoor, which recorded") {
					t.Errorf("rank %d at %s: %s", rank, at, text)
				}
				break
			}
			last = c.EndNs()
		}
	}
	if out := a.job.Run(mpis.Root("bin", "spoor"), "dump", "--at", seconds(end+1e6), "t.spoor"); out.Err == nil || !strings.Contains(out.Stderr, "the run ended at") {
		t.Errorf("past the end: %v", out)
	}
	a.spoor("dump", "--at", seconds(end-1), "t.spoor")
}

func seconds(ns int64) string { return fmt.Sprintf("%.9fs", float64(ns)/1e9) }

// The run's end, its calls, the gaps between them and the recorder's own time are one time
// line in every mode that keeps times, and agree with what the program measured.
func TestLine(t *testing.T) {
	a := build(t, "line.c", 2)
	for _, mode := range timing.Modes {
		if mode == timing.ModeNone {
			continue // see TestNone
		}
		t.Run(string(mode), func(t *testing.T) {
			b := *a
			b.t = t
			flags := []string{"--timing", string(mode)}
			if mode.IsLossy() {
				flags = append(flags, "--error", "0.005")
			}
			b.checkLine(b.trace(flags...), 20000)
		})
	}
}

// And so they do with many ranks, whose asides are told as means.
func TestLineOfMany(t *testing.T) {
	a := build(t, "line.c", 16)
	a.args = []string{"2000"}
	for _, mode := range []string{"stats", "lossless"} {
		a.checkLine(a.trace("--timing", mode), 2000)
	}
	a.ranks = 64
	a.args = []string{"20"}
	a.checkLine(a.trace(), 20)
}
