package symbol

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A NumberPool hands out the lowest free number. In the zero value all numbers are free.
type NumberPool struct {
	free []uint32 // returned numbers below next, as a min-heap
	next uint32
}

// Take returns the lowest free number.
func (p *NumberPool) Take() uint32 {
	n := len(p.free)
	if n == 0 {
		p.next++
		return p.next - 1
	}
	least := p.free[0]
	last := p.free[n-1]
	p.free = p.free[:n-1]
	if n--; n == 0 {
		return least
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && p.free[c+1] < p.free[c] {
			c++
		}
		if last <= p.free[c] {
			break
		}
		p.free[i] = p.free[c]
		i = c
	}
	p.free[i] = last
	return least
}

// Peek returns what the next Take will return.
func (p *NumberPool) Peek() uint32 {
	if len(p.free) > 0 {
		return p.free[0]
	}
	return p.next
}

// Return returns a number to the pool.
func (p *NumberPool) Return(v uint32) {
	p.free = append(p.free, v)
	i := len(p.free) - 1
	for i > 0 {
		up := (i - 1) / 2
		if p.free[up] <= v {
			break
		}
		p.free[i] = p.free[up]
		i = up
	}
	p.free[i] = v
}

// code codes the state.
func (p *NumberPool) code(c *wire.Coder) {
	wire.CodeNaturals(c, &p.next)
	if wire.CodeList(c, &p.free, 1, func(_ int, v *uint32) { wire.CodeNaturals(c, v) }); c.Reader != nil {
		slices.Sort(p.free) // a sorted list is a heap, so damaged input cannot break it
	}
}
