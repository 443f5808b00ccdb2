package mpi

import (
	"slices"
	"sync"
)

// FirstUserHandleID is the lowest number that a trace has for a handle made by the program. Lower numbers are
// predefined handles.
const FirstUserHandleID = 1024

// A NumberTable translates the numbers of one kind between a flavour and the standard ABI. The zero NumberTable
// leaves all numbers unchanged.
//
// The translation is one to one over all integers, so that an invalid value, such as a rank of -7 in an erroneous
// program, is preserved. A constant's number in the ABI may be an ordinary number in the flavour. The ordinary number
// is then translated to a number that is a constant in the flavour.
//
// There are two exceptions, where several numbers become the same. MPICH puts a serial number into error codes, which
// is dropped. Some keys have other numbers in Fortran than in C.
type NumberTable struct {
	low   int64   // the number in the flavour that dense[0] translates
	dense []int64 // for the flavour's numbers low, low + 1, …: the number in the ABI
	far   []pair  // translations of the flavour's numbers outside dense, sorted by from
	back  []pair  // translations from the ABI to the flavour, sorted by from
	// For sets of bits: each bit in the flavour (from) and in the ABI (to); nil: numbers are no sets of bits.
	bits  []pair
	strip bool // numbers are MPICH error codes: only the error class in them is kept
}

type pair struct{ from, to int64 }

// denseSpan is the number of the flavour's numbers around 0 that may be in dense.
const denseSpan = 512

// NumberTableOf returns the table for numbers of a kind in a flavour. Handles have no such table, but
// PredefinedHandles.
func NumberTableOf(f Flavour, kind Kind) *NumberTable {
	t := &translations[f][kind]
	t.once.Do(func() { t.table = makeTable(f, kind) })
	return t.table
}

// Each table is made at its first use, as a process has one flavour and uses few kinds.
var translations [flavourEnd][kindEnd]struct {
	once  sync.Once
	table *NumberTable
}

// IsIdentity reports whether the table leaves all numbers unchanged.
func (t *NumberTable) IsIdentity() bool {
	return len(t.dense) == 0 && len(t.far) == 0 && len(t.bits) == 0 && !t.strip
}

// ToABI translates a number of the flavour to the standard ABI.
func (t *NumberTable) ToABI(v int64) int64 {
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

// FromABI translates a number of the standard ABI to the flavour.
func (t *NumberTable) FromABI(v int64) int64 {
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

// An MPICH error code has the error class in its low bits. Above are location and cause of the error, and a serial
// number that differs between runs. Codes that the program itself added have mpichDynamicBit set and no serial
// number.
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
	if f == FlavourABI || kind.IsHandle() || kind == KindLimitConstant || kind.IsPosix() {
		return t // limits are amounts, which are not translated
	}
	var from, extra []pair
	for _, c := range Constants(kind) {
		v, ok := c.ValueIn(f)
		if !ok {
			continue
		}
		from = append(from, pair{v, c.Value})
		if w, ok := c.FortranValueIn(f); ok && w != v {
			extra = append(extra, pair{w, c.Value})
		}
	}
	from = closePairs(from)
	if kind.IsBitSet() {
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

// closePairs extends a one-to-one map of some integers to one of all integers. Numbers in the list that are only a
// target become sources, mapped to the numbers that are only a source.
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

// fill puts the translations of numbers near zero into dense, and all others into far.
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
