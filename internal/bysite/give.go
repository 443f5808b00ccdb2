package bysite

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/signature"
)

// newRank returns a rank without calls.
func newRank() *Rank { return &Rank{distinct: make([]uint32, 16)} }

// number returns the number of a distinct call.
func (k *Rank) number(call uint16, site uint64, vals []int64) uint32 {
	if 2*len(k.Distinct) >= len(k.distinct) {
		k.distinct = make([]uint32, 2*len(k.distinct))
		for i := range k.Distinct {
			s := &k.Distinct[i]
			*k.entry(s.Call, s.Site, s.Vals) = uint32(i) + 1
		}
	}
	at := k.entry(call, site, vals)
	if *at == 0 {
		k.Distinct = append(k.Distinct, signature.Signature{Call: call, Site: site, Vals: slices.Clone(vals)})
		*at = uint32(len(k.Distinct))
	}
	return *at - 1
}

// entry is where the number of a distinct call stands, or would stand.
func (k *Rank) entry(call uint16, site uint64, vals []int64) *uint32 {
	const odd = 0x9fb21c651e98df25
	h := uint64(call)*odd ^ site
	for _, v := range vals {
		h = (h<<7 | h>>57) ^ uint64(v)
		h *= odd
	}
	mask := uint64(len(k.distinct) - 1)
	for i := h >> 32; ; i++ {
		e := &k.distinct[i&mask]
		if *e == 0 {
			return e
		}
		if s := &k.Distinct[*e-1]; s.Call == call && s.Site == site && slices.Equal(s.Vals, vals) {
			return e
		}
	}
}

// A giver gives the calls of a rank back.
type giver struct {
	t    *tree
	rank int
	at   []int32 // by node: how many numbers were read
	vals []int64
	to   *Rank
	list []uint32
	room *budget

	requests *requests
}

// give adds a rank's calls of the thread.
func (t *tree) give(rank int, follow bool, to *Rank, room *budget) error {
	g := &giver{t: t, rank: rank, at: make([]int32, len(t.nodes)), to: to, room: room}
	if follow {
		g.requests = newRequests()
	}
	if g.next(0) == 0 {
		return nil
	}
	if err := g.round(-1); err != nil {
		return err
	}
	to.Streams = append(to.Streams, g.list)
	return nil
}

func (g *giver) next(n int) int64 {
	at := g.at[n]
	g.at[n]++
	return g.t.nodes[n].cols[g.rank].at(int(at))
}

func (g *giver) round(loop int) error {
	for _, x := range g.t.items[loop+1] {
		for range g.next(x.node) {
			var err error
			if x.loop >= 0 {
				err = g.round(x.loop)
			} else {
				err = g.call(x.place)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *giver) call(place int) error {
	s := &g.t.sites[place]
	number := s.Numbers[0]
	if s.where >= 0 {
		i := g.next(s.where)
		if i < 0 || i >= int64(len(s.Numbers)) {
			return fmt.Errorf("site %d of %d", i, len(s.Numbers))
		}
		number = s.Numbers[i]
	}
	g.vals = append(g.vals[:0], g.next(s.parts[0].nodes[0]))
	outputs := g.next(s.outputs) > 0
	for i := range s.parts[1:] {
		x := &s.parts[i+1]
		switch {
		case x.out && !outputs || x.option && g.next(x.nodes[0]) == 0:
		case x.option:
			for _, n := range x.nodes[1:] {
				g.vals = append(g.vals, g.next(n))
			}
		default:
			g.values(x.nodes)
		}
	}
	if g.requests != nil {
		var room [sections.SomeSpans]signature.Span
		spans, err := sections.SpansOf(s.Function, room[:0], g.vals)
		if err != nil {
			return err
		}
		g.requests.step(place, s.Function, spans, g.vals, true)
	}
	known := len(g.to.Distinct)
	g.list = append(g.list, g.to.number(s.Function.ID, uint64(number), g.vals))
	if len(g.to.Distinct) > known {
		return take(&g.room.stored, int64(len(g.vals)))
	}
	return nil
}

func (g *giver) values(nodes []int) {
	t := g.t
	for _, n := range nodes {
		v := g.next(n)
		g.vals = append(g.vals, v)
		switch x := &t.nodes[n]; x.kind {
		case list:
			size, _ := signature.Length(v)
			for range size {
				g.values(x.below)
			}
		case status:
			switch v {
			case signature.StatusFilled, signature.StatusIgnored:
				fields := t.nodes[x.below[0]].below
				g.values(fields[:signature.StatusCancelled])
				if err := fields[signature.StatusCancelled]; g.next(err) > 0 {
					g.values(t.nodes[err].below)
				}
			case signature.StatusOfSend:
				g.values(t.nodes[x.below[1]].below)
			}
		}
	}
}
