package rounds

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/stats"
)

// An end is the traffic of a rank's loop on a channel, as a map key: by it, the loops at the two sides of a channel
// find each other.
type end struct {
	rank int
	ch   channel
	traffic
}

func (t *traffic) bare() traffic { return traffic{each: t.each, place: t.place} }

// match groups loops of different ranks that communicate with each other, if the messages of all their runs are at the
// same positions in their channels.
func (d *TripCountDrawer) match(p *parser) {
	ends := make(map[end][]*node)
	for _, x := range d.ranks {
		for _, n := range x.list {
			for ch, t := range n.ops {
				e := end{x.t.Rank, ch, t.bare()}
				ends[e] = append(ends[e], n)
			}
		}
	}
	parent := make(map[*node]*node)
	var root func(n *node) *node
	root = func(n *node) *node {
		if q := parent[n]; q != nil {
			q = root(q)
			parent[n] = q
			return q
		}
		return n
	}
	const alone = "what is sent or received in a run of the loop is not all received or sent in one run of a loop"
	join := func(n *node, e end) {
		if list := ends[e]; len(list) != 1 {
			n.keep(alone)
		} else if a, b := root(n), root(list[0]); a != b {
			parent[a] = b
		}
	}
	for _, x := range d.ranks {
		for _, n := range x.list {
			for _, ch := range slices.SortedFunc(maps.Keys(n.ops), compareChannels) {
				t := n.ops[ch]
				if ch.kind == meeting {
					for _, rank := range t.with.Members() {
						join(n, end{rank, ch, t.bare()})
					}
					continue
				}
				if why := p.odd[ch.comm]; why != "" {
					n.keep(why)
				}
				to, other := ch.peer, channel{ch.comm, x.t.Rank, ch.tag, receiving}
				if ch.kind == receiving {
					other.kind = sending
					to = x.t.Rank
				}
				if p.wild[wildcard{to, ch.comm}] {
					n.keep("receives take any source or tag")
				}
				join(n, end{ch.peer, other, t.bare()})
			}
		}
	}
	groups := make(map[*node]*group)
	var list []*group
	for _, x := range d.ranks {
		for _, n := range x.list {
			g := once.GetOrAppend(groups, root(n), &list, func() *group { return new(group) })
			g.nodes = append(g.nodes, n)
		}
	}
	for _, g := range list {
		if why := g.why(); why != "" {
			for _, n := range g.nodes {
				n.keep(why)
			}
			continue
		}
		for _, n := range g.nodes {
			n.group = g
		}
	}
}

// why returns the reason why a group's trip counts can't be synthetic, or "".
func (g *group) why() string {
	seen := make(map[*rank]bool)
	for _, n := range g.nodes {
		if n.why != "" {
			return n.why
		}
		if seen[n.rank] {
			return "several loops of a rank belong to one of another rank"
		}
		seen[n.rank] = true
		if !slices.Equal(n.rounds, g.nodes[0].rounds) {
			return "ranks that belong together differ in their trip counts"
		}
	}
	return ""
}

func compareChannels(a, b channel) int {
	return cmp.Or(cmp.Compare(a.comm, b.comm), cmp.Compare(a.peer, b.peer), cmp.Compare(a.tag, b.tag), cmp.Compare(a.kind, b.kind))
}

// group joins groups to families: two groups are in one family if a loop of one and a loop of the other have equal call
// sites, also by way of further groups.
func (d *TripCountDrawer) group() {
	of := make(map[string]*family)
	var list []*family
	for _, x := range d.ranks {
		for _, n := range x.list {
			if n.group == nil {
				continue
			}
			f, g := of[n.shape], n.group
			switch {
			case f == nil && g.of == nil:
				g.of = &family{groups: []*group{g}, rounds: stats.NumberDistribution{KeepAllExact: true}}
				list = append(list, g.of)
				of[n.shape] = g.of
			case f == nil:
				of[n.shape] = g.of
			case g.of == nil:
				g.of = f
				f.groups = append(f.groups, g)
			case g.of != f:
				gone := g.of
				for _, y := range gone.groups {
					y.of = f
				}
				f.groups = append(f.groups, gone.groups...)
				gone.groups = nil
				for shape, y := range of {
					if y == gone {
						of[shape] = f
					}
				}
			}
		}
	}
	for _, f := range list {
		for _, g := range f.groups {
			for _, n := range g.nodes[0].rounds {
				f.rounds.Add(int64(n), 1, g.nodes[0].rank.t.Rank)
			}
			f.cost += float64(g.nodes[0].runs)
		}
		if _, same := f.rounds.SingleValue(); f.rounds.Count > 0 && !same {
			d.families = append(d.families, f)
			f.number = -1
			f.keys()
			continue
		}
		for _, g := range f.groups {
			for _, n := range g.nodes {
				n.group = nil
			}
		}
	}
	slices.SortStableFunc(d.families, func(a, b *family) int { return cmp.Compare(b.cost, a.cost) })
}

// keys gives each group of a family a different key: its lowest rank. If several groups have the same lowest rank, each
// further one adds another multiple of most, a number above all ranks.
func (f *family) keys() {
	next := make(map[int]int64)
	most := int64(1)
	for _, g := range f.groups {
		for _, n := range g.nodes {
			most = max(most, int64(n.rank.t.Rank)+1)
		}
	}
	for _, g := range f.groups {
		rank := g.nodes[0].rank.t.Rank
		for _, n := range g.nodes {
			rank = min(rank, n.rank.t.Rank)
		}
		g.key = int64(rank) + most*next[rank]
		next[rank]++
	}
}
