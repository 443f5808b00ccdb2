// Package mpis is where tests and benchmarks find the MPIs of this machine, the
// programs of test/mpi with what their headers say, and the tool as built; where
// they compile for an MPI and start jobs that end in time.
//
// It judges nothing: what a run should give is the business of whoever starts it.
package mpis

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
)

// An MPI is one installation of this machine.
type MPI struct {
	Name      string   // mpich or openmpi
	CC, Fort  string   // compilers
	Launcher  []string // before -n
	Libraries []string // that export the C functions
	env       []string
}

// The one whose ranks don't spin while they wait stands first: many of them share
// few cores here.
var known = []*MPI{
	{
		Name: "openmpi", CC: "mpicc.openmpi", Fort: "mpifort.openmpi",
		Launcher: []string{"mpiexec.openmpi", "--oversubscribe"}, Libraries: []string{"libmpi.so.40"},
		env: []string{
			"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_mpi_yield_when_idle=1",
			"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_btl_base_warn_component_unused=0",
		},
	},
	{
		Name: "mpich", CC: "mpicc.mpich", Fort: "mpifort.mpich",
		Launcher: []string{"mpiexec.mpich"}, Libraries: []string{"libmpich.so.12", "libmpi.so.12"},
	},
}

// Installed returns the MPIs that can compile and start programs here.
func Installed() []*MPI {
	var list []*MPI
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
func Find(name string) (*MPI, error) {
	for _, m := range Installed() {
		if m.Name == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%s is not installed", name)
}

// Command returns the line that starts a program on so many ranks.
func (m *MPI) Command(ranks int, program ...string) []string {
	line := append([]string{}, m.Launcher...)
	return append(append(line, "-n", strconv.Itoa(ranks)), program...)
}

// Environ returns the environment to start programs in, and more of it.
func (m *MPI) Environ(more ...string) []string {
	return append(append(os.Environ(), m.env...), more...)
}

// Root returns a path below the project's folder.
func Root(elements ...string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(append([]string{filepath.Dir(here), "..", ".."}, elements...)...)
}

// Spoor returns the path of the tool as make leaves it.
func Spoor() (string, error) {
	path := Root("bin", "spoor")
	if _, err := os.Stat(path); err != nil {
		return "", errors.New("bin/spoor is not built: run make")
	}
	return path, nil
}
