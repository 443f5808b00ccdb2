package trace

import (
	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/wire"
)

func (r *Reader) readClocks() (t *sections.ClockTable, err error) {
	if !r.hasSection(container.Clocks) {
		return &sections.ClockTable{}, nil
	}
	err = r.section(container.Clocks, func(w *wire.Reader) { t = sections.DecodeClocks(w, r.ranks.Ranks) })
	return t, err
}

// Clocks returns the clocks of the run, that of rank 0 first. It is empty if all
// ranks read one clock, or if clocks were not compared since the run did not end in
// MPI_Finalize.
func (r *Reader) Clocks() ([]Clock, error) {
	t, err := r.clocks()
	if err != nil {
		return nil, err
	}
	return t.List, nil
}

// Clock returns how the rank's clock relates to rank 0's: the zero value if it is
// the same, or if they were not compared. Processes have times of their own clocks.
func (k *Rank) Clock() (Clock, error) { return k.r.clockOf(k.number) }

func (r *Reader) clockOf(rank int) (Clock, error) {
	t, err := r.clocks()
	if err != nil || t.Of == nil {
		return Clock{}, err
	}
	return t.List[t.Of[rank]], nil
}

// A line is where a rank's clock is on the run's time line.
type line struct {
	clock  Clock
	origin int64
}

func (l line) common(ns int64) int64 { return l.clock.Common(ns) - l.origin }

func (l line) own(ns int64) int64 { return l.clock.Own(ns + l.origin) }

// line returns the rank's.
func (k *Rank) line() (l line, err error) {
	if l.clock, err = k.Clock(); err != nil {
		return l, err
	}
	l.origin, err = k.r.origin()
	return l, err
}

// findOrigin finds where the time line begins, the first call of the first rank that left a
// track: ns since 1970 on rank 0's clock.
func (r *Reader) findOrigin() (int64, error) {
	for rank, c := range r.places().Class {
		if c < 0 {
			continue
		}
		k, err := r.Rank(rank)
		if err != nil {
			return 0, err
		}
		clock, err := k.Clock()
		if err != nil {
			return 0, err
		}
		ns, err := k.began()
		return clock.Common(ns), err
	}
	return 0, nil
}

// began is when the rank's first call began, on its own clock: as its times have it if each
// call has its own, else as the table of processes does, which is rounded.
func (k *Rank) began() (int64, error) {
	s, err := k.openSeries()
	if err != nil {
		return 0, err
	}
	if s != nil && s.Blocks(0) > 0 {
		b, err := k.block(s, 0, 0)
		if err != nil {
			return 0, err
		}
		if len(b.entries) > 0 {
			at, _, _, _ := s.advance(b.drift, b.entries[0], b.kinds[0], s.Begin(0, 0))
			return s.StartNs + s.Ns(at), nil
		}
	}
	p, err := k.Process()
	return p.StartNs, err
}
