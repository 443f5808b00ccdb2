package grammar

import (
	"iter"
	"sort"
)

// A bodyPosition is a position in the body of a rule: at is the index of the symbol there, and done is the number of
// the symbol's repetitions that are complete or begun.
type bodyPosition struct {
	done uint64
	rule int32
	at   int32
}

// All yields the sequence. Its memory grows with the depth of the grammar only.
func (g *Grammar) All() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if len(g.Rules) == 0 {
			return
		}
		path := make([]bodyPosition, 1, 16)
		for len(path) > 0 {
			top := &path[len(path)-1]
			body := g.Rules[top.rule]
			if int(top.at) == len(body) {
				path = path[:len(path)-1]
				continue
			}
			s := body[top.at]
			if s.TerminalOrRule >= 0 {
				top.at++
				for range s.Count {
					if !yield(uint32(s.TerminalOrRule)) {
						return
					}
				}
				continue
			}
			if top.done == s.Count {
				top.at, top.done = top.at+1, 0
				continue
			}
			top.done++
			path = append(path, bodyPosition{rule: -s.TerminalOrRule})
		}
	}
}

// A Cursor reads the sequence from any position on.
type Cursor struct {
	g    *Grammar
	ends [][]uint64 // by rule and symbol of its body: the number of terminals up to the symbol's end
	path []bodyPosition
	left uint64 // remaining repetitions of the current terminal
	sym  uint32
	pos  uint64
}

// Cursor returns a Cursor at the start of the sequence. Making it takes time
// and memory in proportion to the grammar.
func (g *Grammar) Cursor() *Cursor {
	c := &Cursor{g: g, ends: make([][]uint64, len(g.Rules))}
	g.walk(nil, nil, func(r int32) {
		ends := make([]uint64, len(g.Rules[r]))
		sum := uint64(0)
		for i, s := range g.Rules[r] {
			sum += s.Count * c.length(s)
			ends[i] = sum
		}
		c.ends[r] = ends
	})
	c.Seek(0)
	return c
}

// length returns how many terminals one repetition of s expands to.
func (c *Cursor) length(s Symbol) uint64 {
	if s.TerminalOrRule >= 0 {
		return 1
	}
	ends := c.ends[-s.TerminalOrRule]
	return ends[len(ends)-1]
}

// Pos returns the number of terminals before the cursor.
func (c *Cursor) Pos() uint64 { return c.pos }

// Len returns the length of the sequence.
func (c *Cursor) Len() uint64 {
	if len(c.ends) == 0 || len(c.ends[0]) == 0 {
		return 0
	}
	return c.ends[0][len(c.ends[0])-1]
}

// Next returns the terminal at the cursor and advances. It returns false at the end of the sequence.
func (c *Cursor) Next() (uint32, bool) {
	if c.left == 0 && !c.load() {
		return 0, false
	}
	c.left--
	c.pos++
	return c.sym, true
}

// load moves to the next symbol that is a terminal.
func (c *Cursor) load() bool {
	for len(c.path) > 0 {
		top := &c.path[len(c.path)-1]
		body := c.g.Rules[top.rule]
		if int(top.at) == len(body) {
			c.path = c.path[:len(c.path)-1]
			continue
		}
		s := body[top.at]
		if s.TerminalOrRule >= 0 {
			top.at++
			c.sym, c.left = uint32(s.TerminalOrRule), s.Count
			return true
		}
		if top.done == s.Count {
			top.at, top.done = top.at+1, 0
			continue
		}
		top.done++
		c.path = append(c.path, bodyPosition{rule: -s.TerminalOrRule})
	}
	return false
}

// Seek moves the cursor past the first pos terminals, or to the end if there are fewer.
func (c *Cursor) Seek(pos uint64) {
	c.pos = min(pos, c.Len())
	c.path, c.left = c.path[:0], 0
	if pos = c.pos; pos == c.Len() {
		return
	}
	for r := int32(0); ; {
		ends := c.ends[r]
		at := sort.Search(len(ends), func(i int) bool { return ends[i] > pos })
		if at > 0 {
			pos -= ends[at-1]
		}
		s := c.g.Rules[r][at]
		if s.TerminalOrRule >= 0 {
			c.path = append(c.path, bodyPosition{rule: r, at: int32(at) + 1})
			c.sym, c.left = uint32(s.TerminalOrRule), s.Count-pos
			return
		}
		l := c.length(s)
		c.path = append(c.path, bodyPosition{rule: r, at: int32(at), done: pos/l + 1})
		pos %= l
		r = -s.TerminalOrRule
	}
}
