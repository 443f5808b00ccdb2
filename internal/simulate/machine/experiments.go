// Calibrate finds out how long messages take between the ranks of a job, and makes a
// machine file of it: one-way times by size, with more sizes where they jump, overheads and gaps
// by experiments of their own, from which size on messages wait for their receive, times of
// collectives. What varies too much is refused.
//
// The experiments themselves are made in a Lab: by the processes of a job, or by a test's formulas.

package machine

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// CalibrateOptions say how much is measured.
type CalibrateOptions struct {
	MaxMessageBytes int64 // the largest message, in bytes
	AllowNoise      bool  // times that vary are taken as they are
	MeasureFiles    bool  // files are measured, too
	Logf            func(format string, args ...any)
}

// A bench makes experiments until their times are steady.
type bench struct {
	Laboratory
	o      CalibrateOptions
	clock  float64 // ns that looking at the clock takes
	varied int     // experiments whose times varied, where that is taken
}

const (
	budget   = 8e6  // ns that the samples of an experiment take, about
	least    = 11   // samples at least
	many     = 201  // and at most
	inRow    = 20e3 // ns of what is measured in one go
	attempts = 5    // goes at most, and two at least
	steady   = 1.3  // of the median to the tenth percentile: more is too noisy
	patience = 10   // times the budget that the first samples take at most, where noise is taken; else they are all
)

// NoiseError is an experiment whose times vary.
type NoiseError struct {
	what        string
	tenth, half float64
}

func (n *NoiseError) Error() string {
	return fmt.Sprintf("%s varies: a tenth of the times are below %.0f ns, half of them below %.0f: is the machine busy, or are there more ranks than cores? Try again when it is idle, bind ranks to cores, or take it as it is with --noisy", n.what, n.tenth, n.half)
}

// time returns the usual time of an experiment in ns, by what it is done in a row. per is how
// many of what is asked for an inner turn has: 2 of a round trip. Its clock's time is taken out.
func (b *bench) time(what string, x Experiment, per float64) (float64, error) {
	return b.partOf(0, what, x, per)
}

// partOf does so with the time of a part of something that takes whole ns: it may vary by as much as
// that may.
func (b *bench) partOf(whole float64, what string, x Experiment, per float64) (float64, error) {
	rows := x.InnerRepetitions > 0 // else it can be done in a row
	if !rows {
		x.InnerRepetitions = 1
	}
	once := 0.0
	trial := func() error {
		x.Samples = 3
		list, err := b.Run(x)
		if err == nil {
			once = max(1, float64(slices.Min(list)))
		}
		return err
	}
	if err := trial(); err != nil {
		return 0, err
	}
	if !rows && x.Kind != MeasureSends && x.Kind != MeasureReceives && x.Kind != MeasureLateReceives {
		inner := func() int { return int(min(max(inRow*float64(x.InnerRepetitions)/once, 1), 1000)) }
		x.InnerRepetitions = inner()
		if err := trial(); err != nil {
			return 0, err
		}
		x.InnerRepetitions, once = inner(), once/float64(x.InnerRepetitions) // the first turn took longer than later ones
	}
	x.Samples = int(min(max(budget/(once*float64(x.InnerRepetitions)+float64(x.DelayNs)), least), many))
	if rows {
		x.Samples = int(min(max(budget/once, least), many))
	}
	best, usual := &NoiseError{what: what}, 0.0
	tries := attempts
	if b.o.AllowNoise {
		tries = 2
	}
	for try := range tries {
		samples, err := b.samples(x)
		if err != nil {
			return 0, err
		}
		slices.Sort(samples)
		n := len(samples)
		tenth, half := float64(samples[n/10]), float64(samples[n/2])
		if try == 0 || half < best.half {
			best.tenth, best.half, usual = tenth, half, mean(samples, 2*half)
		}
		if try > 0 && half <= 1.05*tenth+10 {
			break
		}
	}
	if best.half-best.tenth > (steady-1)*max(best.tenth, whole)+2*b.clock {
		if !b.o.AllowNoise {
			return 0, best
		}
		b.varied++
	}
	turns := 1.0
	if !rows {
		turns = float64(x.InnerRepetitions)
	}
	return max(0, usual-b.clock) / turns / per, nil
}

