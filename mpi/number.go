package mpi

// Numbers of the standard ABI that readers know by themselves, as constants.txt has them.
const (
	ProcNull = -3 // MPI_PROC_NULL
	RootHere = -4 // MPI_ROOT: the root of a call on an intercommunicator is this process

	CommWorld = 0x101
	CommSelf  = 0x102

	ErrInStatus = 19 // MPI_ERR_IN_STATUS: outputs are there, and each status has its error
)
