// Package trackwriter makes traces of calls that come one by one, from elsewhere than a recorder: those that
// another tool recorded, or a part of another trace. A Writer makes the track of a rank, a Collector merges all ranks'.
// Retimed makes a trace of the calls of another one at times that a simulation predicts.
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

// A Writer makes the track of a rank of its calls, which come one by one. Times of single calls go to
// a file without a name until they are asked for.
type Writer struct {
	*track.Builder
	streams []*stream
	spool   *spool
	values  map[string][]model.ValueStat
	paths   *track.Paths // of the first thread
	from    int64        // ns: when the rank's first call began
}

type stream struct {
	calls *grammar.Builder
	at    int64  // where the time line is that durations and gaps make
	end   uint64 // of the latest call
	away  uint64 // since then, and not the program's
	times spooled
}

// New begins the track of a rank, whose first call came so many ns after the zero that its calls' times count from.
func New(rank int, from uint64) *Writer {
	return &Writer{
		Builder: track.NewBuilder(rank), spool: &spool{most: mostInMemory}, values: make(map[string][]model.ValueStat),
		paths: track.NewPaths(rank, true, false), from: int64(from),
	}
}

func (w *Writer) stream(n int) *stream {
	for len(w.streams) <= n {
		w.streams = append(w.streams, &stream{calls: w.Stream(len(w.streams)), at: w.from, end: uint64(w.from)})
	}
	return w.streams[n]
}

// mostDistinct bounds a rank's distinct calls.
const mostDistinct = 1 << 28

// Call takes down a thread's next call and returns the number of its terminal, by which Time and Attach know it.
// The values are kept.
func (w *Writer) Call(thread int, function uint16, site uint64, vals []int64) (uint32, error) {
	if len(w.Sigs) >= mostDistinct {
		return 0, fmt.Errorf("more than %d distinct calls", mostDistinct)
	}
	n, known := w.Number(function, site, leaveOut(function, vals), "")
	if !known {
		w.paths.Place(function, site)
	}
	w.Again(thread, n)
	return n, nil
}

// Again takes down the same call as one before, by its number.
func (w *Writer) Again(thread int, n uint32) { w.stream(thread).calls.Append(n) }

// Away says that so many ns before the call that Time is told of next were not the program's.
func (w *Writer) Away(thread int, ns uint64) { w.stream(thread).away = ns }

// Time notes when the call began and ended that was just taken down, in ns.
func (w *Writer) Time(thread int, n uint32, start, end uint64) {
	s := w.streams[thread]
	gap := uint64(0)
	if start > s.end {
		gap = start - s.end
	}
	gap -= min(gap, s.away)
	s.away = 0
	if thread > 0 && s.calls.Len() == 1 {
		gap = 0 // before its first call a thread need not have been there
	}
	e := timing.Entry{Duration: end - start, Gap: gap}
	e.Jump = int64(start) - s.at - int64(gap)
	s.at = int64(end)
	s.end = max(s.end, end)
	w.Times[n].Add(e.Gap, e.Duration)
	if thread == 0 {
		w.paths.Add(n, e.Gap, e.Duration)
	}
	w.spool.add(&s.times, e)
}

// Attach keeps what was measured before a call.
func (w *Writer) Attach(n uint32, name string, value float64) {
	if math.IsNaN(value) || math.Abs(value) >= 1<<63 {
		return
	}
	list := w.values[name]
	for len(list) <= int(n) {
		list = append(list, model.ValueStat{})
	}
	list[n].Add(int64(math.Round(value)))
	w.values[name] = list
}

// Text makes a string known and returns its value.
func (w *Writer) Text(s string) int64 {
	h := symbol.HashString([]byte(s))
	w.Strings[h] = s
	return int64(h)
}

// Site makes a call site known by its hash.
func (w *Writer) Site(hash uint64, s track.Site) { w.Sites[hash] = s }

// Tables takes the strings and call sites of another track, so that its calls mean here what they mean there.
func (w *Writer) Tables(t *track.Track) {
	maps.Copy(w.Strings, t.Strings)
	maps.Copy(w.Sites, t.Sites)
	w.Outer, w.Inner = t.Outer, t.Inner
}

// Finish returns the track, with terminals in the order of their first occurrence. Times of single calls are
// there, as o says, until Close.
func (w *Writer) Finish(o timing.Options) (*track.Track, error) {
	w.stream(0)
	t, order, number := w.Builder.Finish(w.Grammars())
	values := make(map[string][]model.ValueStat)
	for name, of := range w.values {
		list := make([]model.ValueStat, len(order))
		for i, n := range order {
			if int(n) < len(of) {
				list[i] = of[n]
			}
		}
		values[name] = list
	}
	if len(values) > 0 {
		t.Values = values
	}
	t.Courses, _ = w.paths.Track(number)
	if o.Mode.Log() {
		t.Log = &track.Log{Options: o, TicksPerNs: 1}
		for _, s := range w.streams {
			t.Log.Streams = append(t.Log.Streams, w.spool.entries(&s.times))
		}
	}
	return t, w.spool.err
}

// Close lets the file go.
func (w *Writer) Close() { w.spool.close() }

// leaveOut leaves out displacements that are sums of the counts before them, as a recorder does.
func leaveOut(function uint16, vals []int64) []int64 {
	def, ok := mpi.ByID(function)
	adds := false
	for i := 0; ok && i < len(def.Params); i++ {
		adds = adds || def.Adds(i)
	}
	if !adds {
		return vals
	}
	l := signature.LayoutOf(def)
	spans, err := l.Spans(nil, vals)
	if err != nil {
		return vals
	}
	vals = slices.Clone(vals)
	for i := 1; i < len(spans); i++ {
		if p := spans[i].Param; p > 0 && p < len(def.Params) && def.Adds(p) && spans[i-1].Param == p-1 {
			signature.LeaveOut(vals[spans[i-1].At:spans[i-1].End], vals[spans[i].At:spans[i].End])
		}
	}
	return vals
}
