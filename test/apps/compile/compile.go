// Package compile makes the small programs of the folder above, which stand for real
// ones: each runs for a settable time and checks its own results. README says
// what they do.
//
// It does not run them: what a test wants around a run differs too much.
package compile

import (
	"path/filepath"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// An App is one program.
type App struct {
	Name   string
	Source string   // its file here
	Quick  []string // arguments for a run of a moment on up to 16 ranks
	// Racy: the order of calls or what they give differs from run to run.
	Racy bool
}

// All lists the programs.
var All = []App{
	{Name: "heat2d", Source: "heat2d.c", Quick: []string{"-n", "24", "-i", "40"}},
	{Name: "cg", Source: "cg.c", Quick: []string{"-n", "64"}},
	{Name: "lu", Source: "lu.f90", Quick: []string{"-n", "6", "-i", "5"}},
	{Name: "nbody", Source: "nbody.f90", Quick: []string{"-n", "8", "-i", "5"}},
	{Name: "master", Source: "master.c", Quick: []string{"-n", "100", "-i", "60"}, Racy: true},
	{Name: "sort", Source: "sort.c", Quick: []string{"-n", "200", "-i", "4"}},
	{Name: "ocean", Source: "ocean.c", Quick: []string{"-n", "16", "-i", "4"}},
	{Name: "checkpoint", Source: "checkpoint.c", Quick: []string{"-n", "32", "-i", "2"}},
}

// ByName finds a program.
func ByName(name string) (App, bool) {
	for _, a := range All {
		if a.Name == name {
			return a, true
		}
	}
	return App{}, false
}

// RunsOn reports whether an MPI has the program's language.
func (a App) RunsOn(m *mpis.MPI) bool { return m.Fort != "" || filepath.Ext(a.Source) == ".c" }

// Build compiles the program for an MPI into a directory and returns its path.
func (a App) Build(m *mpis.MPI, dir string) (string, error) {
	out := filepath.Join(dir, a.Name)
	flags := []string{"-O2", "-Wall"}
	if filepath.Ext(a.Source) == ".c" {
		flags = append(flags, "-Wextra")
	}
	return out, m.Compile(out, mpis.Root("test", "apps", a.Source), flags...)
}
