package lane

import (
	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/prefix"
	"github.com/spoor-hpc/spoor/internal/wire"
)

const (
	// maxCalls bounds the calls of a family, maxAllCalls those of all families of a
	// class, which are looked at one by one, and maxWork what of a class is: values
	// of all members.
	maxCalls    = 1 << 12
	maxAllCalls = 1 << 20
	maxWork     = 1 << 22
	// maxStepRuns is from where a step is another on too many ranks to be one.
	maxStepRuns = 64
	// MaxSymbols bounds the symbols of a grammar that are appended anew.
	MaxSymbols = 1 << 20
)

// Find returns the families that are a matter for a lane, with their steps. The streams, as
// all ranks repeat them, are asked for if there are families at all; nil if they can't be had.
func (c *Class) Find(streams func() []*grammar.Grammar) []*Family {
	list := c.families()
	if len(list) == 0 {
		return nil
	}
	s := &search{Class: c, streams: streams(), work: maxWork}
	for _, g := range s.streams {
		s.calls = append(s.calls, g.Counts(len(c.Like)))
	}
	return s.follow(list)
}

// search is what Find goes by.
type search struct {
	*Class
	streams []*grammar.Grammar
	calls   [][]uint64 // by stream, by terminal
	work    int
	id      []byte  // of the step at hand
	moved   []moved // by it
}

// A follower goes through the calls of a family in order and tells the steps between
// them apart.
type follower struct {
	*Family
	begun bool
	last  uint32            // terminal of the call before
	order []uint32          // of the steps: nothing is made of them until all are there
	kinds map[string]uint32 // steps by what they add
}

// follow finds the steps of families, of all in a walk through each stream, and keeps
// those that are a matter for a lane.
func (s *search) follow(list []*Family) (found []*Family) {
	of := make([]*follower, len(s.Like))
	left := uint64(maxAllCalls)
	for _, f := range list {
		if !s.oneStream(f) || f.Calls > left {
			continue
		}
		left -= f.Calls
		x := &follower{Family: f}
		for _, t := range f.Terminals {
			of[t] = x
		}
	}
	out := make(map[*follower]bool)
	for _, g := range s.streams {
		sums := prefix.New(g, func(t uint32) int64 {
			if of[t] != nil {
				return 1
			}
			return 0
		})
		for k := range sums.Total() {
			_, t := sums.Nth(k)
			if x := of[t]; !out[x] && !s.next(x, t) {
				out[x], x.order, x.kinds, x.By = true, nil, nil, nil
			}
		}
	}
	for _, f := range list {
		if x := of[f.Terminals[0]]; x != nil && !out[x] {
			order := grammar.NewBuilder()
			for _, n := range x.order {
				order.Append(n)
			}
			f.Steps = order.Grammar()
			found = append(found, f)
		}
	}
	return found
}

// oneStream counts the calls of a family; false if they are too many, or of several
// streams, whose order nobody knows.
func (s *search) oneStream(f *Family) bool {
	stream := -1
	for i, counts := range s.calls {
		for _, t := range f.Terminals {
			n := counts[t]
			if n == 0 {
				continue
			}
			if stream >= 0 && stream != i || n > maxCalls-f.Calls {
				return false
			}
			stream = i
			f.Calls += n
		}
	}
	return stream >= 0
}

// next takes the next call of a family; false if the family has too many kinds of steps.
func (s *search) next(x *follower, t uint32) bool {
	last := x.last
	x.last = t
	if !x.begun {
		x.begun, x.First = true, int(t)
		return true
	}
	if !s.step(x.Family, last, t) {
		return false
	}
	n, known := x.kinds[string(s.id)]
	if !known {
		// Values in no order are no lane.
		if n = uint32(len(x.kinds)); 2*uint64(n+1) > x.Calls {
			return false
		}
		if x.kinds == nil {
			x.kinds = make(map[string]uint32)
		}
		x.kinds[string(s.id)] = n
		x.By = append(x.By, s.columns())
	}
	x.order = append(x.order, n)
	return true
}

// step finds what the values of a family move by from one terminal to another, and
// what tells that from other steps; false if it is another on too many ranks.
func (s *search) step(f *Family, from, to uint32) bool {
	s.id, s.moved = s.id[:0], s.moved[:0]
	for _, i := range f.Values {
		x, y := &s.Columns[s.Num(int(from), i)], &s.Columns[s.Num(int(to), i)]
		v, constant := x.Same()
		w, both := y.Same()
		var d column.Column
		by := int64(uint64(w) - uint64(v))
		if both = both && constant; both {
			s.work--
		} else {
			s.work -= x.Len()
		}
		if s.work < 0 {
			return false
		}
		if !both {
			below := x.Values()
			at := 0
			for w := range y.All() {
				d.Append(int64(uint64(w) - uint64(below[at])))
				at++
			}
			by, both = d.Same()
		}
		if len(d.Runs()) > maxStepRuns {
			return false
		}
		if s.moved = append(s.moved, moved{by, d}); both {
			s.id = wire.AppendVarint(append(s.id, 0), by)
		} else {
			s.id = d.AppendRuns(append(s.id, 1))
		}
	}
	return true
}

// A moved value is what a step adds: the same on all ranks if the column is empty.
type moved struct {
	by int64
	on column.Column
}

// columns returns what the step that was found last adds.
func (s *search) columns() []column.Column {
	list := make([]column.Column, len(s.moved))
	for i, m := range s.moved {
		if list[i] = m.on; m.on.Len() == 0 {
			list[i] = column.Constant(m.by, s.Ranks)
		}
	}
	return list
}
