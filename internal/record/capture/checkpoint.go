package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Checkpoints. A state file holds the capture's whole state at one moment; state.a and state.b are written in turn.
// While one is being written the other is complete, and the rings still hold all later records.
//
// Where the state is large, because the program does not repeat itself, most of it is the same as before: a checkpoint
// then appends a chunk with the changes to the file, until the chunks are some times larger than the state. So what is
// written stays in proportion to what was recorded.
//
// State and chunks have the same frame:
//
//	magic    8 bytes
//	sequence 8 bytes, little-endian: one more with every checkpoint
//	length   8 bytes, of the body
//	body     see state.go
//	crc      4 bytes, CRC32C of all before
const (
	stateMagic = "SPOORCK4"
	chunkMagic = "SPOORCK+"
	headBytes  = 24
	tailBytes  = 4

	muchBuffer = 1 << 20   // larger buffers are not kept for the next checkpoint
	smallState = 64 << 10  // states up to this size are written anew each time
	smallHists = 64 << 10  // and up to so much more of histograms
	fewChunks  = 256 << 10 // chunks up to this size are no reason for a new state
	manyChunks = 6         // and up to this multiple of its size, without small histograms
)

var stateNames = [2]string{"state.a", "state.b"}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type checkpoints struct {
	files    [2]*os.File
	current  int // of files: where the newest state is
	sequence uint64
	buffer   []byte
	state    int64  // bytes of the newest state
	hists    int64  // of these, of histograms
	rest     int64  // of these, all but a few histograms, see smallHists
	end      int64  // where the next chunk goes
	written  uint64 // bytes, all in all

	// What a chunk needs, noted since the last checkpoint if chunks is set.
	chunks    bool
	small     int64 // see smallState
	keys      int   // signatures that are saved
	allocs    int   // allocation events of segments that are saved
	handovers int
	values    []byte     // terminal, name and number of what was attached
	times     []byte     // of each call, in order of counting, see noteTimes
	steps     wire.Coder // calls of lanes, see signature.Note
}

// saveIfNeeded saves the state when a ring needs it.
func (c *Capture) saveIfNeeded() {
	for _, s := range c.streams {
		if c.cfg.ProcessDir == "" {
			s.ring.SetReleased(s.pos)
		} else if s.ring.AlmostFull(s.pos) {
			c.Checkpoint()
			return
		}
	}
}

// Checkpoint saves the state, if it can, and lets the rings be overwritten up
// to it.
func (c *Capture) Checkpoint() {
	if c.cfg.ProcessDir == "" || c.released {
		return
	}
	k := &c.checkpoints
	for _, s := range c.streams {
		if s.log != nil {
			s.log.flush()
		}
	}
	var err error
	if k.chunks && k.end-k.state < max(manyChunks*k.rest, fewChunks) {
		err = c.saveChunk()
	} else {
		err = c.saveState()
	}
	if err != nil {
		// The disk is full, say. That is no reason to stop recording: go on
		// without, and leave nothing that would pass for this run's state.
		c.giveUp()
	}
	if cap(k.buffer) > muchBuffer {
		k.buffer = nil
	}
	k.keys, k.allocs, k.handovers = c.sigs.Len(), len(c.allocs.list), len(c.handovers.events.list)
	k.times, k.values, k.steps.Buf = k.times[:0], k.values[:0], k.steps.Buf[:0]
	for _, s := range c.streams {
		s.terminals, s.allocStream.numbers = s.terminals[:0], s.allocStream.numbers[:0]
		s.handovers.events.numbers = s.handovers.events.numbers[:0]
		s.ring.SetReleased(s.pos)
	}
}

