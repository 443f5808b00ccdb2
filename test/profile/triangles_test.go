package profile

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// What the profile shows of triangles.c are the loops of its source, with their bounds.
func TestTriangles(t *testing.T) {
	dir := trace(t, mpis.Need(t)[0], "../../mpi/triangles.c")
	shown := regexp.MustCompile(`[\d,]+  (( *)(?:([\d, …]+) times|(?:([\d, …]+) × )?(MPI_\w+)))`)
	var shape []string
	for line := range strings.Lines(spoor(t, dir, "profile", "--min-time", "0", "--width", "200", "app.spoor")) {
		if m := shown.FindStringSubmatch(line); m != nil {
			shape = append(shape, m[1])
		}
	}
	exchange := []string{"    MPI_Isend", "    MPI_Irecv", "    MPI_Waitall"}
	want := slices.Concat([]string{"MPI_Init", "MPI_Comm_rank", "MPI_Comm_size", "20 times", "  0, 1 … 19 times"}, exchange, []string{"  MPI_Allreduce",
		"20 times", "  MPI_Bcast", "  20, 19 … 1 times"}, exchange, []string{
		"4 times", "  MPI_Barrier", "  20 times", "    MPI_Allreduce", "    1, 2 … 20 × MPI_Sendrecv",
		"20 times", "  0, 3 … 57 × MPI_Barrier", "  MPI_Allreduce", "  20, 19 … 1 times"}, exchange, []string{"MPI_Finalize"})
	if !slices.Equal(shape, want) {
		t.Errorf("it looks like\n%s\nwant\n%s", strings.Join(shape, "\n"), strings.Join(want, "\n"))
	}
}
