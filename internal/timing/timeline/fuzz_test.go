package timeline

import (
	"bytes"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/trace/model"
)

// FuzzHistograms: histograms of a class from any bytes can be drawn from, and come back as they were written.
func FuzzHistograms(f *testing.F) {
	h := hist.New(5, 1)
	for i := range uint64(300) {
		h.Add(i * i % 1000)
	}
	f.Add(sections.AppendHistograms(nil, []sections.Histogram{{Terminal: 0, PreviousPlace: model.NoPreviousFunctionSite, Duration: h, Gap: h}, {Terminal: 0, PreviousPlace: 3, Duration: h, Gap: hist.New(2, 0)}, {Terminal: 6, PreviousPlace: 0, Duration: h, Gap: h}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := wire.NewReader(data, "histograms")
		list := sections.DecodeHistograms(w, 8, 5)
		if w.Finish() != nil {
			return
		}
		for _, x := range list {
			if x.Terminal < 0 || x.Terminal > 7 || x.PreviousPlace < model.NoPreviousFunctionSite || x.PreviousPlace > 4 {
				t.Fatalf("%+v", x)
			}
			for _, u := range []uint64{0, 1 << 63, 1<<64 - 1} {
				draw(drawsOf(x.Duration, float64(u>>20), 1+u>>54, u, u), x.Duration)
			}
		}
		b := sections.AppendHistograms(nil, list)
		w = wire.NewReader(b, "histograms")
		again := sections.DecodeHistograms(w, 8, 5)
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(sections.AppendHistograms(nil, again), b) {
			t.Fatal("not stable")
		}
	})
}
