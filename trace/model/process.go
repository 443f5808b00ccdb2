package model

// An Aside is time of a rank's first thread that belongs neither to its calls nor to the gaps between them: tracing was
// off, or the recorder took the time, as for its own start after MPI_Init and whenever it drains the rings.
type Aside struct {
	BeforeCall uint64 // index in the stream of the call that the aside precedes; AsidePositionUnknown: unknown
	Ns         int64
	TracingOff bool // true: tracing was switched off; false: the recorder or a plugin took the time
}

// AsidePositionUnknown is the BeforeCall of an Aside whose position is unknown, as it is the sum of many short ones.
const AsidePositionUnknown = 0

// FirstThreadRecorderNs returns the first thread's time in the recorder and plugins, in ns.
func (p *Process) FirstThreadRecorderNs() int64 { return sumAsides(p.Asides, false) }

// RecorderStartupNs returns how long the recorder took to start after MPI_Init, in ns. RecorderNs includes it.
func (p *Process) RecorderStartupNs() int64 {
	for _, a := range p.Asides {
		if !a.TracingOff && a.BeforeCall != AsidePositionUnknown {
			return a.Ns
		}
	}
	return 0
}

// FirstThreadTracingOffNs returns for how long tracing of the first thread was switched off, in ns.
func (p *Process) FirstThreadTracingOffNs() int64 { return sumAsides(p.Asides, true) }

// WallNs returns the time from MPI_Init to the last record, asides included, in ns.
func (p *Process) WallNs() int64 {
	return p.FirstThreadNs + p.FirstThreadRecorderNs() + p.FirstThreadTracingOffNs()
}

// sumAsides adds up the asides in which tracing was off (off is true), or those of the recorder and plugins.
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
	Host            string
	PID             int
	EndState        string // "finished", "crashed", or "" for a rank without a track
	LostCalls       uint64 // number of calls that could not be recorded
	Threads         int
	InitWallClockNs int64  // wall clock of MPI_Init, ns since 1970
	FirstThreadNs   int64  // time of the first thread's calls and gaps: from MPI_Init to the last record, without Asides
	AllThreadsMPINs int64  // time inside MPI, summed over all threads
	Calls           int64  // number of recorded calls of all threads
	WorkingFolder   string // working folder at the start; "" if the trace has no names of files
	// Asides are in rising order of BeforeCall; FirstThreadNs excludes them.
	Asides []Aside
}
