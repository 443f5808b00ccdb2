package when

import (
	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/trace"
)

// IterationFinder finds the iterations of a trace's loop. If the trace stores the run's iterations, it uses their loop. It
// is not safe for concurrent use.
type IterationFinder struct {
	r     *trace.Reader
	x     *waits.Places
	loops map[int]*Loop              // by stream
	of    map[[2]int]*RankIterations // by class and stream, for classes whose ranks all have the same iterations
}

// NewIterationFinder prepares the search in a trace.
func NewIterationFinder(r *trace.Reader) (*IterationFinder, error) {
	x, err := waits.NewPlaces(r)
	return &IterationFinder{r, x, make(map[int]*Loop), make(map[[2]int]*RankIterations)}, err
}

// IterationsOf returns the iterations of a rank's thread; nil if the thread has none.
func (i *IterationFinder) IterationsOf(k *trace.Rank, stream int) (*RankIterations, error) {
	w, err := i.r.When()
	if err != nil {
		return nil, err
	}
	if stream == 0 && w != nil && w.Loop != nil {
		return k.WhenLoopIterations()
	}
	loop, known := i.loops[stream]
	if !known {
		if loop, err = i.find(stream); err != nil {
			return nil, err
		}
		i.loops[stream] = loop
	}
	at := [2]int{k.Class(), stream}
	if known, ok := i.of[at]; ok && k.ClassHasEqualCounts() {
		return known, nil
	}
	o := orderOf(k, stream, i.x)
	if loop == nil { // ranks differ, as a master and its workers do: each has its own loop
		mean, err := means(i.r, k.Class())
		if err != nil {
			return nil, err
		}
		loop = choose(o.propose(mean), 1)
	}
	rounds, err := roundsOf(i.r, o, loop)
	if err == nil {
		i.of[at] = rounds
	}
	return rounds, err
}

// BeginTimes returns when the iterations with these numbers begin on the first thread of a rank, and that rank's
// number. Rank -1 means the first rank that has iterations; ns is nil if none has. The last iteration's number plus 1
// means the loop's end.
func (i *IterationFinder) BeginTimes(rank int, iterations ...uint64) (of int, ns []int64, err error) {
	for k, err := range i.r.RanksWithTrack() {
		if err != nil {
			return 0, nil, err
		}
		if rank >= 0 && rank != k.Number() {
			continue
		}
		rounds, err := i.IterationsOf(k, 0)
		if err != nil {
			return 0, nil, err
		}
		if rounds == nil {
			continue
		}
		for _, n := range iterations {
			// An iteration begins where the preceding call ends: the computation before its first call is part of it.
			for c, err := range k.TimedCallsFrom(0, max(1, rounds.BeginPosition(n))-1) {
				if err != nil {
					return 0, nil, err
				}
				ns = append(ns, c.EndNs())
				break
			}
		}
		return k.Number(), ns, nil
	}
	return 0, nil, nil
}

// find returns the loop that most ranks have in a thread.
func (i *IterationFinder) find(stream int) (*Loop, error) {
	all, ranks, lists := make(votes), 0, make(map[int]map[key]vote)
	for k, err := range i.r.RanksWithTrack() {
		if err != nil {
			return nil, err
		}
		if k.Streams() <= stream || k.CallCount(stream) == 0 {
			continue
		}
		list := lists[k.Class()]
		if list == nil || !k.ClassHasEqualCounts() {
			mean, err := means(i.r, k.Class())
			if err != nil {
				return nil, err
			}
			list = orderOf(k, stream, i.x).propose(mean)
			lists[k.Class()] = list
		}
		own := make(votes)
		for at, v := range list {
			own[at] = vote{1, k.Number(), v.share}
		}
		join(all, own)
		ranks++
	}
	return choose(all, ranks), nil
}
