// Calibrate finds out how long messages take between the ranks of a job, and makes a
// machine file of it: one-way times by size, with more sizes where they jump, overheads and gaps
// by experiments of their own, from which size on messages wait for their receive, times of
// collectives. What varies too much is refused.
//
// The experiments themselves are made in a Lab: by the processes of a job, or by a test's formulas.

package machine

// An ExperimentKind is what an experiment measures. The numbers are those of replayer/measure.h.
type ExperimentKind int64

// The kinds.
const (
	NoExperiment   ExperimentKind = iota // no more experiments
	RoundTrips                           // Inner round trips in a row of a message between From and To
	SyncRoundTrips                       // the same by MPI_Ssend
	Sends                                // MPI_Isend alone
	Receives                             // MPI_Irecv and, after Delay, when the message is there, MPI_Wait
	Bursts                               // Inner messages in a row, and a short one back
	LateReceives                         // MPI_Send, where the receive is posted Delay later
	Collectives                          // Inner calls in a row; From numbers the function, as MeasuredCollectives does
	Combines                             // MPI_Reduce_local
	ClockReads                           // looking at the clock
	LocalCalls                           // MPI_Comm_rank
	Talks                                // Inner round trips, and as many exchanges with requests: no samples
	FileOpens                            // all ranks open a file together, and close it
	FileWrites                           // From writes the next bytes of a file
	FileReads                            // what it has just written
	FileSyncs                            // MPI_File_sync behind such a write
	FileAlls                             // all ranks write Bytes each in one call
)

// MeasuredCollectives are the collectives that are measured.
var MeasuredCollectives = []string{"Barrier", "Allreduce", "Allgather", "Alltoall", "Reduce_scatter"}

// An Experiment is what is to be done, Samples times.
type Experiment struct {
	Kind     ExperimentKind
	From, To int
	Bytes    int64 // of a message, or of what a member of a collective hands over
	Samples  int
	Inner    int
	Delay    int64 // ns
}

// A Lab makes experiments.
type Lab interface {
	// Seats says where the ranks are.
	Seats() []Seat
	// Run returns the samples of an experiment, each in ns.
	Run(Experiment) ([]int64, error)
}

// A Seat is where a rank runs, as far as it knows: -1 where it is not bound to one.
type Seat struct {
	Host         string
	Socket, Core int
	Sockets      int // of the host
	PerNode      int // processors of the host
	PerSocket    int // and of a socket
	PerCore      int
}

// between returns the level over which two ranks talk.
func between(a, b Seat) string {
	switch {
	case a.Host != b.Host:
		return "switch"
	case a.Core >= 0 && a.Core == b.Core && a.Socket == b.Socket && a.PerCore > 1:
		return "core"
	case a.Socket >= 0 && a.Socket == b.Socket && a.Sockets > 1:
		return "socket"
	}
	return "node"
}

// share is how many ranks share a unit of a level, if there is one on each processor.
func (s Seat) share(level string) int {
	switch level {
	case "core":
		return max(1, s.PerCore)
	case "socket":
		return max(1, s.PerSocket)
	}
	return max(1, s.PerNode)
}
