package mpi

import "testing"

func TestSymbolName(t *testing.T) {
	for symbol, want := range map[string]string{
		"MPI_Send":                  "MPI_Send",
		"PMPI_Send":                 "PMPI_Send",
		"mpi_send_":                 "MPI_Send",
		"pmpi_send_":                "PMPI_Send",
		"mpi_send__":                "MPI_Send",
		"MPI_SEND":                  "MPI_Send",
		"mpi_type_create_f90_real_": "MPI_Type_create_f90_real",
		"mpi_allreduce_f08_":        "MPI_Allreduce",
		"mpi_isend_f08ts_":          "MPI_Isend",
		"MPI_Send@LIBMPI_1":         "MPI_Send",
		"MPI_Comm_c2f":              "MPI_Comm_c2f",
		"mpi_":                      "",
		"MPI_No_such_call":          "",
		"MPIR_Barrier":              "",
		"ompi_mpi_send":             "",
		"send":                      "",
		"":                          "",
	} {
		if got := FunctionOfSymbol(symbol); got != want {
			t.Errorf("%q is %q, want %q", symbol, got, want)
		}
	}
}
