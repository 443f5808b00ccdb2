package capture

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
)

// A checkpoint file begins with a state: signatures with their times, each stream's grammar, and the names of handles,
// requests and memory, that is, everything that Drain changes. A chunk is what a later checkpoint appends. It has only
// the changes of signatures, times and grammars, but all names.

func (c *Capture) codeState(x *wire.Coder) {
	if x.Reader == nil {
		c.pauseTimes()
	}
	c.sigs.Code(x, c.may)
	c.checkKeys(x, 0)
	if c.hists != nil {
		before := len(x.Buf)
		c.hists.code(x)
		c.checkpoints.hists = int64(len(x.Buf) - before)
	}
	c.phases = c.codePhases(x, c.phases)
	c.attached.code(x, c.sigs.Len())
	c.codeStreams(x, func(s *stream) { s.grammar.code(x, c.sigs.Len()) })
	c.allocs.code(x, 0)
	c.handovers.events.code(x, 0)
	for _, s := range c.streams {
		s.allocStream.code(x, len(c.allocs.list))
		s.handovers.events.code(x, len(c.handovers.events.list))
	}
	c.codeNames(x)
}

func (c *Capture) codeChunk(x *wire.Coder) {
	k, known := &c.checkpoints, c.sigs.Len()
	c.sigs.CodeKeys(x, k.keys, c.may)
	c.checkKeys(x, known)
	codeNoted(x, k.steps.Buf, c.sigs.ReadLoggedCall)
	c.sigs.CheckLanes(x)
	times := k.times
	if x.Blob(&times); x.Reader != nil {
		c.replayTimes(x, times)
	}
	c.phases = c.codePhases(x, c.phases)
	c.attached.codeChunk(x, c.sigs.Len(), k.values)
	c.codeStreams(x, func(s *stream) {
		codeNoted(x, s.terminals, func(x *wire.Coder) {
			var n uint32
			if wire.CodeIndex(x, &n, c.sigs.Len()); !x.Failed() {
				s.grammar.Append(n)
			}
		})
	})
	c.allocs.code(x, k.allocs)
	c.handovers.events.code(x, k.handovers)
	for _, s := range c.streams {
		s.allocStream.codeChunk(x, len(c.allocs.list))
		s.handovers.events.codeChunk(x, len(c.handovers.events.list))
	}
	c.codeNames(x)
}

// codeNoted codes a list of changes since the last checkpoint. When reading, it calls replay for each of them.
func codeNoted(c *wire.Coder, noted []byte, replay func(x *wire.Coder)) {
	if c.Blob(&noted); c.Reader != nil {
		c.RecordError(wire.DecodeEach(noted, "checkpoint", replay))
	}
}

// codeStreams calls code for each thread, and then codes the phases of all threads but the first.
func (c *Capture) codeStreams(x *wire.Coder, code func(s *stream)) {
	n := len(c.streams)
	x.Count(&n, 1)
	for i := range n {
		if i == len(c.streams) {
			c.streams = append(c.streams, c.newStream(i))
		}
		code(c.streams[i])
	}
	c.codeFurther(x)
}

// checkKey refuses a key that no call can have.
func (c *Capture) checkKey(k signature.Key) error {
	p := c.program(k.FunctionID())
	if p == nil {
		return fmt.Errorf("no call %d", k.FunctionID())
	}
	_, err := p.order(new(ordering), k.Values())
	return err
}

// checkKeys checks the signatures from number first on, after reading.
func (c *Capture) checkKeys(x *wire.Coder, first int) {
	for i := first; i < c.sigs.Len() && x.Reader != nil && !x.Failed(); i++ {
		if err := c.checkKey(c.sigs.Key(uint32(i))); err != nil {
			x.RecordError(fmt.Errorf("signature %d: %w", i, err))
		}
	}
}

