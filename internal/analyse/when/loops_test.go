package when

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

func orders(t mergetest.TB, r *trace.Reader) (list []*siteOrder) {
	t.Helper()
	x, err := waits.NewPlaces(r)
	if err != nil {
		t.Fatal(err)
	}
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, orderOf(k, 0, x))
	}
	return list
}

// loopOf is the loop of ranks that all count the same.
func loopOf(list []*siteOrder) *Loop {
	all := make(votes)
	for _, o := range list {
		join(all, o.propose(nil))
	}
	return choose(all, len(list))
}

// Rounds that follow from the grammar are those of a walk over all calls.
func TestRoundsBySlowWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var body func(depth int) func(r *tracktest.Recorder)
		body = func(depth int) func(r *tracktest.Recorder) {
			var parts []func(r *tracktest.Recorder)
			for range rapid.IntRange(1, 3).Draw(t, "parts") {
				if depth < 3 && rapid.Bool().Draw(t, "loop") {
					inner, rounds := body(depth+1), rapid.IntRange(1, 6).Draw(t, "rounds")
					parts = append(parts, func(r *tracktest.Recorder) {
						for range rounds {
							inner(r)
						}
					})
				} else {
					site := rapid.IntRange(1, 9).Draw(t, "site")
					parts = append(parts, func(r *tracktest.Recorder) { r.Call("MPI_Barrier", site, tracktest.World) })
				}
			}
			return func(r *tracktest.Recorder) {
				for _, p := range parts {
					p(r)
				}
			}
		}
		program := body(0)
		o := orders(t, mergetest.Run(t, 1, func(r *tracktest.Recorder) {
			r.Begin()
			program(r)
		}))[0]
		var sites []int
		for terminal := range o.k.Sequence(0) {
			sites = append(sites, o.number[terminal])
		}
		for to, sources := range o.StepsBackFrom {
			for _, from := range sources {
				c := cycle{to: to, from: from}
				var want []uint64
				for i, s := range sites {
					if s == to && (i == 0 || sites[i-1] >= from || sites[i-1] < to) {
						want = append(want, uint64(i))
					}
				}
				var got []uint64
				for at := range o.k.OccurrencesAfter(0, c.begins(o)).All() {
					got = append(got, at)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("steps to %d from %d on, in %v: %v, want %v", to, from, sites, got, want)
				}
				for _, x := range o.cycles(nil) {
					if x.to == to && x.from == from && x.rounds != uint64(len(want)) {
						t.Fatalf("%d rounds, want %d", x.rounds, len(want))
					}
				}
			}
		}
	})
}

func barrier(r *tracktest.Recorder, site int) { r.Call("MPI_Barrier", site, tracktest.World) }

// Loops are those of the program, whichever ranks make a call.
func TestLoops(t *testing.T) {
	for _, x := range []struct {
		name    string
		program func(r *tracktest.Recorder)
		want    uint64 // iterations; 0: no loop
		at      []uint64
		without int
	}{
		{"time steps of a wavefront, of which no call is made once a step", func(r *tracktest.Recorder) {
			for range 60 {
				for range 8 {
					r.Recv(10, 4, 0, 1)
					r.Send(11, 4, 0, 1)
				}
				for range 8 {
					r.Recv(12, 4, 0, 1)
					r.Send(13, 4, 0, 1)
				}
			}
		}, 60, []uint64{1, 33, 65}, 0},
		{"a call that is made every fifth time", func(r *tracktest.Recorder) {
			for i := range 50 {
				barrier(r, 10)
				if i%5 == 4 {
					r.Allreduce(12, 1)
				}
				barrier(r, 11)
			}
		}, 50, []uint64{1, 3, 5, 7, 9, 12}, 0},
		{"a loop in which others take nearly all of the time", func(r *tracktest.Recorder) {
			for range 7 {
				barrier(r, 10)
				for range 40 {
					r.Send(11, 4, 0, 1)
				}
			}
		}, 280, []uint64{2, 3}, 0},
		{"a command loop", func(r *tracktest.Recorder) {
			for i := range 4 {
				barrier(r, 9)
				for range 100 * (i / 3) {
					barrier(r, 10)
					r.Allreduce(11, 1)
				}
			}
		}, 100, []uint64{5, 7}, 0},
		{"a rank calls once from elsewhere", func(r *tracktest.Recorder) {
			for i := range 20 {
				r.Send(10, 4, 0, 1)
				if r.Rank == 1 && i == 9 {
					barrier(r, 12)
				} else {
					barrier(r, 11)
				}
			}
		}, 20, []uint64{1, 3, 5}, 0},
		{"the call that begins iterations comes from elsewhere once", func(r *tracktest.Recorder) {
			for i := range 20 {
				if r.Rank == 1 && i == 9 {
					barrier(r, 12)
				} else {
					barrier(r, 11)
				}
				r.Send(10, 4, 0, 1)
			}
		}, 20, []uint64{1, 3, 5}, 1},
		{"no loop", func(r *tracktest.Recorder) {
			barrier(r, 1)
			barrier(r, 2)
		}, 0, nil, 0},
		{"a master", func(r *tracktest.Recorder) {
			for range 10 * (3 - r.Rank) {
				r.Send(11, 4, 0, 1)
			}
		}, 0, nil, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := mergetest.Run(t, 3, func(r *tracktest.Recorder) {
				r.Begin()
				x.program(r)
				r.End()
			})
			list := orders(t, r)
			l := loopOf(list)
			if x.want == 0 {
				if l != nil {
					t.Fatalf("%+v", l)
				}
				return
			}
			if l == nil || l.Iterations != x.want || r.Ranks()-l.Ranks != x.without {
				t.Fatalf("%+v, want %d iterations, %d ranks without", l, x.want, x.without)
			}
			for _, o := range list {
				rounds, err := roundsOf(r, o, l)
				if err != nil || rounds == nil || rounds.Count != x.want {
					t.Fatalf("rank %d: %+v, %v", o.k.Number(), rounds, err)
				}
				for i, at := range x.at {
					if got := rounds.BeginPosition(uint64(i)); got != at {
						t.Errorf("rank %d: iteration %d begins at %d, want %d", o.k.Number(), i, got, at)
					}
				}
				if end := o.k.CallCount(0) - 1; rounds.BeginPosition(x.want) != end {
					t.Errorf("rank %d: the last iteration ends at %d, want %d", o.k.Number(), rounds.BeginPosition(x.want), end)
				}
			}
		})
	}
}
