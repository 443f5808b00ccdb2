package model

// An Aside is time of a rank's first thread that belongs neither to its calls nor to the gaps between them. The
// recorder takes it for its own start after MPI_Init, and whenever it drains the rings.
type Aside struct {
	BeforeCall uint64 // the call that the aside precedes; AsidesAnywhere: unknown
	Ns         int64
	TracingOff bool // tracing was switched off; false: the recorder or a plugin took the time
}

// AsidesAnywhere is the BeforeCall of an Aside whose position is unknown: it sums up many short intervals.
const AsidesAnywhere = 0

// RecorderNs is the first thread's time in the recorder and plugins.
func (p *Process) RecorderNs() int64 { return sumAsides(p.Asides, false) }

// RecorderStartNs is the part of RecorderNs in which the recorder started.
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

// A Process is the operating system process of a rank.
type Process struct {
	Host      string
	PID       int
	End       string // "finished", "crashed", or "" for a rank without a track
	LostCalls uint64 // calls that could not be recorded
	Threads   int
	StartNs   int64  // wall clock of MPI_Init, ns since 1970
	SpanNs    int64  // time from MPI_Init to the last record without Asides: calls, and gaps between them
	MPINs     int64  // time inside MPI, all threads
	Calls     int64  // calls recorded, all threads
	Folder    string // working folder at the start, if the trace has names of files
	// Asides are in rising order of BeforeCall; SpanNs excludes them.
	Asides []Aside
}
