package series

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
)

// drawEntries makes times with extremes among them.
func drawEntries(t *rapid.T) []timing.CallTicks {
	n := rapid.SampledFrom([]int{0, 1, 2, 50, 400}).Draw(t, "calls")
	return randomEntries(n, rapid.Uint64().Draw(t, "seed"))
}

func randomEntries(n int, seed uint64) []timing.CallTicks {
	rng := rand.New(rand.NewPCG(seed, 1))
	list := make([]timing.CallTicks, n)
	for i := range list {
		list[i] = timing.CallTicks{Duration: rng.Uint64() >> rng.IntN(65), Gap: rng.Uint64() >> rng.IntN(65)}
		if rng.IntN(50) == 0 {
			list[i].BeginOffset = int64(rng.Uint64())
		}
	}
	return list
}

func kindsOf(n int) SimilarCallKinds {
	k := SimilarCallKinds{KindOfCall: make([]uint32, n)}
	for i := range k.KindOfCall {
		k.KindOfCall[i] = uint32(i*i) % 700
	}
	return k
}

func chunks(list []timing.CallTicks) iter.Seq2[[]timing.CallTicks, error] {
	return func(yield func([]timing.CallTicks, error) bool) {
		for len(list) > 0 {
			n := min(len(list), 1000)
			if !yield(list[:n], nil) {
				return
			}
			list = list[n:]
		}
	}
}

// What is written is read, block by block, and blocks are found by call and time.
func TestLossless(t *testing.T) {
	roundTrip(t, [][]timing.CallTicks{randomEntries(CallsPerBlock, 1), randomEntries(CallsPerBlock+3, 2)})
	rapid.Check(t, func(t *rapid.T) { roundTrip(t, [][]timing.CallTicks{drawEntries(t), drawEntries(t)}) })
}

