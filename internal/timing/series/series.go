// Package series stores the times of every call of a rank. Times are in blocks, so that
// a time in the run is found by decoding one block. A head after the blocks says
// where they are. Which calls these are is stored elsewhere: a reader passes it in, and
// blocks use it to group calls with similar times.
//
// It does not decide which modes there are (package timing), and knows nothing of
// trace files.
//
//	piece  = block…, head, size of head uint32, crc uint32 of head
//	head   = mode string, ticks per ns: bits of a float64 uint64,
//	         wall clock at tick 0, ns since 1970 varint, streams uvarint,
//	         per stream: blocks uvarint,
//	         per block: calls uvarint, bytes uvarint, crc uint32,
//	         ticks at which the call before it ended varint,
//	         if something was attached to calls: names uvarint, name string…,
//	         per block: bytes uvarint and crc uint32 of its block of numbers,
//	         in lossy modes: per stream: ticks at which its last call ended varint
//
// Ticks of the head are the rank's own in every mode, however far off the times of a block are in sum. In lossy
// modes the head has its names even if there are none.
//
// All numbers are little-endian, checksums CRC-32C.
package series

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"sort"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
)

// CallsPerBlock is the number of calls in a block; the last block of a stream may have fewer.
const CallsPerBlock = 1 << 15

const tailBytes = 8

var castagnoli = wire.Castagnoli

// A RankInfo is the properties of a rank that its times depend on: mode and clock.
type RankInfo struct {
	Mode       timing.Mode
	TicksPerNs float64
	StartNs    int64 // wall clock time when the rank's clock was 0, in ns since 1970
}

// SimilarCallKinds says which calls of a block are expected to take similar times. KindOfCall has the kind of each
// call, a small number. FunctionOfKind and ErrorBoundOfKind have, by kind, the number of the function and the error
// bound of times in ticks. ErrorBoundOfKind is nil in lossless modes.
type SimilarCallKinds struct {
	KindOfCall        []uint32
	FunctionOfKind    []uint32
	ErrorBoundOfKind  []Bound
	Bins, SampleCalls int // options for codec histSig, as in CallInfo; only for writing
}

// A Writer writes the piece of one rank: its blocks and the head.
type Writer struct {
	w      io.Writer
	rank   RankInfo
	codec  Codec
	blocks [][]block
	ends   []int64  // by stream: when its last call ended, in ticks
	names  []string // names of attached numbers
	err    error
	size   int64
}

type block struct {
	byteRange
	calls   uint64
	at      int64     // when the stream's call before the block ended, in ticks
	first   uint64    // index of the block's first call in its stream
	numbers byteRange // where the numbers attached to the block's calls are
}

// A byteRange is consecutive bytes of a piece, with their checksum.
type byteRange struct {
	size   uint64
	crc    uint32
	offset int64
}

// NewWriter returns a writer of a piece to w.
func NewWriter(w io.Writer, rank RankInfo) (*Writer, error) {
	c, err := codecOf(rank.Mode)
	if err != nil {
		return nil, err
	}
	return &Writer{w: w, rank: rank, codec: c}, nil
}

// WriteStream writes the times of the rank's next stream. next returns the kinds of the next n calls. A reader must
// pass the same kinds to Block.
func (w *Writer) WriteStream(calls iter.Seq2[[]timing.CallTicks, error], next func(n int) SimilarCallKinds) error {
	w.blocks = append(w.blocks, nil)
	at := int64(0)
	var pending []timing.CallTicks
	for entries, err := range calls {
		if err != nil {
			return fmt.Errorf("times of calls: %w", err)
		}
		for len(entries) > 0 {
			n := min(len(entries), CallsPerBlock-len(pending))
			pending = append(pending, entries[:n]...)
			entries = entries[n:]
			if len(pending) == CallsPerBlock {
				at = w.block(pending, next(len(pending)), at)
				pending = pending[:0]
			}
		}
	}
	if len(pending) > 0 {
		at = w.block(pending, next(len(pending)), at)
	}
	w.ends = append(w.ends, at)
	return w.err
}

func (w *Writer) block(entries []timing.CallTicks, kinds SimilarCallKinds, at int64) int64 {
	data, err := encodeBlock(w.codec, entries, kinds)
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return at
	}
	last := len(w.blocks) - 1
	w.blocks[last] = append(w.blocks[last], block{
		byteRange: byteRange{size: uint64(len(data)), crc: crc32.Checksum(data, castagnoli)}, calls: uint64(len(entries)), at: at,
	})
	w.write(data)
	for _, e := range entries {
		_, at = e.Advance(at)
	}
	return at
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
		w.size += int64(len(b))
	}
}

