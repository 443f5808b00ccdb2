// Package trackwriter makes traces of calls that come one by one, from elsewhere than a recorder: those that
// another tool recorded, or a part of another trace. A Writer makes the track of a rank, a Collector merges all ranks'.
// RetimedTrace makes a trace of the calls of another one at times that a simulation predicts.
package trackwriter

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A Writer makes a rank's track from its calls, one by one. The times of each call are kept in an unnamed file.
type Writer struct {
	*track.Builder
	NoLanes           bool // keep all values in signatures, none in lanes
	KeepRequestArrays bool // record each array of requests as a whole, even if it is as an earlier call left it
	sigs              signature.LaneTable
	key               signature.Key
	moves             signature.LaneCandidates
	words             []int32
	spans             []signature.Span
	posting           signature.PostedRequest // request that the current call makes; Kind RequestNone: none

	postings []signature.PostedRequest // by terminal: the request that its calls make
	layouts  map[uint16]*functionLayout
	streams  []*stream
	spool    *spool
	values   map[string][]model.AttachedStat
	paths    *track.TimesByPrevious // times by previous call of the first thread
	from     int64                  // begin of the rank's first call, in ns on the scale of SetLastCallTimes
}

type stream struct {
	calls *grammar.Builder
	last  uint32 // terminal of the stream's latest call
	at    int64  // end of the latest call, as the sum of all durations, gaps and offsets up to it
	end   uint64 // end of the latest call, in ns on the scale of SetLastCallTimes
	away  uint64 // time in ns since the latest call that was not the program's, from AddAside
	times spooled
	posts signature.PostedEnvelopes
	left  signature.RequestArrayState
	room  []int64
}

// NewWriter returns a Writer for a rank. from is the begin of its first call, in ns on the scale of SetLastCallTimes.
func NewWriter(rank int, from uint64) *Writer {
	return &Writer{
		Builder: track.NewBuilder(rank), spool: &spool{most: mostInMemory}, values: make(map[string][]model.AttachedStat),
		paths: track.NewTimesByPrevious(rank, true, false), from: int64(from), layouts: make(map[uint16]*functionLayout),
	}
}

func (w *Writer) stream(n int) *stream {
	for len(w.streams) <= n {
		w.streams = append(w.streams, &stream{calls: w.Stream(len(w.streams)), last: signature.NoTerminal, at: w.from, end: uint64(w.from)})
	}
	return w.streams[n]
}

// mostDistinct is the largest number of distinct calls that a rank may have.
const mostDistinct = 1 << 28

// A functionLayout describes the signatures of one function's calls.
type functionLayout struct {
	signature.Layout
	def    *mpi.Call // nil: the function is unknown
	adds   bool      // calls have arrays of displacements, omitted if they follow from the counts
	posts  bool      // calls make requests or return statuses
	leaves bool      // calls leave arrays of requests that later calls pass again
	lanes  bool      // some values of calls may go into lanes
}

func (w *Writer) layout(function uint16) *functionLayout {
	l := w.layouts[function]
	if l == nil {
		l = &functionLayout{}
		if def, ok := mpi.CallByID(function); ok {
			l.def, l.Layout, l.lanes = def, signature.LayoutOf(def), !def.CreatesOrFreesObject()
			l.leaves = l.Layout.LeavesRequestArray()
			for i := range def.Params {
				l.adds = l.adds || def.DisplsAreSums(i)

				l.posts = l.posts || def.Params[i].Kind == mpi.KindRequest || def.Params[i].Kind.IsStatus()
			}
		}
		w.layouts[function] = l
	}
	return l
}

// mayLane returns the positions in a signature's key of the values that may go into a lane.
func (w *Writer) mayLane(k signature.Key) []int32 {
	l := w.layout(k.FunctionID())
	if !l.lanes || w.NoLanes {
		return nil
	}
	spans, err := l.Spans(nil, k.Values())
	if err != nil {
		return nil
	}
	w.moves.FindIn(&l.Layout, spans, k.Values())
	w.words = w.words[:0]
	for _, at := range w.moves.Positions {
		w.words = append(w.words, at+signature.KeyHeaderWords)
	}
	return w.words
}

