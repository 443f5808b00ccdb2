package symbol

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/pack"
)

// A Pool hands out the lowest free number. The zero Pool is full of them.
type Pool struct {
	free []uint32 // heap, smallest first: numbers below next that came back
	next uint32
}

// Take returns the lowest free number.
func (p *Pool) Take() uint32 {
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

// Next is what Take would return.
func (p *Pool) Next() uint32 {
	if len(p.free) > 0 {
		return p.free[0]
	}
	return p.next
}

// Give returns a number to the pool.
func (p *Pool) Give(v uint32) {
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

// Save writes the pool's state.
func (p *Pool) Save(w *pack.Writer) {
	w.Uint(uint64(p.next))
	w.Uint(uint64(len(p.free)))
	for _, v := range p.free {
		w.Uint(uint64(v))
	}
}

// Load reads what Save wrote.
func (p *Pool) Load(r *pack.Reader) {
	p.next = uint32(r.Uint())
	p.free = make([]uint32, r.Count(1))
	for i := range p.free {
		p.free[i] = uint32(r.Uint())
	}
	slices.Sort(p.free) // a sorted list is a heap, whatever was read
}
