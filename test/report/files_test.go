package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// writers have each rank write to one file, and read its own.
func writers(ranks int, own bool) []*track.Track {
	const first = mpi.FirstUserHandleID
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("open", 3, first, r.String("all.dat"), 0x241, 0o644)
		for i := range 20 {
			r.Call("pwrite", 4, 4096, first, 4096, int64(i)*4096)
		}
		r.Call("close", 5, 0, first)
		r.Call("open", 6, first, r.String(fmt.Sprintf("own.<b class=hack>%c", 'a'+r.Rank)), 0, 0)
		r.Call("pread", 7, 1000, first, 1000, 0)
		r.Call("close", 8, 0, first)
		r.End()
	})
	if own {
		for _, tr := range tracks {
			tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) { return 1000, 5000 })
		}
	}
	return tracks
}

// The section of files has a heat map of bandwidth by rank and by file, which says what it knows of times.
func TestFiles(t *testing.T) {
	for _, own := range []bool{false, true} {
		p := open(t, 1280, 900, false)
		p.load(written(t, page(t, reader(t, writers(4, own), "./writers"))))
		shown := func() string {
			return p.eval(`(() => { const c = document.querySelector("#file-heat"); return c.dataset.rows + ": " + c.getAttribute("aria-label") + ". " + document.querySelector("#file-heat-note").textContent; })()`)
		}
		press := func(text string) {
			if got := p.eval(fmt.Sprintf(`(() => { const b = [...document.querySelectorAll("#files button")].find((b) => b.textContent === %q); b.click(); return b.getAttribute("aria-pressed"); })()`, text)); got != "true" {
				t.Errorf("%s: pressed %s", text, got)
			}
		}
		expect := func(parts ...string) {
			t.Helper()
			got := shown()
			for _, part := range parts {
				if !strings.Contains(got, part) {
					t.Errorf("own times %v: no %q in %q", own, part, got)
				}
			}
		}
		expect("4: Heat map of bytes read and written a second by POSIX and C, ranks by time: 4 rows")
		if got := strings.Contains(shown(), "mean time of similar calls"); got == own {
			t.Errorf("own times %v: %s", own, shown())
		}
		press("Files")
		expect("5: ", "files by time: 5 rows")
		press("Read")
		expect("bytes read a second", "Read by POSIX and C")
		painted := p.eval(`(() => { const c = document.querySelector("#file-heat"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, s = new Set();
			for (let i = 0; i < d.length; i += 4) s.add((d[i] << 16) | (d[i + 1] << 8) | d[i + 2]); return s.size; })()`)
		if painted == "1" || painted == "0" {
			t.Error("nothing is painted")
		}
		p.eval(`document.querySelector("#file-heat").focus()`)
		p.key("ArrowDown")
		if got := p.eval(`document.getElementById("tip").textContent`); !strings.Contains(got, "all.dat, ") {
			t.Errorf("the first cell is %q", got)
		}
		table := p.eval(`[...document.querySelectorAll("#files table tbody tr")].map((r) => r.textContent).sort().join("|")`)
		if !strings.HasPrefix(table, "all.dat4") || !strings.Contains(table, "own.<b class=hack>a1") || strings.Contains(p.eval(`String(document.querySelectorAll(".hack").length)`), "1") {
			t.Errorf("the table has %s", table)
		}
		for _, line := range p.complaints() {
			t.Errorf("console: %s", line)
		}
	}
}
