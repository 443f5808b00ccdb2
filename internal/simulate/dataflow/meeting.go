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

// A visit is a member's part of a meeting that it waits for later.
type visit struct {
	*meeting
	op      Op
	entered int64
	hop     *hop  // how it came
	late    *late // in place of all that: no rank waits for another
}

// next counts the meetings of a context. Where one rank stands for several it may know one by
// several slots.
func (e *engine) next(x *rank, o *Op) (before uint32) {
	by := o.Context
	if x.visits != nil {
		if by = o.Slot; by < e.columns {
			n := &e.met[int(by)*len(e.ranks)+int(x.number)]
			before, *n = *n, *n+1
			return before
		}
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

// enter has a rank come to its next meeting of a context; nil if it takes no part.
func (e *engine) enter(x *rank, o *Op) *meeting {
	context, weight := o.Context, int32(1) // so many do the same
	if x.visits != nil {
		if context = e.slot(x, o.Slot); e.lumped && x.weights != nil {
			weight = x.weights[o.Slot]
		}
	}
	k := meetingKey{context, uint32(o.Nth - 1)}
	if o.Nth == 0 {
		k.number = e.next(x, o)
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
		if m.last, m.lastAt = x.now, x.number; e.noting {
			m.lastHop = x.hop
		}
	}
	m.time = max(m.time, o.Time)
	if o.Root {
		if m.root, m.rooted, m.rootAt = x.now, true, x.number; e.noting {
			m.rootHop = x.hop
		}
	}
	if m.entered == o.Members {
		delete(e.meetings, k)
	}
	if m.entered == o.Members || o.Root {
		e.ready = append(e.ready, m.waiting...)
		m.waiting = m.waiting[:0]
	}
	return m
}

// leave lets a member go that came at a time; false if it has to wait for others.
func (e *engine) leave(r int32, x *rank, m *meeting, o *Op, entered int64, came *hop) bool {
	if e.noting && o.Request == NoRequest {
		came = x.hop
	}
	switch {
	case o.Meeting == FromRoot && !o.Root:
		if !m.rooted {
			m.waiting = append(m.waiting, r)
			return false
		}
		if e.until(x, o.Site, max(entered, m.root)+o.Time, m.root) && e.noting {
			if m.root > entered {
				x.jump(m.rootHop, m.rootAt, m.root)
			} else {
				x.jump(came, x.number, entered)
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
		if e.until(x, o.Site, entered+o.Time, entered) && e.noting {
			x.jump(came, x.number, entered)
		}
	}
	return true
}
