package reduce_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// part cuts a part out and opens it.
func part(t *testing.T, r *trace.Reader, w reduce.Selection) *trace.Reader {
	t.Helper()
	if w.EndIteration == 0 {
		w.EndIteration = math.MaxUint64
	}
	p, err := reduce.Cut(r, w, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, _ := mergetest.Written(t, p)
	return out
}

func rank(t *testing.T, r *trace.Reader, n int) *trace.Rank {
	t.Helper()
	k, err := r.Rank(n)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func calls(t *testing.T, k *trace.Rank) (list []*trace.Call) {
	t.Helper()
	for c, err := range k.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		x := *c
		list = append(list, &x)
	}
	return list
}

// marked begins and completes requests in phases and across them, at random but alike on all ranks.
func marked(seed uint64) func(r *tracktest.Recorder) {
	return func(r *tracktest.Recorder) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r.Begin()
		open := int64(0)
		for phase := range 4 + rnd.IntN(8) {
			if level := int64(1 + phase%(1+rnd.IntN(2))); rnd.IntN(2) == 0 {
				r.Call("MPI_Pcontrol", 1, level)
			} else {
				r.Phase(fmt.Sprint(level))
				r.Call("MPI_Barrier", 1, tracktest.World)
			}
			for range 1 + rnd.IntN(4) {
				switch rnd.IntN(3) {
				case 0:
					r.Isend(3, 4, int64(r.Rank+1)%2, 7)
					open++
				case 1:
					r.Irecv(4, 4, int64(r.Rank+1)%2, 7)
					open++
				case 2:
					if open > 0 {
						n := 1 + rnd.Int64N(open)
						r.Waitall(5, n)
						open -= n
					}
				}
			}
		}
		r.Waitall(5, open)
		r.End()
	}
}

// Calls of phases are those of the whole trace, with all their parameters; requests are those that their own
// phases made, and others are unknown.
func TestPhases(t *testing.T) {
	unknown, moved := 0, 0
	for seed := range uint64(60) {
		r := mergetest.Run(t, 2, marked(seed))
		p := part(t, r, reduce.Selection{Phase: "1"})
		for n := range 2 {
			whole, within := calls(t, rank(t, r, n)), calls(t, rank(t, p, n))
			number := make(map[int64]int64) // of requests in the part
			made, kept, next, inside := int64(0), int64(0), 0, false
			for _, c := range whole {
				if c.Name() == "MPI_Pcontrol" {
					inside = c.Param("level").In.Num == 1
				} else if c.Phase != "" {
					inside = c.Phase == "1"
				}
				makes := c.Name() == "MPI_Isend" || c.Name() == "MPI_Irecv"
				if makes && inside {
					number[made] = kept
					kept++
				}
				if makes {
					made++
				}
				if !inside {
					continue
				}
				if next == len(within) {
					t.Fatalf("seed %d, rank %d: %d calls in the part", seed, n, next)
				}
				got := within[next]
				next++
				for _, name := range []string{"request", "array_of_requests"} {
					a, b := c.Param(name), got.Param(name)
					if a == nil {
						continue
					}
					for _, x := range []struct{ was, is trace.Value }{{a.In, b.In}, {a.Out, b.Out}} {
						was, is := x.was.Elems, x.is.Elems
						if x.was.Type == trace.TypeRequest {
							was, is = []trace.Value{x.was}, []trace.Value{x.is}
						}
						for i := range was {
							if was[i].RequestForm != trace.RequestOneShot {
								continue
							}
							id, here := number[was[i].RequestID]
							switch {
							case !here && is[i].RequestForm == trace.RequestUnknown:
								unknown++
							case !here || is[i].RequestForm != trace.RequestOneShot || is[i].RequestID != id:
								t.Fatalf("seed %d, rank %d: %s\nin the part: %s: request %d should be %d (%v)", seed, n, c.Text(), got.Text(), was[i].RequestID, id, here)
							case is[i].RequestID != was[i].RequestID:
								moved++
							}
						}
					}
				}
				if plain(c) != plain(got) || !c.Site.Equal(got.Site) || c.Phase != got.Phase {
					t.Fatalf("seed %d, rank %d:\n%s\n%s", seed, n, c.Text(), got.Text())
				}
			}
			if next != len(within) {
				t.Fatalf("seed %d, rank %d: %d calls in the part, want %d", seed, n, len(within), next)
			}
		}
	}
	if unknown == 0 || moved == 0 {
		t.Errorf("%d requests of elsewhere, %d with other numbers: the test tests nothing", unknown, moved)
	}
}

// plain is a call's text without requests.
func plain(c *trace.Call) string {
	x := *c
	x.Params = nil
	for _, p := range c.Params {
		if p.Def.Type != trace.TypeRequest {
			x.Params = append(x.Params, p)
		}
	}
	return x.Text()
}

