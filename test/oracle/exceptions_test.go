package oracle

// An Exception is something that a trace and a log are allowed to differ in,
// or that nobody can tell. Whatever else differs is an error.
type Exception string

// Each exception with its reason. Reports count how often each was used.
const (
	TimeValue        Exception = "time value"
	FailedOutput     Exception = "output of a failed call"
	SendStatus       Exception = "status of a send request"
	PendingStatus    Exception = "status of a request that is under way"
	IgnoredStatus    Exception = "status that the program ignored"
	Conversion       Exception = "conversion inside a Fortran binding"
	BindingAlone     Exception = "call without a C function behind it"
	SmallForLarge    Exception = "call of a function without large counts"
	ProfilingCall    Exception = "call of a PMPI name inside of another call"
	AfterFinalize    Exception = "call after MPI_Finalize"
	InsideFinalize   Exception = "call from a callback of MPI_Finalize"
	FileStatus       Exception = "status of a file operation"
	NotTraced        Exception = "function that is not traced"
	Muted            Exception = "call while tracing is switched off"
	LateHandle       Exception = "handle first seen as an argument"
	UnknownHandle    Exception = "handle that nobody made"
	ForeignNumber    Exception = "number of another thread's request"
	SameRequests     Exception = "request of several with one handle"
	StaleRequest     Exception = "request that is no more"
	OtherWorld       Exception = "communicator with members of another world"
	SeparateSides    Exception = "sides that met through a port"
	NullOutput       Exception = "output with nowhere to go"
	Insignificant    Exception = "argument that MPI does not look at here"
	MPIMemory        Exception = "memory that MPI allocated anew"
	ConvertedRequest Exception = "request that a function returned"
)

// Reasons explains the exceptions.
var Reasons = map[Exception]string{
	TimeValue:        "a time is different in every call; a trace keeps none of them as a parameter",
	FailedOutput:     "the standard leaves outputs undefined when a call fails; a trace has none",
	SendStatus:       "the standard leaves source, tag and count of a send request's status undefined",
	PendingStatus:    "of a request that a failed wait left under way (MPI_ERR_PENDING) the error field alone is defined",
	IgnoredStatus:    "in front of the recorder there is no status to log",
	Conversion:       "a Fortran binding calls PMPI to convert handles and statuses; the program did not",
	BindingAlone:     "some Fortran bindings do a few calls themselves, mostly those with callbacks and attributes",
	SmallForLarge:    "some procedures of mpi_f08 with large counts call the function with small ones, as MPI_Gather's in Open MPI 6.0",
	ProfilingCall:    "what a layer or the MPI calls on behalf of a call is not the program's",
	AfterFinalize:    "the trace is complete when MPI_Finalize returns; few calls are allowed later, and none communicates",
	InsideFinalize:   "the trace is written before the library's MPI_Finalize begins",
	FileStatus:       "file operations set the count of a status alone; the rest is what it was before",
	NotTraced:        "calls.txt says why a function is unwrapped, or does not have it: an extension of one MPI",
	Muted:            "MPI_Pcontrol(0) switches tracing off until the next level above 0",
	LateHandle:       "a handle may come from where MPI does not show it being made: converted, inherited, or delayed",
	UnknownHandle:    "an erroneous program may pass what is no handle",
	ForeignNumber:    "how many requests another thread has made by now is a matter of timing",
	SameRequests:     "a copied request of which MPI made several with one handle is any of them",
	StaleRequest:     "an erroneous or lucky program may pass a request that was completed",
	OtherWorld:       "a trace knows the ranks of its own world",
	SeparateSides:    "which accept met which connect is not visible in either",
	NullOutput:       "where the address of an output is NULL or a special value, a trace has 0",
	Insignificant:    "an argument that only the root or another algorithm looks at may be absent from a trace",
	MPIMemory:        "when MPI gives back memory inside its calls is not visible from outside",
	ConvertedRequest: "MPI_Request_f2c returns a copy of a request, which no variable names yet",
}

// doneAlone tells whether the Fortran binding of an MPI does a function itself,
// or through functions of its own.
func doneAlone(mpich bool, name string) bool {
	return aloneInBoth[name] || mpich && aloneInMPICH[name] || !mpich && aloneInOpenMPI[name]
}

var aloneInBoth = map[string]bool{
	"MPI_Wtime": true, "MPI_Wtick": true, "MPI_Aint_add": true, "MPI_Aint_diff": true, "MPI_Pcontrol": true,
	"MPI_Get_count_c": true, "MPI_Get_elements_c": true,

	"MPI_Comm_set_attr": true, "MPI_Comm_get_attr": true,
	"MPI_Type_set_attr": true, "MPI_Type_get_attr": true,
	"MPI_Win_set_attr": true, "MPI_Win_get_attr": true,
	"MPI_Attr_put": true, "MPI_Attr_get": true,

	// MPICH since 5.0.
	"MPI_Comm_create_errhandler": true, "MPI_Win_create_errhandler": true, "MPI_File_create_errhandler": true,
	"MPI_Errhandler_create": true,
}

// Since 5.0.
var aloneInMPICH = map[string]bool{"MPI_Op_create": true, "MPI_Op_create_c": true}

var aloneInOpenMPI = map[string]bool{
	"MPI_Comm_create_keyval": true, "MPI_Type_create_keyval": true, "MPI_Win_create_keyval": true,
	"MPI_Keyval_create": true,

	"MPI_Type_match_size": true,

	// Since 5.0, and since 6.0.
	"MPI_Info_get": true, "MPI_Info_get_nthkey": true,
	"MPI_Info_get_string": true,
}
