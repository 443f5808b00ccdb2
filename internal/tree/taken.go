package tree

import (
	"maps"

	"github.com/spoor-hpc/spoor/internal/code"
)

// A taken is which iterations of a loop reached a vertex in it, in a part of a stream.
type taken struct {
	// Iterations that reached the vertex before the loop's first entry in the part. They are counted from the begin
	// of the part.
	open code.IterationPattern
	// Iterations that reached the vertex in each completed entry of the loop; invalid if odd is set.
	each code.IterationPattern
	over uint64 // number of completed entries of the loop
	odd  bool   // different iterations reached the vertex in different entries
	// Iterations that reached the vertex since the loop's last entry, which is not completed yet.
	last code.IterationPattern
}

// joined returns the result of two consecutive parts together: t with counts r of the loop, then u with counts q.
func (t taken) joined(r vertexCounts, u taken, q vertexCounts) taken {
	if r.entered == 0 {
		u.open = t.open.Append(u.open.ShiftedBy(r.before))
		return u
	}
	last := t.last.Append(u.open.ShiftedBy(r.last - 1))
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

// end adds this many completed entries of the loop in which iterations x reached the vertex.
func (t *taken) end(x code.IterationPattern, entries uint64) {
	if t.over > 0 && t.each != x {
		t.odd = true
	}
	t.each, t.over = x, t.over+entries
}

// of returns which iterations of a loop reached a vertex in the part. A vertex without an entry in s.taken was not
// reached.
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

// reach records that the current iteration of the loop around a vertex reached it.
func (c *counter) reach(s *summary, vertex int32) {
	if loop := c.loop[vertex]; loop >= 0 {
		t := s.of(vertex, loop).joined(s.runs[loop], taken{open: code.IterationPattern{Count: 1}}, vertexCounts{})
		s.taken[vertex] = t
	}
}

// enter prepares the vertices in a loop for the loop's next entry, in which iterations are counted from the first
// again. It must be called before the entry is counted.
func (c *counter) enter(s *summary, loop int32) {
	for _, v := range c.within[loop] {
		if t, ok := s.taken[v]; ok {
			s.taken[v] = t.joined(s.runs[loop], taken{}, vertexCounts{entered: 1, rounds: 1, last: 1})
		}
	}
}

// behind appends the taken iterations of part x to those of part s, which is before it. It must be called before the
// counts of x are appended.
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

// again appends the taken iterations of n repetitions of part round to those of s. It must be called before their
// counts are appended.
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

// iterations returns which iterations reached the vertex, if they are the same at each entry of the loop; else an
// empty pattern.
func (t *taken) iterations() code.IterationPattern {
	if t.odd || t.over > 0 && t.each != t.last {
		return code.IterationPattern{}
	}
	return t.last
}
