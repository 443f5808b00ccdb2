package oracle

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// Two threads run one after the other, and the recorder gives the second the
// stream of the first; the log has the second one's first call entered before.
func TestAssign(t *testing.T) {
	call := func(name string, entered, left uint64) *Call {
		return &Call{Name: name, Done: true, Entered: entered, Left: left}
	}
	traced := func(names ...string) []trace.Call {
		var list []trace.Call
		for _, name := range names {
			entry, ok := mpi.CallNamed(name)
			if !ok {
				t.Fatal(name)
			}
			f := sections.FunctionOf(entry)
			list = append(list, trace.Call{Func: &f})
		}
		return list
	}
	threads := [][]*Call{
		{call("MPI_Init", 0, 1), call("MPI_Finalize", 20, 21)},
		{call("MPI_Barrier", 2, 8), call("MPI_Send", 9, 10)},
		{call("MPI_Barrier", 3, 4), call("MPI_Recv", 5, 6)},
	}
	main, reused := traced("MPI_Init", "MPI_Finalize"), traced("MPI_Barrier", "MPI_Recv", "MPI_Barrier", "MPI_Send")
	parts, err := assign(threads, [][]trace.Call{main, reused})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		for i, c := range p.calls {
			if got := p.trace[i].Name(); got != c.Name {
				t.Errorf("stream %d call %d: %s is assigned to %s", p.stream, p.first+i, got, c.Name)
			}
		}
	}
	if _, err := assign(threads, [][]trace.Call{main, reused[:3]}); err == nil {
		t.Error("a call is missing in the trace, but all threads fit")
	}
}
