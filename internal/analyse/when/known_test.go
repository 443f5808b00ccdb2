package when

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// typicalNs is what a rank computes in an iteration of a made run.
const typicalNs = 2_000_000

// A made run is what ranks compute in each iteration, in ns.
type made [][]float64

// noisyRun has ranks that compute about the same: with noise 0 within 1 %, with 1 within 3 %, 1 % of times 30 % longer, with 2 within 10 %, 3 % of
// times twice as long, and stretches of 20 iterations under load.
func noisyRun(r *rand.Rand, ranks, rounds, noise int) made {
	m := make(made, ranks)
	sigma, often, longer := [3]float64{0.01, 0.03, 0.1}[noise], [3]float64{0, 0.01, 0.03}[noise], [3]float64{1, 1.3, 2}[noise]
	for rank := range m {
		m[rank] = make([]float64, rounds)
		loaded := 0
		for i := range m[rank] {
			v := typicalNs * (1 + sigma*r.NormFloat64())
			if r.Float64() < often {
				v *= longer
			}
			if noise == 2 && loaded == 0 && r.Float64() < 0.002 {
				loaded = 20
			}
			if loaded > 0 {
				v *= 1.3
				loaded--
			}
			m[rank][i] = max(v, typicalNs/4)
		}
	}
	return m
}

// trace records the run: each iteration computes, exchanges a message with neighbours, computes a third of that, and ends with a
// collective call.
func (m made) trace(t mergetest.TB) *trace.Reader { return mergetest.Open(t, m.tracks(), nil) }

func (m made) tracks() []*track.Track {
	ranks, rounds := len(m), len(m[0])
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		r.Begin()
		for range rounds {
			right, left := int64((r.Rank+1)%ranks), int64((r.Rank+ranks-1)%ranks)
			r.Irecv(10, 8, left, 7)
			r.Isend(11, 8, right, 7)
			r.Waitall(12, 2)
			r.Allreduce(13, 1)
		}
		r.End()
	})
	type span struct{ from, to int64 }
	calls := make([][]span, ranks)
	at := make([]int64, ranks)
	call := func(rank int, gap, took int64) {
		at[rank] += gap
		calls[rank] = append(calls[rank], span{at[rank], at[rank] + took})
		at[rank] += took
	}
	until := func(rank int, gap, to int64) { call(rank, gap, max(to-at[rank]-gap, 0)+3000) }
	for rank := range ranks {
		call(rank, 0, 5_000_000)
	}
	for i := range rounds {
		sent := make([]int64, ranks)
		for rank := range ranks {
			call(rank, int64(m[rank][i]*3/4), 1000)
			call(rank, 0, 1000)
			sent[rank] = at[rank]
		}
		for rank := range ranks {
			until(rank, 0, sent[(rank+ranks-1)%ranks])
		}
		last := int64(0)
		for rank := range ranks {
			last = max(last, at[rank]+int64(m[rank][i]/4))
		}
		for rank := range ranks {
			until(rank, int64(m[rank][i]/4), last)
		}
	}
	end := slices.Max(at)
	for rank, tr := range tracks {
		until(rank, 1000, end)
		tr.Process.StartNs = 1000
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) {
			x, before := calls[rank][i], int64(0)
			if i > 0 {
				before = calls[rank][i-1].to
			}
			return uint64(x.from - before), uint64(x.to - x.from)
		})
	}
	return tracks
}

// A truth is what a run is made to have.
type truth struct {
	name  string
	kind  Kind
	plant func(m made)
	is    func(f trace.WhenFinding, m made) bool
}

func near(i uint64, want, rounds int) bool {
	d := int(i) - want
	return max(d, -d) <= max(1, rounds*3/100)
}

func oneRank(f trace.WhenFinding, rank int) bool {
	return f.RankCount == 1 && slices.Equal(f.Ranks, []int{rank})
}

