// CalibrateMachine measures how long messages take between the ranks of a job, and makes a machine file. It measures
// one-way times by size, with more sizes where times jump, overheads and gaps, the eager limit, and times of
// collectives. It refuses times that vary too much.
//
// An ExperimentRunner makes the experiments: the processes of a job, or formulas in a test.

package machine

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// CalibrateOptions control how CalibrateMachine measures.
type CalibrateOptions struct {
	MaxMessageBytes int64 // size of the largest message, in bytes
	AllowNoise      bool  // accept experiments whose times vary
	MeasureFiles    bool  // measure operations on files, too
	Logf            func(format string, args ...any)
}

// A bench makes experiments, each again until its times are steady.
type bench struct {
	ExperimentRunner
	o      CalibrateOptions
	clock  float64 // time in ns that reading the clock takes
	varied int     // number of experiments whose times varied too much; they count only with AllowNoise
}

const (
	budget   = 8e6  // approximate total time in ns of the samples of an experiment
	least    = 11   // least number of samples of an experiment
	many     = 201  // largest number of samples of an experiment
	inRow    = 20e3 // approximate time in ns of a sample's consecutive repetitions
	attempts = 5    // largest number of times that an experiment is made; the least is two
	steady   = 1.3  // largest ratio of the median to the tenth percentile of samples; above it, times are too noisy
	// With AllowNoise, no samples follow if the first ones took longer than patience times budget.
	patience = 10
)

// NoiseError reports an experiment whose times vary too much.
type NoiseError struct {
	what        string
	tenth, half float64
}

func (n *NoiseError) Error() string {
	return fmt.Sprintf("%s varies: a tenth of the times are below %.0f ns, half of them below %.0f: is the machine busy, or are there more ranks than cores? Try again when it is idle, bind ranks to cores, or take it as it is with --noisy", n.what, n.tenth, n.half)
}

// time returns the typical time in ns of one unit of an experiment that what describes. per is the number of units in
// an inner repetition: 2 one-way messages in a round trip. The time of reading the clock is subtracted.
func (b *bench) time(what string, x Experiment, per float64) (float64, error) {
	return b.partOf(0, what, x, per)
}

