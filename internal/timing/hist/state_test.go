package hist

import (
	"bytes"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"pgregory.net/rapid"
)

// A histogram that was saved and loaded on the way is the same in the end.
func TestSave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := New(rapid.IntRange(2, 9).Draw(t, "bins"), 3)
		if rapid.Bool().Draw(t, "merged") {
			o := New(3, 8)
			o.Add(70)
			h.Merge(o)
		}
		samples := rapid.SliceOfN(rapid.Uint64Range(0, 1<<40), 0, 400).Draw(t, "samples")
		at := rapid.IntRange(0, len(samples)).Draw(t, "at")
		var loaded *Hist
		for i := range len(samples) + 1 {
			if i == at {
				var w wire.Coder
				h.SaveCheckpoint(&w)
				r := wire.NewReader(w.Buf, "histogram")
				loaded = LoadCheckpoint(r)
				if err := r.Finish(); err != nil {
					t.Fatal(err)
				}
			}
			if i == len(samples) {
				break
			}
			h.Add(samples[i])
			if loaded != nil {
				loaded.Add(samples[i])
			}
		}
		if a, b := h.AppendBinary(nil), loaded.AppendBinary(nil); !bytes.Equal(a, b) {
			t.Fatalf("%x, loaded on the way %x", a, b)
		}
	})
}

func FuzzLoad(f *testing.F) {
	h := New(5, 1)
	for i := range uint64(100) {
		h.Add(i * i)
	}
	var w wire.Coder
	h.SaveCheckpoint(&w)
	f.Add(w.Buf)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(b, "histogram")
		h := LoadCheckpoint(r)
		if r.Finish() == nil {
			h.Add(7)
			h.Quantile(0.5)
		}
	})
}

// What a buffer has counted is taken only where it can be what 1 to some samples come to.
func FuzzLoadPair(f *testing.F) {
	p, buffer := NewPair(DefaultBins, 1), new(CountBuffer)
	for i := range uint64(200) {
		p.Add(buffer, i*i%97, 1000+i%7)
	}
	p.FlushForCheckpoint(buffer)
	var w wire.Coder
	p.SaveCheckpoint(&w, buffer)
	f.Add(w.Buf)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(b, "histogram")
		buffer := new(CountBuffer)
		p := LoadPairCheckpoint(r, buffer)
		if r.Finish() != nil {
			return
		}
		for i := range uint64(600) {
			p.Add(buffer, i, i*i)
		}
		p.Flush(buffer)
		p.Hists[0].Quantile(0.5)
	})
}
