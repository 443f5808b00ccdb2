package standard

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

// bindings are the libraries with an MPI's Fortran procedures.
var bindings = map[string][]string{
	"mpich":   {"libmpichfort.so.12"},
	"openmpi": {"libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40"},
}

// notTraced are procedures without a wrapper: they do nothing, only convert, are to be passed as an argument, or
// are older names of what MPI 4.1 has in another form. mpi_fortran_ are common blocks.
var notTraced = regexp.MustCompile(`^mpi_(sizeof_\w+|f_sync_reg|status_f082f|status_f2f08|\w*_fn|conversion_fn_null(_c)?|fortran_\w+|delete_error_(class|code|string))(_f08|_f08ts)?_$`)

// Each procedure that a Fortran program may be linked to has a wrapper in front of it, under whichever of the names
// that libraries give it.
func TestFortranProcedures(t *testing.T) {
	shim := mpis.Root("bin", "libspoor.so")
	wrapped := map[string]bool{}
	for _, name := range exports(t, shim) {
		wrapped[name] = true
	}
	unwrapped := map[string]bool{}
	for _, c := range mpi.Calls() {
		if c.WrapperClass == mpi.WrapperAbsent {
			unwrapped[strings.ToLower(c.Name)] = true
		}
	}
	suffix := regexp.MustCompile(`(_c)?(_f08|_f08ts)?_$`)
	each(t, func(t *testing.T, l library) {
		if l.Standard() {
			t.Skip("no Fortran in it")
		}
		seen := 0
		for _, name := range bindings[l.Family] {
			out, err := exec.Command(l.CC, "-print-file-name="+name).Output()
			path := strings.TrimSpace(string(out))
			if err != nil || !filepath.IsAbs(path) {
				t.Fatalf("%s: not found: %q, %v", name, out, err)
			}
			for _, procedure := range exports(t, path) {
				if !strings.HasPrefix(procedure, "mpi_") || !strings.HasSuffix(procedure, "_") || strings.HasSuffix(procedure, "__") ||
					notTraced.MatchString(procedure) || unwrapped[suffix.ReplaceAllString(procedure, "")] {
					continue
				}
				seen++
				if !wrapped[procedure] {
					t.Errorf("%s: no wrapper for %s", name, procedure)
				}
			}
		}
		if seen < 700 {
			t.Errorf("only %d procedures found", seen)
		}
	})
}

// exports lists what a library defines.
func exports(t *testing.T, path string) []string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		need.Absent(t, "%v", err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			list = append(list, s.Name)
		}
	}
	return list
}
