package capture

import (
	"fmt"
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// placing plays a program whose calls all look alike, and takes down which computation
// and how much of it stands before each.
type placing struct {
	s     *synth
	names []string
	gaps  []float64
}

// probe is a call after so many ticks of computation, part of what is named.
func (p *placing) probe(name string, gap uint64) {
	p.s.w.NextTicks += gap
	p.s.iprobe()
	p.names, p.gaps = append(p.names, name), append(p.gaps, float64(gap+p.s.w.TicksPerRecord))
}

func (p *placing) fence() {
	p.s.commRank()
	p.names, p.gaps = append(p.names, ""), append(p.gaps, 0)
}

// Recorded with summaries alone, merged over three ranks and read: each place of the
// program has its own computation, though its calls look like those at other places.
func TestTimesOfPlaces(t *testing.T) {
	for _, mode := range []timing.Mode{timing.ModeStats, timing.ModeHist} {
		t.Run(string(mode), func(t *testing.T) {
			const ranks = 3
			var tracks []*track.Track
			var truth [ranks]*placing
			for rank := range ranks {
				p := &placing{s: newSynth(t, 0, 1<<20)}
				truth[rank] = p
				slow := uint64(rank + 1)
				p.fence()
				p.probe("first", 400_000*slow)
				p.fence()
				p.fence()
				for range 50 {
					p.probe("loop", 20_000*slow)
				}
				p.fence()
				p.probe("last", 400_000*slow)
				for range 3 {
					p.fence()
				}
				for i := range 10 {
					p.probe("warm-up", uint64(8_000+i*10)*slow)
					p.fence()
				}
				p.fence()
				for i := range 500 {
					p.probe("main", uint64(1_000+i%7)*slow)
					p.fence()
				}
				p.fence()
				p.fence()
				for range 20 {
					p.fence()
					p.probe("entry", 90_000*slow)
					for range 11 {
						p.probe("round", 3_000*slow)
					}
				}
				// Two loops that begin with the same call: it is reached in three ways.
				for range 5 {
					p.fence()
				}
				for i := range 40 {
					for j := range 12 {
						switch {
						case i+j == 0:
							p.probe("outer", 600_000*slow)
						case j == 0:
							p.probe("inner", 30_000*slow)
						default:
							p.probe("again", 2_000*slow)
						}
					}
					p.fence()
					p.fence()
				}
				cfg := testConfig()
				cfg.Rank, cfg.Ranks, cfg.Timing = rank, ranks, timing.Options{Mode: mode}
				c := attach(t, cfg, p.s)
				if err := c.Drain(); err != nil {
					t.Fatal(err)
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
			want, got := make(map[string]float64), make(map[string]float64)
			for _, p := range truth {
				for i, name := range p.names {
					want[name] += p.gaps[i] / testConfig().TicksPerNs / ranks
				}
			}
			if err := perPlace(r, truth[0].names, got); err != nil {
				t.Fatal(err)
			}
			for name, ns := range want {
				if name != "" && math.Abs(got[name]-ns) > 0.02*ns {
					t.Errorf("%s comes to %.0f, want %.0f", name, got[name], ns)
				}
			}
		})
	}
}

// perPlace adds up what the trace says of the computation before each call of rank 0.
func perPlace(r *trace.Reader, names []string, sums map[string]float64) error {
	k, err := r.Rank(0)
	if err != nil {
		return err
	}
	l := k.Leaves(0)
	times, _, err := l.Times(k)
	if err != nil {
		return err
	}
	i := 0
	for cursor := l.Cursor(k); ; {
		leaf, loops, ok := cursor.Next()
		if !ok {
			break
		}
		x := times[leaf]
		mean := x.SumGapNs / float64(x.Calls)
		if x.Entries > 0 {
			mean = x.MeanGapEntering(loops)
		}
		if i >= len(names) {
			return fmt.Errorf("more than %d calls", len(names))
		}
		sums[names[i]] += mean
		i++
	}
	if i != len(names) {
		return fmt.Errorf("%d calls, want %d", i, len(names))
	}
	return nil
}
