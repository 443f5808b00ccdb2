package tree

import (
	"maps"

	"github.com/spoor-hpc/spoor/internal/code"
)

// A taken is the iterations of a loop that reached a vertex, entry by entry, in a part of a sequence.
type taken struct {
	open code.IterationPattern // iterations before the loop's first entry in the part, counted from the begin of the part
	each code.IterationPattern // iterations of each completed entry, unless odd is set
	over uint64                // number of completed entries
	odd  bool                  // completed entries have different iterations
	last code.IterationPattern // iterations since the last entry, which is not completed yet
}

// joined appends the next part; r and q are the loop's counts in both.
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

// end adds a number of completed entries with the same iterations.
func (t *taken) end(x code.IterationPattern, entries uint64) {
	if t.over > 0 && t.each != x {
		t.odd = true
	}
	t.each, t.over = x, t.over+entries
}

// of returns the part's result for a vertex in a loop. Without an entry, the loop ran without reaching it.
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

// reach records that a vertex is entered, in the current iteration of the loop around it.
func (c *counter) reach(s *summary, vertex int32) {
	if loop := c.loop[vertex]; loop >= 0 {
		t := s.of(vertex, loop).joined(s.runs[loop], taken{open: code.IterationPattern{Count: 1}}, vertexCounts{})
		s.taken[vertex] = t
	}
}

// enter prepares for a new entry of a loop: iterations are counted from its first. It must precede the counting of
// the entry.
func (c *counter) enter(s *summary, loop int32) {
	for _, v := range c.within[loop] {
		if t, ok := s.taken[v]; ok {
			s.taken[v] = t.joined(s.runs[loop], taken{}, vertexCounts{entered: 1, rounds: 1, last: 1})
		}
	}
}

// behind appends the results of another part. It must precede appending that part's counts.
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

// again appends n repetitions of a part. It must precede appending their counts.
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

// iterations returns the iterations that reached a vertex, if they are a progression and the same at each entry of
// the loop.
func (t *taken) iterations() code.IterationPattern {
	if t.odd || t.over > 0 && t.each != t.last {
		return code.IterationPattern{}
	}
	return t.last
}
