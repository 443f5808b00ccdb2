package series

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"iter"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/timing"
)

// After all blocks of times come those of the numbers attached to the same calls, if there are any. They are exact
// in all modes:
//
//	block of numbers = per name: size uvarint, order uint8 and batch of that size
//
// The batch is of the exact codec. In place of a call's gap it has how many numbers the call has under the name. In
// place of the duration it has the difference d of their sum from a prediction, as (d << 1) ^ (d >> 63), or 0
// without a number. The prediction is from the sums of earlier calls of the same kind in the block. Order 0
// predicts 0, order 1 the last sum, order 2 the last sum plus its difference from the one before. Size 0: none of
// these calls has a number.

// MaxAttachedNames is the largest number of names of attached numbers in a trace.
const MaxAttachedNames = 64

// AttachedNumbers are the numbers attached under one name to the calls of a block. Both slices are empty if no call
// has one.
type AttachedNumbers struct {
	CountsByCall []uint64 // by call of the block: how many numbers it has
	SumsByCall   []int64  // by call of the block: sum of its numbers, which wraps around at 64 bits
}

// exact is the codec for attached numbers, whatever the mode of times.
var exact = LosslessCodec{}

// WriteAttachedNames sets the names of the attached numbers that WriteAttached writes.
func (w *Writer) WriteAttachedNames(names []string) error {
	if len(names) > MaxAttachedNames {
		return fmt.Errorf("%d names of values, at most %d can be stored", len(names), MaxAttachedNames)
	}
	w.names = names
	return nil
}

// WriteAttached writes the numbers attached to the calls of a stream. WriteStream and WriteAttachedNames must precede
// it. numbers are in order of calls. next returns the kinds of the next n calls, as in WriteStream.
func (w *Writer) WriteAttached(stream int, numbers iter.Seq2[[]timing.AttachedNumber, error], next func(n int) SimilarCallKinds) error {
	list := w.blocks[stream]
	var pending []timing.AttachedNumber
	i, first := 0, uint64(0)
	write := func() {
		w.numbers(&list[i], first, pending, next(int(list[i].calls)))
		first += list[i].calls
		pending = pending[:0]
		i++
	}
	for some, err := range numbers {
		if err != nil {
			return fmt.Errorf("attached values: %w", err)
		}
		for _, v := range some {
			for i < len(list) && v.CallIndex >= first+list[i].calls {
				write()
			}
			if i == len(list) || v.CallIndex < first || v.NameIndex >= len(w.names) {
				return fmt.Errorf("a value of call %d, in order from %d on, under name %d of %d", v.CallIndex, first, v.NameIndex, len(w.names))
			}
			pending = append(pending, v)
		}
	}
	for i < len(list) {
		write()
	}
	return w.err
}

// numbers writes the numbers attached to the calls of block b. first is the index of its first call in the stream.
func (w *Writer) numbers(b *block, first uint64, list []timing.AttachedNumber, kinds SimilarCallKinds) {
	var data []byte
	batch := Batch{Gaps: make([]uint64, b.calls), Durations: make([]uint64, b.calls)}
	for name := range w.names {
		clear(batch.Gaps)
		clear(batch.Durations)
		used := false
		for _, v := range list {
			if v.NameIndex == name {
				used = true
				batch.Gaps[v.CallIndex-first]++
				batch.Durations[v.CallIndex-first] += uint64(v.Value)
			}
		}
		if !used {
			data = append(data, 0)
			continue
		}
		coded, err := encodeNumbers(batch, &kinds)
		if err != nil {
			w.err = cmp.Or(w.err, err)
			return
		}
		data = append(wire.AppendUvarint(data, uint64(len(coded))), coded...)
	}
	b.numbers = byteRange{size: uint64(len(data)), crc: crc32.Checksum(data, castagnoli)}
	w.write(data)
}

// orders is the number of ways to predict the sum of a call's numbers: 0, the last sum, or the last two sums
// extrapolated.
const orders = 3

// A suggestion is the sums of the latest calls of a kind that have numbers, the latest first.
type suggestion [orders - 1]uint64

