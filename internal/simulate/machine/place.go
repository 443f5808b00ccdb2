package machine

import (
	"fmt"
	"math"
	"slices"
)

// A Mapping is how ranks are distributed over nodes.
type Mapping int

// The mappings of ranks.
const (
	MappingBlock  Mapping = iota // one node after the other is filled
	MappingCyclic                // consecutive ranks are on consecutive nodes
)

// ParseMapping returns the mapping with a name.
func ParseMapping(name string) (Mapping, error) {
	switch name {
	case "block":
		return MappingBlock, nil
	case "cyclic":
		return MappingCyclic, nil
	}
	return 0, fmt.Errorf("no mapping %q: block or cyclic", name)
}

func (m Mapping) String() string { return [...]string{"block", "cyclic"}[m] }

// A Placement is the position of each rank of a run in a machine.
type Placement struct {
	levels []NetworkLevel
	seats  []int32 // by rank: number of its place in the machine; the places of a node are consecutive
}

// PlaceRanks distributes a number of ranks over the machine's nodes.
func (m *Machine) PlaceRanks(ranks int, by Mapping) *Placement {
	p := &Placement{m.Levels, make([]int32, ranks)}
	node := ranks
	if n := len(m.Levels); n > 1 {
		node = m.Levels[n-2].RanksPerUnit
	}
	for i := range m.Levels {
		p.crowd(i, ranks)
	}
	nodes := max(1, (ranks+node-1)/node)
	for i := range p.seats {
		p.seats[i] = int32(i)
		if by == MappingCyclic {
			p.seats[i] = int32(i%nodes*node + i/nodes)
		}
	}
	return p
}

// PlaceOn puts each rank on its node in nodes, numbered from 0. The ranks of a node get consecutive places.
func (m *Machine) PlaceOn(nodes []int) (*Placement, error) {
	p := m.PlaceRanks(len(nodes), MappingBlock)
	if len(m.Levels) == 1 {
		return p, nil
	}
	most := m.Levels[len(m.Levels)-2].RanksPerUnit
	taken := make(map[int]int)
	for i, n := range nodes {
		if n < 0 || n > math.MaxInt32/most-1 {
			return nil, fmt.Errorf("rank %d on node %d", i, n)
		}
		if taken[n] == most {
			return nil, fmt.Errorf("more than %d ranks on node %d, which has no room for rank %d", most, n, i)
		}
		p.seats[i] = int32(n*most + taken[n])
		taken[n]++
	}
	return p, nil
}

// crowd makes the time per byte of level i longer, according to the level's contention and the number of ranks that
// may send over the level at the same time. ranks is the number of ranks of the run.
func (p *Placement) crowd(i, ranks int) {
	l := &p.levels[i]
	if l.Contention == 0 {
		return
	}
	if near := p.levels[max(0, i-1)].RanksPerUnit; near > 0 {
		ranks = min(ranks, near)
	}
	c := MachineChange{LatencyFactor: 1, ByteTimeFactor: 1 + l.Contention*float64(max(0, ranks-1)), OverheadFactor: 1, ComputeFactor: 1}
	p.levels = slices.Clone(p.levels)
	p.levels[i] = l.with(c)
}

// LevelBetween returns the nearest network level that two ranks share.
func (p *Placement) LevelBetween(a, b int) *NetworkLevel {
	last := len(p.levels) - 1
	for i := range p.levels[:last] {
		if n := int32(p.levels[i].RanksPerUnit); p.seats[a]/n == p.seats[b]/n {
			return &p.levels[i]
		}
	}
	return &p.levels[last]
}

// WidestLevel returns the nearest network level that all of the given ranks share. It is the machine's last level if
// they are on several nodes.
func (p *Placement) WidestLevel(ranks []int) *NetworkLevel {
	for i := range p.levels[:len(p.levels)-1] {
		n, all := int32(p.levels[i].RanksPerUnit), true
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
