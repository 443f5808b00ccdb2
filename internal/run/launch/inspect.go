// Inspect examines an executable and reports whether it can be traced: which MPI it would load, through which Fortran
// bindings, and what the obstacles are. It runs nothing of the program.

package launch

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
)

// An Inspection is what InspectProgram found out about one program.
type Inspection struct {
	Path              string    `json:"path"`
	Kind              string    `json:"kind"`             // "executable", "script"
	ScriptInterpreter string    `json:"script,omitempty"` // for a script: its first line without #!
	MPI               []Library `json:"mpi"`              // MPI libraries loaded at start
	FortranBindings   []string  `json:"fortran"`          // Fortran bindings in use
	// Libraries, or the program itself, that also wrap MPI functions.
	WrapperLibraries []WrapperLibrary `json:"layers,omitempty"`
	Missing          []string         `json:"missing,omitempty"` // needed libraries that were not found
	// Sanitizers are the names of checkers that a compiler built in, such as AddressSanitizer.
	Sanitizers []string `json:"sanitizers,omitempty"`
	// WantsFirstPreload means that AddressSanitizer insists on being the first library. The program overrides the
	// options by which the shim disables that check.
	WantsFirstPreload bool `json:"-"`
	// UsesMPI means that the program loads an MPI library at start, or is linked with one statically.
	UsesMPI bool `json:"-"`
	// InstrumentedLoops is the number of loops in the program and its libraries that count their iterations, see
	// papers/pass.
	InstrumentedLoops int `json:"counting_loops,omitempty"`

	libraries []string // paths of all shared libraries loaded at start

	Obstacle string `json:"obstacle,omitempty"`
	NoteText string `json:"note,omitempty"`
}

// A Library is an MPI library on this machine.
type Library struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Family string `json:"family"`
}

// A WrapperLibrary is a library, or the program itself, that defines wrappers of MPI functions: a profiler, a
// checker, a built-in timer.
type WrapperLibrary struct {
	Path      string   `json:"path"`
	Functions []string `json:"functions"`
}

// Traceable reports whether nothing keeps the program from being traced.
func (r *Inspection) Traceable() bool { return r.Obstacle == "" }

// InspectProgram examines the program at path. It leaves out what Symbols determines.
func InspectProgram(path string) (*Inspection, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	r := &Inspection{Path: path, Kind: "executable", MPI: []Library{}, FortranBindings: []string{}}
	if st.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
		r.Obstacle = "it is set-user-id or set-group-id: the loader ignores LD_PRELOAD for it"
	}
	f, err := elf.Open(path)
	if err != nil {
		return scriptOf(path, r)
	}
	defer f.Close()
	if f.Machine != hostMachine() {
		return nil, fmt.Errorf("%s: made for %v, not for this machine", path, f.Machine)
	}
	r.examine(f)
	return r, nil
}

// scriptOf completes r for a file that is not ELF: a script, by its first line.
func scriptOf(path string, r *Inspection) (*Inspection, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	if !bytes.HasPrefix(line, []byte("#!")) {
		return nil, fmt.Errorf("%s: neither an ELF file nor a script with a #! line", path)
	}
	r.Kind = "script"
	r.ScriptInterpreter = strings.TrimSpace(string(line[2:]))
	r.NoteText = "whatever MPI the script loads is traced, also if an interpreter loads it late, as mpi4py does"
	return r, nil
}

func (r *Inspection) examine(f *elf.File) {
	if f.Section(".interp") == nil && f.Type == elf.ET_EXEC || !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) && definesMPI(f) {
		r.UsesMPI = definesMPI(f)
		r.Obstacle = "it is statically linked: nothing can be preloaded; link MPI dynamically"
		return
	}
	r.libraries, r.Missing = closure(r.Path, f)
	r.sanitize(f, r.libraries)
	for _, l := range r.libraries {
		name := filepath.Base(l)
		if family := MPIFamilyOf(name); family != "" {
			r.MPI = append(r.MPI, Library{Name: name, Path: l, Family: family})
		}
		if binding := fortranBinding(name); binding != "" {
			r.FortranBindings = append(r.FortranBindings, binding)
		}
	}
	r.UsesMPI = len(r.MPI) > 0 || definesMPI(f)
	switch {
	case r.Obstacle != "":
	case len(r.MPI) == 0 && definesMPI(f):
		r.Obstacle = "its MPI library is linked into it statically; link MPI dynamically (libmpi.so or libmpich.so)"
	case len(r.MPI) == 0:
		r.NoteText = "it does not load an MPI library at start; if it loads one later (Python, Julia, plug-ins), that is traced"
	case families(r.MPI) > 1:
		r.NoteText = "it loads two MPI families at once, which seldom works"
	}
}

func families(libs []Library) int {
	seen := map[string]bool{}
	for _, l := range libs {
		seen[l.Family] = true
	}
	return len(seen)
}