func (s *suggestion) of(order int) uint64 {
	switch order {
	case 1:
		return s[0]
	case 2:
		return 2*s[0] - s[1]
	}
	return 0
}

// encodeNumbers codes counts and sums of numbers with the prediction that takes fewest bytes.
func encodeNumbers(b Batch, kinds *SimilarCallKinds) (least []byte, err error) {
	distances := make([]uint64, len(b.Durations))
	for order := range orders {
		before := make(map[uint32]*suggestion)
		for i, sum := range b.Durations {
			if distances[i] = 0; b.Gaps[i] > 0 {
				s := kinds.before(before, i)
				d := sum - s.of(order)
				distances[i] = d<<1 ^ uint64(int64(d)>>63)
				s[0], s[1] = sum, s[0]
			}
		}
		coded, err := exact.Append([]byte{byte(order)}, Batch{Gaps: b.Gaps, Durations: distances}, kinds.exactly())
		if err != nil {
			return nil, err
		}
		if least == nil || len(coded) < len(least) {
			least = coded
		}
	}
	return least, nil
}

// before returns the latest sums of calls that have the same kind as the given call of the block. m is by kind.
func (k *SimilarCallKinds) before(m map[uint32]*suggestion, call int) *suggestion {
	return once.GetOrMake(m, k.KindOfCall[call], func() *suggestion { return new(suggestion) })
}

// exactly describes calls to the codec for attached numbers, without error bounds.
func (k *SimilarCallKinds) exactly() *CallInfo {
	return &CallInfo{Keys: k.KindOfCall, KindOfKey: k.FunctionOfKind}
}

// AttachedNames returns the names of the attached numbers.
func (r *Reader) AttachedNames() []string { return r.names }

// AttachedNumbers decodes the numbers attached to the calls of block i of a stream: one element for each name. kinds
// are as for Block.
func (r *Reader) AttachedNumbers(stream, i int, kinds SimilarCallKinds) ([]AttachedNumbers, error) {
	b := &r.blocks[stream][i]
	if len(kinds.KindOfCall) != int(b.calls) {
		return nil, fmt.Errorf("values of %d calls, kinds of %d: %w", b.calls, len(kinds.KindOfCall), errPiece)
	}
	data, err := r.read(&b.numbers)
	if err != nil {
		return nil, fmt.Errorf("values of block %d: %w", i, err)
	}
	list, err := decodeNumbers(data, len(r.names), int(b.calls), &kinds)
	if err != nil {
		return nil, fmt.Errorf("values of block %d: %w: %w", i, err, errPiece)
	}
	return list, nil
}

func decodeNumbers(data []byte, names, calls int, kinds *SimilarCallKinds) ([]AttachedNumbers, error) {
	r := wire.NewReader(data, "attached values")
	list := make([]AttachedNumbers, names)
	for name := range list {
		coded := r.Bytes(r.Count(1))
		if err := r.Err(); err != nil {
			return nil, err
		}
		if len(coded) == 0 {
			continue
		}
		order := int(coded[0])
		if order >= orders {
			return nil, fmt.Errorf("order %d of numbers", order)
		}
		batch, err := exact.Decode(coded[1:], TimeListBoth, kinds.exactly())
		if err != nil {
			return nil, err
		}
		if len(batch.Gaps) != calls || len(batch.Durations) != calls {
			return nil, fmt.Errorf("%d numbers and %d sums of %d calls", len(batch.Gaps), len(batch.Durations), calls)
		}
		x := AttachedNumbers{CountsByCall: batch.Gaps, SumsByCall: make([]int64, calls)}
		before := make(map[uint32]*suggestion)
		for i, v := range batch.Durations {
			if batch.Gaps[i] > 0 {
				s := kinds.before(before, i)
				sum := s.of(order) + (v>>1 ^ -(v & 1))
				x.SumsByCall[i] = int64(sum)
				s[0], s[1] = sum, s[0]
			}
		}
		list[name] = x
	}
	return list, r.Finish()
}
