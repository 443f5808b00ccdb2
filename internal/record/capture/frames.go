package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"syscall"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// frames are items of a stream, such as the times of every call, compressed in frames of many items. They go to a file
// in the process directory or, without one, stay in memory.
//
//	file  = frame…
//	frame = items uint32, size of data uint32, raw size uint32, crc uint32 of data,
//	        data: the items; one zstd frame if that is smaller
type frames struct {
	path string // "" if frames stay in memory
	file *os.File
	old  string // file of a dead process, which has the first size bytes
	size int64  // bytes of complete frames in the file
	from int64  // position in the file of the first frame that is kept

	plain int64 // while size is below this, frames are not compressed, as that would take most of the time

	memory  []byte // frames that follow those in the file, or all frames without a file
	pending []byte
	count   int // number of items in pending, which are not yet in a frame
}

const (
	frameHead = 16
	// frameItems is the number of items of a frame, unless a checkpoint ends it earlier.
	frameItems = 1 << 15
)

// flush makes a frame of the pending items.
func (f *frames) flush() {
	if f.count == 0 {
		return
	}
	data := f.pending
	if f.path == "" || len(f.memory) > 0 || f.size >= f.plain {
		if frame, ok := wire.CompressZstd(data, false); ok {
			data = frame
		}
	}
	b := make([]byte, 0, frameHead+len(data))
	b = wire.AppendUint32(b, uint32(f.count))
	b = wire.AppendUint32(b, uint32(len(data)))
	b = wire.AppendUint32(b, uint32(len(f.pending)))
	b = wire.AppendUint32(b, crc32.Checksum(data, castagnoli))
	f.keep(append(b, data...))
	f.pending, f.count = f.pending[:0], 0
}

func (f *frames) keep(frame []byte) {
	if f.path != "" && f.file == nil && f.old == "" && len(f.memory) == 0 {
		f.file, _ = os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	}
	if f.file != nil && len(f.memory) == 0 {
		if _, err := f.file.WriteAt(frame, f.size); err == nil {
			f.size += int64(len(frame))
			return
		}
		// The disk may be full, for example. This frame and all later ones stay in memory.
	}
	f.memory = append(f.memory, frame...)
}

// resume continues the frames of another process, which stay unchanged.
func (f *frames) resume(path string) error {
	if f.size == 0 {
		return nil
	}
	st, err := os.Stat(path)
	if err == nil && st.Size() < f.size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("%s: %d bytes wanted: %w", path, f.size, err)
	}
	f.old = path
	return nil
}

func (f *frames) close() {
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
}

func (f *frames) code(c *wire.Coder) {
	wire.CodeNaturals(c, &f.size, &f.from)
	if c.Blob(&f.memory); c.Reader != nil { // memory is empty unless writing to the file failed
		f.memory, f.pending, f.count = bytes.Clone(f.memory), f.pending[:0], 0
	}
}

// drop discards all items. The file stays, as the last checkpoint may refer to it.
func (f *frames) drop() {
	f.size, f.from, f.memory, f.pending, f.count = 0, 0, nil, nil, 0
}

// forget discards everything before a position in the file, and frees the space.
func (f *frames) forget(to int64) error {
	const keepSize, punchHole = 1, 2
	if err := syscall.Fallocate(int(f.file.Fd()), keepSize|punchHole, f.from, to-f.from); err != nil {
		return err
	}
	f.from = to
	return nil
}

// empty reports whether there are no items.
func (f *frames) empty() bool { return f.size == 0 && len(f.memory) == 0 && f.count == 0 }

// each yields the items in order, frame by frame.
func each[T any](f *frames, parse func(data []byte, items uint32) ([]T, error)) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		f.flush()
		at := int64(0)
		var src io.ReaderAt = memoryReader(f.memory)
		end := int64(len(f.memory))
		inFile := f.size > 0
		switch {
		case f.old != "":
			at = f.from
			// Opened late, as there may be more processes than open files.
			file, err := os.Open(f.old)
			if err != nil {
				yield(nil, err)
				return
			}
			defer file.Close()
			src, end = file, f.size
		case inFile:
			at, src, end = f.from, f.file, f.size
		}
		for {
			for at < end {
				var items []T
				data, count, n, err := readFrame(src, at, end)
				if err == nil {
					items, err = parse(data, count)
				}
				if !yield(items, err) || err != nil {
					return
				}
				at += n
			}
			if !inFile {
				return
			}
			inFile, at = false, 0
			src, end = memoryReader(f.memory), int64(len(f.memory))
		}
	}
}

type memoryReader []byte

func (m memoryReader) ReadAt(p []byte, at int64) (int, error) {
	n := copy(p, m[min(at, int64(len(m))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

var errFrame = errors.New("damaged notes of calls")

// readFrame returns the data of the frame at a position, its number of items, and its size in bytes.
func readFrame(src io.ReaderAt, at, end int64) (data []byte, items uint32, n int64, err error) {
	var head [frameHead]byte
	if end-at < frameHead {
		return nil, 0, 0, errFrame
	}
	if _, err := src.ReadAt(head[:], at); err != nil {
		return nil, 0, 0, err
	}
	u := func(i int) uint32 { return binary.LittleEndian.Uint32(head[i:]) }
	size, raw := int64(u(4)), u(8)
	if size > end-at-frameHead {
		return nil, 0, 0, errFrame
	}
	data = make([]byte, size)
	if _, err := src.ReadAt(data, at+frameHead); err != nil {
		return nil, 0, 0, err
	}
	if crc32.Checksum(data, castagnoli) != u(12) {
		return nil, 0, 0, errFrame
	}
	if int64(raw) != size {
		if data, err = wire.DecompressZstd(data, uint64(raw)); err != nil {
			return nil, 0, 0, err
		}
	}
	return data, u(0), frameHead + size, nil
}
