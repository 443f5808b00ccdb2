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

// Clocks returns the clocks of the run, rank 0's first. It is empty if all ranks ran on one host, or if the run did
// not reach MPI_Finalize, where clocks are compared. Hosts with one kernel share a clock.
func (r *Reader) Clocks() ([]Clock, error) {
	t, err := r.clocks()
	if err != nil {
		return nil, err
	}
	return t.List, nil
}

// Clock returns how the rank's clock relates to rank 0's. It is the zero value if both have the same clock, or if
// clocks were not compared. Times in Process are on the rank's own clock.
func (k *Rank) Clock() (Clock, error) { return k.r.clockOf(k.number) }

func (r *Reader) clockOf(rank int) (Clock, error) {
	t, err := r.clocks()
	if err != nil || t.ClockOfRank == nil {
		return Clock{}, err
	}
	return t.List[t.ClockOfRank[rank]], nil
}

// line returns how times on the rank's clock are converted to the time line.
func (k *Rank) line() (l timeline.Clock, err error) {
	if l.Clock, err = k.Clock(); err != nil {
		return l, err
	}
	l.OriginNs, err = k.r.origin()
	return l, err
}

// findOrigin returns the origin of the time line in ns since 1970 on rank 0's clock. It is the beginning of the first
// call of the lowest rank that has a track.
func (r *Reader) findOrigin() (int64, error) {
	for rank, c := range r.places().ClassOfRank {
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
		return clock.ToTimeLine(ns), err
	}
	return 0, nil
}

// began returns when the rank's first call began, on the rank's own clock. It is exact if the trace has the time of
// each call, else the rounded time in the table of processes.
func (k *Rank) began() (int64, error) {
	s, err := k.openSeries()
	if err != nil {
		return 0, err
	}
	if s != nil {
		if ns, ok, err := s.FirstCallBeginNs(); ok || err != nil {
			return ns, err
		}
	}
	p, err := k.Process()
	return p.InitWallClockNs, err
}
