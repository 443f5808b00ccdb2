// Package retime makes traces of the calls of another trace at other times: those that a
// simulation predicts, say.
package retime

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/phase"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// Times collects the times of all calls of ranks with one thread each, in a file without a name. Ranks
// may take turns.
type Times struct {
	r      *trace.Reader
	file   *os.File
	size   int64
	ranks  []times
	failed error
}

// times are those of a rank: what is in the file, in order, and what isn't yet.
type times struct {
	pieces []piece
	rest   []byte
	calls  uint64
}

type piece struct{ at, size int64 }

// room is how much of a rank's times is kept in memory, together and at most of one.
const (
	room    = 64 << 20
	mostOne = 1 << 16
)

// New makes room for the times of a trace's calls.
func New(r *trace.Reader) (*Times, error) {
	f, err := os.CreateTemp("", "spoor-times-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return &Times{r: r, file: f, ranks: make([]times, r.Ranks())}, nil
}

// Close lets them go.
func (t *Times) Close() { t.file.Close() }

// Add takes down the next call of a rank: how long it takes, and what passes before it.
func (t *Times) Add(rank int, gap, duration uint64) {
	x := &t.ranks[rank]
	x.rest = binary.AppendUvarint(binary.AppendUvarint(x.rest, gap), duration)
	x.calls++
	if len(x.rest) >= max(256, min(mostOne, room/len(t.ranks))) {
		t.flush(x)
	}
}

func (t *Times) flush(x *times) {
	if _, err := t.file.WriteAt(x.rest, t.size); err != nil && t.failed == nil {
		t.failed = err
	}
	x.pieces = append(x.pieces, piece{t.size, int64(len(x.rest))})
	t.size += int64(len(x.rest))
	x.rest = x.rest[:0]
}

// all yields the times of a rank's calls.
func (t *Times) all(rank int) iter.Seq2[timing.Entry, error] {
	return func(yield func(timing.Entry, error) bool) {
		x := &t.ranks[rank]
		var from []io.Reader
		for _, p := range x.pieces {
			from = append(from, io.NewSectionReader(t.file, p.at, p.size))
		}
		r := bufio.NewReader(io.MultiReader(append(from, &rest{x.rest})...))
		for range x.calls {
			gap, err := binary.ReadUvarint(r)
			duration, failed := binary.ReadUvarint(r)
			if err = errors.Join(err, failed); !yield(timing.Entry{Gap: gap, Duration: duration}, err) || err != nil {
				return
			}
		}
	}
}

// A rest is bytes to be read.
type rest struct{ b []byte }

func (r *rest) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b)
	r.b = r.b[n:]
	return n, nil
}

// Content returns the trace, which has the times of all calls. It is good until Close. meta is
// put over what the other trace has.
func (t *Times) Content(meta map[string]string) (*sections.Content, error) {
	if t.failed != nil {
		return nil, t.failed
	}
	start, _ := strconv.ParseInt(t.r.Meta()[trace.MetaStart], 10, 64)
	series := &sections.Series{Data: t.file, Sizes: make([]int64, t.r.Ranks())}
	begin := t.size
	var tracks []*track.Track
	for rank := range t.r.Ranks() {
		k, err := t.r.Rank(rank)
		if errors.Is(err, trace.ErrNoTrack) {
			continue
		}
		if err != nil {
			return nil, err
		}
		tr, err := t.track(k, start)
		if err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, err)
		}
		n, err := merge.WriteSeries(tr, io.NewOffsetWriter(t.file, t.size))
		if err != nil {
			return nil, err
		}
		t.size += n
		series.Sizes[rank] = n
		tr.Log = &track.Log{Options: tr.Log.Options, TicksPerNs: 1, StartNs: start}
		tracks = append(tracks, tr)
	}
	series.Data = io.NewSectionReader(t.file, begin, t.size-begin)
	s, err := merge.MergeAll(tracks, t.r.Ranks())
	if err != nil {
		return nil, err
	}
	all := t.r.Meta()
	delete(all, trace.MetaTimingError)
	all[trace.MetaOptions] = "timing=" + string(timing.Lossless)
	for k, v := range meta {
		all[k] = v
	}
	c, err := s.Content(all)
	if err != nil {
		return nil, err
	}
	c.Series = series
	c.Thinned, err = t.r.Thinned()
	return c, err
}

// track is the track of a rank with its times.
func (t *Times) track(k *trace.Rank, start int64) (*track.Track, error) {
	if n := k.Streams(); n > 1 {
		return nil, fmt.Errorf("%d threads: times of one alone are known", n)
	}
	if have, want := t.ranks[k.Number()].calls, k.Len(0); have != want {
		return nil, fmt.Errorf("times of %d calls, there are %d", have, want)
	}
	tr, err := k.Track()
	if err != nil {
		return nil, err
	}
	place := places(tr)
	type key struct{ terminal, from int }
	courses := make(map[key]*[2]phase.Line)
	from, calls := track.First, tr.Streams[0].Grammar.Cursor()
	for e, err := range t.all(k.Number()) {
		if err != nil {
			return nil, err
		}
		n, _ := calls.Next()
		tr.Times[n].Gap.Add(e.Gap)
		tr.Times[n].Duration.Add(e.Duration)
		tr.Process.SpanNs += int64(e.Gap + e.Duration)
		c := courses[key{int(n), from}]
		if c == nil {
			c = &[2]phase.Line{}
			courses[key{int(n), from}] = c
		}
		c[0].Add(e.Gap)
		c[1].Add(e.Duration)
		from = place[n]
	}
	for at, c := range courses {
		tr.Courses = append(tr.Courses, track.Course{Terminal: at.terminal, From: at.from, Gap: c[0].Phases(), Duration: c[1].Phases()})
	}
	slices.SortFunc(tr.Courses, func(a, b track.Course) int {
		if a.Terminal != b.Terminal {
			return a.Terminal - b.Terminal
		}
		return a.From - b.From
	})
	tr.Process.StartNs = start
	tr.Log = &track.Log{Options: timing.Options{Mode: timing.Lossless}, TicksPerNs: 1, StartNs: start, Streams: []iter.Seq2[[]timing.Entry, error]{t.blocks(k.Number())}}
	return tr, nil
}

// places are, by terminal, the lowest one of the same function and site.
func places(tr *track.Track) []int {
	first, of := make(map[[2]uint64]int), make([]int, len(tr.Sigs))
	for i := range tr.Sigs {
		at := [2]uint64{uint64(tr.Sigs[i].Call), tr.Sigs[i].Site}
		if _, ok := first[at]; !ok {
			first[at] = i
		}
		of[i] = first[at]
	}
	return of
}

// blocks yields the times of a rank's calls, a number at a time.
func (t *Times) blocks(rank int) iter.Seq2[[]timing.Entry, error] {
	return func(yield func([]timing.Entry, error) bool) {
		list := make([]timing.Entry, 0, 1024)
		for e, err := range t.all(rank) {
			if err != nil {
				yield(nil, err)
				return
			}
			if list = append(list, e); len(list) == cap(list) {
				if !yield(list, nil) {
					return
				}
				list = list[:0]
			}
		}
		if len(list) > 0 {
			yield(list, nil)
		}
	}
}
