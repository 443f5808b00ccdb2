package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// The section of iterations has a heat map by rank, and findings lead to it.
func TestIterations(t *testing.T) {
	const rounds, slow = 40, 25
	tracks := tracktest.RunAll(3, func(r *tracktest.Recorder) {
		r.Begin()
		for range rounds {
			r.Allreduce(4, 1)
		}
		r.End()
	})
	for rank, tr := range tracks {
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) {
			if gap = 1_000_000; rank == 2 && i == 1+slow {
				return 21_000_000, 5000
			} else if i == 1+slow {
				return gap, 20_005_000
			}
			return gap, 5000
		})
	}
	p := open(t, 1280, 900, false)
	p.load(written(t, page(t, reader(t, tracks, "./app"))))
	if got := p.eval(`document.querySelector("#findings").textContent`); !strings.Contains(got, fmt.Sprintf("iteration %d of %d takes 21 ms instead of 1 ms: rank 2 computes 20 ms longer, before MPI_Allreduce", slow, rounds)) {
		t.Errorf("findings: %s", got)
	}
	p.eval(`[...document.querySelectorAll("#findings button")].find((b) => b.textContent === "Over the iterations").click()`)
	if got := p.eval(`document.activeElement.id`); got != "iteration-heat" {
		t.Errorf("the finding leads to %q", got)
	}
	if got := p.eval(`document.getElementById("tip").textContent`); !strings.HasPrefix(got, fmt.Sprintf("rank 2, iteration %d", slow)) {
		t.Errorf("the finding leads to %q", got)
	}
	p.eval(`[...document.querySelectorAll("#findings button")].find((b) => b.closest("li").textContent.includes("iteration 25") && b.textContent === "On the timeline").click()`)
	p.until(`document.getElementById("time-where").textContent.startsWith("24.1 ms to 47.1 ms")`) // one iteration more before and after
	p.eval(`document.getElementById("iteration-heat").focus()`)
	label := func() string { return p.eval(`document.querySelector("#iteration-heat").getAttribute("aria-label")`) }
	if got := label(); !strings.Contains(got, "time computing, ranks by iteration: 3 rows, 40 iterations") {
		t.Error(got)
	}
	cell := func(keys ...string) string {
		for _, key := range keys {
			p.key(key)
		}
		return p.eval(`document.getElementById("tip").textContent`)
	}
	if first := cell("ArrowDown"); !strings.HasPrefix(first, "rank 0, iteration 0") {
		t.Errorf("the first cell is %q", first)
	}
	var longest string
	for range 2 {
		cell("ArrowDown")
	}
	for range 8 * rounds { // to the right, over the parts of iterations
		if got := cell("ArrowRight"); strings.Contains(got, fmt.Sprintf("iteration %d", slow)) {
			longest = got
			break
		}
	}
	if !strings.HasPrefix(longest, "rank 2, ") || !strings.Contains(longest, "computing") {
		t.Errorf("the slow iteration is %q", longest)
	}
	p.eval(`[...document.querySelectorAll("#iterations button")].find((b) => b.textContent === "Waiting").click()`)
	if got := label(); !strings.Contains(got, "time waiting") {
		t.Error(got)
	}
	for _, line := range p.complaints() {
		t.Errorf("console: %s", line)
	}
}
