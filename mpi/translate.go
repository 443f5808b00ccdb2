package mpi

import (
	"slices"
	"sync"
)

// FirstHandleID is where the numbers of handles that a program makes begin in
// a trace. Smaller numbers are predefined handles.
const FirstHandleID = 1024

// A NumberTable translates the numbers of one kind between a flavour and the
// standard ABI. The zero Table leaves numbers as they are.
//
// Translation is one to one over all integers, so that a meaningless value,
// such as a rank of -7 in an erroneous program, survives it: where a
// constant's number in the ABI is an ordinary number in the flavour, that one
// takes the place of a number that the flavour needed for a constant. There
// are two exceptions, both many to one. MPICH puts a serial number into error
// codes, which is dropped. Some keys have other numbers in Fortran than in C.
type NumberTable struct {
	low   int64   // flavour's number that dense starts at
	dense []int64 // ABI numbers
	far   []pair  // outside of dense, sorted by from
	back  []pair  // the other way, sorted by from
	bits  []pair  // of a set: each bit of the flavour and of the ABI
	strip bool    // MPICH error codes
}

type pair struct{ from, to int64 }

// dense tables span this many numbers at most.
const denseSpan = 512

// Translation returns the table of a kind in a flavour. Handles are not
// translated by tables, see Handles.
func Translation(f Flavour, kind Kind) *NumberTable {
	t := &translations[f][kind]
	t.once.Do(func() { t.table = makeTable(f, kind) })
	return t.table
}

// Each is made when somebody asks: a process has one flavour and few kinds.
var translations [flavourEnd][kindEnd]struct {
	once  sync.Once
	table *NumberTable
}

// IsIdentity reports whether the table leaves all numbers as they are.
func (t *NumberTable) IsIdentity() bool {
	return len(t.dense) == 0 && len(t.far) == 0 && len(t.bits) == 0 && !t.strip
}

// ABI translates a number of the flavour into the standard ABI's.
func (t *NumberTable) ABI(v int64) int64 {
	if t.bits != nil {
		return mapBits(t.bits, v, false)
	}
	if t.strip {
		v = stripErrorCode(v)
	}
	if i := v - t.low; i >= 0 && i < int64(len(t.dense)) {
		return t.dense[i]
	}
	return lookup(t.far, v)
}

// Raw translates a number of the standard ABI into the flavour's.
func (t *NumberTable) Raw(v int64) int64 {
	if t.bits != nil {
		return mapBits(t.bits, v, true)
	}
	return lookup(t.back, v)
}

func lookup(list []pair, v int64) int64 {
	if len(list) == 0 {
		return v
	}
	i, ok := slices.BinarySearchFunc(list, v, func(p pair, v int64) int {
		return compare(p.from, v)
	})
	if ok {
		return list[i].to
	}
	return v
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func mapBits(bits []pair, v int64, back bool) int64 {
	if v < 0 {
		return v
	}
	var out int64
	for _, b := range bits {
		from, to := b.from, b.to
		if back {
			from, to = to, from
		}
		if v&from != 0 {
			out |= to
			v &^= from
		}
	}
	return out | v
}

// An MPICH error code carries its class in the low bits and above it what
// went wrong where, with a serial number that differs from run to run. Codes
// that the program itself added are marked and have no such number.
const (
	mpichClassMask  = 0x7f
	mpichDynamicBit = 0x40000000
)

func stripErrorCode(v int64) int64 {
	if v < 0 || v&mpichDynamicBit != 0 {
		return v
	}
	return v & mpichClassMask
}

func makeTable(f Flavour, kind Kind) *NumberTable {
	t := &NumberTable{}
	if f == FlavourABI || kind.IsHandle() || kind == KindLimitConstant || kind.IsFile() {
		return t // a limit is an amount, not an identity
	}
	var from, extra []pair
	for _, c := range Constants(kind) {
		v, ok := c.ValueIn(f)
		if !ok {
			continue
		}
		from = append(from, pair{v, c.Value})
		if w, ok := c.FortranRaw(f); ok && w != v {
			extra = append(extra, pair{w, c.Value})
		}
	}
	from = closePairs(from)
	if kind.IsBits() {
		t.bits = from
		return t
	}
	for _, p := range from {
		if p.from != p.to {
			t.back = append(t.back, pair{p.to, p.from})
		}
	}
	t.strip = f == FlavourMPICH && (kind == KindError || kind == KindErrorClass)
	if len(t.back) == 0 && len(extra) == 0 {
		return t
	}
	sortPairs(t.back)
	t.fill(append(from, extra...))
	return t
}

// closePairs completes a partial one-to-one map to one of all integers: the
// numbers that are only a target become sources of those that are only a source.
func closePairs(list []pair) []pair {
	sources, targets := make(map[int64]bool), make(map[int64]bool)
	var unique []pair
	for _, p := range list {
		if !sources[p.from] {
			unique = append(unique, p)
		}
		sources[p.from], targets[p.to] = true, true
	}
	var onlyTarget, onlySource []int64
	for _, p := range unique {
		if !sources[p.to] {
			onlyTarget = append(onlyTarget, p.to)
		}
		if !targets[p.from] {
			onlySource = append(onlySource, p.from)
		}
	}
	slices.Sort(onlyTarget)
	slices.Sort(onlySource)
	for i, v := range onlyTarget {
		unique = append(unique, pair{v, onlySource[i]})
	}
	return unique
}

// fill puts the pairs near zero into the dense part and the others beside it.
func (t *NumberTable) fill(list []pair) {
	near := func(p pair) bool { return p.from > -denseSpan/2 && p.from < denseSpan/2 }
	low, high, any := int64(0), int64(0), false
	for _, p := range list {
		if !near(p) {
			t.far = append(t.far, p)
			continue
		}
		if !any || p.from < low {
			low = p.from
		}
		if !any || p.from > high {
			high = p.from
		}
		any = true
	}
	sortPairs(t.far)
	if !any {
		return
	}
	t.low, t.dense = low, make([]int64, high-low+1)
	for i := range t.dense {
		t.dense[i] = low + int64(i)
	}
	for _, p := range list {
		if near(p) {
			t.dense[p.from-low] = p.to
		}
	}
}

func sortPairs(list []pair) {
	slices.SortFunc(list, func(a, b pair) int { return compare(a.from, b.from) })
}
