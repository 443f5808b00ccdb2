package trace

import (
	"sync"

	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// A latestTimes keeps what was last asked for of section times: a rank's time line needs it several times,
// and so do those of the next ranks if they are of the same class.
type latestTimes struct {
	mu    sync.Mutex
	known bool
	class int
	times []Times
	none  bool // there are no histograms; those that there are, each reader has for itself
}

// of returns the times of a class, nil if they aren't the last, or if it has histograms and these are wanted.
func (l *latestTimes) of(class int, histograms bool) []Times {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known && l.class == class && (l.none || !histograms) {
		return l.times
	}
	return nil
}

// timeLineTimes returns the statistics of a class by terminal, which must not be changed, and its histograms.
func (r *Reader) timeLineTimes(class int) ([]Times, []sections.Histogram, error) {
	l := &r.latest
	if known := l.of(class, true); known != nil {
		return known, nil, nil
	}
	times, hists, err := r.timesOf(class)
	if err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.class, l.times, l.none = true, class, times, len(hists) == 0
	return times, hists, nil
}
