package rsd

import "github.com/spoor-hpc/spoor/trace"

// Sites are where the call sites of a thread stand in the program, and its loops, as BySites finds them.
type Sites struct{ b *builder }

// SitesOf finds those of ranks.
func SitesOf(r *trace.Reader, ranks []int, thread int) (*Sites, error) {
	b, err := surveyed(r, ranks, thread)
	return &Sites{b}, err
}

// Places returns where each terminal of a rank stands.
func (s *Sites) Places(k *trace.Rank) ([]int, error) {
	list, err := s.b.numbers.contexts(k)
	for t, c := range list {
		list[t] = s.b.shape.at[c]
	}
	return list, err
}

// Loops is how many there are; the larger come before those in them.
func (s *Sites) Loops() int { return len(s.b.shape.loops) }

// Inner is the innermost loop that a place is in, -1 if there is none.
func (s *Sites) Inner(place int) int { return s.b.shape.inner[place] }

// Outer is the loop around one, -1 if there is none.
func (s *Sites) Outer(loop int) int { return s.b.shape.outer[loop] }

// Common is the innermost loop that has both places, -1 if there is none.
func (s *Sites) Common(a, b int) int { return s.b.shape.loop(a, b) }
