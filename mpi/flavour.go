package mpi

import "fmt"

// A Flavour is a family of MPI libraries that share a binary interface.
type Flavour uint8

// The flavours.
const (
	ABI     Flavour = iota // the standard ABI of MPI 5.0
	MPICH                  // MPICH and what keeps to its ABI: Intel, Cray, MVAPICH
	OpenMPI                // Open MPI and its relatives
	flavourEnd
)

var flavourNames = [flavourEnd]string{"abi", "mpich", "openmpi"}

func (f Flavour) String() string {
	if f >= flavourEnd {
		return fmt.Sprintf("flavour(%d)", uint8(f))
	}
	return flavourNames[f]
}

// Flavours lists all flavours.
func Flavours() []Flavour { return []Flavour{ABI, MPICH, OpenMPI} }

// FlavourNamed finds a flavour by the name that String gives it.
func FlavourNamed(name string) (Flavour, bool) {
	for f, n := range flavourNames {
		if n == name {
			return Flavour(f), true
		}
	}
	return 0, false
}
