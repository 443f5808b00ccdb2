package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
)

func (r *Reader) readClocks() (t *sections.ClockTable, err error) {
	t = &sections.ClockTable{}
	err = r.optional(container.SectionClocks, func(w *wire.Reader) { t = sections.DecodeClocks(w, r.ranks.Ranks) })
	return t, err
}

// Clocks returns the clocks of the run, that of rank 0 first. It is empty if all
// ranks ran on one host, or if clocks were not compared since the run did not end in
// MPI_Finalize. Several hosts with one kernel have one clock.
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
	if err != nil || t.ClockOfRank == nil {
		return Clock{}, err
	}
	return t.List[t.ClockOfRank[rank]], nil
}

// line returns the rank's.
func (k *Rank) line() (l timeline.Clock, err error) {
	if l.Clock, err = k.Clock(); err != nil {
		return l, err
	}
	l.OriginNs, err = k.r.origin()
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
		return clock.ToRunTime(ns), err
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
	if s != nil {
		if ns, ok, err := s.FirstBegan(); ok || err != nil {
			return ns, err
		}
	}
	p, err := k.Process()
	return p.StartNs, err
}
