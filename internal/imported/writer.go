package imported

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/internal/symbol"
	"github.com/spoor-hpc/spoor/internal/symbolise"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/phase"
	"github.com/spoor-hpc/spoor/internal/track"
)

// A writer makes a track of calls. Times of single calls go to a file without a name until they
// are asked for.
type writer struct {
	track   *track.Track
	known   map[string]uint32
	key     []byte
	streams []*stream
	spool   *spool
	values  map[string][]timing.Signed
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
	last  int    // place of the call before; track.First: none
}

type course struct{ terminal, from int }

func newWriter(rank int, from uint64, s *spool) *writer {
	return &writer{
		track: &track.Track{Rank: rank, Strings: make(map[uint64]string), Sites: make(map[uint64]track.Site)},
		known: make(map[string]uint32), spool: s, values: make(map[string][]timing.Signed), courses: make(map[course]*[2]phase.Line),
		place: make(map[[2]uint64]int), from: int64(from),
	}
}

func (w *writer) stream(n int) *stream {
	for len(w.streams) <= n {
		w.streams = append(w.streams, &stream{calls: grammar.NewBuilder(), at: w.from, end: uint64(w.from), last: track.First})
	}
	return w.streams[n]
}

// mostDistinct bounds a rank's distinct calls.
const mostDistinct = 1 << 28

// call takes a call down and returns the number of its terminal.
func (w *writer) call(thread int, function uint16, site uint64, vals []int64) (uint32, error) {
	s := w.stream(thread)
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
		at := [2]uint64{uint64(function), site}
		if _, ok := w.place[at]; !ok {
			w.place[at] = int(n)
		}
		w.places = append(w.places, w.place[at])
	}
	s.calls.Append(n)
	s.count++
	return n, nil
}

// time notes when the call began and ended that was just taken down, in ns.
func (w *writer) time(thread int, n uint32, start, end uint64) {
	s := w.streams[thread]
	gap := uint64(0)
	if start > s.end {
		gap = start - s.end
	}
	if thread > 0 && s.count == 1 {
		gap = 0 // before its first call a thread need not have been there
	}
	e := timing.Entry{Duration: end - start, Gap: gap}
	e.Jump = int64(start) - s.at - int64(gap)
	s.at = int64(end)
	s.end = max(s.end, end)
	t := &w.track.Times[n]
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
	w.spool.add(thread, e)
}

// attach keeps what was measured before a call.
func (w *writer) attach(_ int, n uint32, v measured) {
	if math.IsNaN(v.value) || math.Abs(v.value) >= 1<<63 {
		return
	}
	list := w.values[v.name]
	for len(list) <= int(n) {
		list = append(list, timing.Signed{})
	}
	list[n].Add(int64(math.Round(v.value)))
	w.values[v.name] = list
}

// text makes a string known and returns its value.
func (w *writer) text(s string) int64 {
	h := symbol.HashString([]byte(s))
	w.track.Strings[h] = s
	return int64(h)
}

// site makes a place in source code known.
func (w *writer) site(file string, line uint32, function string) uint64 {
	if file == "" && function == "" {
		return 0
	}
	module, id, offset := symbolise.SourceSite(file, line, function)
	if name, at, ok := moduleOffset(file); ok && line == 0 && function == "" {
		module, id, offset = name, "", at
	}
	h := symbol.HashString([]byte(fmt.Sprintf("%s\x00%s\x00%d", module, id, offset)))
	w.track.Sites[h] = track.Site{Module: module, BuildID: id, Offset: offset}
	return h
}

// moduleOffset reads what exports write of a place that they know no line of: module+0xoffset.
func moduleOffset(s string) (module string, offset uint64, ok bool) {
	i := strings.LastIndex(s, "+0x")
	if i <= 0 {
		return "", 0, false
	}
	n, err := fmt.Sscanf(s[i+1:], "0x%x", &offset)
	return s[:i], offset, n == 1 && err == nil
}

// finish returns the track, with terminals in the order of their first occurrence.
func (w *writer) finish(o timing.Options) *track.Track {
	t := *w.track
	w.stream(0)
	sigs, times := t.Sigs, t.Times
	t.Sigs, t.Times = nil, nil
	number := make([]int, len(sigs))
	for i := range number {
		number[i] = -1
	}
	values := make(map[string][]timing.Signed)
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
		list := make([]timing.Signed, len(order))
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
		for i := range w.streams {
			t.Log.Streams = append(t.Log.Streams, w.spool.entries(i))
		}
	}
	return &t
}

// traced are the courses, by the new numbers of terminals.
func (w *writer) traced(number []int) (list []track.Course) {
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

// A spool keeps times in files without names, one for each thread.
type spool struct {
	files []*os.File
	bufs  []*bufio.Writer
	err   error
	room  []byte
}

func (s *spool) add(thread int, e timing.Entry) {
	for len(s.files) <= thread && s.err == nil {
		f, err := os.CreateTemp("", "spoor-import-")
		if err != nil {
			s.err = err
			return
		}
		s.err = os.Remove(f.Name())
		s.files, s.bufs = append(s.files, f), append(s.bufs, bufio.NewWriterSize(f, 1<<16))
	}
	if s.err != nil {
		return
	}
	s.room = binary.AppendUvarint(s.room[:0], e.Duration)
	s.room = binary.AppendUvarint(s.room, e.Gap)
	s.room = binary.AppendVarint(s.room, e.Jump)
	_, s.err = s.bufs[thread].Write(s.room)
}

// entries yields the times of a thread.
func (s *spool) entries(thread int) iter.Seq2[[]timing.Entry, error] {
	return func(yield func([]timing.Entry, error) bool) {
		if thread >= len(s.files) {
			return
		}
		err := s.err
		if err == nil {
			err = s.bufs[thread].Flush()
		}
		if err == nil {
			_, err = s.files[thread].Seek(0, io.SeekStart)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		r := bufio.NewReaderSize(s.files[thread], 1<<16)
		list := make([]timing.Entry, 0, 1024)
		for {
			list = list[:0]
			for len(list) < cap(list) {
				duration, err := binary.ReadUvarint(r)
				if err == io.EOF {
					break
				}
				gap, _ := binary.ReadUvarint(r)
				jump, failed := binary.ReadVarint(r)
				if err != nil || failed != nil {
					yield(nil, io.ErrUnexpectedEOF)
					return
				}
				list = append(list, timing.Entry{Duration: duration, Gap: gap, Jump: jump})
			}
			if len(list) == 0 || !yield(list, nil) {
				return
			}
		}
	}
}

// close lets the files go.
func (s *spool) close() {
	for _, f := range s.files {
		f.Close()
	}
}
