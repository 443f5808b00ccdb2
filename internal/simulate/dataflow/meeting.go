package dataflow

// A meetingKey numbers the meetings of a context.
type meetingKey struct {
	context int32
	number  uint32
}

// A meeting is a collective that is not taken apart into messages.
type meeting struct {
	entered    int32
	last, time int64 // when the last member so far came; the most Time of one
	root       int64 // when the root did
	rooted     bool
	waiting    []int32

	lastHop, rootHop *hop // how these came, if paths are wanted
	lastAt, rootAt   int32
}

// A visit is a member's part of a meeting.
type visit struct {
	*meeting
	op      Op
	entered int64
	hop     *hop  // how it came
	late    *late // in place of all that: no rank waits for another
}

// next counts the meetings of a context. Where one rank stands for several it may know one by
// several slots.
func (x *rank) next(o *Op) uint32 {
	by := o.Context
	if x.visits != nil {
		by = o.Slot
	}
	for i := range x.met {
		if x.met[i].context == by {
			x.met[i].number++
			return x.met[i].number
		}
	}
	x.met = append(x.met, meetingKey{by, 0})
	return 0
}

// enter has a rank come to its next meeting of a context, for so many that do the same; nil if it takes no part.
func (e *engine) enter(x *rank, o *Op, context, weight int32) *visit {
	k := meetingKey{context, uint32(o.Nth - 1)}
	if o.Nth == 0 {
		k.number = x.next(o)
	}
	if o.Meeting == Aside {
		return nil
	}
	m := e.meetings[k]
	if m == nil {
		m = &meeting{last: -1}
		e.meetings[k] = m
	}
	m.entered += weight
	if x.now > m.last {
		m.last, m.lastHop, m.lastAt = x.now, x.hop, x.number
	}
	m.time = max(m.time, o.Time)
	if o.Root {
		m.root, m.rooted, m.rootHop, m.rootAt = x.now, true, x.hop, x.number
	}
	if m.entered == o.Members {
		delete(e.meetings, k)
	}
	if m.entered == o.Members || o.Root {
		e.ready = append(e.ready, m.waiting...)
		m.waiting = m.waiting[:0]
	}
	return &visit{meeting: m, op: *o, entered: x.now, hop: x.hop}
}

// leave lets a member go; false if it has to wait for others.
func (e *engine) leave(r int32, x *rank, v *visit) bool {
	m, o := v.meeting, &v.op
	switch {
	case o.Meeting == FromRoot && !o.Root:
		if !m.rooted {
			m.waiting = append(m.waiting, r)
			return false
		}
		if e.until(x, o.Site, max(v.entered, m.root)+o.Time, m.root) && e.noting {
			if m.root > v.entered {
				x.jump(m.rootHop, m.rootAt, m.root)
			} else {
				x.jump(v.hop, x.number, v.entered)
			}
		}
	case o.Meeting == All, o.Root && o.Meeting == ToRoot:
		if m.entered < o.Members {
			m.waiting = append(m.waiting, r)
			return false
		}
		if e.until(x, o.Site, m.last+m.time, m.last) && e.noting {
			x.jump(m.lastHop, m.lastAt, m.last)
		}
	default:
		if e.until(x, o.Site, v.entered+o.Time, v.entered) && e.noting {
			x.jump(v.hop, x.number, v.entered)
		}
	}
	return true
}
