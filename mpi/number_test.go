package mpi

import "testing"

func TestNumbers(t *testing.T) {
	for _, x := range []struct {
		name string
		n    int64
	}{
		{"MPI_PROC_NULL", ProcNull}, {"MPI_ROOT", MPIRoot}, {"MPI_COMM_WORLD", HandleCommWorld},
		{"MPI_COMM_SELF", HandleCommSelf}, {"MPI_PACKED", HandlePacked}, {"MPI_ERR_IN_STATUS", ErrInStatus},
		{"MPI_ERR_PENDING", ErrPending}, {"MPI_ANY_SOURCE", AnySource}, {"MPI_ANY_TAG", AnyTag}, {"MPI_UNDEFINED", Undefined},
		{"MPI_ORDER_C", OrderC}, {"MPI_LOCK_EXCLUSIVE", LockExclusive}, {"MPI_SEEK_CUR", SeekCurrent}, {"MPI_SEEK_END", SeekEnd}, {"MPI_MODE_APPEND", ModeAppend},
		{"MPI_MODE_CREATE", ModeCreate}, {"MPI_MODE_DELETE_ON_CLOSE", ModeDeleteOnClose}, {"MPI_MODE_EXCL", ModeExclusive},
		{"MPI_MODE_RDONLY", ModeReadOnly}, {"MPI_MODE_WRONLY", ModeWriteOnly},
	} {
		if c, ok := ConstantNamed(x.name); !ok || c.Value != x.n {
			t.Errorf("%s is %v in the table, %d here", x.name, c, x.n)
		}
	}
}
