package mpis

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Program is one source file of test/mpi with what its header says.
type Program struct {
	Name, Path string
	Ranks      []int    // numbers of ranks to run it on
	MPIs       []string // MPIs that have its functions, see RunsOn
	Args       []string
	Nondet     bool // output or calls differ from run to run
	Uncompared bool // a log's C calls are not the program's
}

// Programs reads the programs of test/mpi that terminate.
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
				if _, err := parseMPI(w); err != nil {
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

// MayHang reports whether an MPI rarely hangs in a function that the program calls: Open MPI 4.1 when it starts
// processes (open-mpi/ompi, issue 9713).
func (p *Program) MayHang(m *MPI) bool {
	return m.Family == "openmpi" && strings.Contains(p.Name, "spawn")
}

// RunsOn reports whether an MPI has the program's functions. Words of the header are a family in all versions, in one
// version, or from a version on; !NAME excludes a library in the same way: mpich openmpi>=5.0 !openmpi=5.1
// !openmpi-abi.
func (p *Program) RunsOn(m *MPI) bool {
	runs := false
	for _, text := range p.MPIs {
		w, err := parseMPI(text)
		switch {
		case err != nil || !w.has(m.Version):
		case w.not && w.name == m.Name:
			return false
		case !w.not && w.name == m.Family:
			runs = true
		}
	}
	return runs && !(p.Fortran() && m.Fort == "")
}

// A word of a header is a set of MPIs.
type word struct {
	not   bool
	name  string // a family's; with not, a library's
	since Version
	only  bool // this version only
}

func (w word) has(v Version) bool { return v == w.since || !w.only && w.since.Less(v) }

// parseMPI takes a word of the header apart.
func parseMPI(text string) (w word, err error) {
	name, version, bounded := strings.Cut(text, "=")
	name, least := strings.CutSuffix(name, ">")
	if bounded {
		_, err = fmt.Sscanf(version, "%d.%d", &w.since.Major, &w.since.Minor)
	}
	w.only = bounded && !least
	w.name, w.not = strings.CutPrefix(name, "!")
	for _, m := range known {
		if w.name == m.Family || w.not && w.name == m.Family+"-abi" {
			return w, err
		}
	}
	return w, fmt.Errorf("%q is no MPI", text)
}

// Few returns the least number of ranks above one, or one.
func (p *Program) Few() int {
	for _, n := range p.Ranks {
		if n > 1 {
			return n
		}
	}
	return p.Ranks[0]
}
