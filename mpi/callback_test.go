package mpi

import "testing"

// TestCallbacks: predefined callbacks have their names by the parameters that take them, and libraries' functions are known.
func TestCallbacks(t *testing.T) {
	for symbol, want := range map[string]int64{
		"OMPI_C_MPI_COMM_NULL_COPY_FN": 0, "OMPI_C_MPI_WIN_DUP_FN": 1, "OMPI_C_MPI_TYPE_NULL_DELETE_FN": 0, "mpi_comm_dup_fn_": 1,
		"mpi_null_copy_fn__": 0, "MPIR_Dup_fn": 1, "MPI_DUP_FN": 1,
	} {
		if v, ok := CallbackNamed(symbol); !ok || int64(v) != want {
			t.Errorf("%s: %d, %t, want %d", symbol, v, ok, want)
		}
	}
	for _, symbol := range []string{"MPI_Comm_dup", "dup_fn", "", "OMPI_C_"} {
		if v, ok := CallbackNamed(symbol); ok {
			t.Errorf("%q is predefined callback %d", symbol, v)
		}
	}
	if CallbackName("comm_copy_attr_fn", 1) != "MPI_COMM_DUP_FN" || CallbackName("delete_fn", 1) != "" || CallbackName("copy_fn", 0x1234) != "" || CallbackName("query_fn", 0) != "" {
		t.Error("another name")
	}
	if CallbackSymbol(FlavourOpenMPI, "type_copy_attr_fn", 0) != "OMPI_C_MPI_TYPE_NULL_COPY_FN" || CallbackSymbol(FlavourMPICH, "copy_fn", 1) != "MPIR_Dup_fn" ||
		CallbackSymbol(FlavourMPICH, "copy_fn", 0) != "" || CallbackSymbol(FlavourABI, "copy_fn", 1) != "" || CallbackSymbol(FlavourOpenMPI, "read_conversion_fn", 0) != "" {
		t.Error("another function of a library")
	}
}
