package trackwriter

import (
	"os"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A Collector makes a trace of tracks.
type Collector struct {
	times  *os.File // of single calls, without a name
	series *sections.Series
	tracks []*track.Track
	timing timing.Options
}

// NewCollector makes room for the tracks of so many ranks. o says what to keep of times.
func NewCollector(ranks int, o timing.Options) (*Collector, error) {
	times, err := sections.SeriesFile()
	if err != nil {
		return nil, err
	}
	return &Collector{times: times, series: &sections.Series{Data: times, Sizes: make([]int64, ranks)}, timing: o}, nil
}

// Add takes what a rank recorded; ranks come in rising order. The Writer can be closed then.
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
	if t.Timeless = c.timing.Mode == timing.None; t.Timeless {
		t.Courses = nil
		t.Process.StartNs, t.Process.SpanNs = 0, 0
		clear(t.Times)
	}
	if t.Log != nil {
		t.Log.StartNs = t.Process.StartNs
		n, err := merge.WriteSeries(t, c.times)
		if err != nil {
			return err
		}
		c.series.Sizes[t.Rank] = n
		t.Log = &track.Log{Options: t.Log.Options, TicksPerNs: 1, StartNs: t.Log.StartNs}
	}
	c.tracks = append(c.tracks, t)
	return nil
}

// Tracks returns those that were added, to be changed before they are merged.
func (c *Collector) Tracks() []*track.Track { return c.tracks }

// Content returns the trace. It is good until Close.
func (c *Collector) Content(meta map[string]string) (*sections.Content, error) {
	s, err := merge.MergeAll(c.tracks, len(c.series.Sizes))
	if err != nil {
		return nil, err
	}
	out, err := s.Content(meta)
	if err != nil {
		return nil, err
	}
	out.Timeless = c.timing.Mode == timing.None
	if c.timing.Mode.Log() {
		out.Series = c.series
	}
	for _, v := range c.timing.Environment() {
		if v[0] == timing.ErrorsVariable {
			out.Meta[model.MetaTimingError] = v[1]
		}
	}
	return out, nil
}

// Close lets go what a content is still read from.
func (c *Collector) Close() { c.times.Close() }
