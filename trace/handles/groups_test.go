package handles_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// Groups of groups are what the standard says of each member: whether it is there, and where.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		world := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7}).Draw(t, "world")
		a, b := world[:rapid.IntRange(0, 8).Draw(t, "a")], rapid.Permutation(world).Draw(t, "b")[:rapid.IntRange(0, 8).Draw(t, "size of b")]
		of := func(name string, in map[string][]int64) ([]int, bool) {
			def, known := mpi.CallNamed(name)
			if !known {
				t.Fatal(name)
			}
			return handles.DeriveGroup(&handles.Arguments{Func: &trace.Function{ID: def.ID, Name: name}, In: in}, func(param string) ([]int, bool) {
				if param == "group2" {
					return b, true
				}
				return a, true
			})
		}
		kept := func(list []int, keep func(m int) bool) []int {
			return slices.DeleteFunc(slices.Clone(list), func(m int) bool { return !keep(m) })
		}
		hold := func(name string, in map[string][]int64, want []int) {
			if got, ok := of(name, in); !ok || !slices.Equal(got, want) {
				t.Errorf("%s of %d and %d, %v: %d, %v; want %d", name, a, b, in, got, ok, want)
			}
		}
		hold("MPI_Group_union", nil, slices.Concat(a, kept(b, func(m int) bool { return !slices.Contains(a, m) })))
		hold("MPI_Group_intersection", nil, kept(a, func(m int) bool { return slices.Contains(b, m) }))
		hold("MPI_Group_difference", nil, kept(a, func(m int) bool { return !slices.Contains(b, m) }))
		if len(a) == 0 {
			return
		}
		first, last, step := rapid.IntRange(0, len(a)-1).Draw(t, "first"), rapid.IntRange(0, len(a)-1).Draw(t, "last"), rapid.IntRange(1, 3).Draw(t, "step")
		if last < first {
			step = -step
		}
		in := map[string][]int64{"ranges": {3, int64(first), int64(last), int64(step)}, "ranks": {0}}
		var chosen []int
		for k := first; step > 0 && k <= last || step < 0 && k >= last; k += step {
			chosen = append(chosen, a[k])
			in["ranks"] = append(in["ranks"], int64(k))
			in["ranks"][0]++
		}
		rest := kept(a, func(m int) bool { return !slices.Contains(chosen, m) })
		for _, how := range []string{"", "_range"} {
			hold("MPI_Group"+how+"_incl", in, chosen)
			hold("MPI_Group"+how+"_excl", in, rest)
		}
		for _, bad := range []map[string][]int64{
			{"ranks": {1, int64(len(a))}, "ranges": {3, 0, int64(len(a)), 1}}, {"ranks": {1, -1}, "ranges": {3, 0, 1, 0}}, {"ranks": {2, 0}, "ranges": {2, 0}},
		} {
			for _, name := range []string{"MPI_Group_incl", "MPI_Group_range_excl"} {
				if list, ok := of(name, bad); ok {
					t.Errorf("%s with %v: %d", name, bad, list)
				}
			}
		}
	})
}
