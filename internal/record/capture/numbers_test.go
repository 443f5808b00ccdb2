package capture

import (
	"fmt"
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// An attaching plays a program with a plugin, and takes down what that attaches at which place.
type attaching struct {
	s     *synth
	t     *testing.T
	place []string         // by call
	calls map[string]int   // by place
	has   map[string]int   // by place and name: numbers
	sums  map[string]int64 // by place and name
}

var valueNames = []string{"a", "b"}

func newAttaching(t *testing.T, s *synth) *attaching {
	return &attaching{s: s, t: t, calls: make(map[string]int), has: make(map[string]int), sums: make(map[string]int64)}
}

// name tells the names of values, as the first thread does before anything else.
func (p *attaching) name() {
	for id, name := range valueNames {
		p.write(event.KindAttachedValueName, uint64(id), 1, uint64(name[0]))
	}
}

func (p *attaching) write(kind event.Kind, words ...uint64) {
	p.t.Helper()
	if err := p.s.w.Write(0, kind, 0, words); err != nil {
		p.t.Fatal(err)
	}
}

// probe is a call at a place with numbers; "" is a fence.
func (p *attaching) probe(place string, a ...int64) {
	p.write(event.KindAttachedValues, 0)
	if place == "" {
		p.s.commRank()
	} else {
		p.s.iprobe()
	}
	words := []uint64{0}
	for i, v := range a {
		id := min(i, 1)
		words = append(words, uint64(id), uint64(v))
		key := place + " " + valueNames[id]
		p.has[key]++
		p.sums[key] += v
	}
	p.write(event.KindAttachedValues, words...)
	p.place = append(p.place, place)
	p.calls[place]++
}

// run is a warm-up and a main loop, calls before and behind, and a loop in which every third call has a number. Ranks have the
// more in the main loop the less they have before it.
func (p *attaching) run(rank int64) {
	fence := func() { p.probe("", 1) }
	fence()
	p.probe("first", 40+rank, -9)
	fence()
	fence()
	for i := range 10 {
		p.probe("warm-up", 3*rank, int64(-i))
		fence()
	}
	fence()
	for range 300 {
		p.probe("main", 7*rank+400/rank, 5, 6)
		fence()
	}
	fence()
	fence()
	for i := range 30 {
		if i%3 == 0 {
			p.probe("seldom", 1000)
		} else {
			p.probe("seldom")
		}
	}
	fence()
	for range 50 {
		p.probe("last", -2, 4<<40)
	}
}

// Merged over three ranks of two threads and read, each place has what was attached there, though its calls look like those at
// other places: on the average of the ranks, and on each of them.
func TestValuesOfPlaces(t *testing.T) {
	for _, mode := range []timing.Mode{timing.ModeStats, timing.ModeHist, timing.ModeNone} {
		for _, resumed := range []bool{false, true} {
			t.Run(fmt.Sprint(mode, resumed), func(t *testing.T) {
				const ranks, threads = 3, 2
				var tracks []*track.Track
				var truth [ranks][threads]*attaching
				for rank := range ranks {
					first, second := newSynth(t, 0, 1<<20), newSynth(t, 1, 1<<20)
					second.w.NextTicks = 5000
					cfg := testConfig()
					cfg.Rank, cfg.Ranks, cfg.Timing = rank, ranks, timing.Options{Mode: mode}
					c := attach(t, cfg, first, second)
					truth[rank] = [threads]*attaching{newAttaching(t, first), newAttaching(t, second)}
					truth[rank][0].name()
					truth[rank][0].run(int64(rank + 1))
					truth[rank][1].run(int64(10 * (rank + 2)))
					if err := c.Drain(); err != nil {
						t.Fatal(err)
					}
					if resumed {
						d, err := New(cfg)
						if err != nil {
							t.Fatal(err)
						}
						if err := wire.DecodeAll(wire.AppendEncoded(nil, c.codeState), "state", d.codeState); err != nil {
							t.Fatal(err)
						}
						c = d
					}
					tr, err := c.Track(track.EndFinished)
					if err != nil {
						t.Fatal(err)
					}
					tracks = append(tracks, tr)
				}
				s, err := merge.MergeAll(tracks, ranks)
				if err != nil {
					t.Fatal(err)
				}
				content, err := s.Content(nil)
				if err != nil {
					t.Fatal(err)
				}
				content.NoTimes = mode == timing.ModeNone
				b, err := sections.EncodeFile(content)
				if err != nil {
					t.Fatal(err)
				}
				r, err := trace.ReadBytes(b, "t.spoor")
				if err != nil {
					t.Fatal(err)
				}
				if err := trace.Check(r); err != nil {
					t.Fatal(err)
				}
				for thread := range threads {
					var of [ranks]*attaching
					for rank := range of {
						of[rank] = truth[rank][thread]
					}
					checkMeansOfPlaces(t, r, thread, of[:])
					for rank := range ranks {
						checkPlacesOfRank(t, r, thread, rank, of[rank])
					}
				}
			})
		}
	}
}

// byPlace puts what leaves have to the places of a run, by place and name.
func byPlace(l *trace.Leaves, k *trace.Rank, truth *attaching, values map[string][]trace.LeafAttachedSum) map[string]trace.LeafAttachedSum {
	place := make([]string, l.Len())
	i := 0
	for leaf := range l.Visits(k) {
		place[leaf] = truth.place[i]
		i++
	}
	got := make(map[string]trace.LeafAttachedSum)
	for name, list := range values {
		for leaf, v := range list {
			x := got[place[leaf]+" "+name]
			x.Add(v)
			got[place[leaf]+" "+name] = x
		}
	}
	return got
}

func checkMeansOfPlaces(t *testing.T, r *trace.Reader, thread int, truth []*attaching) {
	t.Helper()
	k, err := r.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	l := k.Leaves(thread)
	values, err := l.MeanAttachedValues(k)
	if err != nil {
		t.Fatal(err)
	}
	got, ranks := byPlace(l, k, truth[1], values), float64(len(truth))
	for at := range truth[1].calls {
		for _, name := range valueNames {
			key, n, sum := at+" "+name, 0, int64(0)
			for _, p := range truth {
				n += p.has[key]
				sum += p.sums[key]
			}
			x := got[key]
			if math.Abs(x.Count-float64(n)/ranks) > 1e-6 || math.Abs(x.Sum-float64(sum)/ranks) > 1e-6*math.Abs(float64(sum)) {
				t.Errorf("thread %d, %s: %+v, want %d of the sum %d over %.0f ranks", thread, key, x, n, sum, ranks)
			}
		}
	}
}

// checkPlacesOfRank wants a rank's sums to a percent, and no estimate but where a place has next to nothing of all.
func checkPlacesOfRank(t *testing.T, r *trace.Reader, thread, rank int, truth *attaching) {
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	l := k.Leaves(thread)
	values, err := l.AttachedValues(k)
	if err != nil {
		t.Fatal(err)
	}
	got := byPlace(l, k, truth, values)
	totals, err := k.AttachedTotals()
	if err != nil {
		t.Fatal(err)
	}
	for at := range truth.calls {
		for _, name := range valueNames {
			x, want, all := got[at+" "+name], float64(truth.sums[at+" "+name]), math.Abs(totals[name].Sum)
			switch off := math.Abs(x.Sum - want); {
			case x.IsEstimate && math.Abs(want) > 0.01*all:
				t.Errorf("rank %d, thread %d, %s %s: nothing but an estimate is known: %+v, want %.0f of %.0f", rank, thread, at, name, x, want, all)
			case !x.IsEstimate && (off > x.ErrorBound+1e-9*math.Abs(want) || x.ErrorBound > 0.01*math.Abs(want)+0.001*all):
				t.Errorf("rank %d, thread %d, %s %s: %+v, want %.0f", rank, thread, at, name, x, want)
			}
		}
	}
}

// BenchmarkAttached takes calls in that a plugin was called around, which attached so many numbers to each.
func BenchmarkAttached(b *testing.B) {
	const calls = 50_000
	for _, mode := range []timing.Mode{timing.ModeStats, timing.ModeLossless} {
		for _, numbers := range []int{0, 3} {
			b.Run(fmt.Sprint(mode, "/", numbers), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					s := newSynth(b, 0, 1<<24)
					write := func(kind event.Kind, words ...uint64) {
						if err := s.w.Write(0, kind, 0, words); err != nil {
							b.Fatal(err)
						}
					}
					for id := range uint64(3) {
						write(event.KindAttachedValueName, id, 1, 'a'+id)
					}
					for i := range uint64(calls) {
						write(event.KindAttachedValues, 0)
						if i%3 == 0 {
							s.iprobe()
						} else {
							s.commRank()
						}
						words := []uint64{0}
						for id := range uint64(numbers) {
							words = append(words, id, 1000+i*2654435761%100*id)
						}
						write(event.KindAttachedValues, words...)
					}
					cfg := testConfig()
					cfg.Timing.Mode = mode
					c := attach(b, cfg, s)
					b.StartTimer()
					if err := c.Drain(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/calls, "ns/call")
			})
		}
	}
}
