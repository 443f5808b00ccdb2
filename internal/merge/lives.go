package merge

import (
	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace"
)

// lives are the lives of segments of a block of ranks: those that differ in numbers
// alone are one set. They don't depend on classes.
type lives struct {
	sets  []*trace.Lives
	shape []string       // of each set
	index map[string]int // by shape
}

func leafLives(l *track.Lives, rank int) (v lives) {
	if l == nil || len(l.List) == 0 {
		return v
	}
	set := &trace.Lives{Ranks: column.Of(int64(rank)), Streams: l.Streams, Cut: l.Cut}
	for _, x := range l.List {
		set.List = append(set.List, trace.LifeColumns{
			Free: x.Free, Calls: column.Of(int64(x.Calls)), Segment: column.Of(x.Segment), Size: column.Of(int64(x.Size)),
		})
	}
	v.add(set, string(set.Shape()))
	return v
}

func (v *lives) add(set *trace.Lives, shape string) {
	if v.index == nil {
		v.index = make(map[string]int)
	}
	v.index[shape] = len(v.sets)
	v.sets, v.shape = append(v.sets, set), append(v.shape, shape)
}

// join adds the lives of the ranks behind.
func (v *lives) join(o *lives) {
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
			a.Calls.Concat(b.Calls)
			a.Segment.Concat(b.Segment)
			a.Size.Concat(b.Size)
		}
	}
}

func (v *lives) content() []trace.Lives {
	var list []trace.Lives
	for _, set := range v.sets {
		list = append(list, *set)
	}
	return list
}

func (v *lives) append(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(len(v.sets)))
	for _, set := range v.sets {
		b = set.AppendBinary(b)
	}
	return b
}

// decodeLives reads the lives of the ranks from first on.
func decodeLives(r *wire.Reader, first, ranks int) (v lives) {
	for range r.Count(4) {
		set := trace.DecodeLives(r, first+ranks)
		if r.Err() != nil {
			return v
		}
		if set.Ranks.At(0) < int64(first) {
			r.Fail("lives of rank %d, ranks begin at %d", set.Ranks.At(0), first)
			return v
		}
		shape := string(set.Shape())
		if _, ok := v.index[shape]; ok {
			r.Fail("lives of one shape occur twice")
			return v
		}
		v.add(&set, shape)
	}
	return v
}
