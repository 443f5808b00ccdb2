package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// SyntheticLoops returns the families of loops whose numbers of rounds are drawn from a distribution: the calls of the trace are
// none that the run had to make. It is nil of a trace that has all as it was.
func (r *Reader) SyntheticLoops() ([]SyntheticLoops, error) {
	d, err := r.drawn()
	if d == nil {
		return nil, err
	}
	return d.Families, nil
}

// SyntheticSeed is what the numbers of rounds are drawn with.
func (r *Reader) SyntheticSeed() (uint64, error) {
	d, err := r.drawn()
	if d == nil {
		return 0, err
	}
	return d.Seed, nil
}

func (r *Reader) readDrawn() (d *grammar.SyntheticCounts, err error) {
	err = r.optional(container.SectionSyntheticLoops, func(w *wire.Reader) { d = sections.DecodeSyntheticLoops(w, r.ranks.Ranks, r.lists()) })
	if err != nil {
		return nil, err
	}
	return d, nil
}

// SyntheticLoopsOf returns the number, in Drawn, of the family of loops that a distinct call is in; -1: of none.
func (k *Rank) SyntheticLoopsOf(terminal int) int {
	if k.class.SyntheticFamily == nil {
		return -1
	}
	return k.class.SyntheticFamily[terminal] - 1
}

// MergedSizes returns the sizes that were merged to make the trace smaller; nil of a trace that has all as they were.
func (r *Reader) MergedSizes() (list []MergedSizes, err error) {
	err = r.optional(container.SectionMergedSizes, func(w *wire.Reader) { list = sections.DecodeMergedSizes(w, r.ranks.Ranks) })
	return list, err
}

// SyntheticMessages returns the families of messages whose partners, sizes and tags were drawn when the trace was made: calls that
// send and receive these are none that the run made. It is nil of a trace that has all as it was.
func (r *Reader) SyntheticMessages() (list []SyntheticMessages, err error) {
	err = r.optional(container.SectionSyntheticMessages, func(w *wire.Reader) { list = sections.DecodeSyntheticMessages(w, r.ranks.Ranks) })
	return list, err
}

// SyntheticFamilyOf returns which of the families a call's message is of, nil if it is of none.
func SyntheticFamilyOf(list []SyntheticMessages, c *Call) *SyntheticMessages {
	if len(list) == 0 {
		return nil
	}
	buf := c.Param("buf")
	if buf == nil || buf.In.Type != TypeAddress {
		return nil
	}
	for i := range list {
		if id := buf.In.Addr.ID; buf.In.Addr.Class != AddressSpecial && (id == list[i].SendSegment || id == list[i].ReceiveSegment) {
			return &list[i]
		}
	}
	return nil
}
