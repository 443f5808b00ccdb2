package series

import (
	"bytes"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/timing"
)

func attachedChunks(list []timing.AttachedNumber) iter.Seq2[[]timing.AttachedNumber, error] {
	return func(yield func([]timing.AttachedNumber, error) bool) {
		for part := range slices.Chunk(list, 1000) {
			if !yield(part, nil) {
				return
			}
		}
	}
}

// attachedPiece is a piece with two streams and what was attached to their calls.
func attachedPiece(t testing.TB, mode timing.Mode, calls [2]int, names []string) ([]byte, [2][]timing.AttachedNumber) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var file bytes.Buffer
	w, err := NewWriter(&file, RankInfo{Mode: mode, TicksPerNs: 1})
	if err != nil {
		t.Fatal(err)
	}
	next := func(n int) SimilarCallKinds { return kindsOf(n) }
	var want [2][]timing.AttachedNumber
	for s, n := range calls {
		if err := w.WriteStream(chunks(randomEntries(n, uint64(s))), next); err != nil {
			t.Fatal(err)
		}
		for call := range n {
			for name := range names {
				for k := range rng.IntN(3) * rng.IntN(2) {
					v := int64(rng.Uint64()) >> rng.IntN(64)
					if k > 0 || name == 0 {
						v = int64(call % 7)
					}
					want[s] = append(want[s], timing.AttachedNumber{CallIndex: uint64(call), NameIndex: name, Value: v})
				}
			}
		}
	}
	want[0] = append(want[0], timing.AttachedNumber{CallIndex: uint64(calls[0] - 1), NameIndex: 0, Value: math.MinInt64})
	if err := w.WriteAttachedNames(names); err != nil {
		t.Fatal(err)
	}
	for s := range calls {
		if err := w.WriteAttached(s, attachedChunks(want[s]), next); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), want
}

// Numbers come back exactly in every mode, as many as there were and their sum, and times beside them.
func TestAttached(t *testing.T) {
	for _, mode := range []timing.Mode{timing.ModeLossless, timing.ModeSZ} {
		names, calls := []string{"b", "never", "a"}, [2]int{CallsPerBlock + 100, 50}
		file, want := attachedPiece(t, mode, calls, names[:1:1])
		if mode == timing.ModeLossless {
			file, want = attachedPiece(t, mode, calls, names)
		}
		r, err := NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		type sum struct {
			count uint64
			sum   int64
		}
		type at struct {
			stream, name int
			call         uint64
		}
		sums, got := make(map[at]sum), make(map[at]sum)
		for s := range want {
			for _, v := range want[s] {
				x := at{s, v.NameIndex, v.CallIndex}
				sums[x] = sum{sums[x].count + 1, sums[x].sum + v.Value}
			}
		}
		for s := range want {
			for i := range r.BlockCount(s) {
				first, n := r.BlockCalls(s, i)
				list, err := r.AttachedNumbers(s, i, kindsOf(n))
				if err != nil {
					t.Fatal(err)
				}
				for name, x := range list {
					for k, count := range x.CountsByCall {
						if count > 0 {
							got[at{s, name, first + uint64(k)}] = sum{count, x.SumsByCall[k]}
						}
					}
				}
				if mode == timing.ModeLossless {
					if _, err := r.Block(s, i, kindsOf(n)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if d := cmp.Diff(sums, got, cmp.AllowUnexported(sum{}, at{})); d != "" {
			t.Errorf("%s: %.2000s", mode, d)
		}
	}
}

// Numbers of no call, or out of order, are refused, not lost.
func TestAttachedElsewhere(t *testing.T) {
	for _, bad := range [][]timing.AttachedNumber{{{CallIndex: 50}}, {{CallIndex: 1, NameIndex: 1}}} {
		w, err := NewWriter(new(bytes.Buffer), RankInfo{Mode: timing.ModeLossless, TicksPerNs: 1})
		if err != nil {
			t.Fatal(err)
		}
		next := func(n int) SimilarCallKinds { return kindsOf(n) }
		if err := w.WriteStream(chunks(randomEntries(50, 1)), next); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteAttachedNames([]string{"a"}); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteAttached(0, attachedChunks(bad), next); err == nil {
			t.Errorf("no error from %v", bad)
		}
	}
}

func FuzzNumbers(f *testing.F) {
	file, _ := attachedPiece(f, timing.ModeLossless, [2]int{60, 50}, []string{"a", "b"})
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		f.Fatal(err)
	}
	data, err := r.read(&r.blocks[0][0].numbers)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	kinds := kindsOf(60)
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := decodeNumbers(b, 2, 60, &kinds)
		for _, x := range list {
			if err == nil && len(x.CountsByCall) != len(x.SumsByCall) {
				t.Error("sums without counts")
			}
		}
	})
}
