package capture

import (
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
)

// Courses of attached values work like those of times. They cost nothing in a program without attached values.

// amount summarises the values attached to a call under one name: absolute sum of the negative ones, sum of the
// positive ones, and number of values.
type amount struct{ below, above, count uint64 }

func (a *amount) add(v int64) {
	if a.count++; v < 0 {
		a.below += uint64(-v)
	} else {
		a.above += uint64(v)
	}
}

// amountOf sums up all values in a VALUES record whose name's number is that in word i. ok is false if that number
// occurs before word i, where an earlier call of amountOf has summed the values up.
func amountOf(rec event.Record, i int) (a amount, ok bool) {
	for k := 3; k < len(rec); k += 2 {
		if rec[k] == rec[i] {
			if k < i {
				return a, false
			}
			a.add(int64(rec[k+1]))
		}
	}
	return a, true
}

// attach adds the values a to the course of the last call of terminal n. They are attached to that call, under the name
// with number id.
func (p *phases) attach(n uint32, id int, a amount) {
	if p.blind || int(n) >= len(p.heads) || p.heads[n].first == nil || p.heads[n].blind {
		return
	}
	x := p.heads[n].first
	for len(x.values) <= id {
		x.values = append(x.values, nil)
	}
	if x.values[id] == nil {
		if p.numbers == maxNumbers {
			p.heads[n].blind = true
			return
		}
		x.values[id] = p.newNumbers()
	}
	x.values[id].Add(x.times.Calls()-1, a.below, a.above, a.count)
}

func (p *phases) newNumbers() *timing.NumberPhases {
	p.numbers++
	return timing.NewNumberPhases(p.numbers > maxWhole)
}

// codeNumbers codes the attached values. The courses must be read before.
func (p *phases) codeNumbers(c *wire.Coder) {
	if c.Reader != nil {
		p.numbers = 0
	}
	c.Bool(&p.blind)
	for n := range p.heads {
		h := &p.heads[n]
		if h.first == nil || p.blind {
			continue
		}
		c.Bool(&h.blind)
		for x := h.first; x != nil && !c.Failed(); x = x.next {
			wire.CodeList(c, &x.values, 1, func(_ int, v **timing.NumberPhases) {
				has := *v != nil
				if c.Bool(&has); has && c.Reader != nil {
					*v = p.newNumbers()
				}
				if has {
					(*v).Code(c)
				}
			})
			c.RefuseIf(len(x.values) > maxNames, "too many names")
		}
	}
}

// trackNumbers returns a track's courses of the values attached under a name, whose number is id. order and more are as
// in track.
func (p *phases) trackNumbers(id int, name string, stream int, order []uint32, more func(uint32) []uint32) []track.Course {
	if p == nil || p.over || p.blind {
		return nil
	}
	stands := p.sites.stands(order)
	var out []track.Course
	for i, n := range order {
		members := append(slices.Sorted(slices.Values(more(n))), n)
		if !slices.ContainsFunc(members, func(m uint32) bool { return p.has(m, id) }) {
			continue
		}
		list, whole := p.coursesOf(i, members, stands, func(c *track.Course, x *course) {
			calls := x.times.Calls()
			below, above, count := []timing.Phase{{Calls: calls}}, []timing.Phase{{Calls: calls}}, []timing.Phase{{Calls: calls}}
			if id < len(x.values) && x.values[id] != nil {
				below, above, count = x.values[id].Phases(calls)
			}
			c.Name, c.Stream = name, stream
			c.GapPhases, c.DurationPhases, c.CountPhases = append(c.GapPhases, below...), append(c.DurationPhases, above...), append(c.CountPhases, count...)
		})
		if whole && !slices.ContainsFunc(members, func(m uint32) bool { return p.heads[m].blind }) {
			out = append(out, list...)
		}
	}
	return out
}

// has reports whether values were attached to calls of terminal n under the name with number id.
func (p *phases) has(n uint32, id int) bool {
	if int(n) >= len(p.heads) {
		return false
	}
	for x := p.heads[n].first; x != nil; x = x.next {
		if id < len(x.values) && x.values[id] != nil {
			return true
		}
	}
	return false
}

// trackCourses returns the courses of a track: first those of times, then those of attached values by name.
func (c *Capture) trackCourses(order []uint32, more func(uint32) []uint32) []track.Course {
	var list []track.Course
	if !c.timeless {
		list = c.phases.track(order, more, 1/c.cfg.TicksPerNs)
	}
	names := make(map[string]int)
	for id, name := range c.attached.names {
		if _, ok := names[name]; !ok && name != "" {
			names[name] = id
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		for i, s := range c.streams {
			list = append(list, s.phases.trackNumbers(names[name], name, i, order, more)...)
		}
	}
	return list
}
