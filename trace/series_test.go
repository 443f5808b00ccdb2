package trace

import (
	"bytes"
	"iter"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
)

// sampleTimes makes up the times of n calls; the 5th came after a pause.
func sampleTimes(n int) []timing.CallTicks {
	list := make([]timing.CallTicks, n)
	for i := range list {
		list[i] = timing.CallTicks{Duration: uint64(100 + 7*i%31), Gap: uint64(10 + i%3)}
		if i == 5 {
			list[i].BeginOffset = 5000
		}
	}
	return list
}

// sampleSeries has the times of the sample's ranks 0 and 2, in ticks of half a
// nanosecond.
func sampleSeries(t testing.TB) *sections.Series { return sampleSeriesOf(t, sample(t)) }

func sampleSeriesOf(t testing.TB, c *sections.Content) *sections.Series {
	s := &sections.Series{Sizes: make([]int64, c.Ranks)}
	var all bytes.Buffer
	class := &c.Classes[0]
	for r := range class.Ranks.All() {
		w, err := series.NewWriter(&all, series.RankInfo{Mode: timing.ModeLossless, TicksPerNs: 2, StartNs: 1e18 - 50 + r})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range class.Streams {
			cursor := g.Cursor()
			calls := func(yield func([]timing.CallTicks, error) bool) { yield(sampleTimes(int(g.Len())), nil) }
			err := w.WriteStream(iter.Seq2[[]timing.CallTicks, error](calls), func(n int) series.SimilarCallKinds {
				// Each terminal is a kind and a function of its own.
				k := series.SimilarCallKinds{KindOfCall: make([]uint32, n), FunctionOfKind: []uint32{0, 1, 2, 3, 4, 5, 6, 7}}
				for i := range k.KindOfCall {
					k.KindOfCall[i], _ = cursor.Next()
				}
				return k
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if s.Sizes[r], err = w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s.Data = bytes.NewReader(all.Bytes())
	return s
}

// Where single times were kept, each call has its own, to the nanosecond.
func TestTimedSeries(t *testing.T) {
	c := sample(t)
	c.Series = sampleSeries(t)
	r := reopened(t, c)
	if err := Check(r); err != nil {
		t.Fatal(err)
	}
	for _, rank := range []int{0, 2} {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for stream := range k.Streams() {
			want := sampleTimes(int(k.CallCount(stream)))
			at := int64(0)
			for c, err := range k.TimedCalls(stream) {
				if err != nil {
					t.Fatal(err)
				}
				e := want[c.Index]
				var begin int64
				begin, at = e.Advance(at)
				half := func(ticks uint64) Sample { return Sample{Ns: (ticks + 1) / 2, Kind: ExactSample} }
				got := c.Timing
				got.RecorderNs, got.AsidesBeforeGap = 0, false                                                               // see TestAsides
				if got != (Timing{Duration: half(e.Duration), Gap: half(e.Gap)}) || c.StartNs != int64(rank)-5+(begin+1)/2 { // rank 0 begins at 0
					t.Fatalf("rank %d, call %d: %+v at %d, want %+v", rank, c.Index, c.Timing, c.StartNs, e)
				}
				for sought, err := range k.TimedCallsFrom(stream, c.Index) {
					if err != nil || sought.StartNs != c.StartNs || sought.Timing != c.Timing {
						t.Fatalf("call %d sought: %+v, error %v", c.Index, sought.Timing, err)
					}
					break
				}
			}
		}
	}
	// No call of any ends after the run does, and the first begins with it.
	end, err := r.EndNs()
	if err != nil {
		t.Fatal(err)
	}
	for _, rank := range []int{0, 2} {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		if start, err := k.StartNs(); err != nil || start != int64(rank) {
			t.Errorf("rank %d starts at %d, %v", rank, start, err)
		}
		own, err := k.EndNs()
		for stream := range k.Streams() {
			for c, err := range k.TimedCalls(stream) {
				if err != nil || c.EndNs() > own || own > end {
					t.Fatalf("rank %d, call %d ends at %d, the rank at %d, the run at %d; %v", rank, c.Index, c.EndNs(), own, end, err)
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// Rank 1 has none of its own: it has means.
	k, err := r.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range k.TimedCalls(0) {
		if err != nil || c.Timing.Duration != (Sample{Ns: 5, Kind: MeanSample}) {
			t.Fatalf("rank 1: %+v, error %v", c.Timing, err)
		}
	}
}

// No damaged byte of the series goes unnoticed.
func TestDamagedSeries(t *testing.T) {
	c := sample(t)
	c.Series = sampleSeries(t)
	file, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	step := 1
	if testing.Short() {
		step = 13
	}
	for i := len(encoded(t)); i < len(file); i += step {
		bad := bytes.Clone(file)
		bad[i] ^= 0x40
		r, err := open(bad)
		if err == nil {
			err = Check(r)
		}
		if err == nil {
			t.Fatalf("byte %d of %d changed, no error", i, len(file))
		}
	}
}

// A walk that decodes ahead has the same times as one that doesn't, whether all blocks
// are decoded ahead, some or none.
func TestReadAhead(t *testing.T) {
	c := sample(t)
	b := grammar.NewBuilder()
	for range 3*series.CallsPerBlock + 10 {
		b.Append(7)
	}
	c.Classes[0].Streams[1] = b.Grammar()
	c.Series = sampleSeriesOf(t, c)
	file, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	k, err := r.Rank(2)
	if err != nil {
		t.Fatal(err)
	}
	const perBlock = 7 * series.CallsPerBlock / 2 // of sampleTimes: three or four bytes a call
	for _, x := range []struct {
		limit, blocks int
		from          uint64
	}{{0, 0, 0}, {perBlock, 1, 0}, {2 * perBlock, 3, series.CallsPerBlock - 1}, {1 << 20, 3, 5}, {1 << 20, 1, 2*series.CallsPerBlock + 1}} {
		w, err := k.TimedWalk(1, x.from)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.ReadAhead(x.limit); err != nil {
			t.Fatal(err)
		}
		if n := w.line.(*timeline.SeriesTimeIterator).BlocksAhead(); n != x.blocks {
			t.Errorf("%+v: %d blocks are decoded", x, n)
		}
		for c, err := range k.TimedCallsFrom(1, x.from) {
			if err != nil || !w.Next() {
				t.Fatalf("%+v: ends early, errors %v and %v", x, err, w.Err())
			}
			if got := w.Timed(); got.Timing != c.Timing || got.StartNs != c.StartNs || got.EndNs() != c.EndNs() || got.Index != c.Index {
				t.Fatalf("%+v: call %d: %+v at %d, want %+v at %d", x, c.Index, got.Timing, got.StartNs, c.Timing, c.StartNs)
			}
		}
		if w.Next() || w.Err() != nil {
			t.Errorf("%+v: goes on, or error %v", x, w.Err())
		}
	}
}
