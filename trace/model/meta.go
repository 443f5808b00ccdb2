package model

// Well-known keys of the meta section. Values are text.
const (
	MetaCommand     = "command"      // the traced command line
	MetaMPI         = "mpi"          // flavour of the MPI: mpich, openmpi, abi
	MetaLibrary     = "mpi-library"  // what MPI_Get_library_version said
	MetaClock       = "clock"        // what times were read from
	MetaStart       = "start"        // wall clock of MPI_Init on rank 0, ns since 1970
	MetaLayers      = "layers"       // files of other libraries that wrap MPI functions, a line each
	MetaOptions     = "options"      // options of the recorder
	MetaProducer    = "spoor"        // version of the program that wrote the trace
	MetaTimingError = "timing-error" // relative errors of times, as SPOOR_TIMING_ERROR has them
	MetaImported    = "imported"     // from which format, if spoor did not record the trace itself
	MetaNote        = "note"         // prefix of keys: what another tool's trace does not say
	MetaProblem     = "problem"      // prefix of keys: what went wrong while recording or merging
	MetaFolder      = "folder "      // prefix of keys: working folder at the start, from this rank on to the next key's
)

// MaxRanks bounds the number of ranks of a trace, and so what a reader allocates for
// tables over them.
const MaxRanks = 1 << 24

// MetaTag is the prefix of keys of what the user said of the run: "tag commit".
const MetaTag = "tag "
