package machine

import (
	"fmt"
	"slices"
)

// A Mapping is how ranks are laid out over the nodes.
type Mapping int

// The mappings.
const (
	Block  Mapping = iota // one node after the other is filled
	Cyclic                // ranks go round the nodes
)

// ParseMapping reads a mapping's name.
func ParseMapping(name string) (Mapping, error) {
	switch name {
	case "block":
		return Block, nil
	case "cyclic":
		return Cyclic, nil
	}
	return 0, fmt.Errorf("no mapping %q: block or cyclic", name)
}

func (m Mapping) String() string { return [...]string{"block", "cyclic"}[m] }

// A Placement says where the ranks of a run are.
type Placement struct {
	levels []Level
	seats  []int32 // by rank; ranks of a node have seats in a row
}

// Place lays ranks out.
func (m *Machine) Place(ranks int, by Mapping) *Placement {
	p := &Placement{m.Levels, make([]int32, ranks)}
	node := ranks
	if n := len(m.Levels); n > 1 {
		node = m.Levels[n-2].Ranks
	}
	for i := range m.Levels {
		p.crowd(i, ranks)
	}
	nodes := max(1, (ranks+node-1)/node)
	for i := range p.seats {
		p.seats[i] = int32(i)
		if by == Cyclic {
			p.seats[i] = int32(i%nodes*node + i/nodes)
		}
	}
	return p
}

// crowd slows the bytes of a level down by its contention.
func (p *Placement) crowd(i, ranks int) {
	l := &p.levels[i]
	if l.Contention == 0 {
		return
	}
	if near := p.levels[max(0, i-1)].Ranks; near > 0 {
		ranks = min(ranks, near)
	}
	c := Change{Latency: 1, Bytes: 1 + l.Contention*float64(max(0, ranks-1)), Overhead: 1, Compute: 1}
	p.levels = slices.Clone(p.levels)
	p.levels[i] = l.with(c)
}

// Between returns the level over which two ranks talk: the nearest that they share.
func (p *Placement) Between(a, b int) *Level {
	last := len(p.levels) - 1
	for i := range p.levels[:last] {
		if n := int32(p.levels[i].Ranks); p.seats[a]/n == p.seats[b]/n {
			return &p.levels[i]
		}
	}
	return &p.levels[last]
}

// Widest returns the level over which the farthest of some ranks talk. It is that of the whole
// machine if they are on more than one node.
func (p *Placement) Widest(ranks []int) *Level {
	for i := range p.levels[:len(p.levels)-1] {
		n, all := int32(p.levels[i].Ranks), true
		for _, r := range ranks {
			if r >= 0 && p.seats[r]/n != p.seats[max(ranks[0], 0)]/n {
				all = false
				break
			}
		}
		if all {
			return &p.levels[i]
		}
	}
	return &p.levels[len(p.levels)-1]
}
