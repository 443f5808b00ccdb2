package report

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

func unpacked(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(flate.NewReader(bytes.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ring has a time for each call.
func ring(t *testing.T, ranks, rounds int) *trace.Reader {
	t.Helper()
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		r.Begin()
		n := int64(ranks)
		for i := range rounds {
			r.Send(3, 1, (int64(r.Rank)+1)%n, int64(i%3))
			r.Recv(4, 1, (int64(r.Rank)+n-1)%n, int64(i%3))
			r.Allreduce(5, 1)
		}
		r.End()
	})
	for rank, tr := range tracks {
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) { return uint64(1000 + 300*rank), uint64(2000 + i%7*100) })
	}
	return mergetest.Open(t, tracks, nil)
}

// A window shows what the page does of that part, with all of its calls and the messages between them.
func TestWindow(t *testing.T) {
	r := ring(t, 3, 300)
	o := Options{UsesViewer: true, SiteNaming: nil}
	d, err := CollectData(r, o)
	if err != nil {
		t.Fatal(err)
	}
	o.SiteNaming = sites.NamingByAddress(nowhere)
	v := NewViewer(r, d, o)
	tl := d.Timeline
	span := tl.EndNs - tl.StartNs
	share := unpacked(t, tl.PackedInCallShares)
	for _, c := range [][2]int64{{0, span}, {span / 3, span / 2}, {span / 2, span/2 + 50_000}, {-5, 1000}, {span - 4000, span + 9}} {
		w, err := v.Window(c[0], c[1])
		if err != nil {
			t.Fatal(err)
		}
		if w.StartNs != max(0, c[0]) || w.EndNs != min(span, c[1]) {
			t.Errorf("window %v is from %d to %d", c, w.StartNs, w.EndNs)
		}
		got, sum := unpacked(t, w.PackedInCallShares), 0.0
		for _, b := range got {
			sum += float64(b) / parts / float64(w.Tiles) * float64(w.EndNs-w.StartNs)
		}
		want, width := 0.0, tl.width()
		for row := range tl.rows {
			for i := range tl.Tiles {
				from, to := max(float64(w.StartNs), float64(i)*width), min(float64(w.EndNs), float64(i+1)*width)
				if to > from {
					want += float64(share[row*tl.Tiles+i]) / parts * (to - from)
				}
			}
		}
		if math.Abs(sum-want) > 0.01*want+3*width {
			t.Errorf("window %v has %.0f ns in MPI, the page %.0f", c, sum, want)
		}
		if w.SingleCalls == nil {
			t.Fatalf("window %v has no single calls", c)
		}
		whole := tl.SingleCalls
		if c[0] == 0 && (w.SingleCalls.Count != whole.Count || w.SingleCalls.PackedCalls != whole.PackedCalls || w.SingleCalls.PackedMessageLinks != whole.PackedMessageLinks || w.SingleCalls.PackedWaits != whole.PackedWaits) {
			t.Errorf("the window of all has other calls than the page")
		}
		if c[0] == span/3 && (len(unpacked(t, w.SingleCalls.PackedMessageLinks)) < 300 || w.SingleCalls.Count < 400) {
			t.Errorf("a sixth of the run has %d calls, %d bytes of messages", w.SingleCalls.Count, len(unpacked(t, w.SingleCalls.PackedMessageLinks)))
		}
	}
	for _, c := range [][2]int64{{5, 5}, {7, 3}, {span + 1, span + 5}} {
		if _, err := v.Window(c[0], c[1]); !errors.Is(err, ErrNoSuchTimelineWindow) {
			t.Errorf("window %v: %v", c, err)
		}
	}
	// Of a run too long to match its messages, the calls of a part are the same, without them.
	v.calls = wholeCalls + 1
	some, err := v.Window(span/3, span/2)
	if err != nil {
		t.Fatal(err)
	}
	v.calls = 0
	all, err := v.Window(span/3, span/2)
	if err != nil {
		t.Fatal(err)
	}
	if some.SingleCalls.PackedCalls != all.SingleCalls.PackedCalls || some.SingleCalls.PackedTooltips != all.SingleCalls.PackedTooltips || len(unpacked(t, some.SingleCalls.PackedMessageLinks)) != 0 {
		t.Errorf("%d calls from where the part begins, %d from where the run does", some.SingleCalls.Count, all.SingleCalls.Count)
	}
}

// Each message of a ring is received by the next rank.
func TestLinks(t *testing.T) {
	const ranks, rounds = 3, 40
	d, err := CollectData(ring(t, ranks, rounds), Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := unpacked(t, d.Timeline.SingleCalls.PackedMessageLinks)
	number := func() (v uint64) {
		for shift := 0; ; shift += 7 {
			x := b[0]
			b = b[1:]
			if v |= uint64(x&127) << shift; x < 128 {
				return v
			}
		}
	}
	n, row := 0, uint64(0)
	for ; len(b) > 0; n++ {
		from, sent, to := number(), number(), row
		row += number()
		to = row
		if got := number(); to != (from+1)%ranks || got != sent+1 {
			t.Fatalf("message %d goes from call %d of row %d to call %d of row %d", n, sent, from, got, to)
		}
	}
	if n != ranks*rounds {
		t.Errorf("%d messages, want %d", n, ranks*rounds)
	}
}

func nowhere(_ string, s trace.Site) symbolise.Place {
	return symbolise.Place{Module: s.Module, Offset: s.Offset}
}
