package extrapolate

import (
	"maps"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/stats"
)

// A cycle describes how a loop's iterations repeat: from iteration number first on, each equals the iteration that is
// "every" iterations earlier. A program that swaps two buffers has a cycle of two iterations. If every is 0, no two
// iterations are equal, and the memory grows with their number.
type cycle struct{ first, every int32 }

// Limits for cycles: the largest first, the largest every, and how often a cycle must repeat in a loop. The loop's trip
// count must be equal everywhere.
const (
	mostFirst = 64
	mostEvery = 256
	rounds    = 4
)

// of returns the iteration that represents iteration i.
func (c cycle) of(i int32) int32 {
	if c.every == 0 || i < c.first {
		return i
	}
	return c.first + (i-c.first)%c.every
}

// kept returns how many of a loop's n iterations are kept: the others are represented by these.
func (c cycle) kept(n int32) int32 {
	if c.every == 0 {
		return n
	}
	return min(n, c.first+c.every)
}

// keyed returns an index (by depth, the iteration of each loop around a node) with each iteration replaced by its
// representative.
func (n *node) keyed(index [maxDepth + 1]int32) [maxDepth + 1]int32 {
	for d := 1; d < len(n.around); d++ {
		index[d] = n.around[d].cycle.of(index[d])
	}
	return index
}

// cycles sets the cycle of each loop on whose iteration some node depends.
func (s *shape) cycles(calls []call, ranks []*grammar.Grammar) error {
	users := make([][]*node, len(s.nodes)) // by loop: the nodes that depend on its iteration
	for _, n := range s.nodes[1:] {
		for d := 1; d < len(n.around); d++ {
			if n.mask>>d&1 != 0 {
				users[n.around[d].number] = append(users[n.around[d].number], n)
			}
		}
	}
	length := make([]int32, len(s.nodes))
	found := make(map[*node]cycle)
	for _, l := range s.nodes[1:] {
		if len(users[l.number]) > 0 {
			found[l] = cycle{0, 1}
		}
	}
	for _, g := range ranks {
		if len(found) == 0 {
			return nil
		}
		known := make([]map[[maxDepth + 1]int32]int32, len(s.nodes))
		for i := range known {
			known[i] = make(map[[maxDepth + 1]int32]int32)
		}
		if err := s.parse(calls, g, func(n *node, index [maxDepth + 1]int32, what int32) bool {
			known[n.number][reduced(index, n.mask)] = what
			return false
		}); err != nil {
			return err
		}
		maps.DeleteFunc(found, func(l *node, c cycle) bool {
			for _, n := range known[l.number] {
				if length[l.number] == 0 {
					length[l.number] = n
				}
				if n != length[l.number] {
					return true
				}
			}
			own := cycleOf(known, users[l.number], len(l.around))
			if own.every > 0 {
				own = cycle{max(c.first, own.first), c.every / stats.GCD(c.every, own.every) * own.every}
			}
			found[l] = own
			return own.every == 0 || own.every > mostEvery || own.first+rounds*own.every > length[l.number]
		})
	}
	for l, c := range found {
		l.cycle = c
	}
	return nil
}

// cycleOf returns the shortest cycle of the loop at a depth, as one rank shows it; the zero cycle if it shows no cycle.
// users are the nodes that depend on the loop's iteration.
func cycleOf(known []map[[maxDepth + 1]int32]int32, users []*node, depth int) cycle {
	for c := (cycle{0, 1}); c.every <= mostEvery; c = (cycle{0, c.every + 1}) {
		for _, n := range users {
			for key, what := range known[n.number] {
				if at := key[depth] - c.every; at >= c.first {
					key[depth] = at
					if before, ok := known[n.number][key]; !ok || before != what {
						c.first = at + 1
					}
				}
				if c.first > mostFirst {
					break
				}
			}
		}
		if c.first <= mostFirst {
			return c
		}
	}
	return cycle{}
}
