package proxy

import (
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// Loops whose inner loops run once more, three times more, once less each time.
func triangles(r *tracktest.Recorder, n int, gap func(round int)) {
	r.Begin()
	gap(0)
	for _, bounds := range [][2]int{{1, 1}, {2, 3}, {n, -1}} {
		site := 10 * (bounds[1] + 5)
		for i := range n {
			r.Allreduce(site, 1)
			gap(i)
			for range bounds[0] + bounds[1]*i {
				r.Allreduce(site+1, 1)
				gap(i)
				r.Allreduce(site+2, 1)
				gap(i)
			}
		}
	}
	r.End()
	gap(0)
}

func TestProgressions(t *testing.T) {
	var gaps []uint64
	tracks := tracktest.RunAll(3, func(r *tracktest.Recorder) {
		gaps = gaps[:0]
		triangles(r, 50, func(round int) { gaps = append(gaps, uint64(1000+200_000*round)) })
	})
	for _, tr := range tracks {
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) { return gaps[i], 100 })
	}
	p := generate(t, mergetest.Open(t, tracks, nil), Options{})
	text := string(p.Files["proxy.c"])
	for _, want := range []string{"REPEAT(1 + round) part", "REPEAT(2 + 3 * round) part", "REPEAT(50 - round) part"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("no %s", want)
		}
	}
	if strings.Count(text, "round < 50; round++") != 3 || p.Lines > 80 {
		t.Errorf("%d lines", p.Lines)
	}
	if t.Failed() {
		t.Logf("%s", text)
	}
}

// All leaves of a loop's rounds have their gap in the loop's one line.
func TestProgressionsKeepGaps(t *testing.T) {
	g, _, err := analyse(record(t, 2, func(r *tracktest.Recorder) { triangles(r, 30, func(int) {}) }), Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := g.list[0]
	seen := make([]int, v.placed[0].leaves.Len())
	for _, p := range g.parts {
		for _, c := range p.copies {
			for k := range c.steps {
				if x := c.steps[k].gap; x != nil {
					for _, o := range x.of {
						seen[o.leaf]++
					}
				}
			}
		}
	}
	for leaf, n := range seen {
		if n != 1 {
			t.Errorf("leaf %d of %d has %d lines", leaf, len(seen), n)
		}
	}
}

// Ranks of a class may begin elsewhere, and have another step.
func TestProgressionsOfRanks(t *testing.T) {
	r := record(t, 4, func(r *tracktest.Recorder) {
		r.Begin()
		for i := range 40 {
			r.Allreduce(3, 1)
			for range 2 + r.Rank + (1+r.Rank)*i {
				r.Allreduce(4, 1)
			}
		}
		r.End()
	})
	p := generate(t, r, Options{})
	text := string(p.Files["proxy.c"])
	if r.Classes() != 1 || !strings.Contains(text, "REPEAT((rank + 2) + round * (rank + 1)) DO") || p.Lines > 50 {
		t.Errorf("%d classes, %d lines:\n%.4000s", r.Classes(), p.Lines, text)
	}
}

// A call that is another in each round is one line if numbers tell the difference.
func TestProgressionsOfLines(t *testing.T) {
	p := generate(t, record(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		for i := range 40 {
			for range 1 + i {
				r.Allreduce(3, 1)
			}
			r.Allreduce(4, int64(70-i))
			r.Send(5, 1, int64(3+2*i), 0)
		}
		r.End()
	}), Options{})
	text := string(p.Files["proxy.c"])
	for _, want := range []string{"heap(3), 70 - round, MPI_INT", "REPEAT(1 + round) DO", "1, MPI_INT, 3 + 2 * round, 0, MPI_COMM_WORLD"} {
		if !strings.Contains(text, want) || p.Lines > 50 {
			t.Errorf("%d lines without %s:\n%.4000s", p.Lines, want, text)
		}
	}
}

func TestNumbersOfLines(t *testing.T) {
	g := &generator{lines: make(map[string]*line)}
	of := func(text string) *line {
		return &line{text: func(gap string) string { return strings.ReplaceAll(text, "GAP", gap) }}
	}
	for _, c := range [][3]string{
		{"DO(GAP, f(4, a1, 0.5, 0x10));", "DO(GAP, f(6, a1, 0.5, 0x10));", "DO(7.5, f(4 + 2 * round, a1, 0.5, 0x10));"},
		{"f(x - 4, 9 * y)", "f(x - 3, 8 * y)", "f(x - (4 - round), (9 - round) * y)"},
		{"f(rank + 4, 1)", "f(rank + 5, 1)", "f(rank + (4 + round), 1)"},
	} {
		a, b := of(c[0]), of(c[1])
		if a.template().text != b.template().text {
			t.Errorf("%s and %s are apart", c[0], c[1])
		} else if got := g.inRounds(a, b).text("7.5"); got != c[2] {
			t.Errorf("%s, want %s", got, c[2])
		}
	}
	for _, c := range [][2]string{{`f("4")`, `f("5")`}, {"f(a4)", "f(a5)"}, {"f(0.4)", "f(0.5)"}} {
		if of(c[0]).template().text == of(c[1]).template().text {
			t.Errorf("%s and %s are alike", c[0], c[1])
		}
	}
}
