package mpi

import (
	"fmt"
	"strings"
)

// A Flavour is a family of MPI libraries with the same binary interface.
type Flavour uint8

// The flavours.
const (
	FlavourABI     Flavour = iota // the standard ABI of MPI 5.0
	FlavourMPICH                  // MPICH and libraries with its ABI, such as those of Intel, Cray and MVAPICH
	FlavourOpenMPI                // Open MPI and libraries with its ABI
	flavourEnd
)

var flavourNames = [flavourEnd]string{"abi", "mpich", "openmpi"}

func (f Flavour) String() string {
	if f >= flavourEnd {
		return fmt.Sprintf("flavour(%d)", uint8(f))
	}
	return flavourNames[f]
}

// FamilyText returns the name of the flavour's libraries for people.
func (f Flavour) FamilyText() string {
	return [flavourEnd]string{"standard ABI", "MPICH family", "Open MPI"}[f]
}

// Flavours lists all flavours.
func Flavours() []Flavour { return []Flavour{FlavourABI, FlavourMPICH, FlavourOpenMPI} }

// FlavourNamed returns the flavour for which String returns this name.
func FlavourNamed(name string) (Flavour, bool) {
	for f, n := range flavourNames {
		if n == name {
			return Flavour(f), true
		}
	}
	return 0, false
}

// HasMacro reports whether a function is a macro in the flavour's mpi.h. The library may then lack it, although C
// programs can use it.
func (f Flavour) HasMacro(name string) bool {
	switch f {
	case FlavourOpenMPI:
		return name == "MPI_Aint_add" || name == "MPI_Aint_diff"
	case FlavourMPICH:
		if !strings.HasSuffix(name, "_f2c") && !strings.HasSuffix(name, "_c2f") {
			return false
		}
		switch name[:len(name)-len("_f2c")] {
		case "MPI_Comm", "MPI_Type", "MPI_Group", "MPI_Info", "MPI_Request", "MPI_Op", "MPI_Errhandler", "MPI_Win", "MPI_Message", "MPI_Session":
			return true
		}
	}
	return false
}
