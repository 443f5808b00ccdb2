package merge

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Besides a class's courses of attached values, the courses of each of its ranks are kept, so that each rank has
// sums at its leaves. Times need no such courses: each rank's times are kept by call site.

// maxOwn is the largest number of phases kept for a class's ranks; above it none are kept.
const maxOwn = 1 << 20

// A rankCourses is the courses of attached values of each rank of a class, in rank order. It is empty if the ranks
// have none, or too many.
type rankCourses struct {
	of   [][]course
	lost bool // the courses of the ranks have more than maxOwn phases, so they were discarded
}

// coursewise returns the courses of each rank. For a class of a single rank they are the class's.
func (c *class) coursewise() rankCourses {
	if c.own.of != nil || c.own.lost || c.ranks.Len() != 1 {
		return c.own
	}
	var list []course
	for _, x := range c.courses {
		if x.name != "" {
			list = append(list, x)
		}
	}
	if list == nil {
		return rankCourses{}
	}
	return rankCourses{of: [][]course{list}}.cloned()
}

// cloned returns a copy with its own slices.
func (o rankCourses) cloned() rankCourses {
	out := rankCourses{make([][]course, len(o.of)), o.lost}
	for i, list := range o.of {
		out.of[i] = slices.Clone(list)
		for k := range out.of[i] {
			for _, phases := range out.of[i][k].lists() {
				*phases = slices.Clone(*phases)
			}
		}
	}
	return out
}

// bounded returns o, but without any courses if they have more than maxOwn phases.
func (o rankCourses) bounded() rankCourses {
	n := 0
	for _, list := range o.of {
		for i := range list {
			for _, phases := range list[i].lists() {
				n += len(*phases)
			}
		}
	}
	if o.lost || n > maxOwn {
		return rankCourses{lost: true}
	}
	return o
}

// joinOwn appends the courses of o's ranks to those of c's. It must be called before ranks and courses of o are joined
// to c's.
func (c *class) joinOwn(o *class) {
	a, b := c.coursewise(), o.coursewise()
	lost := a.lost || b.lost
	if c.own = (rankCourses{lost: lost}); lost || a.of == nil && b.of == nil {
		return
	}
	c.own.of = append(append(c.own.of, a.ofAll(c)...), b.ofAll(o)...)
	c.own = c.own.bounded()
}

// ofAll returns a list of courses for each rank of the class.
func (o rankCourses) ofAll(c *class) [][]course {
	if o.of == nil {
		return make([][]course, c.ranks.Len())
	}
	return o.of
}

// takeOwn copies the rank courses of a class that has the same ranks and the same sequence of calls.
func (c *class) takeOwn(o *class) {
	c.own = rankCourses{lost: o.own.lost}
	if o.own.of == nil {
		return
	}
	take := c.taking(o)
	for _, list := range o.own.of {
		c.own.of = append(c.own.of, taken(list, take))
	}
}

// some returns the courses of the given members.
func (o rankCourses) some(members []int) rankCourses {
	out := rankCourses{lost: o.lost}
	for _, m := range members {
		if o.of != nil {
			out.of = append(out.of, o.of[m])
		}
	}
	return out
}

func taken(list []course, take func(course) (course, bool)) (out []course) {
	for _, x := range list {
		if x, ok := take(x); ok {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b course) int { return a.compare(&b) })
	return out
}

// own sets the rank courses of the united class.
func (u *united) own(j *class) {
	of, some := make(map[*class][][]course), false
	for i := range u.list {
		c := u.list[i].class
		if _, ok := of[c]; ok {
			continue
		}
		x := c.coursewise()
		if x.lost {
			j.own = x
			return
		}
		some = some || x.of != nil
		take, all := j.taking(c), x.ofAll(c)
		of[c] = make([][]course, len(all))
		for at, list := range all {
			of[c][at] = taken(list, take)
		}
	}
	if !some {
		return
	}
	for _, m := range u.members {
		j.own.of = append(j.own.of, of[u.list[m.part].class][m.at])
	}
	j.own = j.own.bounded()
}

// codeOwn codes the rank courses of a class; nothing for a single rank, as its courses are those of the class.
//
//	own = 0: none | 1: too many | 2, per rank courses
const (
	noOwn   = 0
	lostOwn = 1
	someOwn = 2
)

func (c *class) codeOwn(x *wire.Coder, n bounds) {
	ranks := c.ranks.Len()
	if ranks == 1 {
		return
	}
	kind := byte(noOwn)
	if c.own.lost {
		kind = lostOwn
	} else if c.own.of != nil {
		kind = someOwn
	}
	wire.CodeByte(x, &kind)
	if x.Reader != nil && (kind > someOwn || kind == someOwn && ranks > x.Reader.RemainingLen()) {
		x.Reader.Fail("courses of %d ranks of kind %d", ranks, kind)
	}
	if c.own.lost = kind == lostOwn; kind != someOwn || x.Failed() {
		return
	}
	if x.Reader != nil {
		c.own.of = make([][]course, ranks)
	}
	for i := range c.own.of {
		codeCourses(x, &c.own.of[i], n)
	}
}
