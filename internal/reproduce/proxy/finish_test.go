package proxy

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// polling is a program whose requests finish in random order, found by a function:
// so many rounds of as many requests. It returns the gaps before its calls.
func polling(r *tracktest.Recorder, function string, rounds, requests int) (gaps []uint64) {
	random := rand.New(rand.NewPCG(uint64(r.Rank), 7))
	heap := func(n int) int64 { return int64(n)<<8 | 1 }
	call := func(gap uint64, name string, site int, vals ...int64) {
		r.Call(name, site, vals...)
		gaps = append(gaps, gap)
	}
	call(0, "MPI_Init", 1)
	for round := range rounds {
		r.AllocEvent(0, false, heap(9), 8192)
		for i := range requests {
			call(1000, "MPI_Irecv", 3, heap(i), 0, 1, tracktest.IntType, int64(r.Rank^1), int64(i), tracktest.World, 2)
		}
		left := random.Perm(requests)
		open := make([]bool, requests)
		for _, i := range left {
			open[i] = true
		}
		in := func() []int64 {
			list := []int64{int64(requests), int64(requests)}
			for i, is := range open {
				if is {
					list = append(list, 2*int64(requests-i))
				} else {
					list = append(list, 0)
				}
			}
			return list
		}
		for len(left) > 0 {
			vals, n := in(), 0
			if function != "MPI_Waitany" && function != "MPI_Waitsome" {
				n = random.IntN(2) // a test may find nothing
			} else {
				n = 1
			}
			if n > 0 && strings.HasSuffix(function, "some") {
				n = 1 + random.IntN(len(left))
			}
			status := func(i int) []int64 { return []int64{2, int64(r.Rank ^ 1), int64(i), 4, 0} }
			switch function {
			case "MPI_Testany":
				if n == 0 {
					vals = append(vals, -32766, 0, 0)
				} else {
					vals = append(append(vals, int64(left[0]), 1), status(left[0])...)
				}
			case "MPI_Waitany":
				vals = append(append(vals, int64(left[0])), status(left[0])...)
			default:
				vals = append(vals, int64(n), int64(n))
				for _, i := range left[:n] {
					vals = append(vals, int64(i))
				}
				vals = append(vals, int64(n))
				for _, i := range left[:n] {
					vals = append(vals, status(i)...)
				}
			}
			call(uint64(500+random.IntN(1000)), function, 4, vals...)
			for _, i := range left[:n] {
				open[i] = false
			}
			left = left[n:]
		}
		if round%5 == 0 {
			call(2000, "MPI_Barrier", 5, tracktest.World)
		}
		r.AllocEvent(0, true, heap(9), 0)
	}
	call(0, "MPI_Finalize", 2)
	return gaps
}

// A program that polls is a loop, however its requests finished; ranks compute in sum as
// long as they did.
func TestFinish(t *testing.T) {
	for _, function := range []string{"MPI_Testany", "MPI_Waitany", "MPI_Testsome", "MPI_Waitsome"} {
		var sums [2]float64
		tracks := tracktest.RunAll(2, func(r *tracktest.Recorder) { polling(r, function, 500, 6) })
		for rank, tr := range tracks {
			gaps := polling(tracktest.NewRecorder(rank, 2), function, 500, 6)
			tracktest.Timed(tr, timing.ModeStats, func(i int) (gap, duration uint64) { return gaps[i], 100 })
			for _, gap := range gaps {
				sums[rank] += float64(gap)
			}
		}
		r := mergetest.Open(t, tracks, map[string]string{trace.MetaMPIFlavour: "mpich"})
		short, long := generate(t, r, Options{}), generate(t, r, Options{KeepRecordedOrder: true})
		text := string(short.Files["proxy.c"])
		if short.Lines > 130 || long.Lines < 10*short.Lines {
			t.Errorf("%s: %d lines, %d in the recorded order:\n%.6000s", function, short.Lines, long.Lines, text)
		}
		if !regexp.MustCompile(`FINISH\(6, \w+, [^,]+, `+function+`\(6, window\(6\), `).MatchString(text) || strings.Contains(text, "DO("+function) {
			t.Errorf("%s: no loop:\n%.6000s", function, text)
		}
		if n := strings.Count(text, "release(HEAP, 9)") + strings.Count(text, "block(HEAP, 9"); n == 0 {
			t.Errorf("%s: nothing is said of memory:\n%.6000s", function, text)
		}
		for rank := range sums {
			if sum := totalOf(t, r, rank); math.Abs(sum/sums[rank]-1) > 0.02 {
				t.Errorf("%s: rank %d is to compute for %.0f ns, want %.0f", function, rank, sum, sums[rank])
			}
		}
	}
}

// TestFinishTogether: ranks whose requests finish in other orders, and are in classes of their own, are one program, which is as long on
// all numbers of ranks.
func TestFinishTogether(t *testing.T) {
	for _, function := range []string{"MPI_Testany", "MPI_Waitany", "MPI_Testsome", "MPI_Waitsome"} {
		for _, ranks := range []int{4, 8, 16, 128, 1024} {
			if ranks > 16 && function != "MPI_Waitany" {
				continue
			}
			rounds := 200
			if ranks > 16 {
				rounds = 40
			}
			r := record(t, ranks, func(r *tracktest.Recorder) { polling(r, function, rounds, 3) })
			p := generate(t, r, Options{GapModel: GapsMean})
			text := string(p.Files["proxy.c"])
			_, text, _ = strings.Cut(text, "\n\nstatic void") // behind tables of gaps
			lines := strings.Count(text, "\n")
			if r.Classes() < ranks || p.RankVariants != 1 || lines > 60 || !regexp.MustCompile(`MPI_Irecv\(heap\(0\), 1, MPI_INT, \(?rank \^ 1`).MatchString(text) {
				t.Errorf("%s on %d ranks in %d classes: %d programs, %d lines:\n%.3000s", function, ranks, r.Classes(), p.RankVariants, lines, text)
			}
		}
	}
}

// totalOf is what a rank's gaps come to in the structure that was found anew.
func totalOf(t *testing.T, r *trace.Reader, rank int) (sum float64) {
	t.Helper()
	g, _, err := analyse(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range g.list {
		for m, number := range v.members {
			if number != rank {
				continue
			}
			for _, p := range v.placed {
				for leaf := range p.mean {
					x := p.at(m, leaf)
					sum += x.TotalGapNs()
				}
			}
			if v.stepwise[0] == nil {
				t.Errorf("rank %d has the recorded order", rank)
			}
		}
	}
	return sum
}

// Where requests of others may lie between those that are waited for, they are left alone.
func TestFinishOfSome(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := string(generate(t, record(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		for range 200 {
			for i := range int64(3) {
				r.Irecv(3+int(i), 1, 0, i)
			}
			first := random.Int64N(2)
			status := func(i int64) []int64 { return []int64{2, 0, 2 * i, 4, 0} }
			r.Call("MPI_Waitany", 7, append([]int64{3, 3, 6, 0, 2, 2 * first}, status(first)...)...)
			last := []int64{3, 3, 0, 0, 2, 2}
			if first == 1 {
				last = []int64{3, 3, 6, 0, 0, 0}
			}
			r.Call("MPI_Waitany", 7, append(last, status(1-first)...)...)
			r.Call("MPI_Wait", 8, 4, 0)
		}
		r.End()
	}), Options{}).Files["proxy.c"])
	if strings.Contains(text, "FINISH(") || !strings.Contains(text, "MPI_Waitany(") {
		t.Errorf("a loop would finish the second of three requests, too:\n%.3000s", text)
	}
}