// definesMPI reports whether the file contains an MPI library.
func definesMPI(f *elf.File) bool {
	for _, list := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		syms, _ := list()
		for _, s := range syms {
			if s.Section != elf.SHN_UNDEF && (s.Name == "PMPI_Init" || s.Name == "MPI_Init") {
				return true
			}
		}
	}
	return false
}

// MPIFamilyOf returns the MPI family of a library name, "" for other libraries.
func MPIFamilyOf(name string) string {
	switch {
	case strings.HasPrefix(name, "libmpi_abi.so"):
		return mpi.FlavourABI.FamilyText()
	case strings.HasPrefix(name, "libmpich.so"), strings.HasPrefix(name, "libmpi.so.12"), strings.HasPrefix(name, "libmpi_intel.so"),
		strings.HasPrefix(name, "libmpi_cray.so"), strings.HasPrefix(name, "libmpi_gnu"):
		return mpi.FlavourMPICH.FamilyText()
	case strings.HasPrefix(name, "libmpi.so"):
		return mpi.FlavourOpenMPI.FamilyText()
	}
	return ""
}

func fortranBinding(name string) string {
	switch {
	case strings.HasPrefix(name, "libmpichfort.so"), strings.HasPrefix(name, "libmpifort.so"):
		return "mpif.h, use mpi, use mpi_f08 (MPICH)"
	case strings.HasPrefix(name, "libmpi_usempif08.so"):
		return "use mpi_f08 (Open MPI)"
	case strings.HasPrefix(name, "libmpi_usempi_ignore_tkr.so"), strings.HasPrefix(name, "libmpi_usempi.so"):
		return "use mpi (Open MPI)"
	case strings.HasPrefix(name, "libmpi_mpifh.so"):
		return "mpif.h (Open MPI)"
	}
	return ""
}

// MPIFunctionsIn returns the names of the MPI functions that a library has for C programs.
func MPIFunctionsIn(path string) (map[string]bool, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("inspect: %w", err)
	}
	defer f.Close()
	list, err := f.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("inspect: %s: %w", path, err)
	}
	names := make(map[string]bool)
	for _, s := range list {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC && strings.HasPrefix(s.Name, "MPI_") {
			names[s.Name] = true
		}
	}
	return names, nil
}

// InspectSymbols sets WrapperLibraries and InstrumentedLoops. It reads each library, which launching a program doesn't need.
func (r *Inspection) InspectSymbols() {
	if len(r.libraries) == 0 {
		return // a script or a statically linked program
	}
	for _, path := range slices.Concat([]string{r.Path}, preloaded(), r.libraries) {
		if f, err := elf.Open(path); err == nil {
			r.InstrumentedLoops += loops(f)
			r.layer(path, f)
			f.Close()
		}
	}
}

// layer adds a file to WrapperLibraries, if it defines MPI functions and is not part of an MPI.
func (r *Inspection) layer(path string, f *elf.File) {
	if name := filepath.Base(path); MPIFamilyOf(name) != "" || fortranBinding(name) != "" || strings.HasPrefix(name, "libspoor") {
		return
	}
	list, _ := f.DynamicSymbols()
	names := make(map[string]bool)
	pmpi := false
	for _, s := range list {
		c, ok := function(s.Name)
		switch {
		case s.Section == elf.SHN_UNDEF:
			pmpi = pmpi || strings.HasPrefix(strings.ToLower(s.Name), "pmpi")
		case ok && elf.ST_TYPE(s.Info) == elf.STT_FUNC:
			names[c] = true
		}
	}
	if len(names) > 0 && (pmpi || r.Path != path) { // else the program is linked with the MPI statically
		r.WrapperLibraries = append(r.WrapperLibraries, WrapperLibrary{path, slices.Sorted(maps.Keys(names))})
	}
}

// function returns the MPI function that a symbol names in C or Fortran.
func function(symbol string) (string, bool) {
	name := symbol
	if !strings.HasPrefix(symbol, "MPI_") || symbol == strings.ToUpper(symbol) {
		name = strings.ToLower(strings.TrimRight(symbol, "_"))
		for _, end := range []string{"_f08ts", "_f08"} {
			name = strings.TrimSuffix(name, end)
		}
		if len(name) < 5 || !strings.HasPrefix(name, "mpi_") {
			return "", false
		}
		name = "MPI_" + strings.ToUpper(name[4:5]) + name[5:]
	}
	_, ok := mpi.CallNamed(name)
	return name, ok
}

// preloaded lists the files that LD_PRELOAD names.
func preloaded() []string {
	return strings.FieldsFunc(os.Getenv("LD_PRELOAD"), func(c rune) bool { return c == ':' || c == ' ' })
}

// MPIFunctionsOf returns the functions of this machine's MPI library of a flavour; nil if there is no such library.
func MPIFunctionsOf(flavour mpi.Flavour) (map[string]bool, error) {
	for _, l := range InstalledMPIs() {
		if l.Family != flavour.FamilyText() {
			continue
		}
		names, err := MPIFunctionsIn(l.Path)
		if err != nil || names["MPI_Init"] {
			return names, err
		}
	}
	return nil, nil
}
