package proxy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// TestMaster: a master that answers whoever comes first is a loop, with the ranks and sizes in tables, and answers in the same order.
func TestMaster(t *testing.T) {
	const ranks, tasks = 4, 400
	a := mergetest.Run(t, ranks, func(r *tracktest.Recorder) {
		random := rand.New(rand.NewPCG(1, 2))
		r.Begin()
		for range tasks {
			w := 1 + random.Int64N(ranks-1)
			switch int64(r.Rank) {
			case 0:
				r.Call("MPI_Recv", 10, 1<<8|1, 0, 1, tracktest.IntType, mpi.AnySource, 1, tracktest.World, 1, w, 1, 4, 0)
				r.Send(11, 10*w, w, 2)
			case w:
				r.Send(12, 1, 0, 1)
				r.Recv(13, 10*w, 0, 2)
			}
		}
		r.End()
	})
	for _, m := range installed(t) {
		t.Run(m.Name, func(t *testing.T) {
			p, err := proxy.GenerateProgram(a, proxy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			text := string(p.Files["proxy.c"])
			if n := strings.Count(table.ReplaceAllString(text, ""), "\n"); n > 120 || p.Lines > 250 || !strings.Contains(text, "any_source(ROW(0, 0), MPI_COMM_WORLD)") {
				t.Errorf("%d lines, %d beside tables:\n%s", p.Lines, n, text)
			}
			dir := t.TempDir()
			if err := p.Write(dir); err != nil {
				t.Fatal(err)
			}
			b := traced(t, m, dir, "b.spoor", ranks, compiled(t, m, dir))
			if got, why := compare(t, a, b); got == differs {
				t.Error(why)
			}
			if want, got := traffic(t, a, 0)["MPI_Send"], traffic(t, b, 0)["MPI_Send"]; len(want) != tasks || !slices.Equal(want, got) {
				t.Errorf("the master sends\n%.300s\nwant\n%.300s", fmt.Sprint(got), fmt.Sprint(want))
			}
		})
	}
}
