package run

import "testing"

// A program that gets its MPI by dlopen and dlsym is traced, and those who ask
// whether there is an MPI get the answer that they would get without spoor.
func TestLookedUp(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/lookedup.c", func(s *shell) {
		for _, scope := range []string{"local", "global"} {
			line := s.mpi.Command(2, "./app", s.mpi.Libraries[0], scope)
			plain, _, stderr := s.run(line...)
			if plain != 0 {
				s.t.Fatalf("without spoor: code %d, %s", plain, stderr)
			}
			code, stdout, stderr := s.run(append([]string{tool, "run", "-o", scope + ".spoor"}, line...)...)
			if code != 0 {
				s.t.Errorf("%s: code %d, %s", scope, code, stderr)
			}
			s.wants(stdout, "rank 0, before 0, strlen same", "rank 1, before 0, strlen same")
			s.wants(stderr, "spoor: "+scope+".spoor: 2 ranks, 8 calls")
			out, _ := s.spoor("dump", scope+".spoor", "--rank", "1")
			s.wants(out, "MPI_Initialized(flag=0)", "MPI_Comm_rank(comm=MPI_COMM_WORLD, rank=1)", "MPI_Finalize()")
		}
	}, "-Wl,--as-needed")
}
