package bysite

import (
	"errors"
	"fmt"
	"slices"

	columns "github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/counts"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A Rank is the calls of a rank: those that differ, numbered by first occurrence over its streams, and the streams
// as these numbers.
type Rank struct {
	Distinct []signature.Signature
	Streams  [][]uint32

	distinct []uint32 // open addressing: number of each, and 1
}

var errApart = errors.New("ranks of a class make other calls")

// Classes makes classes of ranks that are known to be in them, as a merge does.
func Classes(members [][]int, rank func(int) *Rank) ([]sections.Class, error) {
	list := make([]sections.Class, len(members))
	for i, ranks := range members {
		of := make([]*Rank, len(ranks))
		for k, n := range ranks {
			of[k] = rank(n)
		}
		var err error
		if list[i], err = classOf(of); err != nil {
			return nil, fmt.Errorf("class %d: %w", i, err)
		}
		for _, n := range ranks {
			list[i].Ranks.Append(int64(n))
		}
	}
	return list, nil
}

// classOf makes a class. Ranks are in one either because they have the same grammars but for counts, or as they make the
// same calls in the same order; then calls are one terminal if they are equal on all ranks.
func classOf(list []*Rank) (sections.Class, error) {
	first := list[0]
	same := true
	for _, k := range list[1:] {
		same = same && slices.EqualFunc(k.Streams, first.Streams, slices.Equal)
	}
	c := sections.Class{Streams: grammars(first.Streams)}
	t := &terminals{of: list}
	if same {
		c.Terminals = t
		return c, t.check()
	}
	counted := true
	all := make([][]int64, len(list))
	for i, k := range list {
		g := c.Streams
		if i > 0 {
			g = grammars(k.Streams)
		}
		if counted = alike(c.Streams, g); !counted {
			break
		}
		counts.Repeated(g, func(_ int, s *grammar.Symbol) { all[i] = append(all[i], int64(s.Count)) })
	}
	if counted {
		for n := range all[0] {
			var col columns.Column
			for i := range all {
				col.Append(all[i][n])
			}
			c.Counts = append(c.Counts, col)
		}
		c.Terminals = t
		return c, t.check()
	}
	streams, err := t.united()
	if err != nil {
		return c, err
	}
	c.Streams, c.Terminals = grammars(streams), t
	return c, t.check()
}

func grammars(streams [][]uint32) (list []*grammar.Grammar) {
	for _, s := range streams {
		b := grammar.NewBuilder()
		for _, n := range s {
			b.Append(n)
		}
		list = append(list, b.Grammar())
	}
	return list
}

// alike reports whether streams differ in counts above 1 alone.
func alike(a, b []*grammar.Grammar) bool {
	return slices.EqualFunc(a, b, func(g, h *grammar.Grammar) bool {
		return slices.EqualFunc(g.Rules, h.Rules, func(x, y []grammar.Symbol) bool {
			return slices.EqualFunc(x, y, func(s, u grammar.Symbol) bool { return s.ID == u.ID && s.Count > 1 == (u.Count > 1) })
		})
	})
}

// terminals are those of a class.
type terminals struct {
	of   []*Rank
	from [][]uint32 // by member, by terminal: its distinct call; nil: they have the same number
}

// united numbers the calls of ranks that make as many, so that calls with one number are equal on each.
func (t *terminals) united() ([][]uint32, error) {
	var at []uint32
	for _, s := range t.of[0].Streams {
		at = append(at, s...)
	}
	before, from := make([][]uint32, len(t.of)), make([][]uint32, len(t.of))
	known := make(map[uint64]uint32)
	for i, k := range t.of[1:] {
		i++
		clear(known)
		n := 0
		if len(k.Streams) != len(t.of[0].Streams) {
			return nil, errApart
		}
		for x, s := range k.Streams {
			if len(s) != len(t.of[0].Streams[x]) {
				return nil, errApart
			}
			for _, c := range s {
				key := uint64(at[n])<<32 | uint64(c)
				id, ok := known[key]
				if !ok {
					id = uint32(len(from[i]))
					known[key] = id
					before[i], from[i] = append(before[i], at[n]), append(from[i], c)
				}
				at[n] = id
				n++
			}
		}
	}
	last := make([]uint32, len(from[len(from)-1]))
	for n := range last {
		last[n] = uint32(n)
	}
	t.from = make([][]uint32, len(t.of))
	for i := len(t.of) - 1; i > 0; i-- {
		t.from[i] = make([]uint32, len(last))
		for n, x := range last {
			t.from[i][n] = from[i][x]
			last[n] = before[i][x]
		}
	}
	t.from[0] = last
	var streams [][]uint32
	for _, s := range t.of[0].Streams {
		streams = append(streams, at[:len(s):len(s)])
		at = at[len(s):]
	}
	return streams, nil
}

// Len, At and Times are what sections.Terminals asks for.
func (t *terminals) Len() int {
	if t.from != nil {
		return len(t.from[0])
	}
	return len(t.of[0].Distinct)
}

func (t *terminals) call(member, n int) *signature.Signature {
	if t.from != nil {
		n = int(t.from[member][n])
	}
	return &t.of[member].Distinct[n]
}

// check reports whether calls are from the same places, with as many values.
func (t *terminals) check() error {
	for n := range t.Len() {
		c := t.call(0, n)
		for m := 1; m < len(t.of); m++ {
			if d := t.call(m, n); d.Call != c.Call || d.Site != c.Site || len(d.Vals) != len(c.Vals) {
				return errApart
			}
		}
	}
	return nil
}

func (t *terminals) At(n int, to *sections.Terminal) {
	c := t.call(0, n)
	*to = sections.Terminal{Call: c.Call, Site: c.Site, Vals: append(to.Vals[:0], columns.Each(c.Vals)...)}
	for p := range to.Vals {
		for m := 1; m < len(t.of); m++ {
			to.Vals[p].Append(t.call(m, n).Vals[p])
		}
	}
}

func (t *terminals) Times(int) (none model.Times) { return none }
