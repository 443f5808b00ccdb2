package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Compress and Expand agree on these, so that a frame can't make its reader
// take much more memory than it has bytes: the declared size is at most
// maxRatio times the stored one plus slack, and the window is bounded.
const (
	maxRatio  = 4096
	slack     = 1 << 16
	maxWindow = 8 << 20
)

// The best level takes 60 MB for tables, which a few kilobytes of data, within
// somebody's program, aren't worth: there it gains nothing.
const bestFrom = 32 << 10

var encoders = [3]func() *zstd.Encoder{
	sync.OnceValue(func() *zstd.Encoder { return newEncoder(zstd.SpeedFastest) }),
	sync.OnceValue(func() *zstd.Encoder { return newEncoder(zstd.SpeedBetterCompression) }),
	sync.OnceValue(func() *zstd.Encoder { return newEncoder(zstd.SpeedBestCompression) }),
}

func newEncoder(level zstd.EncoderLevel, more ...zstd.EOption) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, append(more, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(maxWindow), zstd.WithLowerEncoderMem(true))...)
	if err != nil {
		panic(err) // the options are constants
	}
	return e
}

// Compress returns a zstd frame of data, or false if that is no smaller or
// Expand would refuse it. best trades time for size.
func Compress(data []byte, best bool) ([]byte, bool) {
	level := 0
	if best {
		level = 1
		if len(data) >= bestFrom {
			level = 2
		}
	}
	return compress(encoders[level](), data)
}

// Packed returns about how long data get when compressed.
func Packed(data []byte) int {
	if len(data) <= MixEstimate {
		if frame, ok := Mix(data); ok {
			return len(frame)
		}
	}
	return Quickly(data)
}

// Quickly returns the same, less exactly but in less time.
func Quickly(data []byte) int {
	if frame, ok := Compress(data, false); ok {
		return len(frame)
	}
	return len(data)
}

// MixEstimate is up to where an estimate may take the time that mixing does.
const MixEstimate = 1 << 15

func compress(e *zstd.Encoder, data []byte) ([]byte, bool) {
	frame := e.EncodeAll(data, nil)
	if len(frame) >= len(data) || len(data) > maxSize(len(frame)) {
		return nil, false
	}
	return frame, true
}

func maxSize(stored int) int { return stored*maxRatio + slack }

// Expand returns what a frame holds, which must be size bytes. Memory grows
// with what really comes out of the frame, not with what size says.
func Expand(frame []byte, size uint64) ([]byte, error) { return expand(frame, size) }

func expand(frame []byte, size uint64, more ...zstd.DOption) ([]byte, error) {
	if size > uint64(maxSize(len(frame))) {
		return nil, fmt.Errorf("%d bytes can't have been compressed to %d", size, len(frame))
	}
	d, err := zstd.NewReader(bytes.NewReader(frame), append(more, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(max(size, slack)))...)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(d, int64(size)+1))
	switch {
	case err != nil:
		return nil, err
	case uint64(n) > size:
		return nil, errors.New("more data than declared")
	case uint64(n) < size:
		return nil, fmt.Errorf("%d bytes, %d declared", n, size)
	}
	return out.Bytes(), nil
}

// A Dictionary is content that compressed data may refer to. Both sides need
// the same.
type Dictionary struct {
	content []byte
	encoder func() *zstd.Encoder
}

// dictionaryID is what frames that need a dictionary carry.
const dictionaryID = 1

// NewDictionary returns a dictionary with the given content.
func NewDictionary(content []byte) *Dictionary {
	return &Dictionary{content, sync.OnceValue(func() *zstd.Encoder {
		// Better levels clear and copy tables of 8 MB and more, to save a dozen bytes.
		return newEncoder(zstd.SpeedFastest, zstd.WithEncoderDictRaw(dictionaryID, content))
	})}
}

// Compress is like the function, with the dictionary.
func (d *Dictionary) Compress(data []byte) ([]byte, bool) { return compress(d.encoder(), data) }

// Expand is like the function, with the dictionary.
func (d *Dictionary) Expand(frame []byte, size uint64) ([]byte, error) {
	return expand(frame, size, zstd.WithDecoderDictRaw(dictionaryID, d.content))
}
