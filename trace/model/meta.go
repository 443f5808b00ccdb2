package model

// Well-known keys of the meta section. Values are text.
const (
	MetaCommand           = "command"      // the traced command line
	MetaMPIFlavour        = "mpi"          // flavour of the MPI: mpich, openmpi, abi
	MetaMPILibraryVersion = "mpi-library"  // result of MPI_Get_library_version
	MetaClock             = "clock"        // which clock times were read from
	MetaStart             = "start"        // wall clock of MPI_Init on rank 0, ns since 1970
	MetaWrapperLibraries  = "layers"       // paths of other libraries that wrap MPI functions, a line each
	MetaRecorderOptions   = "options"      // options of the recorder
	MetaProducer          = "spoor"        // version of the tool that wrote the trace
	MetaTimingError       = "timing-error" // relative errors of times, in the syntax of SPOOR_TIMING_ERROR
	MetaImportFormat      = "imported"     // format from which the trace was imported; missing if spoor recorded it
	MetaNotePrefix        = "note"         // prefix of keys whose values say how the trace differs from a recorded one
	MetaProblemPrefix     = "problem"      // prefix of keys whose values say what went wrong while recording or merging

	// MetaFolderPrefix is the prefix of keys for the working folder at the start. In a key, a rank follows it: the folder is
	// that of the ranks from this one up to the one in the next key.
	MetaFolderPrefix = "folder "
)

// MaxRanks limits the number of ranks of a trace, and so the memory of a reader's tables over them.
const MaxRanks = 1 << 24

// MetaRunTagPrefix is the prefix of the keys of labels that the user gave to the run, such as "tag commit".
const MetaRunTagPrefix = "tag "
