package handles

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A stateType is a datatype's properties in bytes: size of the data, lower and upper bound, true lower and upper bound.
type stateType struct {
	size, low, high, trueLow, trueHigh int64
	align                              int64 // largest alignment of a predefined datatype in it; 0: unknown
}

func (t *stateType) extent() int64 { return t.high - t.low }

// typeValues is the number of values of a new datatype in signatures.
const typeValues = 5

// made returns the datatype's properties as the values that a signature has for a new datatype.
func (t *stateType) made() []int64 {
	return []int64{t.size, t.low, t.extent(), t.trueLow, t.trueHigh - t.trueLow}
}

func (o *HandleState) datatype(handle int64) stateType {
	if t, ok := o.types[handle]; ok {
		return t
	}
	size, ok1 := mpi.PredefinedTypeSize(handle)
	extent, ok2 := mpi.PredefinedTypeExtent(handle)
	if !ok1 || !ok2 || size != extent {
		panic(ErrUnknown) // where e.g. MPI_DOUBLE_INT has its second element depends on the library
	}
	return stateType{size: size, high: extent, trueHigh: extent, align: size & -size}
}

// A typeBlock is consecutive copies of a datatype, the first one at byte at.
type typeBlock struct {
	at, copies int64
	of         stateType
}

// assembled returns the datatype that consists of blocks. Of many evenly spaced blocks, the first and the last give the
// right bounds, though not the size.
func assembled(list []typeBlock) (t stateType) {
	first := true
	for _, b := range list {
		t.size += b.copies * b.of.size
		t.align = max(t.align, b.of.align)
		if b.copies <= 0 {
			continue
		}
		last := b.at + (b.copies-1)*b.of.extent()
		low, high := min(b.at, last), max(b.at, last)
		if first {
			t.low, t.high, t.trueLow, t.trueHigh = low+b.of.low, high+b.of.high, low+b.of.trueLow, high+b.of.trueHigh
		}
		first = false
		t.low, t.high = min(t.low, low+b.of.low), max(t.high, high+b.of.high)
		t.trueLow, t.trueHigh = min(t.trueLow, low+b.of.trueLow), max(t.trueHigh, high+b.of.trueHigh)
	}
	return t
}

// evenly returns the datatype of count blocks, each of copies copies of a datatype. Their beginnings are stride bytes
// apart.
func evenly(count, copies, stride int64, of stateType) stateType {
	if count <= 0 || copies <= 0 {
		return stateType{align: of.align}
	}
	t := assembled([]typeBlock{{0, copies, of}, {(count - 1) * stride, copies, of}})
	t.size = count * copies * of.size
	return t
}

// small reports whether the call returns sizes as int: larger ones become MPI_UNDEFINED.
func (a *Arguments) small() bool {
	return !a.Func.Has(trace.AttrLarge) && slices.ContainsFunc(a.Func.Params, func(p trace.ParamDef) bool { return p.Name == "size" && p.Kind == mpi.KindCount })
}

