package grammar

import (
	"math/bits"
)

// PrefixFingerprints are fingerprints of a grammar's prefixes. They compare two sequences without expanding them. The
// probability that different sequences have equal fingerprints is 10^-17 times their length. It is safe for use by
// several goroutines at once.
type PrefixFingerprints struct {
	g      *Grammar
	number func(terminal uint32) uint64
	rules  []printed
}

type printed struct {
	ends  []uint64 // by symbol of the body: length in terminals of the expansion up to and including it
	marks []print  // by symbol of the body: fingerprint of the expansion up to and including it
}

// A print is the fingerprint of a sequence. hash is a polynomial whose coefficients are the sequence's numbers,
// evaluated at base modulo prime. power is base to the power of the sequence's length.
type print struct{ hash, power uint64 }

const (
	prime = 1<<61 - 1
	base  = 0x16a09e667f3bcc9 // an arbitrary number
)

var nothing = print{0, 1}

// NewPrefixFingerprints returns the fingerprints of a grammar. Terminals are equal if their numbers are.
func NewPrefixFingerprints(g *Grammar, number func(terminal uint32) uint64) *PrefixFingerprints {
	p := &PrefixFingerprints{g: g, number: number, rules: make([]printed, len(g.Rules))}
	for _, id := range g.RuleOrder() {
		r := &p.rules[id]
		length, sum := uint64(0), nothing
		for _, sym := range g.Rules[id] {
			n, one := p.symbol(sym.TerminalOrRule)
			length += n * sym.Count
			sum = sum.then(one.repeated(sym.Count))
			r.ends, r.marks = append(r.ends, length), append(r.marks, sum)
		}
	}
	return p
}

func (p *PrefixFingerprints) symbol(id int32) (uint64, print) {
	if id >= 0 {
		return 1, print{(p.number(uint32(id)) + 1) % prime, base}
	}
	r := &p.rules[-id]
	last := len(r.ends) - 1
	return r.ends[last], r.marks[last]
}

// Len returns the length of the sequence.
func (p *PrefixFingerprints) Len() uint64 {
	if len(p.rules) == 0 || len(p.rules[0].ends) == 0 {
		return 0
	}
	return p.rules[0].ends[len(p.rules[0].ends)-1]
}

// before returns the fingerprint of the first n terminals.
func (p *PrefixFingerprints) before(n uint64) print {
	sum := nothing
	for id := int32(0); n > 0; {
		r := &p.rules[id]
		at := first(len(r.ends), func(i int) bool { return r.ends[i] >= n })
		if at > 0 {
			sum = sum.then(r.marks[at-1])
			n -= r.ends[at-1]
		}
		sym := p.g.Rules[id][at]
		length, one := p.symbol(sym.TerminalOrRule)
		sum = sum.then(one.repeated(n / length))
		if n %= length; n > 0 {
			id = -sym.TerminalOrRule
		}
	}
	return sum
}

// CommonPrefix returns the length of the longest common prefix of two sequences.
func (p *PrefixFingerprints) CommonPrefix(q *PrefixFingerprints) uint64 {
	low, high := uint64(0), min(p.Len(), q.Len())
	for low < high {
		middle := low + (high-low+1)/2
		if p.before(middle).hash == q.before(middle).hash {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// then returns the fingerprint of the concatenation of the sequences whose fingerprints are a and b.
func (a print) then(b print) print {
	return print{modulo(times(a.hash, b.power) + b.hash), times(a.power, b.power)}
}

func (a print) repeated(n uint64) print {
	sum := nothing
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			sum = sum.then(a)
		}
		a = a.then(a)
	}
	return sum
}

func times(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return modulo(lo&prime + (hi<<3 | lo>>61))
}

// modulo returns x modulo prime, for x up to about twice prime.
func modulo(x uint64) uint64 {
	for x >= prime {
		x -= prime
	}
	return x
}