// noteTimes takes down the times of a call: in one word if all is small, else in two or
// three.
//
//	short = 1 | terminal<<1 | (one before + 1)<<16 | duration<<32 | gap<<48
//	plain = terminal<<1 | (one before + 1)<<32, duration | gap<<32
//	long  = 1<<63 | terminal<<1 | (one before + 1)<<32, duration, gap
func (k *checkpoints) noteTimes(n, prev uint32, duration, gap uint64) {
	at := len(k.times)
	if cap(k.times)-at < 24 {
		k.times = slices.Grow(k.times, 24)
	}
	terminal, before := uint64(n)<<1, uint64(prev+1)
	switch size := duration | gap; {
	case size>>16 == 0 && (terminal|before)>>16 == 0:
		k.times = k.times[:at+8]
		binary.LittleEndian.PutUint64(k.times[at:], isShort|terminal|before<<16|duration<<32|gap<<48)
	case size>>32 == 0:
		k.times = k.times[:at+16]
		binary.LittleEndian.PutUint64(k.times[at:], terminal|before<<32)
		binary.LittleEndian.PutUint64(k.times[at+8:], duration|gap<<32)
	default:
		k.times = k.times[:at+24]
		binary.LittleEndian.PutUint64(k.times[at:], isLong|terminal|before<<32)
		binary.LittleEndian.PutUint64(k.times[at+8:], duration)
		binary.LittleEndian.PutUint64(k.times[at+16:], gap)
	}
}

// A counted call is the arguments of noteTimes.
type counted struct {
	n, prev       uint32
	duration, gap uint64
}

// nextTimes reads what noteTimes wrote, and says how many bytes it is; 0 if it is not whole.
func nextTimes(list []byte) (t counted, size int) {
	if len(list) < 8 {
		return t, 0
	}
	head := binary.LittleEndian.Uint64(list)
	if head&isShort != 0 {
		return counted{uint32(uint16(head) >> 1), uint32(uint16(head>>16)) - 1, head >> 32 & math.MaxUint16, head >> 48}, 8
	}
	t.n, t.prev = uint32(head)>>1, uint32(head&^isLong>>32)-1
	switch {
	case head&isLong == 0 && len(list) >= 16:
		both := binary.LittleEndian.Uint64(list[8:])
		t.duration, t.gap = both&math.MaxUint32, both>>32
		return t, 16
	case head&isLong != 0 && len(list) >= 24:
		t.duration, t.gap = binary.LittleEndian.Uint64(list[8:]), binary.LittleEndian.Uint64(list[16:])
		return t, 24
	}
	return t, 0
}

const (
	isShort = 1
	isLong  = 1 << 63
)

// replayTimes takes in what noteTimes took down.
func (c *Capture) replayTimes(x *wire.Coder, times []byte) {
	for known := uint32(c.sigs.Len()); len(times) > 0; {
		t, size := nextTimes(times)
		if size == 0 || t.n >= known || t.prev+1 > known {
			x.RefuseIf(true, "times of terminal %d after %d of %d, %d bytes", t.n, t.prev, known, len(times))
			return
		}
		c.countTimes(t.n, t.prev, 0, t.gap, t.duration)
		times = times[size:]
	}
}

// giveUp makes no more checkpoints.
func (c *Capture) giveUp() {
	for i, name := range stateNames {
		if c.checkpoints.files[i] != nil {
			os.Remove(filepath.Join(c.cfg.ProcessDir, name))
		}
	}
	c.Close()
	c.cfg.ProcessDir = ""
	c.checkpoints = checkpoints{written: c.checkpoints.written}
}

func (c *Capture) saveState() error {
	k := &c.checkpoints
	k.begin(stateMagic)
	k.buffer = wire.AppendCoded(k.buffer, c.codeState)
	k.finish()
	next := 1 - k.current
	if err := k.write(c.cfg.ProcessDir, next, 0); err != nil {
		return err
	}
	k.current = next
	k.state = int64(len(k.buffer))
	k.end = k.state
	k.rest = k.state - min(k.hists, smallHists)
	k.chunks = k.rest > k.small
	return nil
}

func (c *Capture) saveChunk() error {
	k := &c.checkpoints
	k.begin(chunkMagic)
	k.buffer = wire.AppendCoded(k.buffer, c.codeChunk)
	k.finish()
	if err := k.write(c.cfg.ProcessDir, k.current, k.end); err != nil {
		return err
	}
	k.end += int64(len(k.buffer))
	return nil
}