func typeRules() map[string]rule {
	of := func(t stateType) Results { return Results{typ: &t} }
	old := func(o *HandleState, a *Arguments) stateType { return o.datatype(a.one("oldtype")) }
	asks := func(names []string, get func(t *stateType) []int64) rule {
		return func(o *HandleState, a *Arguments) Results {
			t := o.datatype(a.one("datatype"))
			r := Results{Out: make(map[string][]int64)}
			for i, v := range get(&t) {
				if names[i] == "size" && v > math.MaxInt32 && a.small() {
					v = mpi.Undefined
				}
				r.Out[names[i]] = one(v)
			}
			return r
		}
	}
	indexed := func(inBytes, oneLength bool) rule {
		return func(o *HandleState, a *Arguments) Results {
			t, unit := old(o, a), int64(1)
			if !inBytes {
				unit = t.extent()
			}
			var list []typeBlock
			for i, at := range a.list("array_of_displacements") {
				copies := int64(0)
				if oneLength {
					copies = a.one("blocklength")
				} else if lengths := a.list("array_of_blocklengths"); i < len(lengths) {
					copies = lengths[i]
				}
				list = append(list, typeBlock{at * unit, copies, t})
			}
			return of(assembled(list))
		}
	}
	hvector := func(o *HandleState, a *Arguments) Results {
		return of(evenly(a.one("count"), a.one("blocklength"), a.one("stride"), old(o, a)))
	}
	structure := func(o *HandleState, a *Arguments) Results {
		at, copies, types := a.list("array_of_displacements"), a.list("array_of_blocklengths"), a.list("array_of_types")
		var list []typeBlock
		for i := range at {
			if len(copies) != len(at) || len(types) != len(at) {
				panic(ErrUnknown)
			}
			b := typeBlock{at[i], copies[i], o.datatype(types[i])}
			if b.of.align == 0 {
				panic(ErrUnknown)
			}
			list = append(list, b)
		}
		t := assembled(list)
		if t.align > 0 {
			t.high = t.low + (t.extent()+t.align-1)/t.align*t.align
		}
		return of(t)
	}
	return map[string]rule{
		"MPI_Type_contiguous": func(o *HandleState, a *Arguments) Results {
			return of(evenly(1, a.one("count"), 0, old(o, a)))
		},
		"MPI_Type_vector": func(o *HandleState, a *Arguments) Results {
			t := old(o, a)
			return of(evenly(a.one("count"), a.one("blocklength"), a.one("stride")*t.extent(), t))
		},
		"MPI_Type_hvector":               hvector,
		"MPI_Type_create_hvector":        hvector,
		"MPI_Type_indexed":               indexed(false, false),
		"MPI_Type_hindexed":              indexed(true, false),
		"MPI_Type_create_hindexed":       indexed(true, false),
		"MPI_Type_create_indexed_block":  indexed(false, true),
		"MPI_Type_create_hindexed_block": indexed(true, true),
		"MPI_Type_struct":                structure,
		"MPI_Type_create_struct":         structure,
		"MPI_Type_dup":                   func(o *HandleState, a *Arguments) Results { return of(old(o, a)) },
		"MPI_Type_create_resized": func(o *HandleState, a *Arguments) Results {
			t := old(o, a)
			t.low = a.one("lb")
			t.high = t.low + a.one("extent")
			t.align = 0
			return of(t)
		},
		"MPI_Type_create_subarray": func(o *HandleState, a *Arguments) Results {
			t, sizes, parts, starts := old(o, a), a.list("array_of_sizes"), a.list("array_of_subsizes"), a.list("array_of_starts")
			if len(parts) != len(sizes) || len(starts) != len(sizes) {
				panic(ErrUnknown)
			}
			order := make([]int, len(sizes)) // numbers of the array's dimensions, the one with the largest stride first
			for d := range order {
				order[d] = d
			}
			if a.one("order") != mpi.OrderC {
				slices.Reverse(order)
			}
			first, last, whole, part := int64(0), int64(0), int64(1), int64(1)
			for _, d := range order {
				first, last = first*sizes[d]+starts[d], last*sizes[d]+starts[d]+parts[d]-1
				whole, part = whole*sizes[d], part*parts[d]
			}
			e := t.extent()
			return of(stateType{size: part * t.size, high: whole * e, trueLow: first*e + t.trueLow, trueHigh: last*e + t.trueHigh, align: t.align})
		},
		"MPI_Type_size":            asks([]string{"size"}, func(t *stateType) []int64 { return []int64{t.size} }),
		"MPI_Type_get_extent":      asks([]string{"lb", "extent"}, func(t *stateType) []int64 { return []int64{t.low, t.extent()} }),
		"MPI_Type_extent":          asks([]string{"extent"}, func(t *stateType) []int64 { return []int64{t.extent()} }),
		"MPI_Type_lb":              asks([]string{"displacement"}, func(t *stateType) []int64 { return []int64{t.low} }),
		"MPI_Type_ub":              asks([]string{"displacement"}, func(t *stateType) []int64 { return []int64{t.high} }),
		"MPI_Type_get_true_extent": asks([]string{"true_lb", "true_extent"}, func(t *stateType) []int64 { return []int64{t.trueLow, t.trueHigh - t.trueLow} }),
	}
}
