package proxy

// An Exception is a program whose proxy can't make all calls, or makes some of
// them with other results, and why.
type Exception struct {
	MPI     string // "": both
	Refused bool   // spoor proxy says so and writes nothing
	Reason  string
}

const noDiff = "MPI_Aint_diff is a macro in Open MPI's C, and a function in Fortran alone: no recorder sees it"

// Exceptions by program of test/mpi.
var Exceptions = map[string][]Exception{
	"attributes.c":       {{Refused: true, Reason: "callbacks use handles of objects that are being freed; only the MPI could pass these"}},
	"dynamic_refused.c":  {{Refused: true, Reason: "processes meet through ports"}},
	"fortran_handles.c":  {{Refused: true, Reason: "MPI_Request_f2c gives a request that no call made"}},
	"join.c":             {{Refused: true, Reason: "processes meet through a socket"}},
	"pcontrol.c":         {{Refused: true, Reason: "a communicator is made while tracing is off"}},
	"ports.c":            {{Refused: true, Reason: "processes meet through ports"}},
	"publish.c":          {{Refused: true, Reason: "processes meet through ports"}},
	"spawn.c":            {{Refused: true, Reason: "the program starts processes"}},
	"spawn_multiple.c":   {{Refused: true, Reason: "the program starts processes"}},
	"f90_spawn.f90":      {{Refused: true, Reason: "the program starts processes"}},
	"threads_handover.c": {{Refused: true, Reason: "which request another thread handed over depends on timing"}},
	"f08_datatypes.f90":  {{MPI: "openmpi", Reason: noDiff}},
	"f77_datatypes.f":    {{MPI: "openmpi", Reason: noDiff}},
	"isendrecv.c":        {{MPI: "mpich", Reason: "MPICH leaves in the status of a request of MPI_Isendrecv what the one before had in its place"}},
	"nwchem":             {{Reason: "Open MPI leaves the address of a window without memory as it was; two runs of the program differ there too"}},
}
