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
