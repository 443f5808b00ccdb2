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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// An MPI is one library of this machine with what it takes to use it.
type MPI struct {
	Name      string   // the family's, with -abi for its library of the standard ABI
	Family    string   // mpich or openmpi
	Version   Version  // the family's version
	CC, Fort  string   // compilers; the standard ABI has none for Fortran
	Launcher  []string // before -n
	Libraries []string // that export the C functions
	env       []string
}

// A Version is a version such as 4.1.
type Version struct{ Major, Minor int }

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Less orders versions.
func (v Version) Less(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

// The MPI whose ranks don't spin while waiting is first: many ranks share few cores here.
var known = []MPI{
	{
		Family: "openmpi", CC: "mpicc.openmpi", Fort: "mpifort.openmpi",
		Launcher: []string{"mpiexec.openmpi", "--oversubscribe"}, Libraries: []string{"libmpi.so.40"},
		env: []string{
			"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_mpi_yield_when_idle=1",
			"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_btl_base_warn_component_unused=0",
		},
	},
	{
		Family: "mpich", CC: "mpicc.mpich", Fort: "mpifort.mpich",
		Launcher: []string{"mpiexec.mpich"}, Libraries: []string{"libmpich.so.12", "libmpi.so.12"},
	},
}

// Installed returns the MPIs that can compile and start programs here; only those in SPOOR_TEST_MPIS if that is set.
func Installed() []*MPI { return slices.Clone(installed()) }

var installed = sync.OnceValue(func() []*MPI {
	var list []*MPI
	wanted := strings.Fields(os.Getenv("SPOOR_TEST_MPIS"))
	for _, m := range known {
		version, ok := launched(m.Launcher[0])
		if !ok {
			continue
		}
		m.Version = version
		for _, n := range []*MPI{m.itself(), m.standard()} {
			if n != nil && (len(wanted) == 0 || slices.Contains(wanted, n.Name)) {
				list = append(list, n)
			}
		}
	}
	return list
})

// launched asks a launcher for its version.
func launched(launcher string) (v Version, ok bool) {
	text, err := exec.Command(launcher, "--version").Output()
	if err != nil {
		return v, false
	}
	m := regexp.MustCompile(`\b(\d+)\.(\d+)`).FindSubmatch(text)
	if m == nil {
		return v, false
	}
	v.Major, _ = strconv.Atoi(string(m[1]))
	v.Minor, _ = strconv.Atoi(string(m[2]))
	return v, true
}

// itself returns the MPI with its own ABI, if its compilers are here.
func (m MPI) itself() *MPI {
	for _, c := range []string{m.CC, m.Fort} {
		if _, err := exec.LookPath(c); err != nil {
			return nil
		}
	}
	m.Name = m.Family
	return &m
}

// standard returns the MPI with the standard ABI, if there is a compiler for it: mpicc.mpich-abi, for example, with
// the library in ../lib/mpich-abi.
func (m MPI) standard() *MPI {
	m.Name = m.Family + "-abi"
	m.CC, m.Fort = "mpicc."+m.Name, ""
	path, err := exec.LookPath(m.CC)
	if err != nil {
		return nil
	}
	dir := filepath.Join(filepath.Dir(path), "..", "lib", m.Name)
	m.Libraries = []string{filepath.Join(dir, "libmpi_abi.so.1")}
	m.env = append(m.env[:len(m.env):len(m.env)], "LD_LIBRARY_PATH="+dir)
	return &m
}

// Standard reports whether this is the standard's ABI.
func (m *MPI) Standard() bool { return m.Fort == "" }

// Find returns an installed MPI by name.
func Find(name string) (*MPI, error) {
	for _, m := range Installed() {
		if m.Name == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%s is not installed", name)
}

// Command returns the command line that starts a program on a number of ranks.
func (m *MPI) Command(ranks int, program ...string) []string {
	line := append([]string{}, m.Launcher...)
	return append(append(line, "-n", strconv.Itoa(ranks)), program...)
}

// Environ returns the environment for programs, extended by more.
func (m *MPI) Environ(more ...string) []string {
	return append(append(os.Environ(), m.env...), more...)
}

// Root returns a path below the project's folder, in which tests and benchmarks are started.
func Root(elements ...string) string {
	return filepath.Join(append([]string{root()}, elements...)...)
}

var root = sync.OnceValue(func() string {
	here, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for dir := here; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	panic("no go.mod above " + here)
})

// Spoor returns the path of the tool as make leaves it.
func Spoor() (string, error) {
	path := Root("bin", "spoor")
	if _, err := os.Stat(path); err != nil {
		return "", errors.New("bin/spoor is not built: run make")
	}
	return path, nil
}
