package mpis

// An Exception is a program whose replay or proxy can't make all calls, or gets different results for some, with the
// reason.
type Exception struct {
	Program string // of test/mpi, or a real one
	MPI     string // "": any
	Only    string // replay or proxy; "": both
	Refused bool   // spoor refuses it with a reason
	Reason  string
	Order   bool // the calls are the same, in a different order
}

const noDiff = "MPI_Aint_diff is a macro in Open MPI's C, and a function in Fortran alone: no recorder sees it"

const beforeFree = "what delete callbacks called comes before the call that frees, not within it"

var exceptions = []Exception{
	{"attributes.c", "", "", true, "a callback uses a datatype that was freed and lives on in a duplicate", false},
	{"delete_callbacks.c", "", "", false, beforeFree, true},
	{"dynamic_refused.c", "", "", true, "processes meet through ports and sockets", false},
	{"f90_spawn.f90", "", "", true, "the program starts processes", false},
	{"fortran_handles.c", "openmpi", "", true, "MPI_Request_f2c gives a request that no call made", false},
	{"join.c", "", "", true, "processes meet through a socket", false},
	{"pcontrol.c", "", "", true, "a communicator is made while tracing is off", false},
	{"ports.c", "", "", true, "processes meet through ports", false},
	{"publish.c", "", "", true, "processes meet through ports and published names", false},
	{"spawn.c", "", "", true, "the program starts processes", false},
	{"spawn_multiple.c", "", "", true, "the program starts processes", false},
	{"threads_handover.c", "", "", true, "a thread completes requests of another, whose numbers depend on timing", false},

	{"f08_datatypes.f90", "openmpi", "proxy", false, noDiff, false},
	{"f77_datatypes.f", "openmpi", "proxy", false, noDiff, false},
	{"isendrecv.c", "mpich", "", false, "MPICH leaves in the status of a request of MPI_Isendrecv what the one before had in its place", false},
	{"nwchem", "openmpi", "", false, "Open MPI leaves the address of a window without memory as it was", false},
	{"handles_reused.c", "openmpi", "replay", false, "a datatype keeps its number after MPI_Type_free until Open MPI gives its place to another: when a receive ends decides which", false},
}

// ExceptionOf returns the exception for a program's replay or proxy, nil without one.
func ExceptionOf(program, mpi, by string) *Exception {
	for i := range exceptions {
		if e := &exceptions[i]; e.Program == program && (e.MPI == "" || e.MPI == mpi) && (e.Only == "" || e.Only == by) {
			return e
		}
	}
	return nil
}