func (k *checkpoints) begin(magic string) {
	k.sequence++
	k.buffer = append(k.buffer[:0], magic...)
	k.buffer = binary.LittleEndian.AppendUint64(k.buffer, k.sequence)
	k.buffer = binary.LittleEndian.AppendUint64(k.buffer, 0)
}

func (k *checkpoints) finish() {
	binary.LittleEndian.PutUint64(k.buffer[16:], uint64(len(k.buffer)-headBytes))
	k.buffer = binary.LittleEndian.AppendUint32(k.buffer, crc32.Checksum(k.buffer, castagnoli))
}

func (k *checkpoints) write(dir string, file int, at int64) error {
	if k.files[file] == nil {
		f, err := os.OpenFile(filepath.Join(dir, stateNames[file]), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		k.files[file] = f
	}
	k.written += uint64(len(k.buffer))
	_, err := k.files[file].WriteAt(k.buffer, at)
	return err
}

// Close gives files back. It doesn't save.
func (c *Capture) Close() {
	for i, f := range c.checkpoints.files {
		if f != nil {
			f.Close()
		}
		c.checkpoints.files[i] = nil
	}
}

// CloseLogs closes the files with parts of grammars and the times of calls. The track is no longer available then.
func (c *Capture) CloseLogs() {
	for _, s := range c.streams {
		s.grammar.parts.close()
		if s.log != nil {
			s.log.close()
		}
	}
}

// CheckpointBytes is how much was written to checkpoints.
func (c *Capture) CheckpointBytes() uint64 { return c.checkpoints.written }

// unframe takes the frame at the start of b apart; false if it isn't whole.
func unframe(b []byte, magic string) (sequence uint64, body, rest []byte, ok bool) {
	if len(b) < headBytes+tailBytes || !bytes.HasPrefix(b, []byte(magic)) {
		return 0, nil, nil, false
	}
	sequence = binary.LittleEndian.Uint64(b[8:])
	n := binary.LittleEndian.Uint64(b[16:])
	if n > uint64(len(b)-headBytes-tailBytes) {
		return 0, nil, nil, false
	}
	end := headBytes + int(n)
	if crc32.Checksum(b[:end], castagnoli) != binary.LittleEndian.Uint32(b[end:]) {
		return 0, nil, nil, false
	}
	return sequence, b[headBytes:end], b[end+tailBytes:], true
}

// A savedState is the content of a state file: a state, and the chunks after it.
type savedState struct {
	sequence uint64 // of the last chunk, or of the state
	state    []byte
	chunks   [][]byte
}

// parseState takes a state file apart; false if there is no whole state in it.
// Old chunks of a larger state before it may follow the new ones: they don't
// countTimes on.
func parseState(b []byte) (s savedState, ok bool) {
	s.sequence, s.state, b, ok = unframe(b, stateMagic)
	for ok {
		sequence, body, rest, whole := unframe(b, chunkMagic)
		if !whole || sequence != s.sequence+1 {
			break
		}
		s.sequence, b = sequence, rest
		s.chunks = append(s.chunks, body)
	}
	return s, ok
}

// newestState finds what to go on from; its state is nil if there is nothing.
func newestState(dir string) (newest savedState, err error) {
	for _, name := range stateNames {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return newest, fmt.Errorf("checkpoint: %w", err)
		}
		if s, ok := parseState(b); ok && s.sequence > newest.sequence {
			newest = s
		}
	}
	return newest, nil
}

// load replaces a new capture's state by a saved one.
func (c *Capture) load(s savedState) error {
	if s.state == nil {
		return nil
	}
	if err := wire.DecodeAll(s.state, "checkpoint", c.codeState); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	for _, chunk := range s.chunks {
		if err := wire.DecodeAll(chunk, "checkpoint", c.codeChunk); err != nil {
			return fmt.Errorf("checkpoint: chunk: %w", err)
		}
	}
	return nil
}
