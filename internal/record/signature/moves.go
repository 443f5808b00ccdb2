package signature

// Movable is which values of a signature may go into a lane: tags, offsets into memory, windows, files and packed data,
// tags of statuses, and the file position that a call returns. No analysis of distinct calls depends on them: not the
// meaning of a handle, nor amounts of communication, nor the layout of values. Functions that bind names have none
// (mpi.Call.Binds).
type Movable struct {
	Values []int32 // positions, rising

	// What determines that: values that decide about the layout, and segments of addresses, which decide about the
	// class.
	Forms, Segments []int32
}

// Find finds out which values of a signature may move, in place of what m said before.
func (m *Movable) Find(l *Layout, spans []Span, vals []int64) {
	m.Values, m.Forms, m.Segments = m.Values[:0], append(m.Forms[:0], 0), m.Segments[:0]
	for i := range spans {
		s := &spans[i]
		varies := s.Param == ParamResult && l.Varies || s.Param >= 0 && s.Param < len(l.Params) && l.Params[s.Param].Varies
		m.add(s, vals, varies)
	}
}

func (m *Movable) add(s *Span, vals []int64, varies bool) {
	at := int32(s.First)
	switch {
	case s.Dims > 0:
		m.Forms = append(m.Forms, at)
		if s.Dims > 1 || s.Width != WidthOne {
			for e := range s.Elements(vals) {
				m.add(&e, vals, false)
			}
		}
	case s.Width == WidthStatus:
		m.Forms = append(m.Forms, at)
		if s.Filled(vals) {
			m.Values = append(m.Values, at+StatusTag)
		}
	case s.Width == WidthAddress:
		m.Segments = append(m.Segments, at)
		if varies && IsDistance(vals[at]) {
			m.Values = append(m.Values, at+1)
		}
	case varies:
		m.Values = append(m.Values, at)
	}
}
