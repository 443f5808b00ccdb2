package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/spoor-hpc/spoor/internal/pack"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// A streamLog notes the times of every call of a stream, in the order of its
// terminals. They are compressed a frame at a time and go to a file in the process
// directory, or stay in memory where there is none.
//
//	file  = frame…
//	frame = calls uint32, size of data uint32, raw size uint32, crc uint32 of data,
//	        data: per call: duration uvarint, 2·gap + 1 if jump is not 0 uvarint,
//	        if so: jump varint; one zstd frame if that is smaller
//
// A gap that does not fit there is longGap, and stands behind the jump.
type streamLog struct {
	path  string // "" if frames stay in memory
	file  *os.File
	old   string // file of a dead process, which has the first size bytes
	size  int64  // bytes of whole frames
	calls uint64
	end   int64 // of the call before, in ticks since the clock was first read

	memory  []byte // frames behind those of the file
	pending []byte
	count   int // calls in pending
}

const (
	frameHead = 16
	// frameCalls is how many calls make a frame if no checkpoint asks for one
	// before.
	frameCalls = 1 << 15

	longGap = math.MaxUint64
)

// callTimes is when a call was made.
type callTimes struct{ begin, gap, duration uint64 }

// add notes a call. start is what the clock was first.
func (l *streamLog) add(t callTimes, start uint64) {
	begin := int64(t.begin - start)
	jump := begin - l.end - int64(t.gap)
	l.end = begin + int64(t.duration)
	l.pending = binary.AppendUvarint(l.pending, t.duration)
	switch {
	case t.gap >= longGap>>1:
		l.pending = binary.AppendUvarint(l.pending, longGap)
		l.pending = binary.AppendVarint(l.pending, jump)
		l.pending = binary.AppendUvarint(l.pending, t.gap)
	case jump == 0:
		l.pending = binary.AppendUvarint(l.pending, t.gap<<1)
	default:
		l.pending = binary.AppendUvarint(l.pending, t.gap<<1|1)
		l.pending = binary.AppendVarint(l.pending, jump)
	}
	l.calls++
	if l.count++; l.count >= frameCalls {
		l.flush()
	}
}

// flush makes a frame of what is pending.
func (l *streamLog) flush() {
	if l.count == 0 {
		return
	}
	data := l.pending
	if frame, ok := wire.Compress(data, false); ok {
		data = frame
	}
	b := make([]byte, 0, frameHead+len(data))
	b = wire.AppendUint32(b, uint32(l.count))
	b = wire.AppendUint32(b, uint32(len(data)))
	b = wire.AppendUint32(b, uint32(len(l.pending)))
	b = wire.AppendUint32(b, crc32.Checksum(data, castagnoli))
	l.keep(append(b, data...))
	l.pending, l.count = l.pending[:0], 0
}

func (l *streamLog) keep(frame []byte) {
	if l.path != "" && l.file == nil && l.old == "" && len(l.memory) == 0 {
		l.file, _ = os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	}
	if l.file != nil && len(l.memory) == 0 {
		if _, err := l.file.WriteAt(frame, l.size); err == nil {
			l.size += int64(len(frame))
			return
		}
		// The disk is full, say: what is in the file stays there.
	}
	l.memory = append(l.memory, frame...)
}

// resume makes the log go on behind what another process wrote, which stays as
// it is.
func (l *streamLog) resume(path string) error {
	if l.size == 0 {
		return nil
	}
	st, err := os.Stat(path)
	if err == nil && st.Size() < l.size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("times of calls: %s: %d bytes wanted: %w", path, l.size, err)
	}
	l.old = path
	return nil
}

func (l *streamLog) close() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

func (l *streamLog) save(w *pack.Writer) {
	w.Uint(uint64(l.size))
	w.Uint(l.calls)
	w.Int(l.end)
	w.Bytes(l.memory) // empty unless the file can't be written
}

