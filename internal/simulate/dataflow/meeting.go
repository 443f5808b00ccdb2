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
}

// A visit is a member's part of a meeting.
type visit struct {
	*meeting
	op      Op
	entered int64
}

// enter has a rank come to its next meeting of a context.
func (e *engine) enter(x *rank, o *Op) *visit {
	if x.met == nil {
		x.met = make(map[int32]uint32)
	}
	k := meetingKey{o.Context, x.met[o.Context]}
	x.met[o.Context]++
	m := e.meetings[k]
	if m == nil {
		m = &meeting{}
		e.meetings[k] = m
	}
	m.entered++
	m.last, m.time = max(m.last, x.now), max(m.time, o.Time)
	if o.Root {
		m.root, m.rooted = x.now, true
	}
	if m.entered == o.Members {
		delete(e.meetings, k)
	}
	if m.entered == o.Members || o.Root {
		e.ready = append(e.ready, m.waiting...)
		m.waiting = m.waiting[:0]
	}
	return &visit{m, *o, x.now}
}

// leave lets a member go; false if it has to wait for others.
func (x *rank) leave(r int32, v *visit) bool {
	m, o := v.meeting, &v.op
	switch {
	case o.Meeting == FromRoot && !o.Root:
		if !m.rooted {
			m.waiting = append(m.waiting, r)
			return false
		}
		x.until(max(v.entered, m.root)+o.Time, m.root)
	case o.Meeting == All, o.Root && o.Meeting == ToRoot:
		if m.entered < o.Members {
			m.waiting = append(m.waiting, r)
			return false
		}
		x.until(m.last+m.time, m.last)
	default:
		x.until(v.entered+o.Time, v.entered)
	}
	return true
}
