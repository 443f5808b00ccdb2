package profile

import (
	"encoding/json"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// TestInterpreters: of a program that is run by a function that calls itself the tree has the loops of the program, not those of the machine
// code, which all are one.
func TestInterpreters(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			for _, x := range []struct {
				source, want string
				loop         string // that begins with this call
				calls        int
			}{
				{"interpreter.c", "15{Allreduce Irecv Send Wait} Barrier", "MPI_Allreduce@interpreter.c", 2 * 60},
				{"evaluator.c", "3{Bcast 5{Allreduce Barrier} 2{Reduce}} Gather", "MPI_Bcast", 2 * 39},
				{"closures.c", "8{Irecv Send 4{Iprobe} Wait} Barrier 6{Bcast}", "MPI_Irecv@closures.c", 2 * 56},
				{"walk.c", "3{3{6{Allreduce} 4{Bcast Reduce}} 4{Bcast Reduce}} 4{Bcast Reduce} Barrier", "", 0},
			} {
				for _, level := range []string{"-O0", "-O1"} {
					dir := traceWith(t, m, x.source, nil, "-g", level)
					if got := outline(t, dir, "app.spoor"); got != x.want {
						t.Errorf("%s %s: %s, not %s", x.source, level, got, x.want)
					}
					if x.loop == "" {
						break // the compiler makes loops of calls in a row of it
					}
					var part struct{ Calls int }
					if err := json.Unmarshal([]byte(spoor(t, dir, "info", "--json", "--loop", x.loop, "app.spoor")), &part); err != nil || part.Calls != x.calls {
						t.Errorf("%s %s: loop %s has %d calls, not %d (%v)", x.source, level, x.loop, part.Calls, x.calls, err)
					}
				}
			}
		})
	}
}
