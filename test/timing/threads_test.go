package timing

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/trace"
)

// others is the tag that stands for the calls before and behind the threads.
const others = 9

// A stamp is when a thread of threads.c called, and when that returned, in ns.
type stamp struct{ from, to float64 }

// stamps returns those of a rank by tag, in order.
func (a *app) stamps(rank int) map[int][]stamp {
	a.t.Helper()
	text, err := os.ReadFile(filepath.Join(a.job.Dir, fmt.Sprintf("truth.%d", rank)))
	if err != nil {
		a.t.Fatal(err)
	}
	out := make(map[int][]stamp)
	for line := range strings.Lines(string(text)) {
		var tag int
		var s stamp
		if _, err := fmt.Sscan(line, &tag, &s.from, &s.to); err != nil {
			a.t.Fatalf("%q: %v", line, err)
		}
		out[tag] = append(out[tag], s)
	}
	return out
}

// A bound is what a time must lie between.
type bound struct{ low, high float64 }

// has reports whether a time is in there, give or take a share and 5 µs: clocks are not the same.
func (b bound) has(ns, share float64) bool {
	return ns >= b.low-math.Abs(b.low)*share-5000 && ns <= b.high+math.Abs(b.high)*share+5000
}

func (b *bound) plus(o bound) { b.low, b.high = b.low+o.low, b.high+o.high }

// before bounds the time outside MPI between two calls: that from stamp to stamp, and at most what
// both stamps' calls leave besides what is known to be in MPI.
func before(a, b stamp, aNs, bNs float64) bound {
	return bound{b.from - a.to, b.to - a.from - aNs - bNs}
}

// lines returns what `spoor dump --times` prints of the exchanges, by rank and tag.
func (a *app) lines() (out [2]map[int][]timedLine) {
	out = [2]map[int][]timedLine{{}, {}}
	for line := range strings.Lines(a.spoor("dump", "t.spoor", "--times", "--json", "--call", "Sendrecv")) {
		var l timedLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			a.t.Fatalf("%q: %v", line, err)
		}
		out[l.Rank][l.Params.Tag] = append(out[l.Rank][l.Params.Tag], l)
	}
	return out
}

type timedLine struct {
	Rank, Thread int
	Params       struct {
		Tag int `json:"sendtag"`
	}
	Times    string
	Start    float64 `json:"start_ns"`
	Duration float64 `json:"duration_ns"`
	Gap      float64 `json:"gap_ns"`
	Mean     float64 `json:"mean_ns"`
	MeanGap  float64 `json:"mean_gap_ns"`
}

// Threads that call MPI at once: each call's duration, gap and start are its thread's, on one line
// for all of them, as the program itself measured them.
func TestTimesOfThreads(t *testing.T) {
	onEach(t, "threads.c", 2, func(t *testing.T, a *app) {
		r := a.trace("--timing", "lossless")
		lines := a.lines()
		for rank := range lines {
			truth := a.stamps(rank)
			threads := make(map[int]bool)
			line := bound{math.Inf(-1), math.Inf(1)} // where the trace's line may begin on the program's clock
			first := truth[others][0].from
			for tag := range 3 {
				stamps, list := truth[tag], lines[rank][tag]
				if len(list) != len(stamps) || len(list) != 25 {
					t.Fatalf("rank %d: %d exchanges of thread %d, want %d", rank, len(list), tag, len(stamps))
				}
				threads[list[0].Thread] = true
				for i, l := range list {
					s := stamps[i]
					if l.Thread != list[0].Thread || l.Times != "exact" || !(bound{0, s.to - s.from}).has(l.Duration, 1e-3) {
						t.Errorf("rank %d: call %d of thread %d: %+v, took %v", rank, i, tag, l, s.to-s.from)
					}
					off := 1e-3 * (s.to - first)
					line.low, line.high = max(line.low, s.from-l.Start-off), min(line.high, s.to-l.Start-l.Duration+off)
					if i > 0 {
						if b := before(stamps[i-1], s, list[i-1].Duration, l.Duration); !b.has(l.Gap, 1e-3) {
							t.Errorf("rank %d: before call %d of thread %d: %+v, want %+v", rank, i, tag, l, b)
						}
					}
				}
			}
			if len(threads) != 3 {
				t.Errorf("rank %d: threads %v", rank, threads)
			}
			if line.low > line.high+5000 {
				t.Errorf("rank %d: no line has the calls of all threads where they were: it is %v ns short", rank, line.low-line.high)
			}
		}
		a.checkThreads(r)

		r = a.trace()
		a.checkMeans()
		a.checkThreads(r)
	})
}

