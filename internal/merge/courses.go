package merge

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
)

// A course is how a terminal's times, or the values attached to its calls under a name, developed over the run. It
// is limited to calls that follow a call from one site; see track.Course. Ranks of a class make the same calls in
// the same order, so that the phases of one correspond to those of another. Terminals that share a summary of times
// have no courses.
type course struct {
	name                 string // name of the attached values; "": times
	stream               int    // stream of the calls with the attached values; 0 for times
	terminal, from       int    // terminal of the calls; number of the site before, or track.NoPreviousTerminal
	gap, duration, count []timing.Phase
}

// lists returns pointers to the course's three lists of phases.
func (x *course) lists() [3]*[]timing.Phase {
	return [...]*[]timing.Phase{&x.gap, &x.duration, &x.count}
}

func (x *course) compare(y *course) int {
	return cmp.Or(strings.Compare(x.name, y.name), cmp.Compare(x.stream, y.stream), cmp.Compare(x.terminal, y.terminal), cmp.Compare(x.from, y.from))
}

// alone reports by terminal whether it has times of its own, shared with no other terminal. site is the number of
// its call site.
func (c *class) alone() (alone []bool, site []int) {
	unit, _ := c.histKeys()
	site, _ = c.shape().stacks()
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

// leafCourses sets the class's courses to those of a single rank's track.
func (c *class) leafCourses(tr *track.Track) {
	if len(tr.Courses) == 0 {
		return
	}
	alone, site := c.alone()
	for _, x := range tr.Courses {
		if x.Stream < 0 || x.Stream >= len(tr.Streams) || x.Terminal < 0 || x.Terminal >= len(alone) || x.PreviousTerminal >= len(site) || !alone[x.Terminal] {
			continue
		}
		from := x.PreviousTerminal
		if from >= 0 {
			from = site[from]
		}
		c.courses = append(c.courses, course{x.Name, x.Stream, x.Terminal, from, x.GapPhases, x.DurationPhases, x.CountPhases})
	}
	c.gatherCourses()
}

// gatherCourses sorts the courses, merges those of the same calls on several ranks, and removes those of terminals
// that share their times.
func (c *class) gatherCourses() {
	alone, _ := c.alone()
	slices.SortStableFunc(c.courses, func(a, b course) int { return a.compare(&b) })
	out := c.courses[:0]
	for _, x := range c.courses {
		switch n := len(out); {
		case !alone[x.terminal]:
		case n > 0 && out[n-1].compare(&x) == 0:
			for i, list := range out[n-1].lists() {
				*list = timing.MergePhases(*list, *x.lists()[i])
			}
		default:
			out = append(out, x)
		}
	}
	c.courses = out
}

// joinCourses adds the courses of o, the class of other ranks with the same key.
func (c *class) joinCourses(o *class) {
	if len(c.courses)+len(o.courses) == 0 {
		return
	}
	c.courses = append(c.courses, o.courses...)
	c.gatherCourses()
}

// uniteCourses sets c's courses to those of classes with the same sequence of calls.
func (c *class) uniteCourses(list []*class) {
	for _, o := range list {
		take := c.taking(o)
		for _, x := range o.courses {
			if x, ok := take(x); ok {
				for _, list := range x.lists() {
					*list = slices.Clone(*list)
				}
				c.courses = append(c.courses, x)
			}
		}
	}
	c.gatherCourses()
}

// taking returns a function that maps a course of o to this class, which has the same sequence of calls. It returns
// false for a course whose terminal is not the only one with its skeleton in both classes.
func (c *class) taking(o *class) func(x course) (course, bool) {
	of, n := c.shape().stacks()
	first, members := make([]int, n), make([]int, n)
	for t, s := range of {
		first[s] = t
		members[s]++
	}
	from, n := o.shape().stacks()
	own := make([]int, n)
	for _, s := range from {
		own[s]++
	}
	return func(x course) (course, bool) {
		s := from[x.terminal]
		if own[s] != 1 || members[s] != 1 {
			return x, false
		}
		x.terminal = first[s]
		return x, true
	}
}

// codeCourses codes the courses of a class:
//
//	courses = count uvarint, (name string, stream uvarint, terminal uvarint, from varint, phases of gaps, phases of
//	          durations, phases of counts)…
//	phases  = count uvarint, (calls uvarint, sum uvarint)…
func codeCourses(c *wire.Coder, courses *[]course, n bounds) {
	wire.CodeList(c, courses, 7, func(_ int, x *course) {
		c.String(&x.name)
		wire.CodeBounded(c, &x.stream, n.streams-1)
		wire.CodeBounded(c, &x.terminal, n.terminals-1)
		codeFrom(c, &x.from)
		for _, list := range x.lists() {
			wire.CodeList(c, list, 2, func(_ int, p *timing.Phase) { wire.CodeUints(c, &p.Calls, &p.Sum) })
		}
	})
}

// codeFrom codes the field from of a histogram or a course.
func codeFrom(c *wire.Coder, from *int) {
	wire.CodeIntegers(c, from)
	c.RefuseIf(*from < track.NoPreviousTerminal || *from > math.MaxInt32, "calls from a place that can't be")
}
