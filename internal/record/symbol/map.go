// Package symbol gives names to what differs from process to process and from
// run to run: handles, requests, addresses, code sites, strings. Ranks that do
// the same things get the same names, without talking to each other.
//
// The package knows the rules of naming; it reads no records and doesn't know
// which call has which parameter.
package symbol

import (
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A Map is a hash table from 64-bit keys to non-zero numbers: open addressing,
// no allocation except when it grows. The zero Map is empty.
type Map struct {
	slots []slot
	shift uint8
	n     int
}

type slot struct {
	key uint64
	val int64 // 0: the slot is free
}

func (m *Map) home(key uint64) int { return int(key * 0x9e3779b97f4a7c15 >> m.shift) }

// Len is the number of keys.
func (m *Map) Len() int { return m.n }

// Get returns the number of a key, 0 if none.
func (m *Map) Get(key uint64) int64 {
	if len(m.slots) == 0 {
		return 0
	}
	for i := m.home(key); ; i++ {
		s := &m.slots[i&(len(m.slots)-1)]
		if s.key == key || s.val == 0 {
			return s.val
		}
	}
}

// Set gives key the number val, which must not be 0.
func (m *Map) Set(key uint64, val int64) {
	if m.n >= len(m.slots)*3/4 {
		m.grow()
	}
	mask := len(m.slots) - 1
	i := m.home(key) & mask
	for m.slots[i].val != 0 && m.slots[i].key != key {
		i = (i + 1) & mask
	}
	if m.slots[i].val == 0 {
		m.n++
	}
	m.slots[i] = slot{key, val}
}

// Slot returns a pointer to the number of a key. It is 0 for a new key; the caller must set it to another value
// before the next use of the Map.
func (m *Map) Slot(key uint64) *int64 {
	if m.n >= len(m.slots)*3/4 {
		m.grow()
	}
	mask := len(m.slots) - 1
	for i := m.home(key) & mask; ; i = (i + 1) & mask {
		s := &m.slots[i]
		if s.val == 0 {
			s.key = key
			m.n++
			return &s.val
		}
		if s.key == key {
			return &s.val
		}
	}
}

// Delete removes a key and returns the number it had, 0 if there was none.
func (m *Map) Delete(key uint64) int64 {
	if m.n == 0 {
		return 0
	}
	mask := len(m.slots) - 1
	i := m.home(key) & mask
	for m.slots[i].key != key || m.slots[i].val == 0 {
		if m.slots[i].val == 0 {
			return 0
		}
		i = (i + 1) & mask
	}
	val := m.slots[i].val
	m.n--
	// Move back entries that a search would otherwise miss. Free slots have key 0, so that Get may compare keys
	// first.
	for j := (i + 1) & mask; m.slots[j].val != 0; j = (j + 1) & mask {
		if h := m.home(m.slots[j].key) & mask; (j-h)&mask >= (j-i)&mask {
			m.slots[i], i = m.slots[j], j
		}
	}
	m.slots[i] = slot{}
	return val
}

func (m *Map) grow() {
	old := m.slots
	size := max(8, 2*len(old))
	m.slots = make([]slot, size)
	m.shift = uint8(64 - bits.Len(uint(size-1)))
	m.n = 0
	for _, s := range old {
		if s.val != 0 {
			m.Set(s.key, s.val)
		}
	}
}

// Each calls f for every key, in arbitrary order.
func (m *Map) Each(f func(key uint64, val int64)) {
	for _, s := range m.slots {
		if s.val != 0 {
			f(s.key, s.val)
		}
	}
}

// code codes the map, with numbers from 1 to most.
func (m *Map) code(c *wire.Coder, most int64) {
	if c.Reader != nil {
		*m = Map{}
	}
	m.codeAbove(c, 0, func(_ uint64, v *int64) {
		wire.CodeIntegers(c, v)
		c.RefuseIf(*v > most, "a number that is too large")
	})
}

// codeAbove codes the entries with numbers above least. code codes one entry.
func (m *Map) codeAbove(c *wire.Coder, least int64, code func(key uint64, v *int64)) {
	n := 0
	if c.Reader == nil {
		m.Each(func(_ uint64, v int64) {
			if v > least {
				n++
			}
		})
	}
	if c.Count(&n, 9); n == 0 {
		return
	}
	var number int64
	if c.Reader == nil {
		m.Each(func(key uint64, v int64) {
			if v > least {
				c.Uint64(&key)
				number = v
				code(key, &number)
			}
		})
		return
	}
	for range n {
		key := c.Reader.Uint64()
		number = 0
		code(key, &number)
		if c.RefuseIf(number <= least, "an entry without a number"); c.Failed() {
			return
		}
		m.Set(key, number)
	}
}
