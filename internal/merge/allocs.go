package merge

import (
	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/track"
)

// allocSets are the allocation events of a block of ranks, in sets. The ranks of a set have the same events except for
// numbers, such as sizes; they need not be in one class.
type allocSets struct {
	sets  []*sections.AllocEvents
	shape []string       // by set: its events without numbers
	index map[string]int // by shape: index of the set
}

func leafAllocs(l *track.AllocEvents, rank int) (v allocSets) {
	if l == nil || len(l.DistinctEvents) == 0 {
		return v
	}
	set := &sections.AllocEvents{Ranks: column.ColumnOf(int64(rank)), Streams: l.EventGrammars, Truncated: l.Truncated}
	for _, x := range l.DistinctEvents {
		set.List = append(set.List, sections.AllocColumns{
			IsFree: x.IsFree, CallsSincePrevious: column.ColumnOf(int64(x.CallsSincePrevious)), Segment: column.ColumnOf(x.PackedSegment), Size: column.ColumnOf(int64(x.Size)),
		})
	}
	v.add(set, string(set.Shape()))
	return v
}

func (v *allocSets) add(set *sections.AllocEvents, shape string) {
	if v.index == nil {
		v.index = make(map[string]int)
	}
	v.index[shape] = len(v.sets)
	v.sets, v.shape = append(v.sets, set), append(v.shape, shape)
}

// join adds o, the allocation events of the block of ranks that directly follows.
func (v *allocSets) join(o *allocSets) {
	for i, set := range o.sets {
		k, ok := v.index[o.shape[i]]
		if !ok {
			v.add(set, o.shape[i])
			continue
		}
		mine := v.sets[k]
		mine.Ranks.Concat(set.Ranks)
		for n := range set.List {
			a, b := &mine.List[n], &set.List[n]
			a.CallsSincePrevious.Concat(b.CallsSincePrevious)
			a.Segment.Concat(b.Segment)
			a.Size.Concat(b.Size)
		}
	}
}

func (v *allocSets) inFile() []sections.AllocEvents {
	var list []sections.AllocEvents
	for _, set := range v.sets {
		list = append(list, *set)
	}
	return list
}

func (v *allocSets) append(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(len(v.sets)))
	for _, set := range v.sets {
		b = set.AppendBinary(b)
	}
	return b
}

// decodeAllocs reads the allocation events of the ranks from first on.
func decodeAllocs(r *wire.Reader, first, ranks int) (v allocSets) {
	for range r.Count(4) {
		set := sections.DecodeAllocs(r, first+ranks)
		if r.Err() != nil {
			return v
		}
		if set.Ranks.At(0) < int64(first) {
			r.Fail("allocation events of rank %d, ranks begin at %d", set.Ranks.At(0), first)
			return v
		}
		shape := string(set.Shape())
		if _, ok := v.index[shape]; ok {
			r.Fail("allocation events of one shape occur twice")
			return v
		}
		v.add(&set, shape)
	}
	return v
}
