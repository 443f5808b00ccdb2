package model

// An Aside is time of a rank's first thread that belongs neither to its calls nor to the gaps between them. The
// recorder spends it after MPI_Init, where it starts, and whenever it drains the rings.
type Aside struct {
	BeforeCall uint64 // before which call of the thread; Scattered: it is not known
	Ns         int64
	TracingOff bool // tracing was switched off; else the recorder or a plugin took it
}

// AsidesAnywhere is the Call of an Aside that was spent here and there.
const AsidesAnywhere = 0

// RecorderNs is what the recorder and plugins took of the time of the first thread.
func (p *Process) RecorderNs() int64 { return sumAsides(p.Asides, false) }

// RecorderStartNs is what the recorder took of that to start.
func (p *Process) RecorderStartNs() int64 {
	for _, a := range p.Asides {
		if !a.TracingOff && a.BeforeCall != AsidesAnywhere {
			return a.Ns
		}
	}
	return 0
}

// TracingOffNs is for how long tracing was switched off.
func (p *Process) TracingOffNs() int64 { return sumAsides(p.Asides, true) }

// WallNs is the time from MPI_Init to the last record.
func (p *Process) WallNs() int64 { return p.SpanNs + p.RecorderNs() + p.TracingOffNs() }

// sumAsides adds up the times of one kind.
func sumAsides(list []Aside, off bool) (sum int64) {
	for _, a := range list {
		if a.TracingOff == off {
			sum += a.Ns
		}
	}
	return sum
}

// A Process is what is known of the operating system process of a rank.
type Process struct {
	Host      string
	PID       int
	End       string // "finished", "crashed", or "" for a rank without a track
	LostCalls uint64 // calls that could not be recorded
	Threads   int
	StartNs   int64  // wall clock of MPI_Init, ns since 1970
	SpanNs    int64  // from MPI_Init to the last record, but for Asides: in calls, and in gaps between them
	MPINs     int64  // time inside MPI, all threads
	Calls     int64  // calls recorded, all threads
	Folder    string // working folder at the start, if names of files are recorded
	// Asides are in rising order of Call; SpanNs is without them.
	Asides []Aside
}