// Close writes the head, and returns the size of the piece in bytes.
func (w *Writer) Close() (int64, error) {
	b := wire.AppendString(nil, string(w.rank.Mode))
	b = wire.AppendUint64(b, math.Float64bits(w.rank.TicksPerNs))
	b = wire.AppendVarint(b, w.rank.StartNs)
	b = wire.AppendUvarint(b, uint64(len(w.blocks)))
	for _, list := range w.blocks {
		b = wire.AppendUvarint(b, uint64(len(list)))
		for _, x := range list {
			b = wire.AppendUvarint(b, x.calls)
			b = wire.AppendUvarint(b, x.size)
			b = wire.AppendUint32(b, x.crc)
			b = wire.AppendVarint(b, x.at)
		}
	}
	if len(w.names) > 0 || w.rank.Mode.IsLossy() {
		b = wire.AppendEncoded(b, func(c *wire.Coder) { c.Strings(&w.names) })
		for _, list := range w.blocks {
			for _, x := range list {
				if len(w.names) > 0 {
					b = wire.AppendUint32(wire.AppendUvarint(b, x.numbers.size), x.numbers.crc)
				}
			}
		}
	}
	if w.rank.Mode.IsLossy() {
		for _, end := range w.ends {
			b = wire.AppendVarint(b, end)
		}
	}
	sum := crc32.Checksum(b, castagnoli)
	b = wire.AppendUint32(b, uint32(len(b)))
	w.write(wire.AppendUint32(b, sum))
	return w.size, w.err
}

// A Reader reads the piece of one rank. Several goroutines may use it at once if they may use its source at once.
type Reader struct {
	RankInfo
	src    io.ReaderAt
	codec  Codec
	blocks [][]block
	ends   []int64 // by stream: when its last call ended, in ticks; nil in older files of lossy modes
	names  []string
}

var errPiece = errors.New("damaged times of calls")

// NewReader returns a reader of the piece in src, which has size bytes.
func NewReader(src io.ReaderAt, size int64) (*Reader, error) {
	if size < tailBytes {
		return nil, fmt.Errorf("%d bytes: %w", size, errPiece)
	}
	tail := make([]byte, tailBytes)
	if err := readAt(src, tail, size-tailBytes); err != nil {
		return nil, err
	}
	t := wire.NewReader(tail, "tail")
	n, sum := int64(t.Uint32()), t.Uint32()
	if n > size-tailBytes {
		return nil, fmt.Errorf("head of %d bytes in %d: %w", n, size, errPiece)
	}
	head := make([]byte, n)
	if err := readAt(src, head, size-tailBytes-n); err != nil {
		return nil, err
	}
	if crc32.Checksum(head, castagnoli) != sum {
		return nil, fmt.Errorf("checksum of head: %w", errPiece)
	}
	r := &Reader{src: src}
	if err := r.head(head, size-tailBytes-n); err != nil {
		return nil, fmt.Errorf("%w: %w", err, errPiece)
	}
	return r, nil
}

// head decodes the head of the piece. The blocks, which precede it, have size bytes in all.
func (r *Reader) head(head []byte, size int64) (err error) {
	h := wire.NewReader(head, "head of times")
	r.Mode = timing.Mode(h.String())
	r.TicksPerNs = math.Float64frombits(h.Uint64())
	r.StartNs = h.Varint()
	if h.Err() == nil {
		if r.codec, err = codecOf(r.Mode); err != nil {
			return err
		}
		if !(r.TicksPerNs > 1e-6 && r.TicksPerNs < 1e6) {
			return fmt.Errorf("%v ticks per ns", r.TicksPerNs)
		}
	}
	offset := int64(0)
	next := func() byteRange {
		p := byteRange{size: h.Uvarint(), crc: h.Uint32(), offset: offset}
		if p.size > uint64(size-offset) {
			h.Fail("block of %d bytes", p.size)
			return byteRange{}
		}
		offset += int64(p.size)
		return p
	}
	for range h.Count(1) {
		var list []block
		first := uint64(0)
		for range h.Count(7) {
			b := block{calls: h.Uvarint(), byteRange: next(), at: h.Varint(), first: first}
			if h.Err() != nil || b.calls == 0 || b.calls > CallsPerBlock {
				h.Fail("block of %d calls in %d bytes", b.calls, b.size)
				break
			}
			first += b.calls
			list = append(list, b)
		}
		r.blocks = append(r.blocks, list)
	}
	if h.Err() == nil && h.RemainingLen() > 0 {
		(&wire.Coder{Reader: h}).Strings(&r.names)
		if len(r.names) > MaxAttachedNames {
			h.Fail("%d names of values", len(r.names))
		}
		for _, list := range r.blocks {
			for i := range list {
				if h.Err() == nil && len(r.names) > 0 {
					list[i].numbers = next()
				}
			}
		}
	}
	if h.Err() == nil && h.RemainingLen() > 0 {
		for range r.blocks {
			r.ends = append(r.ends, h.Varint())
		}
	}
	if h.Err() == nil && offset != size {
		h.Fail("%d bytes of blocks, %d expected", size, offset)
	}
	return h.Finish()
}

