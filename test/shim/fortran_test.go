package shim

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/trace"
)

// fortranLibraries hold the bindings, by the name of the MPI.
var fortranLibraries = map[string][]string{
	"mpich":   {"libmpichfort.so.12"},
	"openmpi": {"libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpi_usempi_ignore_tkr.so.40"},
}

// procedure is the name of a Fortran procedure in one mangling or another.
var procedure = regexp.MustCompile(`^(mpi_[a-z0-9_]+|MPI_[A-Z0-9_]+)$`)

// notTraced are names that communicate nothing: MPI_Sizeof, markers for the
// compiler, callbacks whose address programs pass, and of MPICH's own.
var notTraced = regexp.MustCompile(`(?i)^mpi_(sizeof_.*|fortran_.*|f_sync_reg.*|.*_fn|conversion_fn_null|` +
	`null_copy_fn|dup_fn|delete_error_(class|code|string)(_f08)?)_*$`)

// usual is the mangling of a procedure's name that the wrappers have.
func usual(name string) string {
	if strings.Contains(name, "_f08") {
		return name
	}
	return strings.TrimRight(strings.ToLower(name), "_") + "_"
}

// Every procedure that a library has is also in front of it.
func TestFortranNames(t *testing.T) {
	own := map[string]bool{}
	for _, name := range functions(t, library(t)) {
		own[name] = true
	}
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			found := 0
			for _, lib := range fortranLibraries[m.Name] {
				out, err := exec.Command("cc", "-print-file-name="+lib).Output()
				path := strings.TrimSpace(string(out))
				if err != nil || !filepath.IsAbs(path) {
					continue
				}
				for _, name := range functions(t, path) {
					if !procedure.MatchString(name) || notTraced.MatchString(name) {
						continue
					}
					found++
					if !own[usual(name)] {
						t.Errorf("%s of %s would not be traced", name, lib)
					}
				}
			}
			t.Logf("%d procedures", found)
			if found < 1000 {
				need.Absent(t, "no Fortran library: %d procedures", found)
			}
		})
	}
}

func functions(t *testing.T, path string) []string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			list = append(list, s.Name)
		}
	}
	return list
}

// A plugin brings Fortran's bindings along where no search order finds them.
func TestFortranLoadedLocally(t *testing.T) {
	shim := library(t)
	makes(t, "bin/spoor")
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			plugin := compile(t, m.Fort, "fplugin.f90", "fplugin.so")
			program := compile(t, "cc", "local.c", "local")
			dir, scratch := t.TempDir(), t.TempDir()
			r := run(t, m, dir, []string{"LD_PRELOAD=" + shim, "SPOOR_SCRATCH=" + scratch}, 2, program, plugin)
			if r.Err != nil || r.Stdout != "max 9\n" || len(spoorLines(r)) > 0 {
				t.Fatalf("%v\n%s%s", r.Err, r.Stdout, r.Stderr)
			}
			checkFiles(t, dir, scratch, true)
			got := callNames(t, filepath.Join(dir, "local.spoor"))
			want := "MPI_Init MPI_Comm_rank" + strings.Repeat(" MPI_Allreduce", 10) + " MPI_Bcast MPI_Finalize"
			if got != want {
				t.Errorf("recorded %s, want %s", got, want)
			}
			dump, err := exec.Command(filepath.Join(root, "bin", "spoor"), "dump", filepath.Join(dir, "local.spoor")).CombinedOutput()
			if n := strings.Count(string(dump), "MPI_Allreduce(sendbuf=MPI_IN_PLACE, "); err != nil || n != 20 {
				t.Errorf("%d calls in place, want 20: %v\n%s", n, err, dump)
			}
		})
	}
}

// callNames joins the names of rank 1's calls.
func callNames(t *testing.T, file string) string {
	t.Helper()
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rank, err := r.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for call, err := range rank.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, call.Name())
	}
	return strings.Join(list, " ")
}
