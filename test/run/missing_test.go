package run

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// An MPI may have a function under its MPI_ name alone, or lack one that the
// program calls: then that call fails, not the program.
func TestMissingFunctions(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/missing.c", func(s *shell) {
		dir := filepath.Join(s.dir, "scratch") // not among the files that a run makes
		if err := os.Mkdir(dir, 0o755); err != nil {
			s.t.Fatal(err)
		}
		s.hide(dir, "PMPI_Get_version", "PMPI_Query_thread", "MPI_Query_thread")
		s.env = append(s.env, "LD_LIBRARY_PATH="+dir)
		if code, _, stderr := s.plain(1); code == 0 {
			s.t.Fatalf("without spoor the program has the function: %s", stderr)
		}
		code, stdout, stderr := s.traced(nil, 1)
		if code != 0 {
			s.t.Errorf("code %d", code)
		}
		s.wants(stdout, ", success\n", "unsupported\n")
		s.wants(stderr, "this MPI has no MPI_Query_thread", "spoor: app.spoor: 1 rank, 5 calls")
		if strings.Contains(stderr, "Get_version") {
			s.t.Errorf("a function that is there is missed: %s", stderr)
		}
		out, _ := s.spoor("dump", "app.spoor", "--rank", "0")
		s.wants(out, "MPI_Query_thread(", "= MPI_ERR_UNSUPPORTED_OPERATION")
	})
}

var libraryName = regexp.MustCompile(`^libmpi(ch|_abi)?\.so`)

// hide copies the MPI library to dir, without functions of these names.
func (s *shell) hide(dir string, names ...string) {
	s.t.Helper()
	ldd := exec.Command("ldd", filepath.Join(s.dir, "app"))
	ldd.Env = s.mpi.Environ()
	out, err := ldd.Output()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, line := range strings.Split(string(out), "\n") {
		soname, path, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if !ok || !libraryName.MatchString(soname) {
			continue
		}
		path, _, _ = strings.Cut(path, " ")
		text, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, name := range names {
			// The loader looks a name up by its hash, which stays, then compares it.
			// A short name may be the end of a long one.
			with := append([]byte(name), 0)
			if !bytes.Contains(text, with) {
				s.t.Fatalf("%s has no %s", path, name)
			}
			text = bytes.ReplaceAll(text, with, append([]byte("X"+name[1:]), 0))
		}
		if err := os.WriteFile(filepath.Join(dir, soname), text, 0o755); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	s.t.Fatalf("no MPI library in %s", out)
}
