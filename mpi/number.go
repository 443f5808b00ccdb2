package mpi

// Numbers of the standard ABI that readers know by themselves, as constants.txt has them.
const (
	AnySource = -1     // MPI_ANY_SOURCE
	AnyTag    = -2     // MPI_ANY_TAG
	ProcNull  = -3     // MPI_PROC_NULL
	RootHere  = -4     // MPI_ROOT: the root of a call on an intercommunicator is this process
	Undefined = -32766 // MPI_UNDEFINED

	CommWorld = 0x101
	CommSelf  = 0x102
	Packed    = 0x207 // MPI_PACKED

	OrderC = 12 // MPI_ORDER_C

	LockExclusive = 301

	SeekCurrent = 401 // MPI_SEEK_CUR
	SeekEnd     = 402

	// Bits of the mode in which a file is opened.
	ModeAppend        = 1
	ModeCreate        = 2
	ModeDeleteOnClose = 4
	ModeExclusive     = 8  // MPI_MODE_EXCL
	ModeReadOnly      = 16 // MPI_MODE_RDONLY
	ModeWriteOnly     = 256

	AtWorkingFolder = 2 // AT_FDCWD

	ErrInStatus = 19 // MPI_ERR_IN_STATUS: outputs are there, and each status has its error
	ErrPending  = 18 // MPI_ERR_PENDING
)
