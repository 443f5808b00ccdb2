package capture

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/pack"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
)

// A state is the signatures with their times, each stream's grammar, and the
// names: all else that Drain changes. A chunk has what is new of the first two,
// and the names whole.

func (c *Capture) appendState(b []byte) []byte {
	w := &pack.Writer{B: b}
	c.pauseTimes()
	c.sigs.Save(w)
	if c.hists != nil {
		before := len(w.B)
		c.hists.save(w)
		c.checkpoints.hists = int64(len(w.B) - before)
	}
	c.savePhases(w, c.phases)
	c.attached.save(w)
	w.Uint(uint64(len(c.streams)))
	for _, s := range c.streams {
		c.checkpoints.rules = s.grammar.save(w, c.checkpoints.rules)
	}
	c.saveFurther(w)
	c.allocs.save(w, 0)
	for _, s := range c.streams {
		s.allocStream.save(w)
	}
	c.saveNames(w)
	return w.B
}

func (c *Capture) loadState(b []byte) error {
	r := pack.NewReader(b)
	c.sigs.Load(r, c.may)
	c.checkKeys(r, 0)
	if c.hists != nil {
		c.hists.load(r)
	}
	c.phases = c.loadPhases(r, c.phases)
	c.attached.load(r, c.sigs.Len())
	for i := range r.Count(1) {
		c.streams = append(c.streams, c.newStream(i))
		c.streams[i].grammar.load(r, c.sigs.Len())
	}
	c.loadFurther(r)
	c.allocs.load(r)
	for _, s := range c.streams {
		s.allocStream.load(r, len(c.allocs.list))
	}
	c.loadNames(r)
	return r.Done()
}

func (c *Capture) appendChunk(b []byte) []byte {
	w := &pack.Writer{B: b}
	c.sigs.SaveKeys(w, c.checkpoints.keys)
	w.Bytes(c.checkpoints.steps.B)
	w.Bytes(c.checkpoints.times)
	c.savePhases(w, c.phases)
	c.attached.saveChunk(w, c.checkpoints.values)
	w.Uint(uint64(len(c.streams)))
	for _, s := range c.streams {
		w.Bytes(s.terminals)
	}
	c.saveFurther(w)
	c.allocs.save(w, c.checkpoints.allocs)
	for _, s := range c.streams {
		s.allocStream.saveChunk(w)
	}
	c.saveNames(w)
	return w.B
}

func (c *Capture) loadChunk(b []byte) error {
	r := pack.NewReader(b)
	known := c.sigs.Len()
	c.sigs.LoadKeys(r, c.may)
	c.checkKeys(r, known)
	steps := pack.NewReader([]byte(r.String()))
	for steps.Rest() > 0 && r.Err() == nil {
		c.sigs.Replay(steps)
		r.Check(steps.Err())
	}
	c.sigs.CheckLanes(r)
	c.replayTimes(r, []byte(r.String()))
	c.phases = c.loadPhases(r, c.phases)
	c.attached.loadChunk(r, c.sigs.Len())
	for i := range r.Count(1) {
		if i == len(c.streams) {
			c.streams = append(c.streams, c.newStream(i))
		}
		terminals := pack.NewReader([]byte(r.String()))
		for terminals.Rest() > 0 && r.Err() == nil {
			n := terminals.Index(c.sigs.Len())
			if terminals.Err() != nil {
				r.Check(terminals.Err())
				break
			}
			c.streams[i].grammar.Append(uint32(n))
		}
	}
	c.loadFurther(r)
	c.allocs.load(r)
	for _, s := range c.streams {
		s.allocStream.loadChunk(r, len(c.allocs.list))
	}
	c.loadNames(r)
	return r.Done()
}

// checkKey refuses what is no call.
func (c *Capture) checkKey(k signature.Key) error {
	p := c.program(k.Call())
	if p == nil {
		return fmt.Errorf("no call %d", k.Call())
	}
	_, err := p.order(new(ordering), k.Values())
	return err
}

// checkKeys does so from signature number first on.
func (c *Capture) checkKeys(r *pack.Reader, first int) {
	for i := first; i < c.sigs.Len() && r.Err() == nil; i++ {
		if err := c.checkKey(c.sigs.Key(uint32(i))); err != nil {
			r.Check(fmt.Errorf("signature %d: %w", i, err))
		}
	}
}

func (c *Capture) saveNames(w *pack.Writer) {
	w.Uint(c.lost)
	w.Bool(c.finalized)
	w.Uint(c.first)
	w.Uint(c.latest)
	c.asides.save(w)
	for k, t := range c.handles {
		if t != nil && mpi.Kind(k) != mpi.KindComm {
			t.Save(w)
		}
	}
	c.comms.Save(w)
	c.requests.Save(w)
	c.memory.Save(w)
	c.modules.Save(w)
	c.sites.Save(w)
	c.strings.Save(w)
	for _, s := range c.streams {
		s.save(w)
	}
}

