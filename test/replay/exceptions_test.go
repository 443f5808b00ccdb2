package replay

type exceptionKind int

const (
	none    exceptionKind = iota
	refused               // spoor replay says why and starts nothing
	differs               // it runs, but may not make the same calls
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
	{"bottom.c", "", refused, "a datatype's displacements are addresses of the original process"},
	{"dynamic_refused.c", "", refused, "ports and sockets"},
	{"f08_datatypes.f90", "", refused, "a datatype's displacements are addresses of the original process"},
	{"f77_datatypes.f", "", refused, "a datatype's displacements are addresses of the original process"},
	{"f90_spawn.f90", "", refused, "spawned processes"},
	{"fortran_handles.c", "openmpi", refused, "a request made of an integer"},
	{"join.c", "", refused, "a communicator over a socket"},
	{"pcontrol.c", "", refused, "a communicator was made while tracing was off"},
	{"ports.c", "", refused, "ports"},
	{"publish.c", "", refused, "ports and published names"},
	{"spawn.c", "", refused, "spawned processes"},
	{"spawn_multiple.c", "", refused, "spawned processes"},
	{"threads_handover.c", "", refused, "a thread completes requests of another, whose numbers depend on timing"},
	{"tool_events.c", "mpich", refused, "calls on a registration that there is none of"},
	{"tool_performance.c", "mpich", refused, "calls on a variable that there is none of"},
	{"rma_dynamic.c", "", refused, "displacements in a dynamic window are addresses of the original process"},
	{"f08_rma.f90", "", refused, "displacements in a dynamic window are addresses of the original process"},
	{"f90_rma.f90", "", refused, "displacements in a dynamic window are addresses of the original process"},

	{"file_explicit.c", "openmpi", differs, "Open MPI leaves 'cancelled' of a file operation's status as it was in memory"},
	{"file_individual.c", "openmpi", differs, "Open MPI leaves 'cancelled' of a file operation's status as it was in memory"},
	{"file_shared.c", "openmpi", differs, "Open MPI leaves 'cancelled' of a file operation's status as it was in memory"},
	{"f77_files.f", "openmpi", differs, "Open MPI leaves 'cancelled' of a file operation's status as it was in memory"},
	{"f08_files.f90", "openmpi", differs, "Open MPI leaves 'cancelled' of a file operation's status as it was in memory"},
}

func exceptionOf(name, mpi string) exception {
	for _, e := range exceptions {
		if e.name == name && (e.mpi == "" || e.mpi == mpi) {
			return e
		}
	}
	return exception{}
}
