package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// SyntheticLoops returns the families of loops with synthetic trip counts: their iterations are not those of the recorded
// run. It is nil if the trace has none.
func (r *Reader) SyntheticLoops() ([]SyntheticLoops, error) {
	d, err := r.drawn()
	if d == nil {
		return nil, err
	}
	return d.Families, nil
}

// SyntheticSeed returns the seed of the synthetic trip counts.
func (r *Reader) SyntheticSeed() (uint64, error) {
	d, err := r.drawn()
	if d == nil {
		return 0, err
	}
	return d.Seed, nil
}

func (r *Reader) readDrawn() (d *grammar.SyntheticTripCounts, err error) {
	err = r.optional(container.SectionSyntheticLoops, func(w *wire.Reader) { d = sections.DecodeSyntheticLoops(w, r.ranks.Ranks, r.lists()) })
	if err != nil {
		return nil, err
	}
	return d, nil
}

// SyntheticLoopsIndex returns the index in SyntheticLoops of the loop family that contains a distinct call; -1: no family
// does.
func (k *Rank) SyntheticLoopsIndex(terminal int) int {
	if k.class.LoopFamilyOfTerminal == nil {
		return -1
	}
	return k.class.LoopFamilyOfTerminal[terminal] - 1
}

// MergedSizes returns the families of message sizes that were merged to make the trace smaller; nil if all sizes are
// original.
func (r *Reader) MergedSizes() (list []MergedSizes, err error) {
	err = r.optional(container.SectionMergedSizes, func(w *wire.Reader) { list = sections.DecodeMergedSizes(w, r.ranks.Ranks) })
	return list, err
}

// SyntheticMessages returns the families of messages with synthetic partners, sizes and tags. The run did not make the calls
// that send and receive these. It is nil if all messages are original.
func (r *Reader) SyntheticMessages() (list []SyntheticMessages, err error) {
	err = r.optional(container.SectionSyntheticMessages, func(w *wire.Reader) { list = sections.DecodeSyntheticMessages(w, r.ranks.Ranks) })
	return list, err
}

// SyntheticMessagesOf returns the family that contains a call's message, nil if none does.
func SyntheticMessagesOf(list []SyntheticMessages, c *Call) *SyntheticMessages {
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