func roundTrip(t rapid.TB, streams [][]timing.CallTicks) {
	{
		var file bytes.Buffer
		w, err := NewWriter(&file, RankInfo{Mode: timing.ModeLossless, TicksPerNs: 2.5, StartNs: 77})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range streams {
			all, done := kindsOf(len(s)), 0
			err := w.WriteStream(chunks(s), func(n int) SimilarCallKinds {
				done += n
				return SimilarCallKinds{KindOfCall: all.KindOfCall[done-n : done]}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		size, err := w.Close()
		if err != nil || size != int64(file.Len()) {
			t.Fatalf("%d bytes of %d, error %v", size, file.Len(), err)
		}
		r, err := NewReader(bytes.NewReader(file.Bytes()), size)
		if err != nil {
			t.Fatal(err)
		}
		if r.StreamCount() != 2 || r.TicksPerNs != 2.5 || r.StartNs != 77 {
			t.Fatalf("head %+v", r)
		}
		for s, want := range streams {
			if r.CallCount(s) != uint64(len(want)) {
				t.Fatalf("stream %d: %d calls, want %d", s, r.CallCount(s), len(want))
			}
			all := kindsOf(len(want))
			at := int64(0)
			for i := range r.BlockCount(s) {
				first, n := r.BlockCalls(s, i)
				if r.BlockOfCall(s, first) != i || r.BlockOfCall(s, first+uint64(n)-1) != i || r.BlockBeginTicks(s, i) != at {
					t.Fatalf("block %d begins at %d, want %d", i, r.BlockBeginTicks(s, i), at)
				}
				got, err := r.Block(s, i, SimilarCallKinds{KindOfCall: all.KindOfCall[first : first+uint64(n)]})
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want[first:first+uint64(n)], got); d != "" {
					t.Fatal(d)
				}
				for _, e := range got {
					_, at = e.Advance(at)
				}
			}
		}
	}
}

// realistic makes times as programs have them: each kind has its own, some with two
// modes and now and then an outlier.
func realistic(n int) ([]timing.CallTicks, SimilarCallKinds) {
	rng := rand.New(rand.NewPCG(1, 2))
	list, kinds := make([]timing.CallTicks, n), SimilarCallKinds{KindOfCall: make([]uint32, n)}
	for i := range list {
		k := uint32(i % 7)
		kinds.KindOfCall[i] = k
		base := float64(uint64(300) << k)
		if rng.IntN(200) == 0 {
			base *= 30
		}
		list[i] = timing.CallTicks{Duration: uint64(base * (1 + 0.1*rng.ExpFloat64())), Gap: uint64(400 + 20*rng.NormFloat64())}
	}
	return list, kinds
}

// The coder must be better than zstd is at the same times as varints, or what is
// it for.
func TestBetterThanZstd(t *testing.T) {
	list, kinds := realistic(CallsPerBlock)
	var raw []byte
	for _, e := range list {
		raw = binary.AppendUvarint(binary.AppendUvarint(raw, e.Duration), e.Gap)
	}
	frame, _ := wire.CompressZstd(raw, true)
	got := len(encoded(t, list, kinds))
	t.Logf("%d calls: 16 bytes each %d, varints %d, zstd %d, here %d", len(list), 16*len(list), len(raw), len(frame), got)
	if got*10 > len(frame)*9 {
		t.Errorf("%d bytes, zstd %d", got, len(frame))
	}
}

func encoded(t testing.TB, list []timing.CallTicks, kinds SimilarCallKinds) []byte {
	t.Helper()
	b, err := encodeBlock(LosslessCodec{}, list, kinds)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// In every lossy mode each time is within its kind's bound, extremes included, and
// the time line is that of what is read.
func TestLossy(t *testing.T) {
	for _, mode := range timing.Modes {
		if !mode.IsLossy() || !SupportsMode(mode) {
			continue
		}
		t.Run(string(mode), func(t *testing.T) {
			list := append(randomEntries(3000, 5), timing.CallTicks{}, timing.CallTicks{Duration: math.MaxUint64, Gap: 1 << 63})
			kinds := kindsOf(len(list))
			kinds.FunctionOfKind, kinds.ErrorBoundOfKind = make([]uint32, 700), make([]Bound, 700)
			for i := range kinds.ErrorBoundOfKind {
				kinds.FunctionOfKind[i], kinds.ErrorBoundOfKind[i] = uint32(i%5), []Bound{RelativeBound(0.1), RelativeBound(0.01), RelativeBound(1e-6), {Absolute: 50}}[i%4]
			}
			var file bytes.Buffer
			w, err := NewWriter(&file, RankInfo{Mode: mode, TicksPerNs: 2})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.WriteStream(chunks(list), func(int) SimilarCallKinds { return kinds }); err != nil {
				t.Fatal(err)
			}
			size, err := w.Close()
			if err != nil {
				t.Fatal(err)
			}
			r, err := NewReader(bytes.NewReader(file.Bytes()), size)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Block(0, 0, kinds)
			if err != nil {
				t.Fatal(err)
			}
			within := func(got, want uint64, bound Bound) bool {
				d := new(big.Float).SetUint64(max(got, want) - min(got, want))
				most := new(big.Float).SetUint64(want)
				most.Mul(most, big.NewFloat(bound.Relative))
				if bound.Absolute > 0 {
					most.SetUint64(bound.Absolute)
				}
				return d.Cmp(most) <= 0
			}
			for i, e := range got {
				b := kinds.ErrorBoundOfKind[kinds.KindOfCall[i]]
				if !within(e.Duration, list[i].Duration, b) || !within(e.Gap, list[i].Gap, b) || e.BeginOffset != list[i].BeginOffset {
					t.Fatalf("call %d: %+v, want %+v within %v", i, e, list[i], b)
				}
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	list, kinds := realistic(200)
	var file bytes.Buffer
	w, err := NewWriter(&file, RankInfo{Mode: timing.ModeLossless, TicksPerNs: 1})
	if err != nil {
		f.Fatal(err)
	}
	if err := w.WriteStream(chunks(list), func(int) SimilarCallKinds { return kinds }); err != nil {
		f.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	numbered, _ := attachedPiece(f, timing.ModeLossless, [2]int{60, 50}, []string{"a", "b"})
	f.Add(numbered)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for s := range r.StreamCount() {
			for i := range min(r.BlockCount(s), 3) {
				_, n := r.BlockCalls(s, i)
				r.Block(s, i, kindsOf(n))
				r.AttachedNumbers(s, i, kindsOf(n))
			}
		}
	})
}

// FuzzBlock has no checksum in its way.
func FuzzBlock(f *testing.F) {
	list, kinds := realistic(200)
	f.Add(encoded(f, list, kinds), 200)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n > 0 && n <= CallsPerBlock {
			decodeBlock(LosslessCodec{}, b, n, kindsOf(n))
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	list, kinds := realistic(CallsPerBlock)
	for b.Loop() {
		encoded(b, list, kinds)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*len(list)), "ns/value")
}

func BenchmarkDecode(b *testing.B) {
	list, kinds := realistic(CallsPerBlock)
	data := encoded(b, list, kinds)
	for b.Loop() {
		if _, err := decodeBlock(LosslessCodec{}, data, len(list), kinds); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*len(list)), "ns/value")
}
