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
// Terminals of all streams index Signatures and Times. They are numbered by first occurrence in a depth-first walk of
// the streams in order. So ranks that make the same calls with other parameters have equal Streams.
type Track struct {
	Rank int
	// Timeless is set if no times were recorded.
	Timeless            bool
	Streams             []Stream
	Signatures          []signature.Signature
	Times               []Times          // by terminal, like Signatures; all zero if Timeless
	StoredDistinctCalls DistinctCalls    // if not nil: the distinct calls, instead of Signatures and Times
	Hists               []Hist           // in rising order of Terminal and PreviousTerminal; nil if not recorded
	Courses             []Course         // in rising order of Name, Stream, Terminal and PreviousTerminal
	Lanes               []signature.Lane // in rising order of Terminal
	TimeLog             *TimeLog         // times of each call for the trace; nil if the trace is not to have them
	// Times of each call for analyses at the end of the run; nil if not recorded.
	AnalysisTimeLog *TimeLog
	AttachedStats   map[string][]model.AttachedStat // by name: summaries of the values attached to calls, by terminal
	Allocs          *AllocEvents                    // begins and ends of memory segments; nil if none was recorded
	// Uses of objects that another thread made, see PackHandover; nil without any.
	Handovers        *AllocEvents
	Strings          map[uint64]string
	Sites            map[uint64]Site
	CallerSite       map[uint64]uint64 // by hash of a site: hash of the site from which its function was called
	SiteWithoutStack map[uint64]uint64 // by hash of a site: hash of the same site without its callers
	Process          Process
}

// DropCallPositions discards what refers to calls by their position in a stream, for a track whose calls were added or
// removed.
func (t *Track) DropCallPositions() {
	t.Courses, t.Handovers = nil, nil
	t.Process.Asides = slices.DeleteFunc(slices.Clone(t.Process.Asides), func(a Aside) bool { return a.BeforeCall > 0 })
}

// A Sealed is a track whose content is hidden, to pass it through a package whose API must not expose tracks.
type Sealed struct{ t *Track }

// Seal hides a track in a Sealed.
func Seal(t *Track) Sealed { return Sealed{t} }

// Track returns the track that Seal hid.
func (h Sealed) Track() *Track { return h.t }

// DistinctCalls are the distinct calls of a track if these are not all in memory: there may be millions.
type DistinctCalls interface {
	Len() int
	// DescribeCall returns the id of the function and the site of distinct call n, and the number of its values.
	DescribeCall(n int) (call uint16, site uint64, width int)
	// Fill sets s to the signature of distinct call n. It reuses the memory of s.Values.
	Fill(n int, s *signature.Signature) error
	Times(n int) Times
	// ReleaseAll frees what the calls hold; they must not be used afterwards.
	ReleaseAll()
}

// AllDistinctCalls returns the distinct calls of a track, whether they are in memory or not.
func (t *Track) AllDistinctCalls() DistinctCalls {
	if t.StoredDistinctCalls != nil {
		return t.StoredDistinctCalls
	}
	return list{t}
}

// A list implements DistinctCalls for a track whose distinct calls are in memory.
type list struct{ *Track }

func (l list) Len() int { return len(l.Signatures) }

func (l list) DescribeCall(n int) (call uint16, site uint64, width int) {
	s := &l.Signatures[n]
	return s.FunctionID, s.Site, len(s.Values)
}

func (l list) Fill(n int, s *signature.Signature) error {
	from := &l.Signatures[n]
	s.FunctionID, s.Site, s.Values = from.FunctionID, from.Site, append(s.Values[:0], from.Values...)
	return nil
}

func (l list) Times(n int) Times { return l.Track.Times[n] }

func (l list) ReleaseAll() {}

// A Stream is the calls of one thread, in program order. Stream 0 is the
// thread that initialised MPI.
type Stream struct {
	Grammar *grammar.Grammar
}

// Times is summaries over the calls of one signature: of how long they took, and of the gaps before them.
type Times struct {
	Duration, Gap model.Stat
}

// Add adds the gap and the duration of one more call.
func (t *Times) Add(gap, duration uint64) {
	t.Duration.Add(duration)
	t.Gap.Add(gap)
}

// ScaleStat returns a summary with another number of samples, but the same mean, deviation and extremes.
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

// AllocEvents is the begins and ends of a process's memory segments, in the order of its calls.
type AllocEvents struct {
	DistinctEvents []AllocEvent       // distinct events, in order of first occurrence over the streams
	EventGrammars  []*grammar.Grammar // by stream of the track: its events in order, as indices in DistinctEvents
	Truncated      bool               // the recorder dropped further events because there were too many
}

// An AllocEvent is the begin or the end of a segment. A begin is recorded just before the first call that uses the
// segment, an end before the next call of the thread that freed it.
type AllocEvent struct {
	IsFree             bool
	CallsSincePrevious uint64 // number of the thread's calls since its previous event
	PackedSegment      int64  // id, device and class of the segment, packed as in signatures
	Size               uint64 // size of the segment in bytes; 0 in an end
}

// PackHandover packs a handover into AllocEvent.PackedSegment. It means that, from this call of the thread on, a
// handle refers to an object that another thread made. It consists of the handle's kind (as an index in
// model.HandoverKinds), the handle's number, and the maker's stream.
//
// Such an event is never an end. Its Size says which call made the object: the index of that call, less that of the
// previous event with the same maker. This difference may be negative.
func PackHandover(kind int, number int64, maker int) int64 {
	return number<<28 | int64(maker)<<4 | int64(kind)
}

