package replay

import (
	"strings"
	"testing"
)

// Calls that a trace lacks are named: replay starts nothing that would wait for them, and simulate says more than that there is a deadlock.
func TestCallsAreMissing(t *testing.T) {
	for _, m := range installed(t) {
		binary, err := build(m, "testdata/lacks.c")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := record(m, dir, 3, binary); err != nil {
			t.Fatal(err)
		}
		const lacks = "a.spoor: calls are missing from this trace: rank 0 sent 0 messages with tag 3 to rank 1 on MPI_COMM_WORLD, which received 1"
		for _, c := range []struct{ args, want string }{
			{"replay --mpi " + m.Name, lacks + "; nothing was started"},
			{"simulate --machine infiniband", lacks + " (deadlock: "},
		} {
			if out, err := spoor(m, dir, append(strings.Fields(c.args), "a.spoor")...); err == nil || !strings.Contains(err.Error()+out, c.want) {
				t.Errorf("%s: spoor %s: %v, %s", m.Name, c.args, err, out)
			}
		}
	}
}
