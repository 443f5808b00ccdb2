package inspect

import (
	"debug/elf"
	"fmt"
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
