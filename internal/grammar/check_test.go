package grammar

import (
	"fmt"
	"testing"
)

// checkBuilder verifies the invariants of the package comment on a Builder's
// live state.
func checkBuilder(b *Builder) error {
	uses := make([]int32, len(b.rules))
	counts := make([]uint64, len(b.rules)) // of the last use seen
	seen := map[[4]uint64]int32{}
	indexed := 0
	live := map[int32]bool{0: true}
	waiting := []int32{0}
	for len(waiting) > 0 {
		r := waiting[0]
		waiting = waiting[1:]
		g := b.rules[r].guard
		if b.nodes[g].count != 0 || b.nodes[g].id != -r {
			return fmt.Errorf("rule %d: guard is %+v", r, b.nodes[g])
		}
		size := 0
		for n := b.nodes[g].next; n != g; n = b.nodes[n].next {
			size++
			x := b.nodes[n]
			if x.count == 0 {
				return fmt.Errorf("rule %d: free node %d in the body", r, n)
			}
			if b.nodes[x.next].prev != n || b.nodes[x.prev].next != n {
				return fmt.Errorf("rule %d: node %d badly linked", r, n)
			}
			if x.id < 0 {
				uses[-x.id]++
				counts[-x.id] = x.count
				if !live[-x.id] {
					live[-x.id] = true
					waiting = append(waiting, -x.id)
				}
			}
			y := b.nodes[x.next]
			if y.count == 0 {
				if x.hash != 0 {
					return fmt.Errorf("rule %d: last symbol is in the index", r)
				}
				continue
			}
			if x.id == y.id {
				return fmt.Errorf("rule %d: neighbours are both %d", r, x.id)
			}
			if x.hash == 0 {
				if !open(b, x.next) {
					return fmt.Errorf("rule %d: digram at %d not in the index", r, n)
				}
				continue
			}
			indexed++
			key := [4]uint64{uint64(x.id), x.count, uint64(y.id), y.count}
			if f, ok := seen[key]; ok {
				return fmt.Errorf("digram %v at %d and %d", key, f, n)
			}
			seen[key] = n
			if f := b.index.enter(b.nodes, x.hash, n); f != n {
				return fmt.Errorf("digram at %d: index says %d", n, f)
			}
		}
		if r != 0 && size < 2 {
			return fmt.Errorf("rule %d: body of %d symbols", r, size)
		}
	}
	if held := b.index.used + b.index.ends.used + b.index.begins.used; indexed != held {
		return fmt.Errorf("index holds %d digrams, grammar %d", held, indexed)
	}
	if b.mode == following && b.nodes[b.root].count == 0 {
		uses[-b.nodes[b.root].id]++
	}
	for r := 1; r < len(b.rules); r++ {
		if !live[int32(r)] {
			continue
		}
		if uses[r] != b.rules[r].uses {
			return fmt.Errorf("rule %d: %d uses, counted %d", r, uses[r], b.rules[r].uses)
		}
		if uses[r] == 1 && counts[r] == 1 {
			return fmt.Errorf("rule %d: used once", r)
		}
	}
	if len(b.dirty) != 0 {
		return fmt.Errorf("%d digrams unchecked", len(b.dirty))
	}
	return nil
}

// open reports whether n is a rule at the end of the start rule, behind a digram
// that has not been looked up.
func open(b *Builder, n int32) bool {
	p := b.nodes[n].prev
	return n == b.nodes[0].prev && b.nodes[n].id < 0 && p != 0 && b.nodes[p].hash == 0
}

// build appends seq one by one.
func build(seq []uint32) *Builder {
	b := NewBuilder()
	for _, s := range seq {
		b.Append(s)
	}
	return b
}

func buildPlain(seq []uint32) *Builder {
	b := NewBuilder()
	b.plain = true
	for _, s := range seq {
		b.Append(s)
	}
	return b
}

func expand(g *Grammar) []uint32 {
	var seq []uint32
	for s := range g.All() {
		seq = append(seq, s)
	}
	return seq
}

func symbols(g *Grammar) int {
	n := 0
	for _, body := range g.Rules {
		n += len(body)
	}
	return n
}

func mustHold(t interface{ Fatal(...any) }, err error) {
	if h, ok := t.(testing.TB); ok {
		h.Helper()
	}
	if err != nil {
		t.Fatal(err)
	}
}
