package series

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/internal/timing"
)

// SupportsMode reports whether mode m stores the time of each call and has a codec.
func SupportsMode(m timing.Mode) bool {
	_, err := codecOf(m)
	return err == nil
}

// codecOf finds the codec of a mode. Modes that don't store the time of each call have none.
func codecOf(m timing.Mode) (Codec, error) {
	if !m.NeedsLog() {
		return nil, fmt.Errorf("mode %q does not store the times of every call", m)
	}
	return CodecNamed(string(m))
}

// calls describes the calls of a block to the codec. Times are then in units of unit ticks, and so are absolute
// bounds.
func (k *SimilarCallKinds) calls(unit uint64) *CallInfo {
	c := &CallInfo{Keys: k.KindOfCall, KindOfKey: k.FunctionOfKind, KeyBounds: k.ErrorBoundOfKind, Bins: k.Bins, SampleCalls: k.SampleCalls}
	if unit > 1 {
		c.KeyBounds = slices.Clone(k.ErrorBoundOfKind)
		for i := range c.KeyBounds {
			c.KeyBounds[i].Absolute /= unit
		}
	}
	return c
}

// encodeBlock and decodeBlock code the times of a block's calls. A jump is a CallTicks.BeginOffset other than 0.
//
//	block = unit uvarint, number of jumps uvarint,
//	        per jump: (index of the call minus that of the jump before) uvarint, jump varint,
//	        batch of gaps and durations
//
// Gaps and durations in the batch are divided by unit: their greatest common divisor in ticks.
func encodeBlock(c Codec, entries []timing.CallTicks, kinds SimilarCallKinds) ([]byte, error) {
	batch := Batch{Gaps: make([]uint64, len(entries)), Durations: make([]uint64, len(entries))}
	unit := uint64(0)
	var jumps []byte
	count, last := uint64(0), 0
	for i, e := range entries {
		batch.Durations[i], batch.Gaps[i] = e.Duration, e.Gap
		unit = stats.GCD(e.Gap, stats.GCD(e.Duration, unit))
		if e.BeginOffset != 0 {
			jumps = wire.AppendUvarint(jumps, uint64(i-last))
			jumps = wire.AppendVarint(jumps, e.BeginOffset)
			count, last = count+1, i
		}
	}
	unit = max(unit, 1)
	for i := range entries {
		batch.Durations[i] /= unit
		batch.Gaps[i] /= unit
	}
	b := wire.AppendUvarint(nil, unit)
	b = append(wire.AppendUvarint(b, count), jumps...)
	return c.Append(b, batch, kinds.calls(unit))
}

func decodeBlock(c Codec, data []byte, calls int, kinds SimilarCallKinds) ([]timing.CallTicks, error) {
	r := wire.NewReader(data, "times")
	unit := r.Uvarint()
	entries := make([]timing.CallTicks, calls)
	at := 0
	for range r.Count(2) {
		at += r.Int(calls - 1 - at)
		entries[at].BeginOffset = r.Varint()
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	batch, err := c.Decode(r.Remaining(), TimeListBoth, kinds.calls(unit))
	if err != nil {
		return nil, err
	}
	if len(batch.Durations) != calls || len(batch.Gaps) != calls {
		return nil, fmt.Errorf("%d durations and %d gaps of %d calls", len(batch.Durations), len(batch.Gaps), calls)
	}
	for i := range entries {
		entries[i].Duration, entries[i].Gap = times(batch.Durations[i], unit), times(batch.Gaps[i], unit)
	}
	return entries, nil
}

// times returns v·unit, at most 2^64-1: a lossy codec may have rounded up a value near 2^64.
func times(v, unit uint64) uint64 {
	hi, lo := bits.Mul64(v, unit)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}
