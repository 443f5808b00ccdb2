package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/track"
)

// A RecoveredRecording is the readable part of a dead process's recording.
type RecoveredRecording struct {
	Context *Context
	Track   *track.Track
	// Damage is the error at which reading stopped; nil if all records were read.
	Damage error
}

// RecoverRecording reads a process directory: the newest complete checkpoint and the records after it. A process that neither
// called MPI_Finalize nor closed its last session has a track that ends as crashed.
func RecoverRecording(dir string) (*RecoveredRecording, error) {
	ctx, err := ReadContext(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	options, err := readTiming(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	c, err := New(ProcessConfig{Context: *ctx, Timing: options, ReadMaps: func() []byte { return writtenMaps(dir) }})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	state, err := newestState(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if err := c.load(state); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for i, s := range c.streams {
		if err := s.grammar.parts.resume(grammarPath(dir, i)); err != nil {
			return nil, fmt.Errorf("%s: calls: %w", dir, err)
		}
		if s.log != nil {
			if err := s.log.resume(dir, i); err != nil {
				return nil, fmt.Errorf("%s: %w", dir, err)
			}
		}
	}
	rings, err := readRings(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	rest := &RecoveredRecording{Context: ctx}
	if rest.Damage = c.catchUp(rings); rest.Damage != nil && len(c.streams) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, rest.Damage)
	}
	end := track.EndCrashed
	if _, err := os.Stat(filepath.Join(dir, "finished")); err == nil || c.finalized {
		end = track.EndFinished
	}
	if end == track.EndCrashed {
		c.until = until(dir, ctx)
	}
	if rest.Track, err = c.Track(end); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return rest, nil
}

// readRings opens the rings of all threads.
func readRings(dir string) ([]*event.Ring, error) {
	var rings []*event.Ring
	for i := 0; ; i++ {
		r, err := event.ReadRing(filepath.Join(dir, fmt.Sprintf("ring.%d", i)))
		if errors.Is(err, fs.ErrNotExist) {
			return rings, nil
		}
		if err != nil {
			return nil, err
		}
		rings = append(rings, r)
	}
}

// catchUp reads the records in the rings after the loaded checkpoint. If later checkpoints could not be saved, records
// may be missing between it and a ring's first one. Then catchUp continues with that one.
func (c *Capture) catchUp(rings []*event.Ring) error {
	var damage error
	for i, r := range rings {
		err := c.AttachRing(i, r)
		if errors.Is(err, errGone) {
			c.streams[i].pos, c.streams[i].torn = r.Released(), true
			damage = errors.Join(damage, err)
		} else if err != nil {
			return err
		}
	}
	for _, s := range c.streams {
		if s.ring == nil {
			return fmt.Errorf("the ring of thread %d is missing", s.thread)
		}
	}
	if len(c.streams) == 0 {
		return errors.New("no rings")
	}
	return errors.Join(damage, c.Drain())
}