// rounds is a loop of a send and an all-reduce whose times are known: see gap and duration.
const rounds = 20

func timed(t *testing.T, mode timing.Mode) *trace.Reader {
	t.Helper()
	r, err := trace.ReadBytes(timedFile(t, mode), "timed")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func timedFile(t *testing.T, mode timing.Mode) []byte {
	t.Helper()
	tracks := tracktest.RunAll(3, func(r *tracktest.Recorder) {
		r.Begin()
		for range rounds {
			r.Send(3, 4, 0, 1)
			r.Allreduce(4, 1)
		}
		r.End()
	})
	for rank, tr := range tracks {
		tracktest.Timed(tr, mode, func(i int) (uint64, uint64) { return gap(i), duration(rank, i) })
	}
	return mergetest.File(t, tracks, nil)
}

func gap(i int) uint64 { return uint64(100 + 10*(i%2)) }

func duration(rank, i int) uint64 { return uint64(1000 + 100*rank + i) }

// Of an iteration that ranks kept the times of, a part has these, within what they are rounded to; they are where they were.
func TestExemplar(t *testing.T) {
	all := timed(t, timing.ModeLossless)
	found, err := when.AnalyseTimes(all)
	if err != nil || len(found.Exemplars) < 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	path := filepath.Join(t.TempDir(), "means.spoor")
	if err := os.WriteFile(path, timedFile(t, timing.ModeStats), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := trace.AddWhen(path, found); err != nil {
		t.Fatal(err)
	}
	means, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer means.Close()
	for _, e := range found.Exemplars {
		w := reduce.Selection{Loop: reduce.MainLoop, FirstIteration: e.Iteration, EndIteration: e.Iteration + 1}
		a, b := part(t, all, w), part(t, means, w)
		for n := range 3 {
			var want []trace.TimedCall
			for c, err := range rank(t, a, n).TimedCalls(0) {
				if err != nil {
					t.Fatal(err)
				}
				x := *c.Call
				c.Call = &x
				want = append(want, c)
			}
			i := 0
			for c, err := range rank(t, b, n).TimedCalls(0) {
				if err != nil {
					t.Fatal(err)
				}
				near := func(got, want uint64) bool { return math.Abs(float64(got)-float64(want)) <= 0.015*float64(want)+1 }
				if x := want[i]; c.Text() != x.Text() || c.Timing.Duration.Kind != trace.ExactSample || !near(c.Timing.Duration.Ns, x.Timing.Duration.Ns) ||
					!near(c.Timing.Gap.Ns, x.Timing.Gap.Ns) {
					t.Errorf("iteration %d, rank %d, call %d: %s takes %v after %v, want %v after %v", e.Iteration, n, i, c.Text(), c.Timing.Duration, c.Timing.Gap,
						x.Timing.Duration, x.Timing.Gap)
				}
				i++
			}
			if i != len(want) {
				t.Errorf("iteration %d, rank %d: %d calls, want %d", e.Iteration, n, i, len(want))
			}
		}
	}
}

// Calls of a loop's rounds are there with their times, where they were, and nothing else.
func TestRounds(t *testing.T) {
	r := timed(t, timing.ModeLossless)
	for _, loop := range []string{reduce.MainLoop, "MPI_Send"} {
		p := part(t, r, reduce.Selection{Loop: loop, FirstIteration: 5, EndIteration: 9})
		for n := range 3 {
			var want []trace.TimedCall
			for c, err := range rank(t, r, n).TimedCalls(0) {
				if err != nil {
					t.Fatal(err)
				}
				if c.Index >= 1+2*5 && c.Index < 1+2*9 {
					x := *c.Call
					c.Call = &x
					want = append(want, c)
				}
			}
			i, shift := 0, int64(0)
			k := rank(t, p, n)
			for c, err := range k.TimedCalls(0) {
				if err != nil {
					t.Fatal(err)
				}
				w := want[i]
				if i == 0 {
					shift = w.StartNs - c.StartNs // the time line begins with the part
				}
				wantGap := w.Timing.Gap.Ns
				if i == 0 && loop != reduce.MainLoop {
					wantGap = 0
				}
				if c.Text() != w.Text() || c.Timing.Duration.Ns != w.Timing.Duration.Ns || c.Timing.Gap.Ns != wantGap || c.StartNs != w.StartNs-shift {
					t.Errorf("loop %s, rank %d, call %d: %s at %d, %d + %d, want %s at %d, %d + %d", loop, n, i, c.Text(), c.StartNs, c.Timing.Gap.Ns, c.Timing.Duration.Ns,
						w.Text(), w.StartNs-shift, wantGap, w.Timing.Duration.Ns)
				}
				i++
			}
			if i != len(want) {
				t.Fatalf("loop %s, rank %d: %d calls, want %d", loop, n, i, len(want))
			}
			x, err := k.Process()
			if err != nil {
				t.Fatal(err)
			}
			last := want[len(want)-1]
			span := last.EndNs() + int64(gap(1+2*9)) - want[0].StartNs // up to the call that follows
			if loop == reduce.MainLoop {
				span = last.EndNs() - want[0].StartNs + int64(gap(1+2*5)) // with what is computed before the first
			}
			if ns := x.WallNs(); ns < span-span/1000 || ns > span+span/1000 {
				t.Errorf("loop %s, rank %d: its part takes %d ns, want %d", loop, n, ns, span)
			}
		}
	}
}

// A window of time has what had not ended when it began, and had begun when it ended, and what was computed between.
func TestTimes(t *testing.T) {
	r := timed(t, timing.ModeLossless)
	first, _, err := r.TimeExtent()
	if err != nil {
		t.Fatal(err)
	}
	from, until := int64(7000), int64(12_345)
	p := part(t, r, reduce.Selection{FromNs: &from, UntilNs: &until})
	for n := range 3 {
		var texts []string
		for c, err := range rank(t, r, n).TimedCalls(0) {
			if err != nil {
				t.Fatal(err)
			}
			if c.EndNs() > first+from && c.StartNs < first+until {
				texts = append(texts, c.Text())
			}
		}
		var got []string
		for _, c := range calls(t, rank(t, p, n)) {
			got = append(got, c.Text())
		}
		if a, b := strings.Join(got, "\n"), strings.Join(texts, "\n"); a != b {
			t.Errorf("rank %d: %s\nwant\n%s", n, a, b)
		}
	}
}

// A part without calls, or of a loop that isn't there, is refused.
func TestRefused(t *testing.T) {
	r := timed(t, timing.ModeLossless)
	late := int64(1 << 40)
	for want, w := range map[string]reduce.Selection{
		"no call is within":         {FromNs: &late},
		"no rank has such a loop":   {Loop: "MPI_Bcast"},
		"no call is within: rounds": {Loop: "main", FirstIteration: 1000, EndIteration: 1001},
	} {
		want, _, _ = strings.Cut(want, ":")
		if p, err := reduce.Cut(r, w, func(int) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, %v", w, p, err)
		}
	}
}

// Where times are means, so are those of a part; without times, a part has none.
func TestModes(t *testing.T) {
	for _, mode := range []timing.Mode{timing.ModeStats, timing.ModeNone} {
		r := timed(t, mode)
		p := part(t, r, reduce.Selection{WithoutInit: true})
		if got, want := p.HasTimes(), r.HasTimes(); got != want {
			t.Errorf("%s: times %v, want %v", mode, got, want)
		}
		list := calls(t, rank(t, p, 2))
		if len(list) != 2*rounds || list[0].Name() != "MPI_Send" || list[len(list)-1].Name() != "MPI_Allreduce" {
			t.Errorf("%s: %d calls", mode, len(list))
		}
	}
}

// A main loop of which no call is made once an iteration, as all are in loops within.
func TestLoopOfLoops(t *testing.T) {
	tracks := tracktest.RunAll(2, func(r *tracktest.Recorder) {
		r.Begin()
		for range rounds {
			for range 2 {
				r.Send(3, 4, 0, 1)
				r.Allreduce(4, 1)
			}
			for range 2 {
				r.Call("MPI_Barrier", 5, tracktest.World)
				r.Allreduce(6, 1)
			}
			for range 2 {
				r.Call("MPI_Barrier", 7, tracktest.World)
				r.Allreduce(8, 1)
			}
		}
		r.End()
	})
	file := mergetest.File(t, tracks, nil)
	r, err := trace.ReadBytes(file, "loops")
	if err != nil {
		t.Fatal(err)
	}
	p := part(t, r, reduce.Selection{Loop: reduce.MainLoop, FirstIteration: 5, EndIteration: 9})
	if calls := rank(t, p, 0).CallCount(0); calls != 4*12 {
		t.Errorf("%d calls", calls)
	}
}

// A rank whose compiler copied the call that begins iterations has them all the same.
func TestCopiedCall(t *testing.T) {
	r := mergetest.Run(t, 4, func(r *tracktest.Recorder) {
		r.Begin()
		for i := range rounds {
			if r.Rank == 3 && i == 14 {
				r.Allreduce(5, 1)
			} else {
				r.Allreduce(4, 1)
			}
		}
		r.End()
	})
	for _, first := range []uint64{3, 14, rounds - 1} {
		p := part(t, r, reduce.Selection{Loop: reduce.MainLoop, FirstIteration: first, EndIteration: first + 1})
		for n := range 4 {
			if calls := rank(t, p, n).CallCount(0); calls != 1 {
				t.Errorf("rank %d: %d calls in iteration %d", n, calls, first)
			}
		}
	}
}