// samples makes an experiment. Where others keep the processors busy and noise is taken, a rank may wait for one at each message: then
// a few samples have to do.
func (b *bench) samples(x Experiment) ([]int64, error) {
	rest := x.Samples - least
	if !b.o.AllowNoise || rest <= 0 {
		return b.Run(x)
	}
	began := time.Now()
	x.Samples = least
	list, err := b.Run(x)
	if err != nil || float64(time.Since(began).Nanoseconds()) > patience*budget {
		return list, err
	}
	x.Samples = rest
	more, err := b.Run(x)
	return append(list, more...), err
}

// mean is that of samples up to a limit. A program's time is a sum: what the system does now and then is
// in it, and would not be in a median. What took the core away is not.
func mean(samples []int64, most float64) float64 {
	sum, n := 0.0, 0
	for _, x := range samples {
		if float64(x) <= most {
			sum += float64(x)
			n++
		}
	}
	return sum / float64(max(1, n))
}

// rankPair measures over one level, between two ranks.
type rankPair struct {
	*bench
	a, b int
	name string // of the level
}

func (p *rankPair) what(text string, bytes int64) string {
	return fmt.Sprintf("%s of %d bytes between ranks %d and %d (%s)", text, bytes, p.a, p.b, p.name)
}

func (p *rankPair) oneWay(bytes int64) (float64, error) {
	return p.time(p.what("the one-way time", bytes), Experiment{Kind: MeasureRoundTrips, FromRank: p.a, ToRank: p.b, Bytes: bytes}, 2)
}

func (p *rankPair) synchronous(bytes int64) (float64, error) {
	return p.time(p.what("the one-way time by MPI_Ssend", bytes), Experiment{Kind: MeasureSyncRoundTrips, FromRank: p.a, ToRank: p.b, Bytes: bytes}, 2)
}

// overhead measures what a message costs a core at one end. oneWay is how long it takes: what the cost
// varies by shifts predictions by no larger a part than of that.
func (p *rankPair) overhead(kind ExperimentKind, bytes int64, oneWay float64) (float64, error) {
	what := "the overhead of sending"
	delay := 3000.0
	if kind == MeasureReceives {
		what, delay = "the overhead of receiving", 3*oneWay+10_000
	}
	t, err := p.partOf(oneWay, p.what(what, bytes), Experiment{Kind: kind, FromRank: p.a, ToRank: p.b, Bytes: bytes, DelayNs: int64(delay)}, 1)
	if kind == MeasureReceives { // the clock is looked at four times
		t = max(0, t-p.clock)
	}
	return t, err
}

// gap measures what one message more in a row takes.
func (p *rankPair) gap(bytes int64, oneWay float64) (float64, error) {
	short, long := 8, 40
	if oneWay > 20_000 {
		short, long = 2, 8
	}
	var times [2]float64
	for i, n := range []int{short, long} {
		t, err := p.time(p.what(fmt.Sprintf("a burst of %d messages", n), bytes), Experiment{Kind: MeasureBursts, FromRank: p.a, ToRank: p.b, Bytes: bytes, InnerRepetitions: n}, 1)
		if err != nil {
			return 0, err
		}
		times[i] = t
	}
	return max(0, times[1]-times[0]) / float64(long-short), nil
}

// waits reports whether a send of that size waits for its receive.
func (p *rankPair) waits(bytes int64, oneWay float64) (bool, error) {
	delay := int64(4*oneWay) + 200_000
	samples, err := p.Run(Experiment{Kind: MeasureLateReceives, FromRank: p.a, ToRank: p.b, Bytes: bytes, DelayNs: delay, Samples: 7})
	if err != nil {
		return false, err
	}
	slices.Sort(samples)
	return samples[len(samples)/2] > delay/2, nil // either rank may lose its core
}

// fewest are the calls that a figure needs.
const fewest = 100

// MeasuredTracingCost is what tracing costs: the gaps before calls that were made one after the other,
// and how much longer calls take that do next to nothing, both in ns as a trace has them. local is
// how long these take untraced.
func MeasuredTracingCost(gaps, calls []float64, local float64) (TracingCost, error) {
	if len(gaps) < fewest || len(calls) < fewest {
		return TracingCost{}, fmt.Errorf("what tracing costs: the trace has %d calls, too few", len(gaps)+len(calls))
	}
	return TracingCost{Gap: ps(middle(gaps)), Call: ps(max(0, middle(calls)-local))}, nil
}

