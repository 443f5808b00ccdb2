package proxy

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/tracktest"
)

// searching is a program that tests for messages and for the end of its send, in between sends to the next two ranks, in an order that
// is another on each rank. closes has all that it begins finished before each barrier.
func searching(rounds int, closes bool) func(r *tracktest.Recorder) {
	return func(r *tracktest.Recorder) {
		random := rand.New(rand.NewPCG(uint64(r.Rank), 3))
		r.Begin()
		made, receive, send := int64(0), int64(0), int64(-1)
		ago := func(n int64) int64 { return 2 * (made - n) }
		irecv := func() {
			receive = made
			made++
			r.Irecv(3, 64, -1, 0)
		}
		for range rounds {
			irecv()
			for sent, got := 0, 0; sent < 8 || got < 8 || send >= 0; {
				switch x := random.IntN(4); {
				case x == 0 && got < 8:
					r.Call("MPI_Test", 4, ago(receive), 1, 1, int64(r.Rank+r.Size-1)%int64(r.Size), 0, 4*random.Int64N(64), 0)
					if got++; got < 8 {
						irecv()
					}
				case x == 1 && send >= 0:
					r.Call("MPI_Test", 5, ago(send), 1, 2, 0, 0, 0, 0)
					send = -1
				case x == 2 && send < 0 && sent < 8:
					send = made
					made++
					r.Isend(6, random.Int64N(64), (int64(r.Rank)+1+random.Int64N(2))%int64(r.Size), 0)
					sent++
				case got < 8:
					r.Call("MPI_Test", 4, ago(receive), 0, 0)
				}
			}
			if !closes {
				irecv()
			}
			r.Call("MPI_Barrier", 7, tracktest.World)
			if !closes {
				r.Call("MPI_Wait", 8, ago(receive), 1, 0, 0, 0, 0)
			}
		}
		r.End()
	}
}

// TestExchange: a program that polls is as short on all numbers of ranks.
func TestExchange(t *testing.T) {
	for _, ranks := range []int{4, 16, 128, 1024} {
		rounds := max(3, 100/ranks)
		p := generate(t, record(t, ranks, searching(rounds, true)), Options{GapModel: GapsMean})
		text := regexp.MustCompile(`(?m)^static const [^\n]*\btable\d+\[\] = \{[^}]*\};\n`).ReplaceAllString(string(p.Files["proxy.c"]), "")
		lines := strings.Count(text, "\n")
		if p.RankVariants != 1 || lines > 60 || !strings.Contains(text, "EXCHANGE(0, 2, ") || !strings.Contains(text, ", 64, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, opening(0)") {
			t.Errorf("%d ranks: %d programs, %d lines without tables:\n%.3000s", ranks, p.RankVariants, lines, text)
		}
	}
}

// TestExchangeOpen: what is under way beyond a stretch of calls is not of it.
func TestExchangeOpen(t *testing.T) {
	text := string(generate(t, record(t, 4, searching(40, false)), Options{}).Files["proxy.c"])
	if !strings.Contains(text, "EXCHANGE(") || !strings.Contains(text, "MPI_Wait(") {
		t.Errorf("no loop, or no wait:\n%.3000s", text)
	}
}
