// Package compile makes the small programs of the folder above, which stand for real
// ones: each runs for a settable time and checks its own results. README says
// what they do.
//
// It does not run them: what a test wants around a run differs too much.
package compile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// An MPI is one installation of this machine.
type MPI struct {
	Name     string // mpich or openmpi
	CC, Fort string // compilers
	Launcher []string
	env      []string
}

var known = []MPI{
	{Name: "mpich", CC: "mpicc.mpich", Fort: "mpifort.mpich", Launcher: []string{"mpiexec.mpich"}},
	{
		Name: "openmpi", CC: "mpicc.openmpi", Fort: "mpifort.openmpi",
		Launcher: []string{"mpiexec.openmpi", "--oversubscribe"},
		env: []string{
			"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_mpi_yield_when_idle=1",
			"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_btl_base_warn_component_unused=0",
		},
	},
}

// Installed returns the MPIs that can compile and start programs here.
func Installed() []MPI {
	var list []MPI
	for _, m := range known {
		ok := true
		for _, c := range []string{m.CC, m.Fort, m.Launcher[0]} {
			if _, err := exec.LookPath(c); err != nil {
				ok = false
			}
		}
		if ok {
			list = append(list, m)
		}
	}
	return list
}

// Find returns an installed MPI by name.
func Find(name string) (MPI, error) {
	for _, m := range Installed() {
		if m.Name == name {
			return m, nil
		}
	}
	return MPI{}, fmt.Errorf("%s is not installed", name)
}

// Spoor returns the path of the tool as make leaves it in the project's folder,
// which has to be the working directory.
func Spoor() (string, error) {
	path, err := filepath.Abs("bin/spoor")
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", errors.New("bin/spoor is not built: run make, and this from the project's folder")
	}
	return path, nil
}

// Command returns the line that starts a program on so many ranks.
func (m MPI) Command(ranks int, program ...string) []string {
	line := append([]string{}, m.Launcher...)
	return append(append(line, "-n", strconv.Itoa(ranks)), program...)
}

// Environ returns the environment to start programs in.
func (m MPI) Environ() []string { return append(os.Environ(), m.env...) }

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

// Build compiles a program into a directory and returns its path.
func (m MPI) Build(a App, dir string) (string, error) {
	_, here, _, _ := runtime.Caller(0)
	out := filepath.Join(dir, a.Name)
	source := filepath.Join(filepath.Dir(here), "..", a.Source)
	line := []string{m.CC, "-O2", "-g", "-Wall", "-Wextra", "-o", out, source, "-lm"}
	if strings.HasSuffix(a.Source, ".f90") {
		line = []string{m.Fort, "-O2", "-g", "-Wall", "-o", out, source}
	}
	c := exec.Command(line[0], line[1:]...)
	c.Dir = dir // where module files would go
	if text, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile: %s: %w\n%s", strings.Join(line, " "), err, text)
	}
	return out, nil
}
