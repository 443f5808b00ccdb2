package report

import (
	"bytes"
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

func traceOf(t *testing.T, ranks int, program func(r *tracktest.Recorder)) *trace.Reader {
	t.Helper()
	s, err := merge.MergeAll(tracktest.RunAll(ranks, program), ranks)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Content(map[string]string{trace.MetaCommand: "./app"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.ReadBytes(b, "app.spoor")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// painted returns, by function and tile, the time of one thread's row.
func painted(t *testing.T, r *trace.Reader, tiles int, folded bool) (*painter, *TimelineRow) {
	t.Helper()
	s, err := sums.Summarise(r)
	if err != nil {
		t.Fatal(err)
	}
	tl := &Timeline{Ranks: r.Ranks(), pseudo: [asides]int{-1, -1, -1}}
	if _, err := tl.choose(r); err != nil {
		t.Fatal(err)
	}
	tl.Tiles = tiles
	p := &painter{t: tl, of: make(map[*trace.Function]int), kind: trace.ExactSample}
	p.functions(r, s)
	p.width = float64(tl.EndNs-tl.StartNs) / float64(tiles)
	p.inMPI = make([]float32, tiles)
	for range tl.Functions {
		p.sums = append(p.sums, make([]float32, tiles))
	}
	row := &TimelineRow{}
	paint := p.thread
	if folded {
		paint = p.folded
	}
	if err := paint(r, thread{}, row); err != nil {
		t.Fatal(err)
	}
	return p, row
}

// Painted by its structure, a thread looks as it does call by call.
func TestFoldedIsAsExpanded(t *testing.T) {
	r := traceOf(t, 4, func(r *tracktest.Recorder) {
		r.Begin()
		for i := range 400 {
			for range 3 + i%2 {
				r.Send(3, 1, int64(r.Rank), 1)
				r.Recv(4, 1, int64(r.Rank), 1)
			}
			if i > 200 {
				for range 40 {
					r.Allreduce(5, 1)
				}
			}
		}
		r.End()
	})
	for _, tiles := range []int{64, 500} {
		each, one := painted(t, r, tiles, false)
		whole, two := painted(t, r, tiles, true)
		if one.Calls != two.Calls {
			t.Errorf("%d calls folded, %d expanded", two.Calls, one.Calls)
		}
		for f := range each.sums {
			x, y := each.t.Functions[f], whole.t.Functions[f]
			if x.Calls != y.Calls || math.Abs(x.Ns-y.Ns) > 0.002*x.Ns+each.width/100 {
				t.Errorf("folded: %+v, expanded: %+v", y, x)
			}
			for i := range tiles {
				// The part at a tile's edge is a quarter of a tile at most.
				if d := math.Abs(float64(each.sums[f][i] - whole.sums[f][i])); d > each.width/3 {
					t.Errorf("%s, tile %d of %d: %v ns folded, %v expanded, of %v", x.Name, i, tiles, whole.sums[f][i], each.sums[f][i], each.width)
				}
			}
		}
	}
}

// A page of 10^15 calls is made by the structure, and no larger than others.
func TestReportOfEndless(t *testing.T) {
	r := traceOf(t, 3, tracktest.Endless)
	d, err := CollectData(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls := uint64(0)
	for _, row := range d.Timeline.Rows {
		calls += row.Calls
	}
	if calls != uint64(d.Summary.Calls) || calls < 1e15 || d.Timeline.TimesKind != "mean" {
		t.Errorf("the timeline has %d calls, %s, the trace %d", calls, d.Timeline.TimesKind, d.Summary.Calls)
	}
	var page bytes.Buffer
	if err := WritePage(&page, d); err != nil {
		t.Fatal(err)
	}
	if page.Len() > 1<<20 {
		t.Errorf("the page has %d bytes", page.Len())
	}
}
