package merge

import "github.com/spoor-hpc/spoor/internal/file/wire"

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
	first []int // by number of a skeleton: the first terminal that has it
	next  []int // by number: which one came behind it last, -1 if none did
	last  int
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

func (s *shape) appendSkeletons(b []byte) []byte {
	s.like = make([]int, len(s.skeletons))
	number := make(map[skeleton]int)
	var f succession
	right := 0
	for i, k := range s.skeletons {
		n := f.expected()
		if n >= 0 && s.skeletons[f.first[n]] == k {
			right++
		} else {
			var known bool
			if n, known = number[k]; known {
				b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(right)<<1), uint64(n))
			} else {
				n = len(f.first)
				number[k] = n
				f.first = append(f.first, i)
				b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(right)<<1|1), uint64(k.call))
				b = wire.AppendUint64(b, k.site)
				if k.inner == k.site {
					b = wire.AppendUvarint(b, uint64(k.width)<<1)
				} else {
					b = wire.AppendUint64(wire.AppendUvarint(b, uint64(k.width)<<1|1), k.inner)
				}
			}
			right = 0
		}
		s.like[i] = f.first[n]
		f.came(n)
	}
	if right > 0 {
		b = wire.AppendUvarint(b, uint64(right)<<1)
	}
	return b
}

// decodeSkeletons reads those of so many terminals.
func (s *shape) decodeSkeletons(r *wire.Reader, terminals int) {
	s.skeletons, s.like = make([]skeleton, 0, terminals), make([]int, 0, terminals)
	var f succession
	add := func(n int) {
		k := s.skeletons[f.first[n]]
		s.skeletons, s.like = append(s.skeletons, k), append(s.like, f.first[n])
		s.width += k.width
		f.came(n)
	}
	for len(s.skeletons) < terminals {
		what := r.Int(2*(terminals-len(s.skeletons)) + 1)
		for range what >> 1 {
			n := f.expected()
			if n < 0 {
				r.Fail("terminal of a skeleton that nothing foretells")
				return
			}
			add(n)
		}
		switch {
		case len(s.skeletons) == terminals:
		case what&1 != 0:
			k := skeleton{call: r.Uint16(), site: r.Uint64()}
			width := r.Int(1 << 31)
			if k.inner, k.width = k.site, width>>1; width&1 != 0 {
				k.inner = r.Uint64()
			}
			f.first = append(f.first, len(s.skeletons))
			s.skeletons, s.like = append(s.skeletons, k), append(s.like, len(s.skeletons))
			s.width += k.width
			f.came(len(f.first) - 1)
		default:
			n := r.Int(1 << 30)
			if n >= len(f.first) {
				r.Fail("skeleton %d of %d", n, len(f.first))
				return
			}
			add(n)
		}
		if r.Err() != nil {
			return
		}
	}
}
