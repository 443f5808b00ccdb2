package merge_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// Each rank's calls have its own times in the trace, also where classes were refined.
func TestGathering(t *testing.T) {
	for _, ranks := range []int{1, 2, 5, 16} {
		gathering(t, ranks, tracktest.Transpose(6))
	}
	gathering(t, 3, counting)
	gathering(t, 16, laneOfSome(24))
}

// counting has a tag that counts, not for long enough to be a lane of the recorder.
func counting(r *tracktest.Recorder) {
	r.Begin()
	for i := range int64(60) {
		r.Send(10, 4, int64(r.Rank+1)%int64(r.Size), i)
	}
	r.End()
}

// gathering lets ranks, two thirds of them with times of their calls, run a program. The
// calls are coded by what the recorder took for a call of its own, so that stays so.
func gathering(t *testing.T, ranks int, program func(r *tracktest.Recorder)) {
	{
		tracks := tracktest.RunAll(ranks, program)
		for i, tr := range tracks {
			if i%3 != 1 {
				tracktest.Timed(tr, timing.ModeLossless, func(n int) (gap, duration uint64) { return uint64(n), uint64(100 + i) })
			}
		}
		pieces := make([]bytes.Buffer, ranks)
		var root *merge.MergedBlock
		var wg sync.WaitGroup
		for i, tp := range merge.LocalTransports(ranks) {
			wg.Go(func() {
				s, g, err := merge.MergeAndPlanGathering(tp, tracks[i], nil)
				if err != nil {
					t.Errorf("rank %d: %v", i, err)
					return
				}
				below := false
				for r := i; r < ranks && merge.Parent(r) >= i || r == i; r++ {
					below = below || tracks[r].TimeLog != nil
				}
				if g.IsNeeded() != below {
					t.Errorf("rank %d: times in its block %v, told %v", i, below, g.IsNeeded())
				}
				n, err := merge.WriteCallTimes(tracks[i], &pieces[i])
				if err != nil || n != int64(pieces[i].Len()) {
					t.Errorf("rank %d: %d bytes of %d, error %v", i, n, pieces[i].Len(), err)
				}
				if i == 0 {
					root = s
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		c, err := root.Content(nil)
		if err != nil {
			t.Fatal(err)
		}
		series := &sections.Series{}
		var all bytes.Buffer
		for i := range pieces {
			series.Sizes = append(series.Sizes, int64(pieces[i].Len()))
			all.Write(pieces[i].Bytes())
		}
		series.Data = bytes.NewReader(all.Bytes())
		c.Series = series
		b, err := sections.EncodeFile(c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := readerOf(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := trace.Check(r); err != nil {
			t.Fatal(err)
		}
		for rank := range ranks {
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			for c, err := range k.TimedCalls(0) {
				if err != nil {
					t.Fatal(err)
				}
				want := trace.Timing{
					Duration: trace.Sample{Ns: uint64(100 + rank), Kind: trace.ExactSample},
					Gap:      trace.Sample{Ns: c.Index, Kind: trace.ExactSample},
				}
				if rank%3 == 1 {
					if c.Timing.Duration.Kind != trace.MeanSample {
						t.Fatalf("rank %d, call %d: %+v", rank, c.Index, c.Timing)
					}
				} else if c.Timing != want {
					t.Fatalf("rank %d of %d, call %d: %+v, want %+v", rank, ranks, c.Index, c.Timing, want)
				}
			}
		}
	}
}
