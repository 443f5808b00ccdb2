package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// Drawn returns the families of loops whose numbers of rounds are drawn from a distribution: the calls of the trace are
// none that the run had to make. It is nil of a trace that has all as it was.
func (r *Reader) Drawn() ([]Drawn, error) {
	d, err := r.drawn()
	if d == nil {
		return nil, err
	}
	return d.Families, nil
}

// DrawnSeed is what the numbers of rounds are drawn with.
func (r *Reader) DrawnSeed() (uint64, error) {
	d, err := r.drawn()
	if d == nil {
		return 0, err
	}
	return d.Seed, nil
}

func (r *Reader) readDrawn() (d *grammar.Drawing, err error) {
	err = r.optional(container.Drawn, func(w *wire.Reader) { d = sections.DecodeDrawn(w, r.ranks.Ranks, r.lists()) })
	if err != nil {
		return nil, err
	}
	return d, nil
}

// InDrawn returns the number, in Drawn, of the family of loops that a distinct call is in; -1: of none.
func (k *Rank) InDrawn(terminal int) int {
	if k.class.Family == nil {
		return -1
	}
	return k.class.Family[terminal] - 1
}

// Thinned returns the sizes that were merged to make the trace smaller; nil of a trace that has all as they were.
func (r *Reader) Thinned() (list []Thinned, err error) {
	err = r.optional(container.Thinned, func(w *wire.Reader) { list = sections.DecodeThinned(w, r.ranks.Ranks) })
	return list, err
}

// Partners returns the families of messages whose partners, sizes and tags were drawn when the trace was made: calls that
// send and receive these are none that the run made. It is nil of a trace that has all as it was.
func (r *Reader) Partners() (list []Partners, err error) {
	err = r.optional(container.Partners, func(w *wire.Reader) { list = sections.DecodePartners(w, r.ranks.Ranks) })
	return list, err
}

// PartnersOf returns which of the families a call's message is of, nil if it is of none.
func PartnersOf(list []Partners, c *Call) *Partners {
	if len(list) == 0 {
		return nil
	}
	buf := c.Param("buf")
	if buf == nil || buf.In.Type != Address {
		return nil
	}
	for i := range list {
		if id := buf.In.Addr.ID; buf.In.Addr.Class != Special && (id == list[i].Sent || id == list[i].Received) {
			return &list[i]
		}
	}
	return nil
}