// middle is the mean of the middle half: times come in steps of the clock, so that a median is one of these.
func middle(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	v = v[len(v)/4 : len(v)-len(v)/4]
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// What is written and read in one go, and how often. File systems do things beside a program: the median is taken, however much times vary.
const (
	fewBytes, manyBytes = 8, 4 << 20
	fileSamples         = 15
)

// files measures what the MPI's files take: data goes to the system's memory and comes from there, MPI_File_sync
// has it written out.
func (b *bench) files(ranks int) (*FileCosts, error) {
	var err error
	usual := func(kind ExperimentKind, bytes int64) float64 {
		if err != nil {
			return 0
		}
		var samples []int64
		if samples, err = b.Run(Experiment{Kind: kind, Bytes: bytes, Samples: fileSamples, InnerRepetitions: 1}); err != nil {
			return 0
		}
		slices.Sort(samples)
		return max(0, float64(samples[len(samples)/2])-b.clock)
	}
	// perByte is what each byte adds, in ps.
	perByte := func(few, many float64) float64 {
		return math.Round(max(0, many-few)*1000*1000/(manyBytes-fewBytes)) / 1000
	}
	write, read, sync := usual(MeasureFileWrites, fewBytes), usual(MeasureFileReads, fewBytes), usual(MeasureFileSyncs, fewBytes)
	f := &FileCosts{
		OpenPs: ps(usual(MeasureFileOpens, 0) / 2), LatencyPs: ps((write + read) / 2), SyncPs: ps(sync),
		WritePsPerByte: perByte(write, usual(MeasureFileWrites, manyBytes)), ReadPsPerByte: perByte(read, usual(MeasureFileReads, manyBytes)), SyncPsPerByte: perByte(sync, usual(MeasureFileSyncs, manyBytes)),
	}
	f.CollectivePsPerByte = math.Round(perByte(usual(MeasureFileAlls, fewBytes), usual(MeasureFileAlls, manyBytes))*1000/float64(ranks)) / 1000
	return f, err
}

// An ExperimentKind is what an experiment measures. The numbers are those of replayer/measure.h.
type ExperimentKind int64

// The kinds.
const (
	MeasureNothing        ExperimentKind = iota // no more experiments
	MeasureRoundTrips                           // Inner round trips in a row of a message between From and To
	MeasureSyncRoundTrips                       // the same by MPI_Ssend
	MeasureSends                                // MPI_Isend alone
	MeasureReceives                             // MPI_Irecv and, after Delay, when the message is there, MPI_Wait
	MeasureBursts                               // Inner messages in a row, and a short one back
	MeasureLateReceives                         // MPI_Send, where the receive is posted Delay later
	MeasureCollectives                          // Inner calls in a row; From numbers the operation, as MeasuredCollectives does
	MeasureCombines                             // MPI_Reduce_local
	MeasureClockReads                           // looking at the clock
	MeasureLocalCalls                           // MPI_Comm_rank
	MeasureTalks                                // Inner round trips, and as many exchanges with requests: no samples
	MeasureFileOpens                            // all ranks open a file together, and close it
	MeasureFileWrites                           // From writes the next bytes of a file
	MeasureFileReads                            // what it has just written
	MeasureFileSyncs                            // MPI_File_sync after such a write
	MeasureFileAlls                             // all ranks write Bytes each in one call
)

// MeasuredCollectives are the collectives that are measured, and that machines may have tables of: all members wait for each other in them.
var MeasuredCollectives = []meaning.Operation{meaning.OperationBarrier, meaning.OperationAllreduce, meaning.OperationAllgather, meaning.OperationAlltoall, meaning.OperationReduceScatter}

// An Experiment is what is to be done, Samples times.
type Experiment struct {
	Kind             ExperimentKind
	FromRank, ToRank int
	Bytes            int64 // of a message, or of what a member of a collective hands over
	Samples          int
	InnerRepetitions int
	DelayNs          int64 // ns
}

// A Laboratory makes experiments.
type Laboratory interface {
	// Seats says where the ranks are.
	Seats() []ProcessorBinding
	// Run returns the samples of an experiment, each in ns.
	Run(Experiment) ([]int64, error)
}

// A ProcessorBinding is where a rank runs, as far as it knows: -1 where it is not bound to one.
type ProcessorBinding struct {
	Host           string
	Socket, Core   int
	Sockets        int // of the host
	HostProcessors int // processors of the host
	PerSocket      int // and of a socket
	PerCore        int
}

// between returns the level over which two ranks talk.
func between(a, b ProcessorBinding) string {
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
func (s ProcessorBinding) share(level string) int {
	switch level {
	case "core":
		return max(1, s.PerCore)
	case "socket":
		return max(1, s.PerSocket)
	}
	return max(1, s.HostProcessors)
}
