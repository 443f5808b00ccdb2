package report

import (
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// Of a run of many calls the page has the iterations whose times are kept call by call, with the messages between ranks.
func TestKeptIterations(t *testing.T) {
	const rounds, slow, ranks, calls = 4_000, 2_500, 8, 4
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		r.Begin()
		for range rounds {
			r.Send(3, 100, int64(r.Rank+1)%ranks, 7)
			r.Recv(4, 100, int64(r.Rank+ranks-1)%ranks, 7)
			r.Allreduce(5, 1)
			r.Allreduce(6, 1)
		}
		r.End()
	})
	for rank, tr := range tracks {
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) {
			late := (i-1)/calls == slow && i%calls == 1
			switch {
			case late && rank == 2:
				return 30_000_000, 5000
			case late:
				return 100_000, 29_905_000
			}
			return 100_000, 5000
		})
	}
	file := mergetest.File(t, tracks, nil)
	w, err := when.AnalyseUnlessStored(mergetest.Open(t, tracks, nil))
	if err != nil || w == nil || len(w.Exemplars) == 0 {
		t.Fatal(w, err)
	}
	p := open(t, 1280, 900, false)
	p.load(written(t, page(t, mergetest.WithoutTimes(t, file, w))))
	lead := p.eval(`document.querySelector("#timeline .lead").textContent`)
	if !strings.Contains(lead, "iteration 2,500 (slow)") {
		t.Fatalf("the timeline says %q", lead)
	}
	if f := p.figure(); f.Mode != "tiles" {
		t.Errorf("the whole is drawn by %s", f.Mode)
	}
	p.eval(`[...document.querySelectorAll("#timeline .lead button")].find((b) => b.textContent === "iteration 2,500").click()`)
	if f := p.figure(); f.Mode != "calls" || f.Lines == 0 || f.To-f.From > 32e6 {
		t.Errorf("the slow iteration is drawn by %s with %d messages, %v ns wide", f.Mode, f.Lines, f.To-f.From)
	}
	for _, line := range p.complaints() {
		t.Errorf("console: %s", line)
	}
}
