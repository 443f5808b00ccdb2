package merge

import (
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/track"
)

// A skeleton is a signature without its values.
type skeleton struct {
	call  uint16
	site  uint64
	inner uint64 // the site without its stack
	width int
}

// skeletons are those of a class's terminals, each distinct one once.
type skeletons struct {
	kinds []skeleton // by first occurrence
	first []int      // by kind: the first terminal of it
	of    []uint32   // by terminal: its kind
	width int        // number of values of all terminals
	site  []int      // by kind: the first terminal that differs in the stack at most, see findSites

	order succession
	known map[skeleton]int
}

func (s *skeletons) terminals() int { return len(s.of) }

func (s *skeletons) skeleton(terminal int) *skeleton { return &s.kinds[s.of[terminal]] }

// like returns the first terminal with the same skeleton.
func (s *skeletons) like(terminal int) int { return s.first[s.of[terminal]] }

// place returns the first terminal with the same skeleton but for the stack: what ranks spent at a place is known of all
// calls from there together.
func (s *skeletons) place(terminal int) int { return s.site[s.of[terminal]] }

// findSites finds out the places of all.
func (s *skeletons) findSites() {
	s.site = make([]int, len(s.kinds))
	first := make(map[skeleton]int)
	for n, k := range s.kinds {
		k.site = k.inner
		f, known := first[k]
		if !known {
			f = s.first[n]
			first[k] = f
		}
		s.site[n] = f
	}
	s.known = nil
}

// add appends the skeleton of a terminal.
func (s *skeletons) add(k skeleton) {
	n := s.order.expected()
	if n < 0 || s.kinds[n] != k {
		if s.known == nil {
			s.known = make(map[skeleton]int)
		}
		var known bool
		if n, known = s.known[k]; !known {
			n = len(s.kinds)
			s.known[k] = n
			s.kinds, s.first = append(s.kinds, k), append(s.first, len(s.of))
		}
	}
	s.addKind(n)
}

func (s *skeletons) addKind(n int) {
	s.of = append(s.of, uint32(n))
	s.width += s.kinds[n].width
	s.order.came(n)
}

// skeletonsOf returns the skeletons of a track's signatures.
func skeletonsOf(tr *track.Track) skeletons {
	calls := tr.Distinct()
	s := skeletons{of: make([]uint32, 0, calls.Len())}
	for i := range calls.Len() {
		var k skeleton
		k.call, k.site, k.width = calls.Skeleton(i)
		if k.inner = k.site; len(tr.Inner) > 0 {
			if inner, ok := tr.Inner[k.site]; ok {
				k.inner = inner
			}
		}
		s.add(k)
	}
	return s
}

// Calls that differ in values only mostly come in the same order again and again. The
// skeletons of a class's terminals are therefore written as how often each is the one
// that last came behind the one before it, and as what it is where it is not. A rank with
// thousands of distinct calls from some dozen places so has a key of a few hundred bytes
// beside its grammar.
//
//	skeletons = (2 × as foretold uvarint, unless those were the last: number of one before uvarint
//	            | 2 × as foretold + 1 uvarint, call uvarint, site uint64, 2 × values + stack uvarint, if there is one: site without it uint64)…
//
// How many there are is known from the grammars.
type succession struct {
	next []int // by kind: which one came behind it last, -1 if none did
	last int
}

// came notes that the next terminal has a skeleton.
func (f *succession) came(n int) {
	if len(f.next) > 0 {
		f.next[f.last] = n
	}
	if n == len(f.next) {
		f.next = append(f.next, -1)
	}
	f.last = n
}

// expected returns which skeleton the next terminal has if all goes on as before, -1 if
// nothing tells.
func (f *succession) expected() int {
	if len(f.next) == 0 {
		return -1
	}
	return f.next[f.last]
}

func (s *skeletons) append(b []byte) []byte {
	var f succession
	right := 0
	for i, kind := range s.of {
		n := int(kind)
		switch k := &s.kinds[n]; {
		case n == f.expected():
			right++
		case s.first[n] != i:
			b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(right)<<1), uint64(n))
			right = 0
		default:
			b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(right)<<1|1), uint64(k.call))
			b = wire.AppendUint64(b, k.site)
			if k.inner == k.site {
				b = wire.AppendUvarint(b, uint64(k.width)<<1)
			} else {
				b = wire.AppendUint64(wire.AppendUvarint(b, uint64(k.width)<<1|1), k.inner)
			}
			right = 0
		}
		f.came(n)
	}
	if right > 0 {
		b = wire.AppendUvarint(b, uint64(right)<<1)
	}
	return b
}

// decodeSkeletons reads those of so many terminals.
func decodeSkeletons(r *wire.Reader, terminals int) skeletons {
	s := skeletons{of: make([]uint32, 0, terminals)}
	for len(s.of) < terminals {
		what := r.Int(2*(terminals-len(s.of)) + 1)
		for range what >> 1 {
			n := s.order.expected()
			if n < 0 {
				r.Fail("terminal of a skeleton that nothing foretells")
				return s
			}
			s.addKind(n)
		}
		switch {
		case len(s.of) == terminals:
		case what&1 != 0:
			k := skeleton{call: r.Uint16(), site: r.Uint64()}
			width := r.Int(1 << 31)
			if k.inner, k.width = k.site, width>>1; width&1 != 0 {
				k.inner = r.Uint64()
			}
			s.kinds, s.first = append(s.kinds, k), append(s.first, len(s.of))
			s.addKind(len(s.kinds) - 1)
		default:
			n := r.Int(1 << 30)
			if n >= len(s.kinds) {
				r.Fail("skeleton %d of %d", n, len(s.kinds))
				return s
			}
			s.addKind(n)
		}
		if r.Err() != nil {
			return s
		}
	}
	return s
}