func (l *streamLog) load(r *pack.Reader) {
	l.size, l.calls, l.end = int64(r.Uint()&math.MaxInt64), r.Uint(), r.Int()
	l.memory = []byte(r.String())
	l.pending, l.count = l.pending[:0], 0
}

// blocks yields the times in order, a frame at a time.
func (l *streamLog) blocks(yield func([]timing.Entry, error) bool) {
	l.flush()
	at := int64(0)
	var src io.ReaderAt = memoryReader(l.memory)
	end := int64(len(l.memory))
	inFile := l.size > 0
	switch {
	case l.old != "":
		// Opened only now: there may be more processes than open files.
		f, err := os.Open(l.old)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		src, end = f, l.size
	case inFile:
		src, end = l.file, l.size
	}
	for {
		for at < end {
			entries, n, err := readFrame(src, at, end)
			if !yield(entries, err) || err != nil {
				return
			}
			at += n
		}
		if !inFile {
			return
		}
		inFile, at = false, 0
		src, end = memoryReader(l.memory), int64(len(l.memory))
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

var errFrame = errors.New("damaged times")

func readFrame(src io.ReaderAt, at, end int64) ([]timing.Entry, int64, error) {
	var head [frameHead]byte
	if end-at < frameHead {
		return nil, 0, errFrame
	}
	if _, err := src.ReadAt(head[:], at); err != nil {
		return nil, 0, err
	}
	u := func(i int) uint32 { return binary.LittleEndian.Uint32(head[i:]) }
	calls, size, raw := u(0), int64(u(4)), u(8)
	if size > end-at-frameHead {
		return nil, 0, errFrame
	}
	data := make([]byte, size)
	if _, err := src.ReadAt(data, at+frameHead); err != nil {
		return nil, 0, err
	}
	if crc32.Checksum(data, castagnoli) != u(12) {
		return nil, 0, errFrame
	}
	if int64(raw) != size {
		var err error
		if data, err = wire.Expand(data, uint64(raw)); err != nil {
			return nil, 0, err
		}
	}
	entries, err := parseEntries(data, calls)
	return entries, frameHead + size, err
}

func parseEntries(data []byte, calls uint32) ([]timing.Entry, error) {
	r := wire.NewReader(data, "times")
	if int64(calls)*2 > int64(len(data)) {
		return nil, errFrame
	}
	entries := make([]timing.Entry, calls)
	for i := range entries {
		e := &entries[i]
		e.Duration = r.Uvarint()
		gap := r.Uvarint()
		e.Gap = gap >> 1
		if gap&1 != 0 {
			v := r.Uvarint() // as binary.AppendVarint has it
			e.Jump = int64(v>>1) ^ -int64(v&1)
		}
		if gap == longGap {
			e.Gap = r.Uvarint()
		}
	}
	return entries, r.Done()
}

// note takes down the times of a call that goes to the grammar.
func (c *Capture) note(s *stream, t callTimes) {
	if s.log != nil {
		s.log.add(t, c.cfg.StartTicks)
	}
}

// newLog makes the log of a thread, nil if none is wanted.
func (c *Capture) newLog(thread int) *streamLog {
	if !c.cfg.Timing.Mode.Log() {
		return nil
	}
	l := &streamLog{}
	if c.cfg.Dir != "" {
		l.path = logPath(c.cfg.Dir, thread)
	}
	return l
}

func logPath(dir string, thread int) string {
	return filepath.Join(dir, fmt.Sprintf("times.%d", thread))
}

// trackLog is what the track has of the logs; nil if there are none.
func (c *Capture) trackLog() *track.Log {
	if !c.cfg.Timing.Mode.Log() {
		return nil
	}
	log := &track.Log{Options: c.cfg.Timing, TicksPerNs: c.cfg.TicksPerNs, StartNs: c.cfg.StartNs}
	for _, s := range c.streams {
		log.Streams = append(log.Streams, s.log.blocks)
	}
	return log
}
