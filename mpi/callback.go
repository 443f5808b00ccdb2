package mpi

import "strings"

// Values of predefined callbacks in the standard ABI. In other MPIs some are functions of the library.
const (
	CallbackNull = 0 // MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN and the like
	CallbackDup  = 1 // MPI_COMM_DUP_FN and the like
)

// callbacks has for each parameter that takes predefined callbacks their names, by value; "" for a value without a
// name.
var callbacks = map[string][2]string{
	"comm_copy_attr_fn": {"MPI_COMM_NULL_COPY_FN", "MPI_COMM_DUP_FN"}, "comm_delete_attr_fn": {"MPI_COMM_NULL_DELETE_FN", ""},
	"type_copy_attr_fn": {"MPI_TYPE_NULL_COPY_FN", "MPI_TYPE_DUP_FN"}, "type_delete_attr_fn": {"MPI_TYPE_NULL_DELETE_FN", ""},
	"win_copy_attr_fn": {"MPI_WIN_NULL_COPY_FN", "MPI_WIN_DUP_FN"}, "win_delete_attr_fn": {"MPI_WIN_NULL_DELETE_FN", ""},
	"read_conversion_fn": {"MPI_CONVERSION_FN_NULL", ""}, "write_conversion_fn": {"MPI_CONVERSION_FN_NULL", ""},
	"copy_fn": {"MPI_NULL_COPY_FN", "MPI_DUP_FN"}, "delete_fn": {"MPI_NULL_DELETE_FN", ""},
}

// CallbackName returns the name of a predefined callback that is passed for a parameter, "" if it is not predefined.
func CallbackName(param string, v int64) string {
	if v != CallbackNull && v != CallbackDup {
		return ""
	}
	return callbacks[param][v]
}

// CallbackNamed returns the value of the predefined callback with this symbol in an MPI library, in C or in
// Fortran; false for any other symbol.
func CallbackNamed(symbol string) (v uint64, ok bool) {
	name := strings.ToUpper(strings.TrimRight(symbol, "_"))
	if name == "MPIR_DUP_FN" { // MPICH's, for all kinds of objects
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

// CallbackSymbol returns the symbol of a predefined callback in an MPI library; "" if it is a value instead of a
// function.
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
