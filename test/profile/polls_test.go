package profile

import (
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// TestPolls: steps that differ in how often they poll, or how often an inner loop runs, are rounds of one loop. By the machine code they
// are anyway; by the order of calls, and below an interpreter, they must be found.
func TestPolls(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			for _, x := range []struct{ source, options, want string }{
				{"polls.c", "--loops-from=order", "5{Irecv Isend 0–12{Iprobe Test} Waitall 4{Allreduce} Barrier}"},
				{"polls.f90", "--loops-from=order", "10{Irecv 0–4{Iprobe} Send Waitall 1–6{Allreduce Bcast} Reduce}"},
				{"pollers.c", "--depth=99", "6{Irecv Send 0–5{Iprobe Iprobe} Wait} Barrier"},
			} {
				dir := traceWith(t, m, x.source, nil, "-g", "-O0")
				if got := outline(t, dir, x.options, "app.spoor"); got != x.want {
					t.Errorf("%s: %s, not %s", x.source, got, x.want)
				}
			}
		})
	}
}
