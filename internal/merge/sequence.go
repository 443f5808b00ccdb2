package merge

import (
	"math/bits"

	"spoor/internal/grammar"
	"spoor/internal/wire"
)

// sequence returns a hash of the calls of the class's ranks in order, values
// left out; 0 if refining is no matter for it.
func (c *class) sequence() uint64 {
	if c.looked {
		return c.calls
	}
	c.looked = true
	c.calls = 0
	plain := c.unlaned()
	var parts []part
	for _, d := range plain {
		parts = append(parts, d.parts()...)
	}
	for i := range parts {
		h := uint64(1)
		for _, g := range parts[i].streams {
			if g.Len() > maxExpanded/minFragments {
				return 0
			}
			h = (h*0x9fb21c651e98df25 ^ hashOf(g, parts[i].skeletons)) | 1
		}
		if i > 0 && h != c.calls {
			c.calls = 0
			break
		}
		c.calls = h
	}
	return c.calls
}

// A part is the members of a class that repeat everything equally often.
type part struct {
	class *class
	shape
	members []int
}

// maxParts bounds the parts that a class is taken apart into.
const maxParts = 4096

// parts takes a class apart; nil if there are too many.
func (c *class) parts() []part {
	sh := c.shape()
	whole := part{class: c, shape: *sh}
	var varying []int
	var vals [][]int64
	for i := range c.counts {
		if _, ok := c.counts[i].Same(); !ok {
			varying = append(varying, i)
			vals = append(vals, c.counts[i].Values())
		}
	}
	by := make(map[string]int)
	var parts []part
	for m := range c.ranks.Len() {
		var id []byte
		for i := range varying {
			id = wire.AppendVarint(id, vals[i][m])
		}
		n, ok := by[string(id)]
		if !ok {
			if n = len(parts); n == maxParts {
				return nil
			}
			by[string(id)] = n
			p := whole
			p.streams = c.repeated(sh.streams, m)
			parts = append(parts, p)
		}
		parts[n].members = append(parts[n].members, m)
	}
	return parts
}

// repeated returns streams as a member repeats them.
func (c *class) repeated(streams []*grammar.Grammar, member int) []*grammar.Grammar {
	list := make([]*grammar.Grammar, len(streams))
	n := 0
	for i, g := range streams {
		list[i] = g.Renumber(func(t uint32) uint32 { return t })
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

// hashOf evaluates a polynomial over the sequence of a grammar, modulo 2^61-1,
// without expanding it.
func hashOf(g *grammar.Grammar, skeletons []skeleton) uint64 {
	type value struct{ sum, power uint64 }
	const base = 0x0f3c9a7d5be1482b
	append2 := func(a, b value) value { return value{add(mul(a.sum, b.power), b.sum), mul(a.power, b.power)} }
	rules := make([]value, len(g.Rules))
	done := make([]bool, len(g.Rules))
	type place struct{ rule, at int }
	stack := []place{{0, 0}}
	rules[0] = value{0, 1}
	for len(stack) > 0 {
		p := &stack[len(stack)-1]
		body := g.Rules[p.rule]
		if p.at == len(body) {
			done[p.rule] = true
			stack = stack[:len(stack)-1]
			continue
		}
		sym := body[p.at]
		var v value
		if sym.ID >= 0 {
			k := &skeletons[sym.ID]
			v = value{add(mul(mul(uint64(k.call)+1, base)^k.site>>3, base>>1), uint64(k.width)), base}
		} else if r := int(-sym.ID); done[r] {
			v = rules[r]
		} else {
			rules[r] = value{0, 1}
			stack = append(stack, place{r, 0})
			continue
		}
		for n := sym.Count; n > 0; n >>= 1 {
			if n&1 != 0 {
				rules[p.rule] = append2(rules[p.rule], v)
			}
			v = append2(v, v)
		}
		p.at++
	}
	return rules[0].sum
}

const prime = 1<<61 - 1

func mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a%prime, b%prime)
	return add(lo&prime, lo>>61|hi<<3)
}

func add(a, b uint64) uint64 { return (a%prime + b%prime) % prime }
