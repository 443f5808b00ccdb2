// Package trackwriter makes traces of calls that come one by one, from elsewhere than a recorder: those that
// another tool recorded, or a part of another trace. A Writer makes the track of a rank, a Collector merges all ranks'.
// Retimed makes a trace of the calls of another one at times that a simulation predicts.
package trackwriter

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/phase"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A Writer makes the track of a rank of its calls, which come one by one. Times of single calls go to
// a file without a name until they are asked for.
type Writer struct {
	track   *track.Track
	known   map[string]uint32
	key     []byte
	streams []*stream
	spool   *spool
	values  map[string][]model.ValueStat
	courses map[course]*[2]phase.Line
	places  []int // by terminal: the first one of the same function and site
	place   map[[2]uint64]int
	from    int64 // ns: when the rank's first call began
}

type stream struct {
	calls *grammar.Builder
	count uint64
	at    int64  // where the time line is that durations and gaps make
	end   uint64 // of the latest call
	away  uint64 // since then, and not the program's
	last  int    // place of the call before; track.First: none
	times spooled
}

type course struct{ terminal, from int }

// New begins the track of a rank, whose first call came so many ns after the zero that its calls' times count from.
func New(rank int, from uint64) *Writer {
	return &Writer{
		track: &track.Track{Rank: rank, Strings: make(map[uint64]string), Sites: make(map[uint64]track.Site)},
		known: make(map[string]uint32), spool: &spool{most: mostInMemory}, values: make(map[string][]model.ValueStat), courses: make(map[course]*[2]phase.Line),
		place: make(map[[2]uint64]int), from: int64(from),
	}
}

func (w *Writer) stream(n int) *stream {
	for len(w.streams) <= n {
		w.streams = append(w.streams, &stream{calls: grammar.NewBuilder(), at: w.from, end: uint64(w.from), last: track.First})
	}
	return w.streams[n]
}

// mostDistinct bounds a rank's distinct calls.
const mostDistinct = 1 << 28

// Call takes down a thread's next call and returns the number of its terminal, by which Time and Attach know it.
// The values are kept.
func (w *Writer) Call(thread int, function uint16, site uint64, vals []int64) (uint32, error) {
	s := w.stream(thread)
	vals = leaveOut(function, vals)
	w.key = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(w.key[:0], function), site)
	for _, v := range vals {
		w.key = binary.AppendVarint(w.key, v)
	}
	n, ok := w.known[string(w.key)]
	if !ok {
		if len(w.track.Sigs) >= mostDistinct {
			return 0, fmt.Errorf("more than %d distinct calls", mostDistinct)
		}
		n = uint32(len(w.track.Sigs))
		w.known[string(w.key)] = n
		w.track.Sigs = append(w.track.Sigs, signature.Signature{Call: function, Site: site, Vals: vals})
		w.track.Times = append(w.track.Times, track.Times{})
		w.placed(&w.track.Sigs[n])
	}
	s.calls.Append(n)
	s.count++
	return n, nil
}

// placed notes the place of the next terminal.
func (w *Writer) placed(s *signature.Signature) {
	at := [2]uint64{uint64(s.Call), s.Site}
	if _, ok := w.place[at]; !ok {
		w.place[at] = len(w.places)
	}
	w.places = append(w.places, w.place[at])
}

// Again takes down the same call as one before, by its number.
func (w *Writer) Again(thread int, n uint32) {
	s := w.stream(thread)
	s.calls.Append(n)
	s.count++
}

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
	if thread > 0 && s.count == 1 {
		gap = 0 // before its first call a thread need not have been there
	}
	e := timing.Entry{Duration: end - start, Gap: gap}
	e.Jump = int64(start) - s.at - int64(gap)
	s.at = int64(end)
	s.end = max(s.end, end)
	w.sum(thread, n, e)
	w.spool.add(&s.times, e)
}

// sum adds up the times of a thread's next call.
func (w *Writer) sum(thread int, n uint32, e timing.Entry) {
	s, t := w.stream(thread), &w.track.Times[n]
	t.Duration.Add(e.Duration)
	t.Gap.Add(e.Gap)
	if thread == 0 {
		k := course{int(n), s.last}
		c := w.courses[k]
		if c == nil {
			c = &[2]phase.Line{}
			w.courses[k] = c
		}
		c[0].Add(e.Gap)
		c[1].Add(e.Duration)
	}
	s.last = w.places[n]
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
	w.track.Strings[h] = s
	return int64(h)
}

// Site makes a call site known by its hash.
func (w *Writer) Site(hash uint64, s track.Site) { w.track.Sites[hash] = s }

// Tables takes the strings and call sites of another track, so that its calls mean here what they mean there.
func (w *Writer) Tables(t *track.Track) {
	maps.Copy(w.track.Strings, t.Strings)
	maps.Copy(w.track.Sites, t.Sites)
	w.track.Outer, w.track.Inner = t.Outer, t.Inner
}

// Finish returns the track, with terminals in the order of their first occurrence. Times of single calls are
// there, as o says, until Close.
func (w *Writer) Finish(o timing.Options) (*track.Track, error) {
	t := *w.track
	w.stream(0)
	sigs, times := t.Sigs, t.Times
	t.Sigs, t.Times = nil, nil
	number := make([]int, len(sigs))
	for i := range number {
		number[i] = -1
	}
	values := make(map[string][]model.ValueStat)
	var order []int
	for _, s := range w.streams {
		g := s.calls.Grammar()
		for _, n := range g.Terminals() {
			if number[n] < 0 {
				number[n] = len(order)
				order = append(order, int(n))
				t.Sigs, t.Times = append(t.Sigs, sigs[n]), append(t.Times, times[n])
			}
		}
		t.Streams = append(t.Streams, track.Stream{Grammar: g.Renumber(func(n uint32) uint32 { return uint32(number[n]) })})
	}
	for name, of := range w.values {
		list := make([]model.ValueStat, len(order))
		for i, n := range order {
			if n < len(of) {
				list[i] = of[n]
			}
		}
		values[name] = list
	}
	if len(values) > 0 {
		t.Values = values
	}
	t.Courses = w.traced(number)
	if o.Mode.Log() {
		t.Log = &track.Log{Options: o, TicksPerNs: 1}
		for _, s := range w.streams {
			t.Log.Streams = append(t.Log.Streams, w.spool.entries(&s.times))
		}
	}
	return &t, w.spool.err
}

// Close lets the file go.
func (w *Writer) Close() { w.spool.close() }

// traced are the courses, by the new numbers of terminals.
func (w *Writer) traced(number []int) (list []track.Course) {
	lowest := make(map[int]int) // by place: its terminal that comes first now
	for n, place := range w.places {
		if at, ok := lowest[place]; !ok || number[n] < at {
			lowest[place] = number[n]
		}
	}
	for k, c := range w.courses {
		from := k.from
		if from != track.First {
			from = lowest[from]
		}
		list = append(list, track.Course{Terminal: number[k.terminal], From: from, Gap: c[0].Phases(), Duration: c[1].Phases()})
	}
	slices.SortFunc(list, func(a, b track.Course) int {
		if a.Terminal != b.Terminal {
			return a.Terminal - b.Terminal
		}
		return a.From - b.From
	})
	return list
}
