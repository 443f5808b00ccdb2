package trackwriter

import (
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Retimed makes a trace of the calls of another trace at other times: those that a simulation predicts, say.
// Ranks have one thread each, and may take turns.
type Retimed struct {
	r     *trace.Reader
	spool spool
	ranks []spooled
	all   *Collector
}

// retimedRoom is how much of all ranks' times is kept in memory.
const retimedRoom = 64 << 20

// NewRetimed makes room for the times of a trace's calls.
func NewRetimed(r *trace.Reader) (*Retimed, error) {
	all, err := NewCollector(r.Ranks(), timing.Options{Mode: timing.Lossless})
	most := max(256, min(mostInMemory, retimedRoom/max(1, r.Ranks())))
	return &Retimed{r: r, spool: spool{most: most}, ranks: make([]spooled, r.Ranks()), all: all}, err
}

// Close lets them go.
func (t *Retimed) Close() {
	t.spool.close()
	t.all.Close()
}

// Add takes down the next call of a rank: how long it takes, and what passes before it.
func (t *Retimed) Add(rank int, gap, duration uint64) {
	t.spool.add(&t.ranks[rank], timing.Entry{Gap: gap, Duration: duration})
}

// Content returns the trace, which has the times of all calls. It is good until Close. meta is
// put over what the other trace has.
func (t *Retimed) Content(meta map[string]string) (*sections.Content, error) {
	start, _ := strconv.ParseInt(t.r.Meta()[model.MetaStart], 10, 64)
	for rank := range t.r.Ranks() {
		k, err := t.r.Rank(rank)
		if errors.Is(err, trace.ErrNoTrack) {
			continue
		}
		if err == nil {
			err = t.add(k, start)
		}
		if err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	all := t.r.Meta()
	delete(all, model.MetaTimingError)
	all[model.MetaOptions] = "timing=" + string(timing.Lossless)
	for k, v := range meta {
		all[k] = v
	}
	c, err := t.all.Content(all)
	if err != nil {
		return nil, err
	}
	c.Thinned, err = t.r.Thinned()
	return c, err
}

// add collects the track of a rank with its times.
func (t *Retimed) add(k *trace.Rank, start int64) error {
	if n := k.Streams(); n > 1 {
		return fmt.Errorf("%d threads: times of one alone are known", n)
	}
	of := &t.ranks[k.Number()]
	if want := k.Len(0); of.calls != want {
		return fmt.Errorf("times of %d calls, there are %d", of.calls, want)
	}
	handed, err := k.Track()
	if err != nil {
		return err
	}
	tr := track.Handed(handed).Track()
	w, number := New(tr.Rank, 0), make([]int, len(tr.Sigs))
	w.track = tr
	for i := range tr.Sigs {
		w.placed(&tr.Sigs[i])
		number[i] = i
	}
	p, calls := tr.Process, tr.Streams[0].Grammar.Cursor()
	p.StartNs = start
	for list, err := range t.spool.entries(of) {
		if err != nil {
			return err
		}
		for _, e := range list {
			n, _ := calls.Next()
			w.sum(0, n, e)
			p.SpanNs += int64(e.Gap + e.Duration)
		}
	}
	tr.Courses = w.traced(number)
	tr.Log = &track.Log{Options: t.all.timing, TicksPerNs: 1, Streams: []iter.Seq2[[]timing.Entry, error]{t.spool.entries(of)}}
	return t.all.add(tr, p)
}
