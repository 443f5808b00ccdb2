package replay

type exceptionKind int

const (
	none    exceptionKind = iota
	refused               // spoor replay says why and starts nothing
	differs               // as runs of the program itself differ, which is looked at
)

// An exception is a program whose replay is not equal, and why.
type exception struct {
	name   string
	mpi    string // "": any
	kind   exceptionKind
	reason string
}

var exceptions = []exception{
	{"attributes.c", "", refused, "a callback calls MPI on a communicator that is only being made"},
	{"dynamic_refused.c", "", refused, "ports and sockets"},
	{"f90_spawn.f90", "", refused, "spawned processes"},
	{"fortran_handles.c", "openmpi", refused, "a request made of an integer"},
	{"join.c", "", refused, "a communicator over a socket"},
	{"pcontrol.c", "", refused, "a communicator was made while tracing was off"},
	{"ports.c", "", refused, "ports"},
	{"publish.c", "", refused, "ports and published names"},
	{"spawn.c", "", refused, "spawned processes"},
	{"spawn_multiple.c", "", refused, "spawned processes"},
	{"threads_handover.c", "", refused, "a thread completes requests of another, whose numbers depend on timing"},

	{"isendrecv.c", "mpich", differs, "MPICH leaves in the status of a request of MPI_Isendrecv what the one before had in its place"},
	{"nwchem", "openmpi", differs, "Open MPI leaves the address of a window without memory as it was"},
	{"handles_reused.c", "openmpi", differs, "a datatype keeps its number after MPI_Type_free until Open MPI gives its place to another: when a receive ends decides which"},
}

func exceptionOf(name, mpi string) exception {
	for _, e := range exceptions {
		if e.name == name && (e.mpi == "" || e.mpi == mpi) {
			return e
		}
	}
	return exception{}
}
