package launch

import (
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
)

// Functions returns the names of the MPI functions that a library has for C
// programs.
func Functions(path string) (map[string]bool, error) {
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

// Symbols fills in Layers and Loops, for which each library is read: launching a program needs neither.
func (r *Inspection) Symbols() {
	if len(r.libraries) == 0 {
		return // a script, or statically linked
	}
	for _, path := range slices.Concat([]string{r.Path}, preloaded(), r.libraries) {
		if f, err := elf.Open(path); err == nil {
			r.Loops += loops(f)
			r.layer(path, f)
			f.Close()
		}
	}
}

// layer notes a file that defines functions of the standard and is no MPI library.
func (r *Inspection) layer(path string, f *elf.File) {
	if name := filepath.Base(path); Family(name) != "" || fortranBinding(name) != "" || strings.HasPrefix(name, "libspoor") {
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
	if len(names) > 0 && (pmpi || r.Path != path) { // else the MPI is in the program
		r.Layers = append(r.Layers, Layer{path, slices.Sorted(maps.Keys(names))})
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
	_, ok := mpi.Lookup(name)
	return name, ok
}

// preloaded lists the files that LD_PRELOAD names.
func preloaded() []string {
	return strings.FieldsFunc(os.Getenv("LD_PRELOAD"), func(c rune) bool { return c == ':' || c == ' ' })
}

// FunctionsOf returns those that a library of this machine has of the flavour; nil if there is none.
func FunctionsOf(flavour mpi.Flavour) (map[string]bool, error) {
	for _, l := range Installed() {
		if l.Family != flavour.Family() {
			continue
		}
		names, err := Functions(l.Path)
		if err != nil || names["MPI_Init"] {
			return names, err
		}
	}
	return nil, nil
}
