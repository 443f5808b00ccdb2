package proxy

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// unequal is a program with a warm-up and a main loop of the same calls, and a loop
// with other work at its entry; rank 2 computes three times as much as the others.
func unequal(t *testing.T, ranks int, mode timing.Mode) *trace.Reader {
	t.Helper()
	var gaps []uint64
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		gaps = gaps[:0]
		call := func(site int, gap uint64) {
			r.Allreduce(site, 1)
			gaps = append(gaps, gap)
		}
		r.Begin()
		gaps = append(gaps, 0)
		for range 10 {
			call(3, 8_000_000)
			call(4, 0)
		}
		call(5, 0)
		for i := range 100 {
			gap := uint64(1_000_000)
			if i%10 == 0 {
				gap = 3_000_000
			}
			call(3, gap)
			call(4, 0)
		}
		call(6, 0)
		for range 5 {
			call(7, 30_000_000)
			for range 11 {
				call(7, 1_000_000)
			}
			call(8, 0)
		}
		r.End()
		gaps = append(gaps, 0)
	})
	for rank, tr := range tracks {
		slow := uint64(1)
		if rank == 2 {
			slow = 3
		}
		tracktest.Timed(tr, mode, func(i int) (gap, duration uint64) { return gaps[i] * slow, 1000 })
	}
	return mergetest.Open(t, tracks, nil)
}

// Each place of a program has its own gap, and each rank.
func TestGapsOfPlaces(t *testing.T) {
	const gap = `\(rank (==|!=) 2 \? ([\d.]+) : ([\d.]+)\)`
	for _, mode := range []timing.Mode{timing.ModeStats, timing.ModeLossless} {
		text := string(generate(t, unequal(t, 4, mode), Options{}).Files["proxy.c"])
		for _, x := range []struct {
			what string
			want float64
			line string
		}{
			{"warm-up", 8000, `\{\n    DO\(` + gap + `, MPI_Allreduce.*\n.*\n\}\n\nstatic void part1`},
			{"main", 1200, `void part1\(void\)\n\{\n    DO\(` + gap},
			{"entry", 30000, `ENTER\(` + gap + `\);\n    REPEAT\(12\) DO`},
			{"round", 1000, `REPEAT\(12\) DO\(` + gap},
		} {
			m := regexp.MustCompile(x.line).FindStringSubmatch(text)
			if m == nil {
				t.Errorf("%s: no gap of %s in\n%s", mode, x.what, text)
				continue
			}
			slow, other := m[2], m[3]
			if m[1] == "!=" {
				slow, other = other, slow
			}
			for number, want := range map[string]float64{slow: 3 * x.want, other: x.want} {
				if us, err := strconv.ParseFloat(number, 64); err != nil || math.Abs(us/want-1) > 0.03 {
					t.Errorf("%s: %s: a gap of %s us, want %.0f", mode, x.what, number, want)
				}
			}
		}
	}
}

// Of one number for all ranks, none may have much that is wrong.
func TestEvenRanks(t *testing.T) {
	text := string(generate(t, record(t, 8, halo), Options{}).Files["proxy.c"])
	if strings.Contains(text, "DO((rank") {
		t.Errorf("ranks that compute the same have gaps of their own:\n%s", text)
	}
}

// Of histograms, a place has the bins that its mean says.
func TestDrawnGaps(t *testing.T) {
	text := string(generate(t, unequal(t, 2, timing.ModeHist), Options{}).Files["proxy.c"])
	if !regexp.MustCompile(`DO\(DRAWN\(\d+, \d, table\d+\), MPI_Allreduce`).MatchString(text) {
		t.Errorf("no gap is drawn:\n%s", text)
	}
	again := string(generate(t, unequal(t, 2, timing.ModeHist), Options{}).Files["proxy.c"])
	if text != again {
		t.Errorf("another program:\n%s\n%s", text, again)
	}
}

// Where gaps are followed, there is a file with those before all calls of each rank.
func TestFollowedGaps(t *testing.T) {
	r := unequal(t, 3, timing.ModeLossless)
	p := generate(t, r, Options{GapModel: GapsRecorded})
	if !strings.Contains(string(p.Files["proxy.c"]), "    follow();\n") {
		t.Error("the program does not read the files")
	}
	for rank := range 3 {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		w := wire.NewReader(p.Files["gaps/"+strconv.Itoa(rank)], "gaps")
		if n := w.Uint32(); int(n) != w.RemainingLen() {
			t.Errorf("rank %d: %d bytes, %d told", rank, w.RemainingLen(), n)
		}
		for c, err := range k.TimedCalls(0) {
			if err != nil {
				t.Fatal(err)
			}
			if ns := w.Uvarint(); ns != c.Timing.Gap.Ns {
				t.Fatalf("rank %d, call %d: %d ns, want %d", rank, c.Index, ns, c.Timing.Gap.Ns)
			}
		}
		if err := w.Finish(); err != nil {
			t.Error(err)
		}
	}
}
