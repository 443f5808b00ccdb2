package proxy

// An Exception is a program whose proxy can't make all calls, or makes some of
// them with other results, and why.
type Exception struct {
	MPI     string // "": both
	Refused bool   // spoor proxy says so and writes nothing
	Reason  string
}

// Exceptions by program of test/mpi.
var Exceptions = map[string][]Exception{
	"attributes.c":       {{Refused: true, Reason: "callbacks use handles of objects that are being freed; only the MPI could pass these"}},
	"bottom.c":           {{Refused: true, Reason: "datatypes hold addresses of the original process"}},
	"f08_datatypes.f90":  {{Refused: true, Reason: "datatypes hold addresses of the original process"}},
	"dynamic_refused.c":  {{Refused: true, Reason: "processes meet through ports"}},
	"fortran_handles.c":  {{Refused: true, Reason: "MPI_Request_f2c gives a request that no call made"}},
	"join.c":             {{Refused: true, Reason: "processes meet through a socket"}},
	"pcontrol.c":         {{Refused: true, Reason: "a communicator is made while tracing is off"}},
	"ports.c":            {{Refused: true, Reason: "processes meet through ports"}},
	"publish.c":          {{Refused: true, Reason: "processes meet through ports"}},
	"rma_dynamic.c":      {{Refused: true, Reason: "displacements in a dynamic window are addresses of the original process"}},
	"spawn.c":            {{Refused: true, Reason: "the program starts processes"}},
	"spawn_multiple.c":   {{Refused: true, Reason: "the program starts processes"}},
	"f90_spawn.f90":      {{Refused: true, Reason: "the program starts processes"}},
	"threads_handover.c": {{Refused: true, Reason: "which request another thread handed over depends on timing"}},
	"f08_rma.f90":        {{Refused: true, Reason: "displacements in a dynamic window are addresses of the original process"}},
	"f90_rma.f90":        {{Refused: true, Reason: "displacements in a dynamic window are addresses of the original process"}},
	"isendrecv.c":        {{MPI: "mpich", Reason: "MPICH leaves in the status of a request of MPI_Isendrecv what the one before had in its place"}},
	"f90_attributes.f90": {{MPI: "mpich", Reason: "a predefined callback that is a function in MPICH's Fortran library is a null pointer in C"}},
	"f77_datatypes.f":    {{Refused: true, Reason: "datatypes hold addresses of the original process"}},
}
