package trackwriter

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A spool stores times of calls in an unnamed temporary file. Calls of several threads and ranks may be added
// alternately.
type spool struct {
	file *os.File // nil before the first write
	size int64
	most int // bytes of each thread's times that may be in memory
	err  error
}

// A spooled is the times of one thread: where parts of them are in the spool's file, in order, and those still in
// memory.
type spooled struct {
	pieces []extent
	rest   []byte
	calls  uint64
}

type extent struct{ at, size int64 }

// mostInMemory is spool.most unless there are very many threads.
const mostInMemory = 1 << 16

func (s *spool) add(to *spooled, e timing.CallTicks) {
	to.rest = binary.AppendUvarint(binary.AppendUvarint(to.rest, e.Duration), e.Gap)
	to.rest = binary.AppendVarint(to.rest, e.BeginOffset)
	to.calls++
	if len(to.rest) >= s.most && s.err == nil {
		s.err = s.flush(to)
	}
}

func (s *spool) flush(from *spooled) (err error) {
	if s.file == nil {
		if s.file, err = sections.CreateSeriesTempFile(); err != nil {
			return err
		}
	}
	n, err := s.file.WriteAt(from.rest, s.size)
	if last := len(from.pieces) - 1; last >= 0 && from.pieces[last].at+from.pieces[last].size == s.size {
		from.pieces[last].size += int64(n)
	} else {
		from.pieces = append(from.pieces, extent{s.size, int64(n)})
	}
	s.size += int64(n)
	from.rest = from.rest[:0]
	return err
}

// entries yields the times of a thread's calls, many at a time.
func (s *spool) entries(of *spooled) iter.Seq2[[]timing.CallTicks, error] {
	return func(yield func([]timing.CallTicks, error) bool) {
		if s.err != nil {
			yield(nil, s.err)
			return
		}
		var from []io.Reader
		for _, p := range of.pieces {
			from = append(from, io.NewSectionReader(s.file, p.at, p.size))
		}
		r := bufio.NewReaderSize(io.MultiReader(append(from, bytes.NewReader(of.rest))...), 1<<16)
		list := make([]timing.CallTicks, 0, 1024)
		for left := of.calls; left > 0; left -= uint64(len(list)) {
			list = list[:min(left, uint64(cap(list)))]
			for i := range list {
				duration, err := binary.ReadUvarint(r)
				gap, failed := binary.ReadUvarint(r)
				jump, broken := binary.ReadVarint(r)
				if err = errors.Join(err, failed, broken); err != nil {
					yield(nil, err)
					return
				}
				list[i] = timing.CallTicks{Duration: duration, Gap: gap, BeginOffset: jump}
			}
			if !yield(list, nil) {
				return
			}
		}
	}
}

// close closes the file, which thereby vanishes.
func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
	}
}

// A Collector makes a trace from the tracks of its ranks.
type Collector struct {
	times  *os.File // unnamed file with the times of each call of the tracks
	series *sections.Series
	tracks []*track.Track
	timing timing.Options
}

// NewCollector returns a Collector for a trace of this number of ranks. o determines which times the trace has.
func NewCollector(ranks int, o timing.Options) (*Collector, error) {
	times, err := sections.CreateSeriesTempFile()
	if err != nil {
		return nil, err
	}
	return &Collector{times: times, series: &sections.Series{Data: times, Sizes: make([]int64, ranks)}, timing: o}, nil
}

// Add adds the track that w made of a rank. Ranks must be added in rising order. Afterwards w may be closed.
func (c *Collector) Add(w *Writer, p track.Process) error {
	t, err := w.Finish(c.timing)
	if err != nil {
		return err
	}
	return c.add(t, p)
}

func (c *Collector) add(t *track.Track, p track.Process) error {
	p.Threads = len(t.Streams)
	t.Process = p
	if t.Timeless = c.timing.Mode == timing.ModeNone; t.Timeless {
		t.Courses = nil
		t.Process.StartNs, t.Process.SpanNs = 0, 0
		clear(t.Times)
	}
	if t.TimeLog != nil {
		t.TimeLog.StartNs = t.Process.StartNs
		n, err := merge.WriteCallTimes(t, c.times)
		if err != nil {
			return err
		}
		c.series.Sizes[t.Rank] = n
		t.TimeLog = &track.TimeLog{Options: t.TimeLog.Options, TicksPerNs: 1, StartNs: t.TimeLog.StartNs}
	}
	c.tracks = append(c.tracks, t)
	return nil
}

// Tracks returns the tracks added so far. They may be changed before Content merges them.
func (c *Collector) Tracks() []*track.Track { return c.tracks }

// Content merges the tracks into a trace. It is valid until Close.
func (c *Collector) Content(meta map[string]string) (*sections.Content, error) {
	s, err := merge.MergeAll(c.tracks, len(c.series.Sizes))
	if err != nil {
		return nil, err
	}
	out, err := s.Content(meta)
	if err != nil {
		return nil, err
	}
	out.NoTimes = c.timing.Mode == timing.ModeNone
	if c.timing.Mode.NeedsLog() {
		out.Series = c.series
	}
	for _, v := range c.timing.Environment() {
		if v[0] == timing.ErrorsVariable {
			out.Meta[model.MetaTimingError] = v[1]
		}
	}
	return out, nil
}

// Close closes the file that the content's times are read from.
func (c *Collector) Close() { c.times.Close() }
