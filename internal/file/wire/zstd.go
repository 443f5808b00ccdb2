package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Limits that CompressZstd and DecompressZstd share, so that a reader does not take much more memory than a frame has bytes:
// the declared size is at most maxRatio times the stored one plus slack, and the window is limited.
const (
	maxRatio  = 4096
	slack     = 1 << 16
	maxWindow = 8 << 20
)

// bestFrom is the size in bytes from which data are compressed at zstd's best level. That takes 40 MB for tables, and
// time to fill them, which is not worthwhile for small data inside the traced program's process.
const bestFrom = mixTo

// smallWindow is the window in bytes of the encoder for small data: an encoder allocates its window, which need not be
// larger than the data.
const smallWindow = 1 << 20

var (
	quickSmall = sync.OnceValue(func() *zstd.Encoder { return newEncoder(zstd.SpeedFastest, smallWindow) })
	quick      = sync.OnceValue(func() *zstd.Encoder { return newEncoder(zstd.SpeedFastest, maxWindow) })
	better     = sync.OnceValue(func() *zstd.Encoder { return newEncoder(zstd.SpeedBetterCompression, bestFrom) })
)

// best are unused encoders of the best level. The collector may free them.
var best sync.Pool

func newEncoder(level zstd.EncoderLevel, window int) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // cannot happen, as the options are constants
	}
	return e
}

// CompressZstd returns a zstd frame of data, or false if that is no smaller or
// DecompressZstd would refuse it. thorough trades time for size.
func CompressZstd(data []byte, thorough bool) ([]byte, bool) {
	switch {
	case !thorough && len(data) <= smallWindow:
		return compress(quickSmall(), data)
	case !thorough:
		return compress(quick(), data)
	case len(data) < bestFrom:
		return compress(better(), data)
	}
	e, _ := best.Get().(*zstd.Encoder)
	if e == nil {
		debug.FreeOSMemory() // avoids having earlier garbage and the tables in memory together
		e = newEncoder(zstd.SpeedBestCompression, maxWindow)
	}
	defer best.Put(e)
	return compress(e, data)
}

// EstimatePackedSize returns approximately the compressed size of data.
func EstimatePackedSize(data []byte) int {
	if len(data) <= MaxMixingEstimateBytes {
		if frame, ok := CompressContextMixing(data); ok {
			return len(frame)
		}
	}
	return QuickEstimatePackedSize(data)
}

// QuickEstimatePackedSize is EstimatePackedSize with less accuracy in less time.
func QuickEstimatePackedSize(data []byte) int {
	if frame, ok := CompressZstd(data, false); ok {
		return len(frame)
	}
	return len(data)
}

// MaxMixingEstimateBytes is the size in bytes up to which an estimate uses mixing, which is slow.
const MaxMixingEstimateBytes = 1 << 15

func compress(e *zstd.Encoder, data []byte) ([]byte, bool) {
	frame := e.EncodeAll(data, nil)
	if len(frame) >= len(data) || len(data) > maxSize(len(frame)) {
		return nil, false
	}
	return frame, true
}

func maxSize(stored int) int { return stored*maxRatio + slack }

// DecompressZstd decompresses a frame, whose content must be size bytes. Memory grows with the bytes decompressed so far,
// not with size.
func DecompressZstd(frame []byte, size uint64) ([]byte, error) { return expand(frame, size) }

// atOnce is the size up to which the output is allocated before decompression begins. A stream that grows with its
// data takes several times as much memory, which matters inside the program's process.
const atOnce = 1 << 18

func expand(frame []byte, size uint64, more ...zstd.DOption) ([]byte, error) {
	if size > uint64(maxSize(len(frame))) {
		return nil, fmt.Errorf("%d bytes can't have been compressed to %d", size, len(frame))
	}
	more = append(more, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(max(size, slack)))
	var out []byte
	var err error
	if size <= atOnce {
		out, err = expandAtOnce(frame, int(size), more)
	} else {
		out, err = expandStream(frame, size, more)
	}
	switch {
	case err != nil:
		return nil, err
	case uint64(len(out)) > size:
		return nil, errors.New("more data than declared")
	case uint64(len(out)) < size:
		return nil, fmt.Errorf("%d bytes, %d declared", len(out), size)
	}
	return out, nil
}

func expandAtOnce(frame []byte, size int, options []zstd.DOption) ([]byte, error) {
	d, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(frame, make([]byte, 0, size))
}

func expandStream(frame []byte, size uint64, options []zstd.DOption) ([]byte, error) {
	d, err := zstd.NewReader(bytes.NewReader(frame), options...)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var out bytes.Buffer
	_, err = io.Copy(&out, io.LimitReader(d, int64(size)+1))
	return out.Bytes(), err
}
