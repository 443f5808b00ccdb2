package tree

import (
	"maps"

	"github.com/spoor-hpc/spoor/internal/code"
)

// A taken is in which rounds of the loop around a vertex was reached, entry by entry, as far as a part of a sequence says.
type taken struct {
	open code.IterationPattern // before the loop's first entry in the part, counted from the part's beginning
	each code.IterationPattern // of entries that are over, if all are alike
	over uint64                // how many these are
	odd  bool                  // they are not alike
	last code.IterationPattern // since the last entry
}

// joined appends a part; r and q are the loop's runs in both.
func (t taken) joined(r vertexCounts, u taken, q vertexCounts) taken {
	if r.entered == 0 {
		u.open = t.open.Append(u.open.ShiftedBack(r.before))
		return u
	}
	last := t.last.Append(u.open.ShiftedBack(r.last - 1))
	if q.entered == 0 {
		t.last = last
		return t
	}
	t.end(last, 1)
	if u.odd {
		t.odd = true
	}
	if u.over > 0 {
		t.end(u.each, u.over)
	}
	t.last = u.last
	return t
}

// end notes entries that are over.
func (t *taken) end(x code.IterationPattern, entries uint64) {
	if t.over > 0 && t.each != x {
		t.odd = true
	}
	t.each, t.over = x, t.over+entries
}

// of is what a part says of a vertex in a loop: nothing, unless it is there, but that the loop ran without it.
func (s *summary) of(vertex, loop int32) taken {
	if t, ok := s.taken[vertex]; ok {
		return t
	}
	t := taken{}
	if r := s.runs[loop]; r.entered > 1 {
		t.over = r.entered - 1
	}
	return t
}

// reach notes that a vertex is entered, which may be a loop, and in which round of the loop around.
func (c *counter) reach(s *summary, vertex int32) {
	if loop := c.loop[vertex]; loop >= 0 {
		t := s.of(vertex, loop).joined(s.runs[loop], taken{open: code.IterationPattern{Count: 1}}, vertexCounts{})
		s.taken[vertex] = t
	}
}

// enter notes, before it counts, that a loop is entered anew: what is in it begins with its first round.
func (c *counter) enter(s *summary, loop int32) {
	for _, v := range c.within[loop] {
		if t, ok := s.taken[v]; ok {
			s.taken[v] = t.joined(s.runs[loop], taken{}, vertexCounts{entered: 1, rounds: 1, last: 1})
		}
	}
}

// behind appends what another part has, before its runs are appended.
func (c *counter) behind(s, x *summary) {
	for v := range x.taken {
		loop := c.loop[v]
		s.taken[v] = s.of(v, loop).joined(s.runs[loop], x.of(v, loop), x.runs[loop])
	}
	for v, t := range s.taken {
		loop := c.loop[v]
		if _, there := x.taken[v]; !there && x.runs[loop].entered > 0 {
			s.taken[v] = t.joined(s.runs[loop], x.of(v, loop), x.runs[loop])
		}
	}
}

// again appends a round n times to a part, before its runs are.
func (c *counter) again(s, round *summary, n uint64) {
	all := maps.Clone(round.taken)
	for v := range s.taken {
		if _, there := all[v]; !there {
			all[v] = round.of(v, c.loop[v])
		}
	}
	for v, t := range all {
		loop := c.loop[v]
		sum, runs := s.of(v, loop), s.runs[loop]
		each := round.runs[loop]
		for k := n; k > 0; k >>= 1 {
			if k&1 > 0 {
				sum, runs = sum.joined(runs, t, each), runs.then(each)
			}
			t, each = t.joined(each, t, each), each.then(each)
		}
		s.taken[v] = sum
	}
}

// iterations is in which rounds a vertex was reached, if those are a progression and the same each time the loop was entered.
func (t *taken) iterations() code.IterationPattern {
	if t.odd || t.over > 0 && t.each != t.last {
		return code.IterationPattern{}
	}
	return t.last
}
