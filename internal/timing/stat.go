// Package timing summarises how long calls took and how long the program
// computed between them. It does not decide which calls belong together.
package timing

// A Stat is a summary of a set of non-negative samples in nanoseconds.
// The zero value is an empty set.
type Stat struct {
	Count    uint64
	Sum      uint64
	Min, Max uint64
}

// Add puts one sample into the set.
func (s *Stat) Add(ns uint64) {
	if s.Count == 0 || ns < s.Min {
		s.Min = ns
	}
	if ns > s.Max {
		s.Max = ns
	}
	s.Count++
	s.Sum += ns
}

// Merge adds all samples of t.
func (s *Stat) Merge(t Stat) {
	if t.Count == 0 {
		return
	}
	if s.Count == 0 || t.Min < s.Min {
		s.Min = t.Min
	}
	if t.Max > s.Max {
		s.Max = t.Max
	}
	s.Count += t.Count
	s.Sum += t.Sum
}

// Mean is the average sample in nanoseconds, 0 for an empty set.
func (s Stat) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Sum) / float64(s.Count)
}
