package handles

import (
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// GroupEmpty is the handle MPI_GROUP_EMPTY.
const GroupEmpty = 0x109

// DeriveGroup returns the members, in order, of the group that a call derives from other groups, as ranks in
// MPI_COMM_WORLD (-1: unknown). It returns false if the group is unknown, or if the call derives none. group returns
// the members of the group in the call's parameter with a name.
func DeriveGroup(a *Arguments, group func(name string) ([]int, bool)) (list []int, ok bool) {
	of := groupRules[a.Func.Name]
	if of == nil {
		return nil, false
	}
	defer func() {
		if p := recover(); p != nil {
			if p != ErrUnknown {
				panic(p)
			}
			list, ok = nil, false
		}
	}()
	return of(group, a)
}

// A groupRule computes the members of a group from those of others, as MPI-4.1, section 7.3.2, says.
type groupRule func(group func(name string) ([]int, bool), a *Arguments) ([]int, bool)

var groupRules = map[string]groupRule{
	"MPI_Group_incl":         places("ranks", included),
	"MPI_Group_excl":         places("ranks", excluded),
	"MPI_Group_range_incl":   places("ranges", included),
	"MPI_Group_range_excl":   places("ranges", excluded),
	"MPI_Group_union":        sets(func(a, b []int) []int { return slices.Concat(a, without(b, a)) }),
	"MPI_Group_difference":   sets(without),
	"MPI_Group_intersection": sets(func(a, b []int) []int { return without(a, without(a, b)) }),
}

// places returns the rule of a function whose parameters are a group, and ranks or ranges of ranks in it (param).
func places(param string, of func(group, at []int) []int) groupRule {
	return func(group func(name string) ([]int, bool), a *Arguments) ([]int, bool) {
		g, ok := group("group")
		if !ok {
			return nil, false
		}
		at, ok := ranksIn(a.list(param), param == "ranges", len(g))
		if !ok {
			return nil, false
		}
		return of(g, at), true
	}
}

// ranksIn returns the ranks that a parameter lists, or that its ranges have: triples of first, last and step. It
// returns false if one of them isn't in a group of this size.
func ranksIn(values []int64, ranges bool, size int) (at []int, ok bool) {
	add := func(k int64) bool {
		at = append(at, int(k))
		return k >= 0 && k < int64(size)
	}
	if !ranges {
		for _, k := range values {
			if !add(k) {
				return nil, false
			}
		}
		return at, true
	}
	for ; len(values) >= 3; values = values[3:] {
		first, last, step := values[0], values[1], values[2]
		for k := first; step > 0 && k <= last || step < 0 && k >= last; k += step {
			if !add(k) {
				return nil, false
			}
		}
		if step == 0 {
			return nil, false
		}
	}
	return at, true
}

// included returns the members of a group at the given ranks.
func included(group, at []int) []int {
	list := make([]int, len(at))
	for i, k := range at {
		list[i] = group[k]
	}
	return list
}

// excluded returns a group without the members at the given ranks.
func excluded(group, at []int) []int {
	list := make([]int, 0, len(group))
	for i, m := range group {
		if !slices.Contains(at, i) {
			list = append(list, m)
		}
	}
	return list
}

// sets returns the rule of a set operation on two groups. Its result is unknown if a member of either group is.
func sets(of func(a, b []int) []int) groupRule {
	return func(group func(name string) ([]int, bool), _ *Arguments) ([]int, bool) {
		a, ok := group("group1")
		b, too := group("group2")
		if !ok || !too || slices.Contains(a, -1) || slices.Contains(b, -1) {
			return nil, false
		}
		return of(a, b), true
	}
}

// without returns the elements of list that other lacks.
func without(list, other []int) []int {
	in := make(map[int]bool, len(other))
	for _, m := range other {
		in[m] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(m int) bool { return in[m] })
}

// picked returns the member of a group with a rank in it. It panics with ErrUnknown if the group has no such rank.
func picked(group []int, rank int) int {
	if rank < 0 || rank >= len(group) {
		panic(ErrUnknown)
	}
	return group[rank]
}

// InputArgumentsOf returns a call's inputs by parameter name. An array is its length and then its elements; any other input
// is one element, Value.Num.
func InputArgumentsOf(c *trace.Call) *Arguments {
	a := &Arguments{Func: c.Func, In: make(map[string][]int64)}
	for i := range c.Params {
		v := &c.Params[i].In
		switch {
		case v.Type == trace.TypeNone:
		case c.Params[i].Def.Dims > 0:
			list := make([]int64, 0, len(v.Elems)+1)
			list = append(list, int64(len(v.Elems)))
			for j := range v.Elems {
				list = append(list, v.Elems[j].Num)
			}
			a.In[c.Params[i].Name()] = list
		default:
			a.In[c.Params[i].Name()] = []int64{v.Num}
		}
	}
	return a
}