// partOf returns the typical time in ns, as time does, of a part of an operation that takes whole ns. The part may
// vary by as many ns as the whole operation may.
func (b *bench) partOf(whole float64, what string, x Experiment, per float64) (float64, error) {
	rows := x.InnerRepetitions > 0 // the caller chose the number of inner repetitions; else it is chosen below
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
		// The first trial had fewer repetitions, so that the costly first one weighed more.
		x.InnerRepetitions, once = inner(), once/float64(x.InnerRepetitions)
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

// samples makes an experiment and returns its samples in ns. If others use the processors and noise is accepted, a
// rank may wait for a processor at each message. Then a few samples must suffice.
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

// mean returns the mean of those samples that are at most a limit. A program's time is a sum, so rare delays by the
// system count, which a median would hide. Preemptions, which are beyond the limit, don't.
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

// A rankPair measures messages between two ranks, whose nearest common network level has a name.
type rankPair struct {
	*bench
	a, b int
	name string // name of the network level
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

// overhead returns the core time in ns of a message at one end: the sender's, or with MeasureReceives the receiver's.
// oneWay is the message's one-way time in ns: variation of the overhead affects predictions only in proportion to
// that.
func (p *rankPair) overhead(kind ExperimentKind, bytes int64, oneWay float64) (float64, error) {
	what := "the overhead of sending"
	delay := 3000.0
	if kind == MeasureReceives {
		what, delay = "the overhead of receiving", 3*oneWay+10_000
	}
	t, err := p.partOf(oneWay, p.what(what, bytes), Experiment{Kind: kind, FromRank: p.a, ToRank: p.b, Bytes: bytes, DelayNs: int64(delay)}, 1)
	if kind == MeasureReceives { // such a sample reads the clock four times, others twice
		t = max(0, t-p.clock)
	}
	return t, err
}

// gap returns the additional time in ns of one more message in a burst. oneWay is the message's one-way time in ns.
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

// waits reports whether a send of a size waits for its receive. oneWay is the message's one-way time in ns.
func (p *rankPair) waits(bytes int64, oneWay float64) (bool, error) {
	delay := int64(4*oneWay) + 200_000
	samples, err := p.Run(Experiment{Kind: MeasureLateReceives, FromRank: p.a, ToRank: p.b, Bytes: bytes, DelayNs: delay, Samples: 7})
	if err != nil {
		return false, err
	}
	slices.Sort(samples)
	return samples[len(samples)/2] > delay/2, nil // the median, as either rank may be preempted in a sample
}

// fewest is the least number of gaps, and of calls, from which MeasuredTracingCost computes a result.
const fewest = 100

// MeasuredTracingCost computes the cost of tracing from a traced run: the gaps between consecutive calls, and the
// times of calls that do next to nothing. local is the untraced time of such a call. All are in ns.
func MeasuredTracingCost(gaps, calls []float64, local float64) (TracingCost, error) {
	if len(gaps) < fewest || len(calls) < fewest {
		return TracingCost{}, fmt.Errorf("what tracing costs: the trace has %d calls, too few", len(gaps)+len(calls))
	}
	return TracingCost{GapPs: ps(middle(gaps)), CallPs: ps(max(0, middle(calls)-local))}, nil
}

// middle returns the mean of the middle half of the values. It is finer than a median, which would be a multiple of the
// clock's resolution, as single times are.
func middle(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	v = v[len(v)/4 : len(v)-len(v)/4]
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// Numbers of bytes written or read at once, and of repetitions. File systems vary, so the median counts, however
// noisy it is.
const (
	fewBytes, manyBytes = 8, 4 << 20
	fileSamples         = 15
)

// files measures the MPI's operations on files by a number of ranks. Writes and reads go to the page cache only;
// MPI_File_sync also writes to the device.
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
	// perByte returns the time per additional byte, in ps, from the times in ns for fewBytes and manyBytes.
	perByte := func(few, many float64) float64 {
		return math.Round(max(0, many-few)*1000*1000/(manyBytes-fewBytes)) / 1000
	}
	write, read, sync := usual(MeasureFileWrites, fewBytes), usual(MeasureFileReads, fewBytes), usual(MeasureFileSyncs, fewBytes)
	f := &FileCosts{
		OpenPs: ps(usual(MeasureFileOpens, 0) / 2), LatencyPs: ps((write + read) / 2), SyncPs: ps(sync),
		WritePsPerByte: perByte(write, usual(MeasureFileWrites, manyBytes)), ReadPsPerByte: perByte(read, usual(MeasureFileReads, manyBytes)), SyncPsPerByte: perByte(sync, usual(MeasureFileSyncs, manyBytes)),
	}
	f.CollectivePsPerByte = math.Round(perByte(usual(MeasureFileWriteAlls, fewBytes), usual(MeasureFileWriteAlls, manyBytes))*1000/float64(ranks)) / 1000
	return f, err
}

// An ExperimentKind is what an experiment measures. The numbers equal those of replayer/measure.h.
type ExperimentKind int64

// The kinds of experiments. Bytes, DelayNs and other names are fields of Experiment.
const (
	MeasureEnd            ExperimentKind = iota // ends the measurement
	MeasureRoundTrips                           // InnerRepetitions round trips of a message between FromRank and ToRank
	MeasureSyncRoundTrips                       // as MeasureRoundTrips, with MPI_Ssend
	MeasureSends                                // the time of MPI_Isend alone
	// The time of MPI_Irecv, and of MPI_Wait after DelayNs, when the message has arrived.
	MeasureReceives
	MeasureBursts       // InnerRepetitions messages in a row, then a short reply
	MeasureLateReceives // MPI_Send to a receive that is posted DelayNs later
	MeasureCollectives  // InnerRepetitions calls in a row; FromRank is an index of MeasuredCollectives
	MeasureReduceLocals // MPI_Reduce_local of Bytes
	MeasureClockReads   // reading the clock
	MeasureLocalCalls   // MPI_Comm_rank
	// InnerRepetitions round trips, and as many exchanges by nonblocking calls: calls for a tracer, without samples.
	MeasureTracedExchanges
	MeasureFileOpens     // all ranks open and close a file together
	MeasureFileWrites    // FromRank writes the next bytes of a file
	MeasureFileReads     // FromRank reads what it has just written
	MeasureFileSyncs     // FromRank calls MPI_File_sync after it wrote the next bytes of a file
	MeasureFileWriteAlls // all ranks write Bytes each in one call
)

// MeasuredCollectives are the collectives that are measured, and for which machines may have tables. In each, all
// members wait for each other.
var MeasuredCollectives = []meaning.CollectiveOperation{meaning.CollectiveBarrier, meaning.CollectiveAllreduce, meaning.CollectiveAllgather, meaning.CollectiveAlltoall, meaning.CollectiveReduceScatter}

// An Experiment is a measurement that is repeated Samples times.
type Experiment struct {
	Kind             ExperimentKind
	FromRank, ToRank int
	Bytes            int64 // size of a message, or of what each member passes to a collective
	Samples          int
	InnerRepetitions int
	DelayNs          int64 // delay in ns, for MeasureReceives and MeasureLateReceives
}

// An ExperimentRunner makes experiments: the processes of a job, or formulas in a test.
type ExperimentRunner interface {
	// Seats returns where the ranks run, by rank.
	Seats() []ProcessorBinding
	// Run makes an experiment and returns its samples, each in ns.
	Run(Experiment) ([]int64, error)
}

// A ProcessorBinding is where a rank runs. Socket and Core are -1 if the rank isn't bound to a single one.
type ProcessorBinding struct {
	Host           string
	Socket, Core   int
	Sockets        int // number of sockets of the host
	HostProcessors int // number of the host's processors
	PerSocket      int // number of a socket's processors
	PerCore        int
}

// between returns the name of the nearest network level that two ranks share, as in distances.
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

// share returns how many ranks share a unit of a level (a core, a socket or a host), with one rank on each processor.
func (s ProcessorBinding) share(level string) int {
	switch level {
	case "core":
		return max(1, s.PerCore)
	case "socket":
		return max(1, s.PerSocket)
	}
	return max(1, s.HostProcessors)
}
