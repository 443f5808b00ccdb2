package shim

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// A library that is loaded with RTLD_DEEPBIND finds the MPI before the wrappers. Its calls are in the trace all the
// same; what its constructor called before anybody could see to that is announced.
func TestDeepbind(t *testing.T) {
	shim := library(t)
	whole := map[string]int{"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Allreduce": 10, "MPI_Finalize": 1}
	work := map[string]int{"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Allreduce": 10, "MPI_Barrier": 1, "MPI_Finalize": 1}
	const missing = "registered.so was loaded with RTLD_DEEPBIND: what its constructors call of MPI is not traced"
	tests := []struct {
		name, program, plugin, flag string
		env                         []string
		calls                       map[string]int
		says                        string
	}{
		{name: "now", program: "local.c", plugin: "plugin.c", flag: "now", calls: whole},
		{name: "lazy", program: "local.c", plugin: "plugin.c", flag: "lazy", calls: whole},
		{name: "Fortran now", program: "local.c", plugin: "fplugin.f90", flag: "now"},
		{name: "Fortran lazy", program: "local.c", plugin: "fplugin.f90", flag: "lazy"},
		{name: "registered", program: "registers.c", plugin: "registered.c", flag: "lazy", calls: work},
		{name: "registered now", program: "registers.c", plugin: "registered.c", flag: "now", calls: work, says: missing},
		{name: "constructor", program: "registers.c", plugin: "registered.c", flag: "lazy", env: []string{"FROM_CONSTRUCTOR=1"}, calls: work,
			says: missing},
	}
	for _, m := range mpis.Need(t) {
		for _, test := range tests {
			t.Run(m.Name+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				compiler, main := m.CC, "cc"
				if filepath.Ext(test.plugin) == ".f90" {
					compiler = m.Fort
				}
				name := strings.TrimSuffix(test.plugin, filepath.Ext(test.plugin))
				plugin := compile(t, compiler, test.plugin, name+".so")
				if test.program == "registers.c" {
					main = m.CC
				}
				// Without copies in the program of objects that the plugin has from the MPI.
				program := compile(t, main, test.program, "program", "-rdynamic", "-fPIC")
				dir := t.TempDir()
				file := filepath.Join(dir, "t.spoor")
				plain := run(t, m, dir, test.env, 2, program, plugin, test.flag)
				r := run(t, m, dir, append([]string{"LD_PRELOAD=" + shim, "SPOOR_OUT=" + file}, test.env...), 2, program, plugin, test.flag)
				if plain.Err != nil || r.Err != nil || r.Stdout != plain.Stdout {
					t.Fatalf("%v, %v\n%s\ninstead of\n%s\n%s", plain.Err, r.Err, r.Stdout, plain.Stdout, r.Stderr)
				}
				said := spoorLines(r)
				if test.says == "" && len(said) > 0 || test.says != "" && (len(said) != 1 || !strings.HasSuffix(said[0], test.says)) {
					t.Errorf("spoor said %q, want %q", said, test.says)
				}
				got := countCalls(t, file)
				if test.calls == nil { // as it is loaded else
					whole := filepath.Join(dir, "whole.spoor")
					if r := run(t, m, dir, []string{"LD_PRELOAD=" + shim, "SPOOR_OUT=" + whole}, 2, program, plugin); r.Err != nil {
						t.Fatal(r)
					}
					test.calls = countCalls(t, whole)
				}
				if !maps.Equal(got, test.calls) {
					t.Errorf("calls of rank 0: %v, want %v", got, test.calls)
				}
			})
		}
	}
}

// Where nothing is called between the loading and the library's calls that could be noticed, these are missing, and a line
// says why. Open MPI's MPI_Init looks symbols up, so that it is noticed there.
func TestDeepbindUnseen(t *testing.T) {
	shim := library(t)
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			plugin := compile(t, m.CC, "registered.c", "registered.so", "-DBARE")
			program := compile(t, "cc", "registers.c", "program", "-rdynamic", "-DBARE")
			r := run(t, m, t.TempDir(), []string{"LD_PRELOAD=" + shim}, 1, program, plugin, "now")
			said := spoorLines(r)
			if r.Err != nil || len(said) != 1 || !strings.Contains(said[0], "registered.so") || !strings.Contains(said[0], "RTLD_DEEPBIND") {
				t.Errorf("%v\n%s", r.Err, r.Stderr)
			}
		})
	}
}

// countCalls says how often rank 0 of a trace calls what.
func countCalls(t *testing.T, file string) map[string]int {
	t.Helper()
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	n := make(map[string]int)
	for c, err := range k.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		n[c.Name()]++
	}
	return n
}
