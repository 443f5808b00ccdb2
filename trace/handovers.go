package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

func (r *Reader) readHandovers() (*sections.AllocTable, error) {
	return r.allocTable(container.SectionHandovers)
}

// Handovers returns which calls of a stream are the first that use an object of another thread, in order. It is empty
// if the trace has no section of handovers, as traces of old releases and imported ones.
func (k *Rank) Handovers(stream int) ([]Handover, error) {
	t, err := k.r.handovers()
	if err != nil {
		return nil, err
	}
	at, ok := t.SetAndIndexOfRank[k.number]
	if !ok {
		return nil, nil
	}
	set := &t.Sets[at[0]]
	if stream >= len(set.Streams) {
		return nil, nil
	}
	var list []Handover
	index, made := uint64(0), make(map[int]uint64)
	for n := range set.Streams[stream].All() {
		e := &set.List[n]
		kind, number, maker := track.UnpackHandover(e.Segment.At(at[1]))
		index += uint64(e.CallsSincePrevious.At(at[1]))
		made[maker] += uint64(e.Size.At(at[1]))
		if kind >= len(model.HandoverKinds) || maker >= k.Streams() || made[maker] >= k.CallCount(maker) || index >= k.CallCount(stream) || len(list) == maxHandovers {
			break // too many, or the file is damaged: the rest is left out
		}
		name := model.HandoverKinds[kind]
		if name != mpi.KindRequest {
			number += FirstCreatedHandle
		}
		list = append(list, Handover{Kind: name, Handle: number, FirstUse: index, MakerStream: maker, MakerCall: made[maker]})
	}
	return list, nil
}

// maxHandovers limits the list of first uses of other threads' objects that Handovers returns, as a damaged file may
// claim any number.
const maxHandovers = 1 << 22

// SameHandovers reports whether the streams of all given ranks are known to have the same handovers: objects with the
// same numbers, of the same threads, at the same calls.
func (r *Reader) SameHandovers(ranks []int) (bool, error) {
	t, err := r.handovers()
	if err != nil || len(t.Sets) == 0 {
		return err == nil, err
	}
	first, some := t.SetAndIndexOfRank[ranks[0]]
	for _, rank := range ranks {
		if at, ok := t.SetAndIndexOfRank[rank]; ok != some || at[0] != first[0] {
			return false, nil
		}
	}
	if !some {
		return true, nil
	}
	for i := range t.Sets[first[0]].List {
		e := &t.Sets[first[0]].List[i]
		for _, c := range []*column.Column{&e.CallsSincePrevious, &e.Segment, &e.Size} {
			if _, same := c.Uniform(); !same {
				return false, nil
			}
		}
	}
	return true, nil
}
