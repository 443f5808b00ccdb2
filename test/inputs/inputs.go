// Package inputs has what tests and benchmarks give to programs that nobody here
// wrote: each input keeps its program busy for a few seconds at most.
package inputs

import (
	_ "embed"
	"os"
	"path/filepath"
)

// NWChem computes a water molecule with Hartree-Fock, over Global Arrays: one-sided
// communication and hundreds of communicators.
//
//go:embed water.nw
var NWChem string

// CP2K computes the same molecule with density functionals, in a few steps.
//
//go:embed water.inp
var CP2K string

// Write writes all inputs to a folder, for a number of ranks.
func Write(dir string, ranks int) error {
	for name, text := range map[string]string{"hpccinf.txt": HPCCFor(ranks), "water.nw": NWChem, "water.inp": CP2K} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
