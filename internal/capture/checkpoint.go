package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// A checkpoint file holds the capture's whole state at one moment:
//
//	magic    8 bytes
//	sequence 8 bytes, little-endian; of two valid files the higher counts
//	length   8 bytes, of the state
//	state    see state.go
//	crc      4 bytes, CRC32C of all before
//
// state.a and state.b are written in turn. While one is being written the other
// is whole, and the rings still hold all that came after it.
const (
	checkpointMagic  = "SPOORCK1"
	checkpointHeader = 24
	checkpointCRC    = 4
)

var checkpointNames = [2]string{"state.a", "state.b"}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type checkpoints struct {
	files    [2]*os.File
	sequence uint64
	buffer   []byte
	bytes    uint64 // written, all in all
}

// keep saves the state when a ring needs it: half a ring of records that no
// checkpoint covers is what the shim is promised at most.
func (c *Capture) keep() error {
	if c.cfg.Dir == "" {
		for _, s := range c.streams {
			s.ring.SetKept(s.pos)
		}
		return nil
	}
	for _, s := range c.streams {
		if s.pos-s.ring.Kept() > s.ring.Capacity()/2 {
			return c.Checkpoint()
		}
	}
	return nil
}

// Checkpoint saves the state and lets the rings be overwritten up to it.
func (c *Capture) Checkpoint() error {
	if c.cfg.Dir == "" {
		return nil
	}
	k := &c.checkpoints
	k.sequence++
	b := append(k.buffer[:0], checkpointMagic...)
	b = binary.LittleEndian.AppendUint64(b, k.sequence)
	b = binary.LittleEndian.AppendUint64(b, 0)
	b = c.appendState(b)
	binary.LittleEndian.PutUint64(b[16:], uint64(len(b)-checkpointHeader))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	k.buffer = b
	if err := k.write(c.cfg.Dir, b); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	for _, s := range c.streams {
		s.ring.SetKept(s.pos)
	}
	return nil
}

func (k *checkpoints) write(dir string, b []byte) error {
	i := k.sequence % 2
	if k.files[i] == nil {
		f, err := os.OpenFile(filepath.Join(dir, checkpointNames[i]), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		k.files[i] = f
	}
	k.bytes += uint64(len(b))
	_, err := k.files[i].WriteAt(b, 0)
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

// CheckpointBytes is how much was written to checkpoints.
func (c *Capture) CheckpointBytes() uint64 { return c.checkpoints.bytes }

var errCheckpoint = errors.New("not a whole checkpoint")

// parseCheckpoint takes a checkpoint file apart.
func parseCheckpoint(b []byte) (sequence uint64, state []byte, err error) {
	if len(b) < checkpointHeader+checkpointCRC || !bytes.HasPrefix(b, []byte(checkpointMagic)) {
		return 0, nil, errCheckpoint
	}
	sequence = binary.LittleEndian.Uint64(b[8:])
	n := binary.LittleEndian.Uint64(b[16:])
	if n > uint64(len(b)-checkpointHeader-checkpointCRC) {
		return 0, nil, errCheckpoint
	}
	end := checkpointHeader + int(n)
	if crc32.Checksum(b[:end], castagnoli) != binary.LittleEndian.Uint32(b[end:]) {
		return 0, nil, errCheckpoint
	}
	return sequence, b[checkpointHeader:end], nil
}

// newestCheckpoint finds the state to go on from; nil if there is none.
func newestCheckpoint(dir string) (state []byte, err error) {
	var newest uint64
	for _, name := range checkpointNames {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("checkpoint: %w", err)
		}
		if n, s, err := parseCheckpoint(b); err == nil && n > newest {
			newest, state = n, s
		}
	}
	return state, nil
}