func readAt(src io.ReaderAt, p []byte, at int64) error {
	if n, err := src.ReadAt(p, at); n < len(p) {
		return err
	}
	return nil
}

// StreamCount returns the number of streams.
func (r *Reader) StreamCount() int { return len(r.blocks) }

// BlockCount returns the number of blocks of a stream.
func (r *Reader) BlockCount(stream int) int { return len(r.blocks[stream]) }

// CallCount returns the number of calls of a stream.
func (r *Reader) CallCount(stream int) uint64 {
	list := r.blocks[stream]
	if len(list) == 0 {
		return 0
	}
	b := &list[len(list)-1]
	return b.first + b.calls
}

// BlockCalls returns, for block i of a stream, the index of its first call in the stream and its number of calls.
func (r *Reader) BlockCalls(stream, i int) (first uint64, calls int) {
	b := &r.blocks[stream][i]
	return b.first, int(b.calls)
}

// BlockBeginTicks returns when the stream's call before block i ended, in ticks.
func (r *Reader) BlockBeginTicks(stream, i int) int64 { return r.blocks[stream][i].at }

// BlockEndTicks returns when the last call of block i ended, in ticks. ok is false in older files of lossy modes, which
// lack these times: their blocks begin and end at sums of inexact times.
func (r *Reader) BlockEndTicks(stream, i int) (ticks int64, ok bool) {
	if r.ends == nil {
		return 0, false
	}
	if i+1 < len(r.blocks[stream]) {
		return r.blocks[stream][i+1].at, true
	}
	return r.ends[stream], true
}

// BlockOfCall returns the index of the block that contains a call of the stream. call must be less than Len.
func (r *Reader) BlockOfCall(stream int, call uint64) int {
	list := r.blocks[stream]
	return sort.Search(len(list), func(i int) bool { return list[i].first > call }) - 1
}

// BlockAtTick returns the index of the last block that begins at or before a tick; 0 if none does.
func (r *Reader) BlockAtTick(stream int, ticks int64) int {
	list := r.blocks[stream]
	return max(0, sort.Search(len(list), func(i int) bool { return list[i].at > ticks })-1)
}

// Block decodes block i of a stream. kinds must be those that the writer got for it.
func (r *Reader) Block(stream, i int, kinds SimilarCallKinds) ([]timing.CallTicks, error) {
	b := &r.blocks[stream][i]
	if len(kinds.KindOfCall) != int(b.calls) {
		return nil, fmt.Errorf("times of %d calls, kinds of %d: %w", b.calls, len(kinds.KindOfCall), errPiece)
	}
	data, err := r.read(&b.byteRange)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", i, err)
	}
	entries, err := decodeBlock(r.codec, data, int(b.calls), kinds)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w: %w", i, err, errPiece)
	}
	return entries, nil
}

// read reads a byte range of the piece, and verifies its checksum.
func (r *Reader) read(p *byteRange) ([]byte, error) {
	data := make([]byte, p.size)
	if err := readAt(r.src, data, p.offset); err != nil {
		return nil, err
	}
	if crc32.Checksum(data, castagnoli) != p.crc {
		return nil, fmt.Errorf("checksum: %w", errPiece)
	}
	return data, nil
}

// TicksToNs converts ticks of the rank's clock to ns.
func (r *RankInfo) TicksToNs(ticks int64) int64 {
	return int64(math.Round(float64(ticks) / r.TicksPerNs))
}
