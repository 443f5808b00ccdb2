package mpis

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Program is one source file of test/mpi with what its header says.
type Program struct {
	Name, Path string
	Ranks      []int    // numbers of ranks to run it on
	MPIs       []string // those that have what it calls, see RunsOn
	Args       []string
	Nondet     bool // output or calls differ from run to run
	Uncompared bool // the C calls that a log shows are not the program's
}

// Programs reads those of test/mpi that end by themselves.
func Programs() ([]*Program, error) {
	var list []*Program
	for _, pattern := range []string{"*.c", "*.f90", "*.f"} {
		names, err := filepath.Glob(Root("test", "mpi", pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasPrefix(filepath.Base(name), "crash_") {
				continue
			}
			p, err := ReadProgram(name)
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
	}
	return list, nil
}

// ReadProgram reads the header of a source file: comments of the form "key: words".
func ReadProgram(path string) (*Program, error) {
	p := &Program{Name: filepath.Base(path), Path: path}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if s.Text() == "" || !strings.ContainsAny(s.Text()[:1], "/!*cC") {
			break
		}
		key, value, _ := strings.Cut(strings.TrimLeft(s.Text(), "/!*cC "), ":")
		words := strings.Fields(value)
		switch key {
		case "ranks":
			for _, w := range words {
				n, err := strconv.Atoi(w)
				if err != nil {
					return nil, fmt.Errorf("%s: ranks: %w", path, err)
				}
				p.Ranks = append(p.Ranks, n)
			}
		case "mpi":
			for _, w := range words {
				if _, _, err := parseMPI(w); err != nil {
					return nil, fmt.Errorf("%s: mpi: %w", path, err)
				}
			}
			p.MPIs = words
		case "args":
			p.Args = words
		case "nondet":
			p.Nondet = true
		case "uncompared":
			p.Uncompared = true
		}
	}
	if len(p.Ranks) == 0 || len(p.MPIs) == 0 {
		return nil, fmt.Errorf("%s: no ranks or no mpi in the header", path)
	}
	return p, nil
}

// Fortran reports whether the program is in Fortran.
func (p *Program) Fortran() bool { return filepath.Ext(p.Name) != ".c" }

// MayHang reports whether an MPI is known not to come back from what the program calls, once
// in a great while: Open MPI 4.1 from starting processes (open-mpi/ompi, issue 9713).
func (p *Program) MayHang(m *MPI) bool {
	return m.Family == "openmpi" && strings.Contains(p.Name, "spawn")
}

// RunsOn reports whether an MPI has what the program calls. Words of the header are a
// family, whichever its version or from one on, and !NAME for a library that lacks
// something: mpich openmpi>=5.0 !openmpi-abi.
func (p *Program) RunsOn(m *MPI) bool {
	if p.Fortran() && m.Fort == "" || slices.Contains(p.MPIs, "!"+m.Name) {
		return false
	}
	for _, word := range p.MPIs {
		if family, since, err := parseMPI(word); err == nil && family == m.Family && !m.Version.Less(since) {
			return true
		}
	}
	return false
}

// parseMPI takes a word of the header apart.
func parseMPI(word string) (family string, since Version, err error) {
	family, version, bounded := strings.Cut(word, ">=")
	if bounded {
		_, err = fmt.Sscanf(version, "%d.%d", &since.Major, &since.Minor)
	}
	for _, m := range known {
		if name := strings.TrimPrefix(family, "!"); name == m.Family || name == m.Family+"-abi" && name != family {
			return family, since, err
		}
	}
	return "", Version{}, fmt.Errorf("%q is no MPI", word)
}

// Few is the least number of ranks above one, if there is one.
func (p *Program) Few() int {
	for _, n := range p.Ranks {
		if n > 1 {
			return n
		}
	}
	return p.Ranks[0]
}

// Compile makes out from C or Fortran sources and flags; modules go to its folder.
func (m *MPI) Compile(out, source string, flags ...string) error {
	compiler := m.CC
	line := append([]string{"-O1", "-g", "-pthread"}, flags...)
	if filepath.Ext(source) != ".c" {
		// mpif.h declares no interfaces: one routine gets buffers of many types.
		compiler = m.Fort
		line = append(line, "-fallow-argument-mismatch", "-ffixed-line-length-none", "-J", filepath.Dir(out))
	}
	source, err := filepath.Abs(source)
	if err != nil {
		return err
	}
	c := exec.Command(compiler, append(line, "-o", out, source, "-lm")...)
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, text)
	}
	return nil
}
