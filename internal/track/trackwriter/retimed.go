package trackwriter

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

// RetimedTrace makes a trace of the calls of another trace with new times, such as those that a simulation predicts.
// Calls of several ranks and threads may be added alternately.
type RetimedTrace struct {
	r     *trace.Reader
	spool spool
	ranks [][]retimed // by rank and stream
	all   *Collector
}

// A retimed is a thread of the trace and its calls' new times.
type retimed struct {
	spooled
	end uint64 // end of the last call added, in ns since the run began
}

// retimedRoom is the memory in bytes for the times of all threads together. When it is full, times go to a file.
const retimedRoom = 64 << 20

// NewRetimedTrace returns a RetimedTrace for the calls of a trace.
func NewRetimedTrace(r *trace.Reader) (*RetimedTrace, error) {
	all, err := NewCollector(r.Ranks(), timing.Options{Mode: timing.ModeLossless})
	if err != nil {
		return nil, err
	}
	t := &RetimedTrace{r: r, ranks: make([][]retimed, r.Ranks()), all: all}
	threads := 1
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return nil, err
		}
		t.ranks[k.Number()] = make([]retimed, k.Streams())
		threads += k.Streams()
	}
	t.spool.most = max(256, min(mostInMemory, retimedRoom/threads))
	return t, nil
}

// Close discards the times that were added.
func (t *RetimedTrace) Close() {
	t.spool.close()
	t.all.Close()
}

// AddCallTimes adds the times of the next call of a thread: begin and end in ns since the run began.
func (t *RetimedTrace) AddCallTimes(rank, stream int, begin, end uint64) {
	s := &t.ranks[rank][stream]
	e := timing.CallTicks{Gap: begin - s.end, Duration: end - begin}
	if stream > 0 && s.calls == 0 {
		// A thread other than the first may start later than the run, so the time before its first call is no gap.
		e.Gap, e.BeginOffset = 0, int64(begin)
	}
	s.end = end
	t.spool.add(&s.spooled, e)
}

// Content returns the trace with the new times, which must be there for all calls. It is valid until Close. meta
// replaces entries of the original trace's metadata.
func (t *RetimedTrace) Content(meta map[string]string) (*sections.Content, error) {
	start, _ := strconv.ParseInt(t.r.Meta()[model.MetaStart], 10, 64)
	for k, err := range t.r.RanksWithTrack() {
		if err != nil {
			return nil, err
		}
		if err := t.add(k, start); err != nil {
			return nil, fmt.Errorf("rank %d: %w", k.Number(), err)
		}
	}
	all := t.r.Meta()
	delete(all, model.MetaTimingError)
	all[model.MetaRecorderOptions] = "timing=" + string(timing.ModeLossless)
	maps.Copy(all, meta)
	c, err := t.all.Content(all)
	if err != nil {
		return nil, err
	}
	if c.MergedSizes, err = t.r.MergedSizes(); err != nil {
		return nil, err
	}
	c.SyntheticMessages, err = t.r.SyntheticMessages()
	return c, err
}

// add adds the track of rank k, with its new times, to the collector. start is the run's wall clock start in ns since
// 1970.
func (t *RetimedTrace) add(k *trace.Rank, start int64) error {
	threads := t.ranks[k.Number()]
	for stream := range threads {
		if got, want := threads[stream].calls, k.CallCount(stream); got != want {
			return fmt.Errorf("thread %d: times of %d calls, there are %d", stream, got, want)
		}
	}
	handed, err := k.Track()
	if err != nil {
		return err
	}
	tr := track.Sealed(handed).Track()
	paths := track.TimesByPreviousOf(tr, true, false)
	tr.TimeLog = &track.TimeLog{Options: t.all.timing, TicksPerNs: 1}
	p := tr.Process
	p.StartNs = start
	for stream := range threads {
		of := &threads[stream]
		calls := tr.Streams[stream].Grammar.Cursor()
		for list, err := range t.spool.entries(&of.spooled) {
			if err != nil {
				return err
			}
			for _, e := range list {
				n, _ := calls.Next()
				tr.Times[n].Add(e.Gap, e.Duration)
				if stream == 0 {
					paths.Add(n, e.Gap, e.Duration)
				}
			}
		}
		p.SpanNs = max(p.SpanNs, int64(of.end))
		tr.TimeLog.Streams = append(tr.TimeLog.Streams, t.spool.entries(&of.spooled))
	}
	tr.Courses, _ = paths.CoursesAndHists(nil)
	return t.all.add(tr, p)
}
