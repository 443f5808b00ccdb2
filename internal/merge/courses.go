package merge

import (
	"cmp"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/timing/phase"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// A course is how times of a terminal's calls went on over the run, of those that came
// after a call from one site. Ranks of a class make the same calls in the same order, so
// that phases of one belong to those of another. Where terminals share what is known of
// their times, they have no courses.
type course struct {
	terminal, from int // as of a histogram
	gap, duration  []phase.Phase
}

// alone tells which terminals share their times with no other.
func (c *class) alone() (alone []bool, site []int) {
	unit, site := c.histKeys()
	members := make([]int, len(unit))
	for _, u := range unit {
		members[u]++
	}
	alone = make([]bool, len(unit))
	for t, u := range unit {
		alone[t] = members[u] == 1
	}
	return alone, site
}

// leafCourses takes over the courses of a rank's track.
func (c *class) leafCourses(tr *track.Track) {
	if len(tr.Courses) == 0 {
		return
	}
	alone, site := c.alone()
	for _, x := range tr.Courses {
		if x.Terminal < 0 || x.Terminal >= len(alone) || x.From >= len(site) || !alone[x.Terminal] {
			continue
		}
		from := x.From
		if from >= 0 {
			from = site[from]
		}
		c.courses = append(c.courses, course{x.Terminal, from, x.Gap, x.Duration})
	}
	c.gatherCourses()
}

// gatherCourses brings courses in order, puts those of the same calls of several ranks
// together, and leaves out what shares its times with others.
func (c *class) gatherCourses() {
	alone, _ := c.alone()
	slices.SortStableFunc(c.courses, func(a, b course) int {
		return cmp.Or(cmp.Compare(a.terminal, b.terminal), cmp.Compare(a.from, b.from))
	})
	out := c.courses[:0]
	for _, x := range c.courses {
		switch n := len(out); {
		case !alone[x.terminal]:
		case n > 0 && out[n-1].terminal == x.terminal && out[n-1].from == x.from:
			out[n-1].gap, out[n-1].duration = phase.Merge(out[n-1].gap, x.gap), phase.Merge(out[n-1].duration, x.duration)
		default:
			out = append(out, x)
		}
	}
	c.courses = out
}

// joinCourses adds those of other ranks.
func (c *class) joinCourses(o *class) {
	if len(c.courses)+len(o.courses) == 0 {
		return
	}
	c.courses = append(c.courses, o.courses...)
	c.gatherCourses()
}

// uniteCourses gives c the courses of classes with the same sequence of calls, of the
// terminals that have a skeleton of their own on either side.
func (c *class) uniteCourses(list []*class) {
	of, n := c.shape().sites()
	first, members := make([]int, n), make([]int, n)
	for t, s := range of {
		first[s] = t
		members[s]++
	}
	for _, o := range list {
		of, n := o.shape().sites()
		own := make([]int, n)
		for _, s := range of {
			own[s]++
		}
		for _, x := range o.courses {
			s := of[x.terminal]
			if own[s] != 1 || members[s] != 1 {
				continue
			}
			x.terminal = first[s]
			x.gap, x.duration = slices.Clone(x.gap), slices.Clone(x.duration)
			c.courses = append(c.courses, x)
		}
	}
	c.gatherCourses()
}

// appendCourses and decodeCourses:
//
//	courses = count uvarint, (terminal uvarint, from varint, phases of gaps, phases of durations)…
//	phases  = count uvarint, (calls uvarint, sum uvarint)…
func (c *class) appendCourses(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(len(c.courses)))
	for _, x := range c.courses {
		b = wire.AppendUvarint(b, uint64(x.terminal))
		b = wire.AppendVarint(b, int64(x.from))
		for _, list := range [][]phase.Phase{x.gap, x.duration} {
			b = wire.AppendUvarint(b, uint64(len(list)))
			for _, p := range list {
				b = wire.AppendUvarint(b, p.Calls)
				b = wire.AppendUvarint(b, p.Sum)
			}
		}
	}
	return b
}

func (c *class) decodeCourses(r *wire.Reader, sh *shape) {
	for range r.Count(4) {
		x := course{terminal: r.Int(len(sh.skeletons) - 1), from: int(r.Varint())}
		if x.from < track.First || x.from > math.MaxInt32 {
			r.Fail("times of calls from %d", x.from)
		}
		for _, list := range []*[]phase.Phase{&x.gap, &x.duration} {
			for range r.Count(2) {
				*list = append(*list, phase.Phase{Calls: r.Uvarint(), Sum: r.Uvarint()})
			}
		}
		if r.Err() != nil {
			return
		}
		c.courses = append(c.courses, x)
	}
}