// AddCall adds a thread's next call. It returns the call's terminal, to be passed to SetLastCallTimes and AttachValue.
func (w *Writer) AddCall(thread int, function uint16, site uint64, vals []int64) (uint32, error) {
	if len(w.Times) >= mostDistinct {
		return 0, fmt.Errorf("more than %d distinct calls", mostDistinct)
	}
	s := w.stream(thread)
	w.key = w.leaveOut(append(w.key[:0], 0, 0), s, w.layout(function), vals)
	w.key.SetHeader(function, site)
	n := w.sigs.LookUpOrInsertInLane(s.last, thread, w.key, w.mayLane)
	for len(w.Times) < w.sigs.Len() {
		w.Times = append(w.Times, track.Times{})
		w.paths.AddTerminalSite(function, site)
	}
	if w.posting.Kind != signature.RequestNone {
		for len(w.postings) <= int(n) {
			w.postings = append(w.postings, signature.PostedRequest{})
		}
		w.postings[n] = w.posting
		s.posts.AddPosted(w.posting)
	}
	s.last = n
	s.calls.Append(n)
	return n, nil
}

// RepeatCall adds another call of terminal n. It returns false, without adding it, if the caller must use AddCall: if
// calls of n have values in a lane, or complete requests.
func (w *Writer) RepeatCall(thread int, n uint32) bool {
	if !w.sigs.IsPlain(n) || w.layout(w.sigs.PeekKey(n).FunctionID()).Completion.Completes {
		return false
	}
	s := w.stream(thread)
	if int(n) < len(w.postings) {
		s.posts.AddPosted(w.postings[n])
	}
	s.last = n
	s.calls.Append(n)
	return true
}

// AddAside says that this many ns before the thread's next call were not the program's.
func (w *Writer) AddAside(thread int, ns uint64) { w.stream(thread).away = ns }

// SetLastCallTimes sets begin and end, in ns, of the thread's latest call, which has terminal n.
func (w *Writer) SetLastCallTimes(thread int, n uint32, start, end uint64) {
	s := w.streams[thread]
	gap := uint64(0)
	if start > s.end {
		gap = start - s.end
	}
	gap -= min(gap, s.away)
	s.away = 0
	if thread > 0 && s.calls.Len() == 1 {
		// A thread other than the first may start later than the run, so the time before its first call is no gap.
		gap = 0
	}
	e := timing.CallTicks{Duration: end - start, Gap: gap}
	e.BeginOffset = int64(start) - s.at - int64(gap)
	s.at = int64(end)
	s.end = max(s.end, end)
	w.Times[n].Add(e.Gap, e.Duration)
	if thread == 0 {
		w.paths.Add(n, e.Gap, e.Duration)
	}
	w.spool.add(&s.times, e)
}

// AttachValue attaches a value to a call of terminal n, under a name.
func (w *Writer) AttachValue(n uint32, name string, value float64) {
	if math.IsNaN(value) || math.Abs(value) >= 1<<63 {
		return
	}
	list := w.values[name]
	for len(list) <= int(n) {
		list = append(list, model.AttachedStat{})
	}
	list[n].Add(int64(math.Round(value)))
	w.values[name] = list
}

// AddString adds a string to the track, and returns the number that signatures have in its place.
func (w *Writer) AddString(s string) int64 {
	h := symbol.HashString([]byte(s))
	w.Strings[h] = s
	return int64(h)
}

// AddSite adds a call site to the track, under the hash that signatures have.
func (w *Writer) AddSite(hash uint64, s track.Site) { w.Sites[hash] = s }

