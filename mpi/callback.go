package mpi

import "strings"

// Numbers of predefined callbacks in the standard ABI. In other MPIs some predefined callbacks are functions of the
// library.
const (
	CallbackNull = 0 // MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN and the like
	CallbackDup  = 1 // MPI_COMM_DUP_FN and the like
)

// callbacks has, by name of a parameter that takes predefined callbacks, the names of CallbackNull and CallbackDup
// there; "": the parameter takes no such callback.
var callbacks = map[string][2]string{
	"comm_copy_attr_fn": {"MPI_COMM_NULL_COPY_FN", "MPI_COMM_DUP_FN"}, "comm_delete_attr_fn": {"MPI_COMM_NULL_DELETE_FN", ""},
	"type_copy_attr_fn": {"MPI_TYPE_NULL_COPY_FN", "MPI_TYPE_DUP_FN"}, "type_delete_attr_fn": {"MPI_TYPE_NULL_DELETE_FN", ""},
	"win_copy_attr_fn": {"MPI_WIN_NULL_COPY_FN", "MPI_WIN_DUP_FN"}, "win_delete_attr_fn": {"MPI_WIN_NULL_DELETE_FN", ""},
	"read_conversion_fn": {"MPI_CONVERSION_FN_NULL", ""}, "write_conversion_fn": {"MPI_CONVERSION_FN_NULL", ""},
	"copy_fn": {"MPI_NULL_COPY_FN", "MPI_DUP_FN"}, "delete_fn": {"MPI_NULL_DELETE_FN", ""},
}

// CallbackName returns the name of predefined callback v as passed for the named parameter; "" if v is not a
// predefined callback.
func CallbackName(param string, v int64) string {
	if v != CallbackNull && v != CallbackDup {
		return ""
	}
	return callbacks[param][v]
}

// CallbackNamed returns the number of the predefined callback whose function in an MPI library has this linker
// symbol, from C or Fortran. ok is false for any other symbol.
func CallbackNamed(symbol string) (v uint64, ok bool) {
	name := strings.ToUpper(strings.TrimRight(symbol, "_"))
	if name == "MPIR_DUP_FN" { // MPICH has one such function for communicators, datatypes and windows
		return CallbackDup, true
	}
	name = strings.TrimPrefix(name, "OMPI_C_")
	for _, names := range callbacks {
		for v, n := range names {
			if n != "" && name == n {
				return uint64(v), true
			}
		}
	}
	return 0, false
}

// CallbackSymbol returns the linker symbol of predefined callback v, as passed for the named parameter, in an MPI
// library of flavour f. It returns "" if the callback is a number there instead of a function.
func CallbackSymbol(f Flavour, param string, v int64) string {
	name := CallbackName(param, v)
	switch {
	case name == "" || strings.HasSuffix(param, "conversion_fn"):
		return ""
	case f == FlavourOpenMPI:
		return "OMPI_C_" + name
	case f == FlavourMPICH && v == CallbackDup:
		return "MPIR_Dup_fn"
	}
	return ""
}
