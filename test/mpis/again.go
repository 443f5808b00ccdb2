package mpis

// An Exception is a program whose replay or proxy can't make all calls, or makes some of them with other results, and why.
type Exception struct {
	Program string // of test/mpi, or a real one
	MPI     string // "": any
	Only    string // replay or proxy; "": both
	Refused bool   // spoor says why and starts or writes nothing
	Reason  string
}

const noDiff = "MPI_Aint_diff is a macro in Open MPI's C, and a function in Fortran alone: no recorder sees it"

var exceptions = []Exception{
	{"attributes.c", "", "", true, "callbacks use handles of objects that are being made or freed; only the MPI could pass these"},
	{"dynamic_refused.c", "", "", true, "processes meet through ports and sockets"},
	{"f90_spawn.f90", "", "", true, "the program starts processes"},
	{"fortran_handles.c", "openmpi", "", true, "MPI_Request_f2c gives a request that no call made"},
	{"join.c", "", "", true, "processes meet through a socket"},
	{"pcontrol.c", "", "", true, "a communicator is made while tracing is off"},
	{"ports.c", "", "", true, "processes meet through ports"},
	{"publish.c", "", "", true, "processes meet through ports and published names"},
	{"spawn.c", "", "", true, "the program starts processes"},
	{"spawn_multiple.c", "", "", true, "the program starts processes"},
	{"threads_handover.c", "", "", true, "a thread completes requests of another, whose numbers depend on timing"},

	{"f08_datatypes.f90", "openmpi", "proxy", false, noDiff},
	{"f77_datatypes.f", "openmpi", "proxy", false, noDiff},
	{"isendrecv.c", "mpich", "", false, "MPICH leaves in the status of a request of MPI_Isendrecv what the one before had in its place"},
	{"nwchem", "openmpi", "", false, "Open MPI leaves the address of a window without memory as it was"},
	{"handles_reused.c", "openmpi", "replay", false, "a datatype keeps its number after MPI_Type_free until Open MPI gives its place to another: when a receive ends decides which"},
}

// ExceptionOf returns the exception that a program's replay or proxy is, nil if it is none.
func ExceptionOf(program, mpi, by string) *Exception {
	for i := range exceptions {
		if e := &exceptions[i]; e.Program == program && (e.MPI == "" || e.MPI == mpi) && (e.Only == "" || e.Only == by) {
			return e
		}
	}
	return nil
}
