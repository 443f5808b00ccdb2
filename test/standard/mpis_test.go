// Package standard compares the tables of package mpi with the MPI libraries
// that are installed. It has tests only. Without an MPI they are skipped,
// except where the environment says CI: there an MPI must be present.
package standard

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// A library is an installed MPI.
type library struct {
	flavour mpi.Flavour
	*mpis.MPI
}

func libraries(t *testing.T) []library {
	t.Helper()
	var list []library
	for _, m := range mpis.Need(t) {
		flavour, _ := mpi.FlavourNamed(m.Family)
		if m.Standard() {
			flavour = mpi.FlavourABI
		}
		list = append(list, library{flavour, m})
	}
	return list
}

// each runs a test for every installed MPI.
func each(t *testing.T, test func(t *testing.T, l library)) {
	for _, l := range libraries(t) {
		t.Run(l.Name, func(t *testing.T) { test(t, l) })
	}
}

// preprocess returns mpi.h with all macros expanded.
func (l library) preprocess(t *testing.T) string {
	t.Helper()
	return l.compile(t, "#include <mpi.h>\n", "-E", "-P")
}

// macros lists the macros that mpi.h defines.
func (l library) macros(t *testing.T) string {
	t.Helper()
	return l.compile(t, "#include <mpi.h>\n", "-E", "-dM")
}

// run compiles and runs a program without starting MPI.
func (l library) run(t *testing.T, source string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "probe")
	l.compile(t, source, "-o", bin)
	c := exec.Command(bin)
	c.Env = l.Environ()
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: probe: %v", l.CC, err)
	}
	return string(out)
}

func (l library) compile(t *testing.T, source string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "probe.c")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(l.CC, append([]string{"-w", "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", file}, args...)...)
	var stderr []byte
	out, err := cmd.Output()
	if e, ok := err.(*exec.ExitError); ok {
		stderr = e.Stderr
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", l.CC, err, stderr)
	}
	return string(out)
}
