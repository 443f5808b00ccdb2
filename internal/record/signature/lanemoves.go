package signature

// LaneCandidates is which values of a signature may go into a lane. These are tags, also of statuses, offsets into
// memory, windows, files and packed data, and the file position that a call returns. No analysis of distinct calls
// depends on them: neither what handles mean, nor amounts of communication, nor the layout of values follows from them.
// Functions that bind names have no such values (mpi.Call.CreatesOrFreesObject).
type LaneCandidates struct {
	Positions []int32 // positions, rising

	// Positions of the values that determine what is in Values: those that determine the layout, such as lengths of
	// arrays, and segments of addresses, which determine whether an offset may be in a lane.
	LayoutPositions, SegmentPositions []int32
}

// FindIn sets m to the movable values of a signature.
func (m *LaneCandidates) FindIn(l *Layout, spans []Span, vals []int64) {
	m.Positions, m.LayoutPositions, m.SegmentPositions = m.Positions[:0], append(m.LayoutPositions[:0], 0), m.SegmentPositions[:0]
	for i := range spans {
		s := &spans[i]
		varies := s.Param == ParamResult && l.ResultVaries || s.Param >= 0 && s.Param < len(l.Params) && l.Params[s.Param].Varies
		m.add(s, vals, varies)
	}
}

func (m *LaneCandidates) add(s *Span, vals []int64, varies bool) {
	at := int32(s.First)
	switch {
	case s.Dims > 0:
		m.LayoutPositions = append(m.LayoutPositions, at)
		if s.Dims > 1 || s.Width != WidthOne {
			for e := range s.Elements(vals) {
				m.add(&e, vals, false)
			}
		}
	case s.Width == WidthStatus:
		m.LayoutPositions = append(m.LayoutPositions, at)
		if s.IsFilledStatus(vals) {
			m.Positions = append(m.Positions, at+StatusTagPosition)
		}
	case s.Width == WidthAddress:
		m.SegmentPositions = append(m.SegmentPositions, at)
		if varies && HasByteOffsets(vals[at]) {
			m.Positions = append(m.Positions, at+1)
		}
	case varies:
		m.Positions = append(m.Positions, at)
	}
}
