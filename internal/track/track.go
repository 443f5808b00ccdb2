// Package track defines what one rank hands to the merge: its compressed
// track and the tables that the track refers to. It is plain data, made by
// package capture (from a live ring or from what a dead process left behind)
// and, of calls that come one by one from elsewhere, by a Builder.
package track

import (
	"iter"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A Track is everything recorded of one rank.
//
// Terminals of all streams index Sigs and Times. They are numbered by first
// occurrence in a depth-first walk of the streams in order, so that ranks
// which do the same things with other parameters have equal Streams.
type Track struct {
	Rank int
	// Timeless says that nothing was kept of times.
	Timeless     bool
	Streams      []Stream
	Signatures   []signature.Signature
	Times        []Times                      // parallel to Sigs; none of them has a time if Timeless
	Calls        Calls                        // in place of Sigs and Times, if not nil
	Hists        []Hist                       // in rising order of Terminal and From; nil if there are none
	Courses      []Course                     // in rising order of Name, Stream, Terminal and From
	Lanes        []signature.Lane             // in rising order of Terminal
	TimeLog      *TimeLog                     // for the trace; nil if single times are not to be in it
	AnalysisLog  *TimeLog                     // the same, but for what is found out before the trace is done; nil if they were not kept
	Values       map[string][]model.ValueStat // what was attached to calls, by name, parallel to Sigs
	Allocs       *AllocEvents                 // of segments of memory; nil if there are none
	Handovers    *AllocEvents                 // of objects that other threads made, see PackHandover; nil if there are none
	Strings      map[uint64]string
	Sites        map[uint64]Site
	CallerSite   map[uint64]uint64 // hash of a site → hash of the one its function was called from
	WithoutStack map[uint64]uint64 // of those: hash of the site without its stack
	Process      Process
}

// ForgetPlaces has the track forget what it has of calls by their place, where others are now.
func (t *Track) ForgetPlaces() {
	t.Courses, t.Handovers = nil, nil
	t.Process.Asides = slices.DeleteFunc(slices.Clone(t.Process.Asides), func(a Aside) bool { return a.BeforeCall > 0 })
}

// A Sealed is a track that goes through a package whose API says nothing of tracks.
type Sealed struct{ t *Track }

// Seal and Track are the two ends of its way.
func Seal(t *Track) Sealed { return Sealed{t} }

// Track returns what was handed over.
func (h Sealed) Track() *Track { return h.t }

// Calls are distinct calls that are not in memory all at once: there may be millions.
type Calls interface {
	Len() int
	// DescribeCall returns what call n is without its values, and how many these are.
	DescribeCall(n int) (call uint16, site uint64, width int)
	// Fill fills in call n. The values are room to be used again.
	Fill(n int, s *signature.Signature) error
	Times(n int) Times
	// ReleaseAll says that nobody asks any more.
	ReleaseAll()
}

// Distinct returns the distinct calls of a track, wherever they are.
func (t *Track) Distinct() Calls {
	if t.Calls != nil {
		return t.Calls
	}
	return list{t}
}

// A list is Calls in memory.
type list struct{ *Track }

func (l list) Len() int { return len(l.Signatures) }

func (l list) DescribeCall(n int) (call uint16, site uint64, width int) {
	s := &l.Signatures[n]
	return s.Call, s.Site, len(s.Values)
}

func (l list) Fill(n int, s *signature.Signature) error {
	from := &l.Signatures[n]
	s.Call, s.Site, s.Values = from.Call, from.Site, append(s.Values[:0], from.Values...)
	return nil
}

func (l list) Times(n int) Times { return l.Track.Times[n] }

func (l list) ReleaseAll() {}

// A Stream is the calls of one thread, in program order. Stream 0 is the
// thread that initialised MPI.
type Stream struct {
	Grammar *grammar.Grammar
}

// Times summarises the calls of one signature: how long they took, and how
// long the thread was outside MPI before them.
type Times struct {
	Duration, Gap model.Stat
}

// Add takes the times of one more call.
func (t *Times) Add(gap, duration uint64) {
	t.Duration.Add(duration)
	t.Gap.Add(gap)
}

// ScaleStat scales a summary to another number of samples.
func ScaleStat(s model.Stat, count uint64) model.Stat {
	if s.Count == 0 || count == s.Count {
		return s
	}
	out := s
	out.Count = count
	out.Sum = uint64(s.Mean()*float64(count) + 0.5)
	out.SetDeviation(s.Deviation())
	return out
}

// AllocEvents is where segments of memory begin and end among the calls of a process.
type AllocEvents struct {
	List      []AllocEvent       // all different, numbered by first occurrence over the streams
	Streams   []*grammar.Grammar // numbers of List, parallel to Track.Streams
	Truncated bool               // there were more than a recorder keeps
}

// An AllocEvent is a segment's beginning, just before the first call that uses it, or its
// end, before the next call of the thread that freed it.
type AllocEvent struct {
	Free    bool
	Calls   uint64 // of the thread, since the event before
	Segment int64  // as in signatures: id, device and class
	Size    uint64 // bytes; 0 of an end
}

// PackHandover is the Segment of an event that says which object a handle means from a call of the thread on: its kind,
// as in model.HandoverKinds, its number and the stream of the call that made it. The event is no end. Its Size, of either
// sign, is how many calls later that call is than the one of the event before that has the same maker.
func PackHandover(kind int, number int64, maker int) int64 {
	return number<<28 | int64(maker)<<4 | int64(kind)
}

// UnpackHandover takes apart what PackHandover made.
func UnpackHandover(v int64) (kind int, number int64, maker int) {
	return int(v & 15), v >> 28, int(v >> 4 & (1<<24 - 1))
}

// A Hist has histograms of the calls of one signature, all of them or those that
// came after a call of one place, in nanoseconds.
type Hist struct {
	Terminal         int
	PreviousTerminal int // the lowest terminal of the place before (same function and site), or First
	Duration, Gap    *hist.Hist
}

// A Course is how the times of one signature's calls that came after a call from one
// site changed over the run, in nanoseconds; or how that changed which was attached to them under a name:
// what is below zero in place of gaps, what is above in place of durations, and how many numbers.
// All courses of a terminal with times together have all of its calls.
type Course struct {
	Name                      string // "" of times
	Stream                    int    // 0 of times
	Terminal                  int
	PreviousTerminal          int // the lowest terminal of that site, or First
	GapPhases, DurationPhases []timing.Phase
	CountPhases               []timing.Phase // nil of times
}

// A TimeLog has the times of every call, in ticks of the process's clock. It is read a
// block at a time, so that it need not be in memory as a whole.
type TimeLog struct {
	Options    timing.Options // how to store them
	TicksPerNs float64
	StartNs    int64 // wall clock when ticks are 0, ns since 1970
	// Streams yield, for each stream, its calls in order; after an error no more.
	Streams []iter.Seq2[[]timing.CallEntry, error]
	// DroppedTimes says, for each stream, which calls come before those; nil: none.
	DroppedTimes []DroppedTimes
	// Delays are each stream's delays that the kernel reported, in order of calls; nil: it reported none.
	Delays [][]Delay
	// Values yield, for each stream, what was attached to its calls, in order of these, under one of Names; nil if
	// nothing was. Names may be missing, "".
	Values []iter.Seq2[[]timing.AttachedNumber, error]
	Names  []string
}

// DroppedTimes are calls at the beginning of a stream whose times are no longer there: how many, and when the last one ended.
type DroppedTimes struct {
	Calls uint64
	Tick  int64
}

// A Delay is time in which a thread was ready to run and had no processor: before a call of its stream, outside of calls, and in it.
type Delay struct {
	Call                   uint64
	BeforeCallNs, InCallNs int64
}

// NoPreviousTerminal is where a stream's first call comes from.
const NoPreviousTerminal = -1

// A Site is a code address that means the same in every process.
type Site struct {
	Module  string // path of the executable or library
	BuildID string // hex, may be empty
	Offset  uint64 // from the module's load base
}

// How a process ended, according to its records.
const (
	Finished = "finished" // reached MPI_Finalize
	Crashed  = "crashed"  // records stop before that: also if it was killed, or called exit
)

// Process describes the operating system process of a rank.
type Process struct {
	Host      string
	PID       int
	End       string // Finished or Crashed
	LostCalls uint64 // calls that could not be recorded
	Threads   int
	StartNs   int64 // wall clock of MPI_Init, ns since 1970
	SpanNs    int64 // from MPI_Init to the last record, but for the asides
	Asides    []Aside
	Folder    string // working folder at the start; "" if not known
}

// An Aside is time of the first thread that belongs neither to its calls nor to the gaps between them.
type Aside struct {
	BeforeCall uint64 // before which of its calls; in rising order
	Ns         int64
	TracingOff bool // tracing was switched off; else the recorder or a plugin took it
}

// HandoverEvents returns handovers, by stream in the order of their calls, as a track has them; nil if there are none.
func HandoverEvents(lists [][]model.Handover) *AllocEvents {
	e := &AllocEvents{}
	number := make(map[AllocEvent]uint32)
	for _, list := range lists {
		b := grammar.NewBuilder()
		at, made := uint64(0), make(map[int]uint64)
		for _, h := range list {
			id := h.Handle
			if h.Kind != mpi.KindRequest {
				id -= model.FirstLocal
			}
			kind := slices.Index(model.HandoverKinds[:], h.Kind)
			x := AllocEvent{Calls: h.FirstUse - at, Segment: PackHandover(kind, id, h.MakerStream), Size: h.MakerCall - made[h.MakerStream]}
			at, made[h.MakerStream] = h.FirstUse, h.MakerCall
			n, fresh := once.NumberOf(number, x)
			if fresh {
				e.List = append(e.List, x)
			}
			b.Append(uint32(n))
		}
		e.Streams = append(e.Streams, b.Grammar())
	}
	if len(e.List) == 0 {
		return nil
	}
	return e
}
