package mpi

import "testing"

func TestNumbers(t *testing.T) {
	for _, x := range []struct {
		name string
		n    int64
	}{
		{"MPI_PROC_NULL", ProcNull}, {"MPI_ROOT", RootHere}, {"MPI_COMM_WORLD", CommWorld},
		{"MPI_COMM_SELF", CommSelf}, {"MPI_ERR_IN_STATUS", ErrInStatus},
		{"MPI_ERR_PENDING", ErrPending}, {"MPI_ANY_SOURCE", AnySource}, {"MPI_ANY_TAG", AnyTag}, {"MPI_UNDEFINED", Undefined},
	} {
		if c, ok := ConstantNamed(x.name); !ok || c.Value != x.n {
			t.Errorf("%s is %v in the table, %d here", x.name, c, x.n)
		}
	}
}
