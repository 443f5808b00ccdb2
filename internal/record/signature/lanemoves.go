package signature

// MovableValues is which values of a signature may go into a lane. These are tags, also of statuses, offsets into
// memory, windows, files and packed data, and the file position that a call returns. No analysis of distinct calls
// depends on them: neither what handles mean, nor amounts of communication, nor the layout of values follows from them.
// Functions that bind names have no such values (mpi.Call.BindsNames).
type MovableValues struct {
	Values []int32 // positions, rising

	// Positions of the values that determine what is in Values: those that determine the layout, such as lengths of
	// arrays, and segments of addresses, which determine whether an offset may be in a lane.
	LayoutValues, SegmentValues []int32
}

// FindIn sets m to the movable values of a signature.
func (m *MovableValues) FindIn(l *Layout, spans []Span, vals []int64) {
	m.Values, m.LayoutValues, m.SegmentValues = m.Values[:0], append(m.LayoutValues[:0], 0), m.SegmentValues[:0]
	for i := range spans {
		s := &spans[i]
		varies := s.Param == ParamResult && l.ResultVaries || s.Param >= 0 && s.Param < len(l.Params) && l.Params[s.Param].Varies
		m.add(s, vals, varies)
	}
}

func (m *MovableValues) add(s *Span, vals []int64, varies bool) {
	at := int32(s.First)
	switch {
	case s.Dims > 0:
		m.LayoutValues = append(m.LayoutValues, at)
		if s.Dims > 1 || s.Width != WidthOne {
			for e := range s.Elements(vals) {
				m.add(&e, vals, false)
			}
		}
	case s.Width == WidthStatus:
		m.LayoutValues = append(m.LayoutValues, at)
		if s.IsFilledStatus(vals) {
			m.Values = append(m.Values, at+StatusTag)
		}
	case s.Width == WidthAddress:
		m.SegmentValues = append(m.SegmentValues, at)
		if varies && IsDistance(vals[at]) {
			m.Values = append(m.Values, at+1)
		}
	case varies:
		m.Values = append(m.Values, at)
	}
}
