package timing

import "math"

// A Signed is a summary of a set of numbers of either sign: what was attached to
// calls. The zero value is an empty set.
type Signed struct {
	Count         uint64
	Sum, Min, Max int64 // a sum that is out of range stays at the limit
}

// Add puts one number into the set.
func (s *Signed) Add(v int64) { s.Merge(Signed{1, v, v, v}) }

// Merge adds all numbers of t.
func (s *Signed) Merge(t Signed) {
	if t.Count == 0 {
		return
	}
	if s.Count == 0 {
		*s = t
		return
	}
	s.Count += t.Count
	s.Min, s.Max = min(s.Min, t.Min), max(s.Max, t.Max)
	switch sum := s.Sum + t.Sum; {
	case s.Sum > 0 && t.Sum > 0 && sum < 0:
		s.Sum = math.MaxInt64
	case s.Sum < 0 && t.Sum < 0 && sum >= 0:
		s.Sum = math.MinInt64
	default:
		s.Sum = sum
	}
}

// Mean is the average number, 0 for an empty set.
func (s Signed) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Sum) / float64(s.Count)
}
