package model

// Well-known keys of the meta section. Values are text.
const (
	MetaCommand     = "command"      // the traced command line
	MetaMPI         = "mpi"          // flavour of the MPI: mpich, openmpi, abi
	MetaLibrary     = "mpi-library"  // result of MPI_Get_library_version
	MetaClock       = "clock"        // what times were read from
	MetaStart       = "start"        // wall clock of MPI_Init on rank 0, ns since 1970
	MetaLayers      = "layers"       // files of other libraries that wrap MPI functions, a line each
	MetaOptions     = "options"      // options of the recorder
	MetaProducer    = "spoor"        // version of the program that wrote the trace
	MetaTimingError = "timing-error" // relative errors of times, in the syntax of SPOOR_TIMING_ERROR
	MetaImported    = "imported"     // from which format, if spoor did not record the trace itself
	MetaNote        = "note"         // prefix of keys: properties that another tool's trace lacks
	MetaProblem     = "problem"      // prefix of keys: what went wrong while recording or merging
	MetaFolder      = "folder "      // prefix of keys: working folder at the start, of the ranks from this one up to the next key's
)

// MaxRanks limits the number of ranks of a trace, and so the memory of a reader's tables over them.
const MaxRanks = 1 << 24

// MetaTag is the prefix of keys of the user's labels of the run, such as "tag commit".
const MetaTag = "tag "