// AddTablesOf adds the strings and call sites of track t, so that values of its signatures may be used here.
func (w *Writer) AddTablesOf(t *track.Track) {
	maps.Copy(w.Strings, t.Strings)
	maps.Copy(w.Sites, t.Sites)
	w.CallerSite, w.SiteWithoutStack = t.CallerSite, t.SiteWithoutStack
}

// Finish returns the track, with terminals in the order of first occurrence. If o asks for the times of each call,
// they can be read until Close.
func (w *Writer) Finish(o timing.Options) (*track.Track, error) {
	w.stream(0)
	w.Signatures = nil
	for n := range uint32(w.sigs.Len()) {
		k := w.sigs.PeekKey(n)
		w.Signatures = append(w.Signatures, signature.Signature{FunctionID: k.FunctionID(), Site: k.Site(), Values: slices.Clone(k.Values())})
	}
	folding := w.sigs.Promote(w.Grammars())
	t, order, number := w.Builder.Finish(folding.Streams)
	values := make(map[string][]model.AttachedStat)
	for i, n := range order {
		if w.sigs.Lane(n) == nil {
			continue
		}
		l, ok := folding.LaneOf(n, i, t.Signatures[i].Values, nil)
		if !ok {
			return nil, fmt.Errorf("a lane without values")
		}
		t.Lanes = append(t.Lanes, l)
	}
	for i, n := range order {
		for _, m := range folding.PlainSignatures(n) {
			number[m] = i
			t.Times[i].Duration.Merge(w.Times[m].Duration)
			t.Times[i].Gap.Merge(w.Times[m].Gap)
		}
	}
	for name, of := range w.values {
		list := make([]model.AttachedStat, len(order))
		for n := range of {
			if i := number[n]; i >= 0 {
				list[i].Merge(of[n])
			}
		}
		values[name] = list
	}
	if len(values) > 0 {
		t.AttachedStats = values
	}
	t.Courses, _ = w.paths.CoursesAndHists(number)
	if o.Mode.NeedsLog() {
		t.TimeLog = &track.TimeLog{Options: o, TicksPerNs: 1}
		for _, s := range w.streams {
			t.TimeLog.Streams = append(t.TimeLog.Streams, w.spool.entries(&s.times))
		}
	}
	return t, w.spool.err
}

// Close closes the file with the times, which thereby vanishes.
func (w *Writer) Close() { w.spool.close() }

// leaveOut appends vals to to, without values that follow from others, just as a recorder does. It omits
// displacements that are sums of the counts before them, statuses that repeat what their receives passed, and arrays
// of requests that are as an earlier call left them.
func (w *Writer) leaveOut(to []int64, s *stream, l *functionLayout, vals []int64) []int64 {
	w.posting = signature.PostedRequest{}
	if !l.adds && !l.posts {
		return append(to, vals...)
	}
	spans, err := l.Spans(w.spans[:0], vals)
	if err != nil {
		return append(to, vals...)
	}
	w.spans = spans
	if l.posts {
		w.posting = l.PostedRequest(spans, vals)
		if !l.leaves || w.KeepRequestArrays {
			return s.posts.AppendOmittingStatuses(to, &l.Layout, spans, vals)
		}
		s.room = s.posts.AppendOmittingStatuses(s.room[:0], &l.Layout, spans, vals)
		if spans, err = l.Spans(spans[:0], s.room); err != nil {
			return append(to, s.room...)
		}
		w.spans = spans
		return s.left.AppendOmittingArray(to, &l.Layout, spans, s.room, s.posts.OneShotsMade)
	}
	from := len(to)
	to = append(to, vals...)
	vals = to[from:]
	for i := 1; i < len(spans); i++ {
		if p := spans[i].Param; p > 0 && p < len(l.def.Params) && l.def.DisplsAreSums(p) && spans[i-1].Param == p-1 {
			signature.OmitSummedDispls(vals[spans[i-1].First:spans[i-1].End], vals[spans[i].First:spans[i].End])
		}
	}
	return to
}