// checkMeans holds the means of a trace without single times against the truth. Calls of a thread
// are alike, and so are those of threads of the same number if the ranks are a class, whatever their tags.
func (a *app) checkMeans() {
	a.t.Helper()
	type mean struct{ duration, gap float64 }
	type sum struct {
		duration, gap bound
		calls         float64
	}
	sums := make(map[mean]*sum)
	for rank, lines := range a.lines() {
		truth := a.stamps(rank)
		for tag, list := range lines {
			m := mean{list[0].Mean, list[0].MeanGap}
			if sums[m] == nil {
				sums[m] = &sum{}
			}
			x := sums[m]
			for i, s := range truth[tag] {
				x.calls++
				x.duration.high += s.to - s.from
				switch {
				case i > 0:
					x.gap.plus(before(truth[tag][i-1], s, 0, 0))
				case tag == 0: // other threads have no call before
					x.gap.plus(before(truth[others][0], s, 0, 0))
				}
			}
			if l := list[len(list)-1]; len(list) != len(truth[tag]) || l.Mean != m.duration || l.MeanGap != m.gap || l.Times != "mean" {
				a.t.Errorf("rank %d, thread %d: %d calls to %+v, others have %+v", rank, tag, len(list), l, m)
			}
		}
	}
	if len(sums) < 3 {
		a.t.Errorf("%d different means of 3 threads", len(sums))
	}
	for m, x := range sums {
		if !(bound{0, x.duration.high / x.calls}).has(m.duration, 0.01) || !(bound{x.gap.low / x.calls, x.gap.high / x.calls}).has(m.gap, 0.01) {
			a.t.Errorf("%+v; durations %+v, gaps %+v of %v calls", m, x.duration, x.gap, x.calls)
		}
	}
}

// checkThreads holds what `efficiency` says of ranks with several threads against the truth: what they spent
// before and in the exchanges, and the share of its time for which a rank computed.
func (a *app) checkThreads(r *trace.Reader) {
	a.t.Helper()
	var ranks []efficiency.RankTotals
	a.json(&ranks, "efficiency", "--by-rank", "--json", "t.spoor")
	var rep efficiency.Report
	a.json(&rep, "efficiency", "--json", "t.spoor")
	if len(ranks) != 2 || rep.MaxThreads != 3 {
		a.t.Fatalf("%d ranks, %d threads", len(ranks), rep.MaxThreads)
	}
	share, longest := 0.0, 0.0
	for rank, x := range ranks {
		truth := a.stamps(rank)
		var inside, outside float64
		for tag := range 3 {
			for i, s := range truth[tag] {
				inside += s.to - s.from
				if i > 0 {
					outside += s.from - truth[tag][i-1].to
				}
			}
		}
		for _, s := range x.Sites {
			// What is lost between a stamp and its call is little, but on a busy machine not nothing.
			if s.Function == "MPI_Sendrecv" && !(bound{0.5*inside - 20e6 - s.MPI.ErrorNs, inside + s.MPI.ErrorNs}).has(s.MPI.Ns, 1e-3) {
				a.t.Errorf("rank %d: %+v in exchanges, want %v", rank, s.MPI, inside)
			}
		}
		own, rest := truth[0], truth[others]
		outside += own[0].from - rest[0].to + rest[1].from - own[len(own)-1].to
		all := outside + inside + rest[0].to - rest[0].from + rest[1].to - rest[1].from
		off := x.Compute.ErrorNs + x.MPI.ErrorNs
		if !(bound{outside - off, all - x.MPI.Ns + off}).has(x.Compute.Ns, 1e-3) {
			a.t.Errorf("rank %d: computed %+v, want %v at least, of %v in all and %v in MPI", rank, x.Compute, outside, all, x.MPI)
		}
		k, err := r.Rank(rank)
		if err != nil {
			a.t.Fatal(err)
		}
		p, err := k.Process()
		if err != nil {
			a.t.Fatal(err)
		}
		longest = max(longest, float64(p.FirstThreadNs))
		share += x.Compute.Ns / (x.Compute.Ns + x.MPI.Ns) * float64(p.FirstThreadNs) / 2
	}
	if e := rep.Efficiency.Parallel; math.Abs(e.Value-share/longest) > 0.02 {
		a.t.Errorf("parallel efficiency %+v, want %v", e, share/longest)
	}
}
