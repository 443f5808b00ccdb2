package extrapolate

import (
	"maps"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/stats"
)

// A cycle describes the repetition in a loop's iterations: from iteration first on, each is equal to the one every
// iterations earlier. A program that swaps two buffers has a cycle of two iterations. If every is 0, no two
// iterations are equal, and the memory grows with their number.
type cycle struct{ first, every int32 }

// Limits for cycles. They are searched for in loops with enough iterations, and with equal trip counts everywhere.
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

// kept returns the number of iterations that represent n of them.
func (c cycle) kept(n int32) int32 {
	if c.every == 0 {
		return n
	}
	return min(n, c.first+c.every)
}

// keyed returns an index of a node with each iteration replaced by its representative.
func (n *node) keyed(index [maxDepth + 1]int32) [maxDepth + 1]int32 {
	for d := 1; d < len(n.around); d++ {
		index[d] = n.around[d].cycle.of(index[d])
	}
	return index
}

// cycles finds the cycles of all loops on whose iteration some node depends.
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

// cycleOf is the shortest cycle of a rank in the loop at a depth. users are the nodes that depend on the loop's
// iteration.
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
