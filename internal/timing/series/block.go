package series

import (
	"fmt"

	"spoor/internal/timing"
	"spoor/internal/wire"
)

// A codec packs numbers.
type codec interface {
	// encode appends values to dst. kinds tell them apart; of has as many.
	encode(dst []byte, values []uint64, kinds Kinds) []byte
	// decode reads as many values as there are kinds from all of data.
	decode(data []byte, kinds Kinds) ([]uint64, error)
}

// Supports reports whether the times of every call can be stored in a mode.
func Supports(m timing.Mode) bool {
	_, err := codecOf(m)
	return err == nil
}

// codecOf finds the codec of a mode.
func codecOf(m timing.Mode) (codec, error) {
	switch m {
	case timing.Lossless:
		return adaptive{}, nil
	}
	return nil, fmt.Errorf("times of mode %q can't be stored", m)
}

// encodeBlock and decodeBlock: the times of some calls.
//
//	block = unit uvarint, jumps uvarint, per jump: (call, as a difference to the one
//	        before) uvarint, jump varint,
//	        size of durations uvarint, durations, gaps
//
// Durations and gaps are in units: ticks, or as many of them as divide all.
func encodeBlock(c codec, entries []timing.Entry, kinds Kinds) []byte {
	durations, gaps := make([]uint64, len(entries)), make([]uint64, len(entries))
	unit := uint64(0)
	var jumps []byte
	count, last := uint64(0), 0
	for i, e := range entries {
		durations[i], gaps[i] = e.Duration, e.Gap
		unit = gcd(e.Gap, gcd(e.Duration, unit))
		if e.Jump != 0 {
			jumps = wire.AppendUvarint(jumps, uint64(i-last))
			jumps = wire.AppendVarint(jumps, e.Jump)
			count, last = count+1, i
		}
	}
	unit = max(unit, 1)
	for i := range entries {
		durations[i] /= unit
		gaps[i] /= unit
	}
	b := wire.AppendUvarint(nil, unit)
	b = wire.AppendUvarint(b, count)
	b = append(b, jumps...)
	b = wire.AppendBlob(b, c.encode(nil, durations, kinds))
	return c.encode(b, gaps, kinds)
}

func decodeBlock(c codec, data []byte, calls int, kinds Kinds) ([]timing.Entry, error) {
	r := wire.NewReader(data, "times")
	unit := r.Uvarint()
	entries := make([]timing.Entry, calls)
	at := 0
	for range r.Count(2) {
		at += r.Int(calls - 1 - at)
		entries[at].Jump = r.Varint()
	}
	packed := r.Bytes(r.Int(r.Rest()))
	if err := r.Err(); err != nil {
		return nil, err
	}
	durations, err := c.decode(packed, kinds)
	if err != nil {
		return nil, fmt.Errorf("durations: %w", err)
	}
	gaps, err := c.decode(r.Remaining(), kinds)
	if err != nil {
		return nil, fmt.Errorf("gaps: %w", err)
	}
	if len(durations) != calls || len(gaps) != calls {
		return nil, fmt.Errorf("%d durations and %d gaps of %d calls", len(durations), len(gaps), calls)
	}
	for i := range entries {
		entries[i].Duration, entries[i].Gap = durations[i]*unit, gaps[i]*unit
	}
	return entries, nil
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
