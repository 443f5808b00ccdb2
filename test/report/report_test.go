// Package report opens pages that spoor report makes in a browser without a
// screen, and uses them.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/report"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// perPage bounds how long a browser may take.
const perPage = 90 * time.Second

// maxPage is how large a page may be, in bytes, before its data.
const maxPage = 1 << 20

// nasty would do harm if it became part of the page.
const nasty = `./a.out '</script><b class=hack><script>window.hacked=1</script>' <!-- &amp; {{data}}`

func reader(t *testing.T, tracks []*track.Track, command string) *trace.Reader {
	t.Helper()
	return mergetest.Open(t, tracks, map[string]string{trace.MetaMPIFlavour: "mpich", trace.MetaCommand: command, trace.MetaProblemPrefix + ".1": "<i>" + command})
}

func skeletonOf(t *testing.T, name string, ranks int) []*track.Track {
	t.Helper()
	p, ok := skeleton.ByName(name)
	if !ok {
		t.Fatalf("no program %s", name)
	}
	var tracks []*track.Track
	for rank := range ranks {
		tracks = append(tracks, vmpi.Run(name, rank, ranks, p.Run).Track())
	}
	return tracks
}

func page(t *testing.T, r *trace.Reader) []byte {
	t.Helper()
	d, err := report.CollectData(r, report.Options{SiteNaming: sites.NamingByAddress(func(_ string, s trace.Site) symbolise.Place {
		return symbolise.Place{Module: "/opt/</script><b class=hack>", Offset: s.Offset}
	})})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.WritePage(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// written puts a page into a file and returns its address.
func written(t *testing.T, page []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}

// use opens a page in a browser, drives it, and returns what the driver found.
func use(t *testing.T, page []byte, expect map[string]any, known string) {
	t.Helper()
	driver, err := os.ReadFile("testdata/driver.js")
	if err != nil {
		t.Fatal(err)
	}
	facts, err := json.Marshal(expect)
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, 1280, 900, false)
	p.load(written(t, page))
	good := 0
	for _, line := range strings.Split(p.eval(fmt.Sprintf("(async () => {\nconst EXPECT = %s;\nEXPECT.known = /%s/;\n%s\n})()", facts, known, driver)), "\n") {
		if strings.HasPrefix(line, "FAIL") {
			t.Error(line)
		}
		if strings.HasPrefix(line, "ok") {
			good++
		}
	}
	if good < 25 {
		t.Errorf("only %d things were looked at", good)
	}
	for _, line := range p.complaints() {
		t.Errorf("console: %s", line)
	}
}

var sections = []string{"findings", "overview", "timeline", "waiting", "imbalance", "ranks", "calls", "structure", "matrix", "sizes"}

func TestSmall(t *testing.T) {
	r := reader(t, tracktest.RunAll(4, tracktest.Stencil(50)), nasty)
	b := page(t, r)
	if len(b) > maxPage {
		t.Errorf("the page has %d bytes", len(b))
	}
	use(t, b, map[string]any{"sections": sections, "title": nasty, "bin": 1}, "statistics.*single calls are shown")
}

func TestManyRanks(t *testing.T) {
	r := reader(t, skeletonOf(t, "st2d", 1024), "./grid")
	b := page(t, r)
	if len(b) > maxPage {
		t.Errorf("the page has %d bytes", len(b))
	}
	use(t, b, map[string]any{"sections": sections, "title": "./grid", "bin": 4}, "4 ranks share a row")
}

// Each thread has a row in the timeline.
func TestThreads(t *testing.T) {
	r := reader(t, tracktest.RunAll(3, func(r *tracktest.Recorder) {
		r.Begin()
		for i := range 20 {
			r.Send(3, 1, int64((r.Rank+1)%3), 0)
			r.Allreduce(4, 1)
			for thread := 1; thread <= 2; thread++ {
				r.CallOn(thread, "MPI_Comm_test_inter", 7+i%2, tracktest.World, 0)
			}
		}
		r.End()
	}), "./threads")
	use(t, page(t, r), map[string]any{"sections": sections, "title": "./threads", "bin": 1, "rows": 9, "ranks": 3}, "Threads have rows of their own")
}

// A trace without times has a page that shows none.
func TestTimeless(t *testing.T) {
	tracks := tracktest.RunAll(4, tracktest.Stencil(50))
	for _, tr := range tracks {
		tr.Timeless = true
	}
	b := page(t, reader(t, tracks, "./timeless"))
	use(t, b, map[string]any{"sections": sections[1:], "title": "./timeless", "bin": 1, "timeless": true}, "no times")
}

// A run that did nothing has a page, too.
func TestEmpty(t *testing.T) {
	r := reader(t, tracktest.RunAll(1, func(r *tracktest.Recorder) { r.Begin(); r.End() }), "")
	b := page(t, r)
	if !bytes.Contains(b, []byte("<h1 id=\"title\">"+mergetest.Name+"</h1>")) {
		t.Error("a run without a command has no title")
	}
}