// UnpackHandover reverses PackHandover.
func UnpackHandover(v int64) (kind int, number int64, maker int) {
	return int(v & 15), v >> 28, int(v >> 4 & (1<<24 - 1))
}

// A Hist is histograms of the gaps and durations in ns of one signature's calls: of all its calls, or of those that
// follow a call at one place.
type Hist struct {
	Terminal         int
	PreviousTerminal int // lowest terminal with the previous call's function and site, or NoPreviousTerminal
	Duration, Gap    *hist.Hist
}

// A Course is how times in ns developed over the run, for calls of one signature that follow a call at one place
// (function and site). The courses of a terminal without a name cover all of its calls.
//
// With a name it is how values attached to the calls under this name developed: the absolute sum of the negative ones
// in place of gaps, the sum of the positive ones in place of durations, and how many a call had.
type Course struct {
	Name                      string // name of the attached values; "": times
	Stream                    int    // with a name: stream of the calls; 0 for times
	Terminal                  int
	PreviousTerminal          int // lowest terminal with the previous call's function and site, or NoPreviousTerminal
	GapPhases, DurationPhases []timing.Phase
	CountPhases               []timing.Phase // phases of how many values a call had; nil for times
}

// A TimeLog is the times of every call, in ticks of the process's clock. It is read block by block, so that it need not
// fit into memory.
type TimeLog struct {
	Options    timing.Options // how to store the times in the trace
	TicksPerNs float64
	StartNs    int64 // wall clock time when the process's clock was 0, in ns since 1970
	// Streams yield the times of the calls of each stream, in order. They end after an error.
	Streams []iter.Seq2[[]timing.CallTicks, error]
	// DroppedTimes is, by stream, the calls before those whose times Streams yields; nil: no such calls.
	DroppedTimes []DroppedTimes
	// SchedulingDelays is, by stream, the delays that the kernel reported, in order of calls; nil: it reported none.
	SchedulingDelays [][]SchedulingDelay
	// AttachedNumbers yield, by stream, the values attached to its calls, in order of calls. They refer to names by
	// index in AttachedNames; nil without values. A name that could not be found is "".
	AttachedNumbers []iter.Seq2[[]timing.AttachedNumber, error]
	AttachedNames   []string
}

// DroppedTimes is the calls at the beginning of a stream whose times were discarded: how many, and when the last of
// them ended, in ticks.
type DroppedTimes struct {
	Calls       uint64
	LastEndTick int64
}

// A SchedulingDelay is time in which a thread was runnable but had no processor: before a call, and in it.
type SchedulingDelay struct {
	CallIndex              uint64
	BeforeCallNs, InCallNs int64
}

// NoPreviousTerminal is the PreviousTerminal of a stream's first call, which has no previous call.
const NoPreviousTerminal = -1

// A Site is a code address in a form that is the same in all processes.
type Site struct {
	Module  string // path of the executable or library
	BuildID string // build ID of the module in hex; "": it has none
	Offset  uint64 // address relative to the module's load address
}

// The ways in which a process ended, according to its records.
const (
	EndFinished = "finished" // the process reached MPI_Finalize
	EndCrashed  = "crashed"  // its records stop before MPI_Finalize: it crashed, was killed, or called exit
)

// Process describes the operating system process of a rank.
type Process struct {
	Host          string
	PID           int
	EndState      string // EndFinished or EndCrashed
	LostCalls     uint64 // calls that could not be recorded
	Threads       int
	StartNs       int64 // wall clock time of MPI_Init, in ns since 1970
	SpanNs        int64 // time from MPI_Init to the last record, without asides
	Asides        []Aside
	WorkingFolder string // working directory at the start; "": unknown
}

// An Aside is time of the first thread that belongs neither to its calls nor to the gaps between them.
type Aside struct {
	BeforeCall uint64 // index of the call that it precedes; a list of asides is in rising order
	Ns         int64
	TracingOff bool // tracing was off during the aside; false: the recorder or a plugin took the time
}

// HandoverEvents converts handovers to the form of Track.Handovers; nil without any. lists is by stream, in order of
// calls.
func HandoverEvents(lists [][]model.Handover) *AllocEvents {
	e := &AllocEvents{}
	number := make(map[AllocEvent]uint32)
	for _, list := range lists {
		b := grammar.NewBuilder()
		at, made := uint64(0), make(map[int]uint64)
		for _, h := range list {
			id := h.Handle
			if h.Kind != mpi.KindRequest {
				id -= model.FirstCreatedHandle
			}
			kind := slices.Index(model.HandoverKinds[:], h.Kind)
			x := AllocEvent{CallsSincePrevious: h.FirstUse - at, PackedSegment: PackHandover(kind, id, h.MakerStream), Size: h.MakerCall - made[h.MakerStream]}
			at, made[h.MakerStream] = h.FirstUse, h.MakerCall
			n, fresh := once.NumberOf(number, x)
			if fresh {
				e.DistinctEvents = append(e.DistinctEvents, x)
			}
			b.Append(uint32(n))
		}
		e.EventGrammars = append(e.EventGrammars, b.Grammar())
	}
	if len(e.DistinctEvents) == 0 {
		return nil
	}
	return e
}
