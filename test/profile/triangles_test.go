package profile

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// What the profile shows of triangles.c are the loops of its source, with their bounds: those that the order of calls has, and those
// of the binary, in their functions. A loop of the binary that isn't entered leaves no trace.
func TestTriangles(t *testing.T) {
	exchange := func(indent string) []string {
		return []string{indent + "MPI_Isend", indent + "MPI_Irecv", indent + "MPI_Waitall"}
	}
	start := []string{"MPI_Init", "MPI_Comm_rank", "MPI_Comm_size"}
	for _, c := range []struct {
		name string
		run  []string
		want []string
	}{
		{"order", []string{"--stack", "0"}, slices.Concat(start, []string{"20 times", "  0, 1 … 19 times"}, exchange("    "), []string{"  MPI_Allreduce",
			"20 times", "  MPI_Bcast", "  20, 19 … 1 times"}, exchange("    "), []string{
			"4 times", "  MPI_Barrier", "  20 times", "    MPI_Allreduce", "    1, 2 … 20 × MPI_Sendrecv",
			"20 times", "  0, 3 … 57 × MPI_Barrier", "  MPI_Allreduce", "  20, 19 … 1 times"}, exchange("    "), []string{"MPI_Finalize"})},
		{"binary", nil, slices.Concat(start,
			[]string{"growing()", "  20 times", "    1, 2 … 19 times", "      190 × exchange()"}, exchange("        "), []string{"    20 × norm()", "      MPI_Allreduce",
				"shrinking()", "  20 times", "    MPI_Bcast", "    20, 19 … 1 times", "      210 × exchange()"}, exchange("        "), []string{
				"repeated()", "  4 times", "    MPI_Barrier", "    20 times", "      80 × norm()", "        MPI_Allreduce", "      1, 2 … 20 times", "        MPI_Sendrecv",
				"side_by_side()", "  20 times", "    3, 6 … 57 times", "      MPI_Barrier", "    20 × norm()", "      MPI_Allreduce",
				"    20, 19 … 1 times", "      210 × exchange()"}, exchange("        "), []string{"MPI_Finalize"})},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := traceWith(t, mpis.Need(t)[0], "../../mpi/triangles.c", c.run, "-O0", "-g")
			shown := regexp.MustCompile(`[\d,]+  (( *)(?:([\d, …]+) times|(?:([\d, …]+) × )?(MPI_\w+|\w+\(\))))`)
			var shape []string
			for line := range strings.Lines(spoor(t, dir, "calltree", "--min-time", "0", "--width", "200", "app.spoor")) {
				if m := shown.FindStringSubmatch(line); m != nil {
					shape = append(shape, m[1])
				}
			}
			if len(shape) > 0 && shape[0] == "main()" {
				shape = shape[1:]
				for i := range shape {
					shape[i] = strings.TrimPrefix(shape[i], "  ")
				}
			}
			if !slices.Equal(shape, c.want) {
				t.Errorf("it looks like\n%s\nwant\n%s", strings.Join(shape, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
