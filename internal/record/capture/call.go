package capture

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
)

// enter reads an ENTER record into a frame.
func (c *Capture) enter(s *stream, f *frame, rec event.Record) error {
	p := c.program(rec.FunctionID())
	if p == nil {
		return fmt.Errorf("unknown call %d: %w", rec.FunctionID(), event.ErrCorrupt)
	}
	ticks := rec.Ticks()
	if c.first == 0 || ticks < c.first {
		c.first = ticks // not simply the first record read: a thread may publish its first record late
	}
	f.reset(p, rec, ticks, s.last)
	if f.place = (making{stream: int32(s.thread), index: s.begun()}); f.muted() {
		f.place = unseenMaking
	}
	if len(s.begins) > 0 && rec.Flags()&event.FlagTracingOff == 0 {
		f.key[1], f.opaque = int64(c.sites.NameThreadFirstCall(rec[2], s.begins)), true
		s.begins = s.begins[:0]
	} else {
		f.key[1] = int64(c.sites.NameCode(rec[2]))
	}
	if _, err := c.decode(s, f, p.in, rec, 3, 0); err != nil {
		return fmt.Errorf("%s: %w", p.call.Name, err)
	}
	if p.call.Has(mpi.AttrFinalises) {
		c.finalized = true
	}
	f.entered = len(rec)
	if len(c.streams) > 1 && !f.muted() {
		c.getsAll(s, f.handleWords, f.entered, f.place.index)
	}
	return nil
}

// leave reads a LEAVE record into the frame of its call.
func (c *Capture) leave(s *stream, f *frame, rec event.Record) error {
	p := f.prog
	at := 2
	flags := rec.Flags()
	f.rc = 0
	if flags&event.FlagReturnCode != 0 {
		if len(rec) < 3 {
			return fmt.Errorf("%s: %w", p.call.Name, errShort)
		}
		if f.rc = int64(rec[2]); !p.call.Has(mpi.AttrPosix) {
			f.rc = c.errors.ToABI(f.rc)
		}
		at = 3
	}
	f.key[rcAt] = f.rc
	if flags&event.FlagNoOutputs == 0 {
		end, err := c.decode(s, f, p.out, rec, at, at)
		if err != nil {
			return fmt.Errorf("%s: %w", p.call.Name, err)
		}
		if p.newComm || p.newType {
			c.aux(f, rec[end:])
		}
	}
	if p.completes {
		c.complete(f, flags&event.FlagNoOutputs == 0)
	}
	if f.told = f.passes > 0 && f.rc == 0 && flags&event.FlagNoOutputs == 0; f.told && f.passes == s.passes {
		s.left.EndCall(signature.EndedRequests{AreKnown: true, Indices: f.ended})
	}
	if len(f.handleWords) > 0 && !f.muted() {
		c.prepares(s, f.handleWords, f.entered, f.place.index)
	}
	if len(f.frees) > 0 {
		c.freesEnd(f)
	}
	return nil
}

// aux reads the words that describe a new communicator or datatype.
func (c *Capture) aux(f *frame, words []uint64) {
	if !f.prog.newComm {
		for _, w := range words {
			f.key = append(f.key, int64(w))
		}
		return
	}
	info := c.comms.Description(f.parent) // without words, a communicator that comes later is a duplicate of its parent
	switch {
	case len(words) >= symbol.CommDescriptionWords:
		for i := range info {
			info[i] = int64(words[i])
		}
	case !f.prog.delayed || f.newComm == symbol.UnknownHandle:
		// This rank gets no communicator, but the creation counts: see CountCreation.
		c.comms.CountCreation(f.parent, f.prog.call.ID, symbol.CommDescription{})
		return
	}
	if f.newComm != symbol.UnknownHandle {
		c.comms.SetDescription(f.newComm, info)
	}
	f.key = append(f.key, c.comms.CountCreation(f.parent, f.prog.call.ID, info))
	f.key = append(f.key, info[:]...)
}

// complete removes the requests that a call completed.
func (c *Capture) complete(f *frame, outputs bool) {
	switch n := len(f.requests); {
	case !outputs:
		// The call failed. Most libraries have freed a single request nevertheless; of several it is unknown which.
		if n == 1 || f.rc == 0 {
			f.endAll()
		}
	case f.flag == 0:
	case f.prog.hasIndex:
		f.end(f.index)
	case f.prog.hasIndices:
		for _, i := range f.indices {
			f.end(i)
		}
	default:
		f.endAll()
	}
	for _, k := range f.ended {
		c.requests.CompleteOneShot(f.requests[k])
	}
}

func (f *frame) end(i int64) {
	if i >= 0 && i < int64(len(f.requests)) {
		f.ended = append(f.ended, int(i))
	}
}

// endAll marks all requests as completed, except those whose status says that they are pending.
func (f *frame) endAll() {
	for k := range f.requests {
		if k >= len(f.pending) || !f.pending[k] {
			f.ended = append(f.ended, k)
		}
	}
}