func (c *Capture) codeNames(x *wire.Coder) {
	wire.CodeUints(x, &c.lost)
	x.Bool(&c.finalized)
	wire.CodeUints(x, &c.first, &c.latest)
	c.asides.code(x)
	for k, t := range c.handles {
		if t != nil && mpi.Kind(k) != mpi.KindComm {
			t.Code(x)
		}
	}
	c.comms.Code(x)
	c.requests.Code(x)
	c.memory.Code(x)
	c.modules.Code(x)
	c.sites.Code(x)
	c.strings.Code(x)
	c.handovers.codeNames(x, c.streams)
	for _, s := range c.streams {
		if !x.Failed() {
			c.codeStream(x, s)
		}
	}
	x.RefuseIf(len(c.memory.Stacks) != len(c.streams), "%d stacks of %d threads", len(c.memory.Stacks), len(c.streams))
}

func (c *Capture) codeStream(x *wire.Coder, s *stream) {
	wire.CodeUints(x, &s.pos)
	wire.CodeAbove(x, &s.prev, signature.NoTerminal, c.sigs.Len())
	wire.CodeUints(x, &s.last, &s.owed)
	wire.CodeList(x, &s.begins, 1, func(_ int, pc *uint64) { wire.CodeUints(x, pc) })
	wire.CodeUints(x, &s.off, &s.passes)
	s.left.Code(x)
	wire.CodeList(x, &s.held, 1, func(_ int, n *uint32) { wire.CodeIndex(x, n, max(1, c.sigs.Len())) })
	has := s.log != nil
	x.Bool(&has)
	switch {
	case !has:
		s.log = nil
	case s.log == nil:
		s.log = &streamLog{limit: mostLog}
	}
	if s.log != nil {
		if x.Reader != nil {
			s.times = make([]callTimes, len(s.held))
		}
		for i := range s.times {
			wire.CodeUints(x, &s.times[i].begin, &s.times[i].gap, &s.times[i].duration)
		}
		s.log.code(x)
	}
	under := s.frames[:s.depth]
	wire.CodeList(x, &under, 1, func(_ int, f *frame) {
		c.codeFrame(x, f)
		x.RefuseIf(!f.muted() && f.slot >= len(s.held), "call under way: place %d of %d", f.slot, len(s.held))
	})
	if x.Reader != nil {
		s.frames, s.depth = under, len(under)
	}
}

// codeFrame codes an unfinished call, without fields that its LEAVE record sets.
func (c *Capture) codeFrame(x *wire.Coder, f *frame) {
	if x.Reader != nil {
		f.key = make(signature.Key, signature.KeyHeaderWords, 16)
	}
	call, site, values := f.key.FunctionID(), f.key.Site(), f.key.Values()
	wire.CodeBounded(x, &call, math.MaxUint16)
	x.Uint64(&site)
	if x.Integers(&values); x.Reader != nil {
		f.key.SetHeader(call, site)
		f.key = append(f.key, values...)
		if err := c.checkKey(f.key); err != nil {
			x.RecordError(fmt.Errorf("call under way: %w", err))
			return
		}
		f.prog = c.program(call)
		f.from = ^uint64(0) // positions of an earlier process's ring mean nothing here
		f.flag, f.index, f.newComm = -1, -1, symbol.UnknownHandle
	}
	wire.CodeBounded(x, &f.flags, math.MaxUint8)
	wire.CodeUints(x, &f.begin, &f.gap, &f.left, &f.passes)
	wire.CodeList(x, &f.values, 4, func(_ int, rec *[]uint64) {
		wire.CodeList(x, rec, 1, func(_ int, w *uint64) { wire.CodeUints(x, w) })
		x.RefuseIf(!x.Failed() && len(*rec) < 3, "values in %d words", len(*rec))
	})
	wire.CodeIndex(x, &f.slot, 1<<31)
	wire.CodeIntegers(x, &f.parent)
	f.place.code(x, len(c.streams))
	wire.CodeList(x, &f.frees, 9, func(_ int, h *freed) {
		wire.CodeIndex(x, &h.kind, len(c.handles))
		x.Uint64(&h.raw)
		x.RefuseIf(!x.Failed() && c.handles[h.kind] == nil, "call under way: frees a handle of kind %d", h.kind)
	})
	wire.CodeList(x, &f.requests, 1, func(_ int, i *int) { wire.CodeAbove(x, i, -1, c.requests.IndexCount()) })
}
