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
// Terminals of all streams index Signatures and Times. They are numbered by first
// occurrence in a depth-first walk of the streams in order, so that ranks
// which do the same things with other parameters have equal Streams.
type Track struct {
	Rank int
	// Timeless is set if no times were recorded.
	Timeless     bool
	Streams      []Stream
	Signatures   []signature.Signature
	Times        []Times                      // parallel to Signatures; all zero if Timeless
	Calls        Calls                        // replaces Signatures and Times if not nil
	Hists        []Hist                       // in rising order of Terminal and PreviousTerminal; nil if not recorded
	Courses      []Course                     // in rising order of Name, Stream, Terminal and PreviousTerminal
	Lanes        []signature.Lane             // in rising order of Terminal
	TimeLog      *TimeLog                     // times for the trace; nil if it is not to have single times
	AnalysisLog  *TimeLog                     // the same, for analyses at the end of the run; nil if not recorded
	Values       map[string][]model.ValueStat // values attached to calls, by name, parallel to Signatures
	Allocs       *AllocEvents                 // begins and ends of segments of memory; nil if none was recorded
	Handovers    *AllocEvents                 // objects that other threads made, see PackHandover; nil without any
	Strings      map[uint64]string
	Sites        map[uint64]Site
	CallerSite   map[uint64]uint64 // hash of a site → hash of the one its function was called from
	WithoutStack map[uint64]uint64 // the same keys → hash of the site without its callers
	Process      Process
}

// ForgetPlaces discards statistics that are by place of calls, after calls have moved.
func (t *Track) ForgetPlaces() {
	t.Courses, t.Handovers = nil, nil
	t.Process.Asides = slices.DeleteFunc(slices.Clone(t.Process.Asides), func(a Aside) bool { return a.BeforeCall > 0 })
}

// A Sealed is a track without its methods, for passing it through a package whose API must not expose tracks.
type Sealed struct{ t *Track }

// Seal wraps a track.
func Seal(t *Track) Sealed { return Sealed{t} }

// Track unwraps it.
func (h Sealed) Track() *Track { return h.t }

// Calls are distinct calls that are not all in memory: there may be millions.
type Calls interface {
	Len() int
	// DescribeCall returns function and site of call n, and the number of its values.
	DescribeCall(n int) (call uint16, site uint64, width int)
	// Fill sets s to call n. It reuses the memory of s.Vals.
	Fill(n int, s *signature.Signature) error
	Times(n int) Times
	// ReleaseAll ends the use of the calls.
	ReleaseAll()
}

// Distinct returns the distinct calls of a track, in memory or not.
func (t *Track) Distinct() Calls {
	if t.Calls != nil {
		return t.Calls
	}
	return list{t}
}

// A list is Calls that are in memory.
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

// AllocEvents is the begins and ends of memory segments, in the order of a process's calls.
type AllocEvents struct {
	List      []AllocEvent       // distinct events, in the order of first occurrence over the streams
	Streams   []*grammar.Grammar // sequences of indices of List, parallel to Track.Streams
	Truncated bool               // the recorder dropped later events, there were too many
}

// An AllocEvent is the begin or the end of a segment. A begin is recorded just before the first call that uses the
// segment, an end before the next call of the thread that freed it.
type AllocEvent struct {
	Free          bool
	Calls         uint64 // calls of the thread since the previous event
	PackedSegment int64  // id, device and class, packed as in signatures
	Size          uint64 // bytes; an end has 0
}

// PackHandover packs the PackedSegment of an event that means: from this call of the thread on, a handle refers to an
// object that another thread made. It consists of the kind (an index of model.HandoverKinds), the handle's number, and
// the maker's stream. The event is never an end. Its Size locates the call that made the object: it is that call's
// index minus the one of the previous event with the same maker, and may be negative.
func PackHandover(kind int, number int64, maker int) int64 {
	return number<<28 | int64(maker)<<4 | int64(kind)
}

// UnpackHandover reverses PackHandover.
func UnpackHandover(v int64) (kind int, number int64, maker int) {
	return int(v & 15), v >> 28, int(v >> 4 & (1<<24 - 1))
}

// A Hist is histograms of the calls of one signature in nanoseconds: of all calls, or of those that follow a call
// from one place.
type Hist struct {
	Terminal         int
	PreviousTerminal int // lowest terminal of the previous call's place (function and site), or NoPreviousTerminal
	Duration, Gap    *hist.Hist
}

// A Course is how times developed over the run, for the calls of one signature that follow a call from one site, in
// nanoseconds. With a name it is how attached values developed: their absolute negative sum in place of gaps, the
// positive sum in place of durations, and their count. The courses of a terminal without a name cover all of its
// calls.
type Course struct {
	Name                      string // name of the attached values; "": times
	Stream                    int    // of attached values; 0 for times
	Terminal                  int
	PreviousTerminal          int // the lowest terminal of that site, or NoPreviousTerminal
	GapPhases, DurationPhases []timing.Phase
	CountPhases               []timing.Phase // counts of attached values; nil for times
}

// A TimeLog is the times of every call, in ticks of the process's clock. It is read block by block, so that it need not
// fit into memory.
type TimeLog struct {
	Options    timing.Options // how to store them
	TicksPerNs float64
	StartNs    int64 // wall clock at tick 0, ns since 1970
	// Streams yield the calls of each stream in order. They end after an error.
	Streams []iter.Seq2[[]timing.CallEntry, error]
	// DroppedTimes is by stream the calls before those that Streams yields; nil: none.
	DroppedTimes []DroppedTimes
	// SchedulingDelays is by stream the scheduling delays that the kernel reported, in order of calls; nil: it reported none.
	SchedulingDelays [][]SchedulingDelay
	// Values yield by stream the values attached to its calls, in order of calls, with indices of Names; nil if
	// there are none. A missing name is "".
	Values []iter.Seq2[[]timing.AttachedNumber, error]
	Names  []string
}

// DroppedTimes is the calls at the beginning of a stream whose times were discarded: their number, and the end of
// the last one.
type DroppedTimes struct {
	Calls uint64
	Tick  int64
}

// A SchedulingDelay is time in which a thread was runnable, but had no processor, before a call or in it.
type SchedulingDelay struct {
	Call                   uint64
	BeforeCallNs, InCallNs int64
}

// NoPreviousTerminal is the PreviousTerminal of a stream's first call, which has no previous call.
const NoPreviousTerminal = -1

// A Site is a code address in a form that is the same in every process.
type Site struct {
	Module  string // path of the executable or library
	BuildID string // hex, may be empty
	Offset  uint64 // relative to the module's load address
}

// The ways in which a process ended, according to its records.
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
	SpanNs    int64 // time from MPI_Init to the last record without asides
	Asides    []Aside
	Folder    string // working folder at the start; "" if not known
}

// An Aside is time of the first thread that belongs neither to its calls nor to the gaps between them.
type Aside struct {
	BeforeCall uint64 // the call that it precedes; asides are in rising order
	Ns         int64
	TracingOff bool // tracing was switched off; false: the recorder or a plugin took the time
}

// HandoverEvents converts handovers, by stream in the order of calls, to the form of a track; nil if there are
// none.
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
			x := AllocEvent{Calls: h.FirstUse - at, PackedSegment: PackHandover(kind, id, h.MakerStream), Size: h.MakerCall - made[h.MakerStream]}
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