var truths = []truth{
	{"one slow iteration", KindSlow,
		func(m made) { m[len(m)-1][len(m[0])*7/10] += 10 * typicalNs },
		func(f trace.WhenFinding, m made) bool {
			return int(f.FirstIteration) == len(m[0])*7/10 && oneRank(f, len(m)-1)
		}},
	{"a step of a rank by half", KindStep,
		func(m made) { scale(m[1], func(i int) bool { return i >= len(m[1])/2 }, 1.5) },
		func(f trace.WhenFinding, m made) bool {
			return near(f.FirstIteration, len(m[0])/2, len(m[0])) && oneRank(f, 1)
		}},
	{"a step of a rank by a tenth", KindStep,
		func(m made) { scale(m[2], func(i int) bool { return i >= len(m[2])/2 }, 1.1) },
		func(f trace.WhenFinding, m made) bool {
			return near(f.FirstIteration, len(m[0])/2, len(m[0])) && oneRank(f, 2)
		}},
	{"a step of all", KindStep,
		func(m made) {
			for _, v := range m {
				scale(v, func(i int) bool { return i >= len(v)/3 }, 1.3)
			}
		},
		func(f trace.WhenFinding, m made) bool {
			return near(f.FirstIteration, len(m[0])/3, len(m[0])) && f.RankCount == len(m)
		}},
	{"a drift of a rank", KindDrift,
		func(m made) {
			for i := range m[0] {
				m[0][i] *= 1 + float64(i)/float64(len(m[0]))
			}
		},
		func(f trace.WhenFinding, m made) bool { return oneRank(f, 0) && f.AfterNs > f.BeforeNs*3/2 }},
	{"a period of all", KindPeriod,
		func(m made) {
			for _, v := range m {
				scale(v, func(i int) bool { return i%10 == 9 }, 2)
			}
		},
		func(f trace.WhenFinding, m made) bool {
			return f.FirstIteration == 9 && f.Period == 10 && f.RankCount == len(m)
		}},
	{"a period of one", KindPeriod,
		func(m made) { scale(m[1], func(i int) bool { return i%8 == 3 }, 2) },
		func(f trace.WhenFinding, m made) bool { return f.FirstIteration == 3 && f.Period == 8 && oneRank(f, 1) }},
	{"a noisy rank", KindNoisy,
		func(m made) {
			r := rand.New(rand.NewPCG(7, 7))
			for i := range m[2] {
				if r.Float64() < 0.25 {
					m[2][i] += 2 * typicalNs * r.Float64()
				}
			}
		},
		func(f trace.WhenFinding, m made) bool { return oneRank(f, 2) }},
	{"nothing", kinds, func(made) {}, func(trace.WhenFinding, made) bool { return true }},
}

func scale(v []float64, where func(i int) bool, by float64) {
	for i := range v {
		if where(i) {
			v[i] *= by
		}
	}
}

// What a run is made to have is found, and hardly anything else.
func TestKnownTruth(t *testing.T) {
	const draws = 4
	for _, x := range []struct {
		ranks, rounds, noise int
		missed, others       int // at most, of all draws of a truth
	}{{4, 100, 0, 0, 0}, {4, 100, 1, 0, 2}, {8, 300, 1, 0, 1}} {
		for _, truth := range truths {
			t.Run(fmt.Sprintf("%s, %d ranks, %d rounds, noise %d", truth.name, x.ranks, x.rounds, x.noise), func(t *testing.T) {
				missed, others := 0, 0
				for seed := range uint64(draws) {
					m := noisyRun(rand.New(rand.NewPCG(seed, 1)), x.ranks, x.rounds, x.noise)
					truth.plant(m)
					w, err := AnalyseUnlessStored(m.trace(t))
					if err != nil {
						t.Fatal(err)
					}
					if w.Loop == nil || int(w.Loop.Iterations) != x.rounds || w.Loop.RanksWithout != 0 {
						t.Fatalf("loop %+v of %d rounds", w.Loop, x.rounds)
					}
					found := truth.kind == kinds
					for _, f := range w.Findings {
						if !found && Kind(f.Kind) == truth.kind && truth.is(f, m) {
							found = true
						} else if truth.kind != KindNoisy || f.RankCount != 1 || f.Ranks[0] != 2 { // single iterations of a noisy rank are slow
							others++
							t.Logf("draw %d: %+v", seed, f)
						}
					}
					if !found {
						missed++
						t.Logf("draw %d: %+v", seed, w.Findings)
					}
				}
				if missed > x.missed || others > x.others {
					t.Errorf("%d of %d missed, %d others", missed, draws, others)
				}
			})
		}
	}
}
