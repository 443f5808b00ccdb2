package merge

import (
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// sequence returns a hash of the calls of the class's ranks in order, without values; 0 if refining does not apply
// to the class.
func (c *class) sequence() uint64 {
	if c.hashed {
		return c.calls
	}
	c.hashed = true
	c.calls = 0
	first := true
	for _, d := range c.withoutLanes() {
		for _, p := range d.parts() {
			h := p.sequence()
			if h == 0 || !first && h != c.calls {
				c.calls = 0
				return 0
			}
			c.calls, first = h, false
		}
	}
	return c.calls
}

// A subclass is the members of a class that have equal repetition counts.
type subclass struct {
	class *class
	*classShape
	members []int
}

// maxParts is the largest number of parts of a class.
const maxParts = 4096

// parts divides a class by repetition counts; nil if there are too many parts.
func (c *class) parts() []subclass {
	var vals [][]int64
	for i := range c.counts {
		if _, ok := c.counts[i].Uniform(); !ok {
			vals = append(vals, c.counts[i].Values())
		}
	}
	by := make(map[string]int)
	var parts []subclass
	var id []byte
	for m := range c.ranks.Len() {
		id = id[:0]
		for i := range vals {
			id = wire.AppendVarint(id, vals[i][m])
		}
		n, ok := by[string(id)]
		if !ok {
			if n = len(parts); n == maxParts {
				return nil
			}
			by[string(id)] = n
			parts = append(parts, subclass{class: c, classShape: c.shape()})
		}
		parts[n].members = append(parts[n].members, m)
	}
	return parts
}

// even reports whether all members have equal repetition counts.
func (c *class) even() bool {
	for i := range c.counts {
		if _, ok := c.counts[i].Uniform(); !ok {
			return false
		}
	}
	return true
}

// repeated returns the streams with the part's repetition counts. It is not cached: a class may have as many parts
// as ranks.
func (p *subclass) repeated() []*grammar.Grammar { return p.class.repeated(p.streams, p.members[0]) }

// sequence returns a hash of the calls of the members; 0 only if there are too many calls to expand.
func (p *subclass) sequence() uint64 {
	h := uint64(1)
	for _, g := range p.repeated() {
		if g.Check() != nil || g.Len() > maxExpanded/minFragments {
			return 0
		}
		h = (h*0x9fb21c651e98df25 ^ hashOf(g, &p.skeletons)) | 1
	}
	return h
}

// repeated returns streams with a member's repetition counts; lanes follow the streams of the class.
func (c *class) repeated(streams []*grammar.Grammar, member int) []*grammar.Grammar {
	list := make([]*grammar.Grammar, len(streams))
	n := 0
	for i, g := range streams {
		list[i] = g.Clone()
		for _, body := range list[i].Rules {
			for k := range body {
				if body[k].Count > 1 {
					body[k].Count = uint64(c.counts[n].At(member))
					n++
				}
			}
		}
	}
	return list
}

// repeatedAlike returns the streams and the lanes' sequences of steps of an even class, with its repetition counts;
// false if streams and lanes don't fit each other.
func (c *class) repeatedAlike() (streams, orders []*grammar.Grammar, ok bool) {
	sh := c.shape()
	all := slices.Clone(sh.streams)
	for _, l := range sh.lanes {
		all = append(all, l.steps)
	}
	all = c.repeated(all, 0)
	streams, orders = all[:len(sh.streams)], all[len(sh.streams):]
	if sh.checkLengths(streams, orders) != nil {
		return nil, nil, false
	}
	return streams, orders, true
}

// hashOf returns a hash of the calls in the sequence of g, without expanding it: a polynomial over their skeletons,
// modulo 2^61-1.
func hashOf(g *grammar.Grammar, of *skeletons) uint64 {
	type value struct{ sum, power uint64 }
	const base = 0x0f3c9a7d5be1482b
	behind := func(a, b value) value { return value{add(mul(a.sum, b.power), b.sum), mul(a.power, b.power)} }
	return grammar.Fold(g, value{0, 1}, func(id uint32) value {
		k := of.skeleton(int(id))
		return value{add(mul(mul(uint64(k.call)+1, base)^k.site>>3, base>>1), uint64(k.width)), base}
	}, func(sum, v value, count uint64) value {
		for n := count; n > 0; n >>= 1 {
			if n&1 != 0 {
				sum = behind(sum, v)
			}
			v = behind(v, v)
		}
		return sum
	}).sum
}

const prime = 1<<61 - 1

func mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a%prime, b%prime)
	return add(lo&prime, lo>>61|hi<<3)
}

func add(a, b uint64) uint64 { return (a%prime + b%prime) % prime }
