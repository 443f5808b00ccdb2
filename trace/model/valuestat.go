package model

import "math"

// A ValueStat is a summary of the numbers, of either sign, that a plugin or a counter attached to
// calls under one name. The zero value is an empty set.
type ValueStat struct {
	Count         uint64
	Sum, Min, Max int64 // a sum that is out of range stays at the limit
}

// Add puts one number into the set.
func (s *ValueStat) Add(v int64) { s.Merge(ValueStat{1, v, v, v}) }

// Merge adds all numbers of t.
func (s *ValueStat) Merge(t ValueStat) {
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
func (s ValueStat) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Sum) / float64(s.Count)
}
