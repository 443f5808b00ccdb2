package run

import (
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// TestReasons: what is known is said as such, not guessed at; and where all processes ended, none ended without the others.
func TestReasons(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/rounds.c", func(s *shell) {
		_, _, stderr := s.run(append([]string{mpis.NeedSpoor(s.t), "run", "-o", "none.spoor"}, s.mpi.Command(2, "sleep", "0.2")...)...) // MPICH's launcher may fail where a program ends at once
		s.wants(stderr, "because it links with no MPI library")
		if strings.Contains(stderr, "perhaps") {
			s.t.Errorf("it is known that there is no MPI: %s", stderr)
		}
		_, _, stderr = s.run(append([]string{mpis.NeedSpoor(s.t), "run", "-o", "app.spoor", "timeout", "-s", "KILL", "2"}, s.mpi.Command(2, "sh", "-c", "timeout -s KILL 1 ./app")...)...)
		if strings.Contains(stderr, "without the others") {
			s.t.Errorf("all have ended: %s", stderr)
		}
	})
}
