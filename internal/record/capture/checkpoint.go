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

	muchBuffer = 1 << 20   // bytes: larger buffers are freed after a checkpoint
	smallState = 64 << 10  // bytes: states up to this size are always written as a whole
	smallHists = 64 << 10  // bytes: up to this much of the histograms is not counted in checkpoints.rest
	fewChunks  = 256 << 10 // bytes: chunks up to this size do not cause a new state
	manyChunks = 6         // chunks up to this multiple of checkpoints.rest do not cause a new state either
)

var stateNames = [2]string{"state.a", "state.b"}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type checkpoints struct {
	files    [2]*os.File
	current  int // index in files of the file with the newest state
	sequence uint64
	buffer   []byte
	state    int64  // bytes of the newest state
	hists    int64  // bytes of the newest state's histograms
	rest     int64  // bytes of the newest state, less those of its histograms up to smallHists
	end      int64  // position in the file at which the next chunk is written
	written  uint64 // bytes written in all

	// The following fields record changes since the last checkpoint, if chunks is set.
	chunks    bool
	small     int64 // states up to this many bytes are written as a whole: smallState, except in tests
	keys      int   // number of signatures that the last checkpoint saved
	allocs    int   // number of allocation events that the last checkpoint saved
	handovers int
	values    []byte     // attached values, encoded one by one: terminal of the call, number of the name, value
	times     []byte     // times of calls, in the order in which they were counted, as noteTimes encodes them
	steps     wire.Coder // calls in lanes, see signature.LaneTable.LogCall
}

// saveIfNeeded saves the state if a ring needs room.
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

// Checkpoint saves the state, if possible, and lets the rings overwrite what it covers.
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
		// The disk may be full, for example. Recording continues without checkpoints. No file must remain that
		// could be mistaken for this run's state.
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

// noteTimes records the times of a call of terminal n that follows terminal prev, in one to three words:
//
//	short = 1 | n<<1 | (prev + 1)<<16 | duration<<32 | gap<<48
//	plain = n<<1 | (prev + 1)<<32, duration | gap<<32
//	long  = 1<<63 | n<<1 | (prev + 1)<<32, duration, gap
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

// A counted is the arguments of noteTimes.
type counted struct {
	n, prev       uint32
	duration, gap uint64
}

// nextTimes decodes the first call that noteTimes recorded, and returns its size in bytes; 0 if it is incomplete.
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

// replayTimes counts the calls that noteTimes recorded.
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

// giveUp ends checkpoints for the rest of the run.
func (c *Capture) giveUp() {
	for i, name := range stateNames {
		if c.checkpoints.files[i] != nil {
			os.Remove(filepath.Join(c.cfg.ProcessDir, name))
		}
	}
	c.CloseCheckpoints()
	c.cfg.ProcessDir = ""
	c.checkpoints = checkpoints{written: c.checkpoints.written}
}

func (c *Capture) saveState() error {
	k := &c.checkpoints
	k.begin(stateMagic)
	k.buffer = wire.AppendEncoded(k.buffer, c.codeState)
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
	k.buffer = wire.AppendEncoded(k.buffer, c.codeChunk)
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

// CloseCheckpoints closes the checkpoint files, without saving.
func (c *Capture) CloseCheckpoints() {
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

// CheckpointBytes returns how many bytes were written to checkpoints.
func (c *Capture) CheckpointBytes() uint64 { return c.checkpoints.written }

// unframe splits the frame at the start of b; false if it is incomplete.
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
	sequence uint64 // sequence of the last chunk, or of the state
	state    []byte
	chunks   [][]byte
}

// parseState parses a state file; false if it contains no complete state. Old chunks of an earlier, larger state
// may follow the new ones: their sequence numbers do not continue.
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

// newestState returns the newest saved state; its state is nil if no state was saved.
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

// load replaces the state of a new capture by a saved one.
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
