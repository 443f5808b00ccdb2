package merge

import (
	"slices"

	"spoor/internal/column"
	"spoor/internal/grammar"
	"spoor/internal/wire"
	"spoor/mpi"
	"spoor/trace"
)

// minLaned is from how many distinct calls on a family is worth a look. Below, it
// has little to gain, and each call keeps times of its own.
const minLaned = 8

// A family is terminals of a class that differ in values only that may be in a lane.
type family struct {
	terminals []int
	function  *trace.Function
	values    []int // those that differ
	calls     uint64
	first     int // terminal of the first call
	steps     *grammar.Grammar
	by        [][]column.Column // by step, by value
}

// families returns the families with enough terminals for a lane.
func (c *class) families(sh *shape) []*family {
	inLane := make([]bool, len(sh.skeletons))
	for _, l := range sh.lanes {
		inLane[l.terminal] = true
	}
	// Most have too few terminals to begin with.
	members := make([]int, len(sh.skeletons))
	for t, first := range sh.like {
		if !inLane[t] {
			members[first]++
		}
	}
	functions := make(map[uint16]*trace.Function)
	by := make(map[string]*family)
	var list []*family
	var key []byte
	var vals []int64
	for t, first := range sh.like {
		if members[first] < minLaned || inLane[t] {
			continue
		}
		k := &sh.skeletons[t]
		f := functions[k.call]
		if f == nil {
			call, ok := mpi.ByID(k.call)
			if !ok {
				return nil
			}
			made := trace.FunctionOf(call)
			f = &made
			functions[k.call] = f
		}
		vals = vals[:0]
		for i := range k.width {
			vals = append(vals, c.values.cols[c.values.nums[sh.at(t, i)]].At(0))
		}
		movable := trace.Movable(f, vals)
		if len(movable) == 0 {
			continue
		}
		key = wire.AppendUvarint(key[:0], uint64(first))
		next := 0 // of movable, which is sorted
		for i := range k.width {
			if next < len(movable) && movable[next] == i {
				key = wire.AppendUvarint(key, uint64(i)) // which these are is told by values, so perhaps not the same everywhere
				next++
				continue
			}
			key = wire.AppendUint32(key, c.values.nums[sh.at(t, i)])
		}
		x := by[string(key)]
		if x == nil {
			x = &family{}
			by[string(key)] = x
			list = append(list, x)
			x.function = f
		}
		x.terminals = append(x.terminals, t)
	}
	return slices.DeleteFunc(list, func(x *family) bool {
		if len(x.terminals) < minLaned || !c.alike(sh, x.terminals[0], x.function) {
			return true
		}
		for i := range sh.skeletons[x.terminals[0]].width {
			num := c.values.nums[sh.at(x.terminals[0], i)]
			if slices.ContainsFunc(x.terminals, func(t int) bool { return c.values.nums[sh.at(t, i)] != num }) {
				x.values = append(x.values, i)
			}
		}
		return len(x.values) == 0
	})
}

// alike reports whether the same values of a terminal may move on all ranks: what
// tells where they stand is the same.
func (c *class) alike(sh *shape, t int, f *trace.Function) bool {
	of := func(i int) *column.Column { return &c.values.cols[c.values.nums[sh.at(t, i)]] }
	vals := make([]int64, sh.skeletons[t].width)
	for i := range vals {
		vals[i] = of(i).At(0)
	}
	_, forms, segments := trace.MovableBy(f, vals)
	for _, i := range forms {
		if _, same := of(i).Same(); !same {
			return false
		}
	}
	for _, i := range segments {
		for _, r := range of(i).Runs() {
			if (r.Start^vals[i])&7 != 0 || r.Count > 1 && r.Stride&7 != 0 {
				return false
			}
		}
	}
	return true
}