func (c *Capture) loadNames(r *pack.Reader) {
	c.lost, c.finalized, c.first, c.latest = r.Uint(), r.Bool(), r.Uint(), r.Uint()
	c.asides.load(r)
	for k, t := range c.handles {
		if t != nil && mpi.Kind(k) != mpi.KindComm {
			t.Load(r)
		}
	}
	c.comms.Load(r)
	c.requests.Load(r)
	c.memory.Load(r)
	c.modules.Load(r)
	c.sites.Load(r)
	c.strings.Load(r)
	for _, s := range c.streams {
		if r.Err() == nil {
			c.loadStream(r, s)
		}
	}
	if n := len(c.memory.Stacks); r.Err() == nil && n != len(c.streams) {
		r.Check(fmt.Errorf("%d stacks of %d threads", n, len(c.streams)))
	}
}

func (s *stream) save(w *pack.Writer) {
	w.Uint(s.pos)
	w.Uint(uint64(s.prev + 1))
	w.Uint(s.last)
	w.Uint(s.owed)
	w.Uint(uint64(len(s.begins)))
	for _, pc := range s.begins {
		w.Uint(pc)
	}
	w.Uint(s.off)
	w.Uint(uint64(len(s.held)))
	for _, n := range s.held {
		w.Uint(uint64(n))
	}
	w.Bool(s.log != nil)
	if s.log != nil {
		for _, t := range s.times {
			w.Uint(t.begin)
			w.Uint(t.gap)
			w.Uint(t.duration)
		}
		s.log.save(w)
	}
	w.Uint(uint64(s.depth))
	for i := range s.frames[:s.depth] {
		s.frames[i].save(w)
	}
}

func (c *Capture) loadStream(r *pack.Reader, s *stream) {
	s.pos = r.Uint()
	s.prev = uint32(r.Index(c.sigs.Len()+1)) - 1
	s.last, s.owed = r.Uint(), r.Uint()
	s.begins = make([]uint64, r.Count(1))
	for i := range s.begins {
		s.begins[i] = r.Uint()
	}
	s.off = r.Uint()
	s.held = make([]uint32, r.Count(1))
	for i := range s.held {
		s.held[i] = uint32(r.Index(max(1, c.sigs.Len())))
	}
	switch has := r.Bool(); {
	case !has:
		s.log = nil
	case s.log == nil:
		s.log = &streamLog{limit: mostLog}
	}
	if s.log != nil {
		s.times = make([]callTimes, len(s.held))
		for i := range s.times {
			s.times[i] = callTimes{r.Uint(), r.Uint(), r.Uint()}
		}
		s.log.load(r)
	}
	s.depth = r.Count(1)
	s.frames = make([]frame, s.depth)
	for i := range s.frames {
		f := &s.frames[i]
		c.loadFrame(r, f)
		if r.Err() != nil {
			return
		}
		if !f.muted() && f.slot >= len(s.held) {
			r.Check(fmt.Errorf("call under way: place %d of %d", f.slot, len(s.held)))
			return
		}
	}
}

// save writes a call under way. What its LEAVE record will bring isn't there.
func (f *frame) save(w *pack.Writer) {
	w.Uint(uint64(f.key.Call()))
	w.Fixed(f.key.Site())
	w.Ints(f.key.Values())
	w.Uint(uint64(f.flags))
	w.Uint(f.begin)
	w.Uint(f.gap)
	w.Uint(uint64(f.slot))
	w.Int(f.parent)
	w.Uint(uint64(len(f.requests)))
	for _, i := range f.requests {
		w.Uint(uint64(i + 1))
	}
}

func (c *Capture) loadFrame(r *pack.Reader, f *frame) {
	f.key = make(signature.Key, signature.KeyHeader, 16)
	f.key.SetHeader(uint16(r.Index(1<<16)), r.Fixed())
	f.key = append(f.key, r.Ints()...)
	if err := c.checkKey(f.key); err != nil {
		r.Check(fmt.Errorf("call under way: %w", err))
		return
	}
	f.prog = c.program(f.key.Call())
	f.flags, f.begin, f.gap, f.slot = uint8(r.Index(256)), r.Uint(), r.Uint(), r.Index(1<<31)
	f.parent = r.Int()
	f.from = ^uint64(0) // where the record stood is another ring's business
	f.flag, f.index, f.newComm = -1, -1, symbol.Unknown
	f.requests = make([]int, r.Count(1))
	for i := range f.requests {
		f.requests[i] = r.Index(c.requests.Len()+1) - 1
	}
}
