package series

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"iter"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/codec"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// Behind all blocks of times stand those of what was attached to the same calls, if something was, whatever the mode exactly:
//
//	block of numbers = per name: size uvarint, batch of that size
//
// The batch, of the exact codec, has of each call how many numbers it has under the name, in place of a gap, and their sum
// in place of a duration, a number n as (n << 1) ^ (n >> 63). Size 0: none of these calls has one.

// MaxNames is how many names there may be.
const MaxNames = 64

// Numbers are what was attached to the calls of a block under a name; empty if nothing was.
type Numbers struct {
	Counts []uint64 // by call
	Sums   []int64  // by call: one that is out of range wraps around
}

// exact is the codec for numbers.
var exact = codec.Lossless{}

// Names says under which names something was attached.
func (w *Writer) Names(names []string) error {
	if len(names) > MaxNames {
		return fmt.Errorf("%d names of values, at most %d can be stored", len(names), MaxNames)
	}
	w.names = names
	return nil
}

// Attached writes what was attached to the calls of a stream, whose times and the names are written. numbers come in order of calls;
// next is as for Stream.
func (w *Writer) Attached(stream int, numbers iter.Seq2[[]timing.Attached, error], next func(n int) Kinds) error {
	list := w.blocks[stream]
	var pending []timing.Attached
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
			for i < len(list) && v.Call >= first+list[i].calls {
				write()
			}
			if i == len(list) || v.Call < first || v.Name >= len(w.names) {
				return fmt.Errorf("a value of call %d, in order from %d on, under name %d of %d", v.Call, first, v.Name, len(w.names))
			}
			pending = append(pending, v)
		}
	}
	for i < len(list) {
		write()
	}
	return w.err
}

// numbers writes those of the calls of a block of times.
func (w *Writer) numbers(b *block, first uint64, list []timing.Attached, kinds Kinds) {
	var data []byte
	batch := codec.Batch{Gaps: make([]uint64, b.calls), Durations: make([]uint64, b.calls)}
	for name := range w.names {
		clear(batch.Gaps)
		clear(batch.Durations)
		used := false
		for _, v := range list {
			if v.Name == name {
				used = true
				batch.Gaps[v.Call-first]++
				batch.Durations[v.Call-first] += uint64(v.Value)
			}
		}
		if !used {
			data = append(data, 0)
			continue
		}
		for i, v := range batch.Durations {
			batch.Durations[i] = v<<1 ^ uint64(int64(v)>>63)
		}
		coded, err := exact.Append(nil, batch, kinds.exactly())
		if err != nil {
			w.err = cmp.Or(w.err, err)
			return
		}
		data = append(wire.AppendUvarint(data, uint64(len(coded))), coded...)
	}
	b.numbers = part{size: uint64(len(data)), crc: crc32.Checksum(data, castagnoli)}
	w.write(data)
}

// exactly is what the exact codec is told of calls.
func (k *Kinds) exactly() *codec.Calls { return &codec.Calls{Keys: k.Of, Groups: k.Groups} }

// Names returns under which names something was attached.
func (r *Reader) Names() []string { return r.names }

// Attached decodes what was attached to the calls of a block, by name. kinds are as for Block.
func (r *Reader) Attached(stream, i int, kinds Kinds) ([]Numbers, error) {
	b := &r.blocks[stream][i]
	if len(kinds.Of) != int(b.calls) {
		return nil, fmt.Errorf("values of %d calls, kinds of %d: %w", b.calls, len(kinds.Of), errPiece)
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

func decodeNumbers(data []byte, names, calls int, kinds *Kinds) ([]Numbers, error) {
	r := wire.NewReader(data, "attached values")
	list := make([]Numbers, names)
	for name := range list {
		coded := r.Bytes(r.Count(1))
		if err := r.Err(); err != nil {
			return nil, err
		}
		if len(coded) == 0 {
			continue
		}
		batch, err := exact.Decode(coded, codec.Both, kinds.exactly())
		if err != nil {
			return nil, err
		}
		if len(batch.Gaps) != calls || len(batch.Durations) != calls {
			return nil, fmt.Errorf("%d numbers and %d sums of %d calls", len(batch.Gaps), len(batch.Durations), calls)
		}
		x := Numbers{Counts: batch.Gaps, Sums: make([]int64, calls)}
		for i, v := range batch.Durations {
			x.Sums[i] = int64(v>>1) ^ -int64(v&1)
		}
		list[name] = x
	}
	return list, r.Done()
}
