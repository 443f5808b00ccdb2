package capture

import (
	"fmt"

	"spoor/internal/grammar"
	"spoor/internal/pack"
	"spoor/internal/signature"
	"spoor/internal/symbol"
	"spoor/mpi"
)

// appendState appends everything that Drain changes.
func (c *Capture) appendState(b []byte) []byte {
	w := &pack.Writer{B: b}
	w.Uint(c.lost)
	w.Bool(c.finalized)
	w.Uint(c.first)
	w.Uint(c.latest)
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
	c.sigs.Save(w)
	w.Uint(uint64(len(c.streams)))
	for _, s := range c.streams {
		s.save(w)
	}
	return w.B
}

// loadState replaces a new capture's state.
func (c *Capture) loadState(b []byte) error {
	r := &pack.Reader{B: b}
	c.lost, c.finalized, c.first, c.latest = r.Uint(), r.Bool(), r.Uint(), r.Uint()
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
	c.sigs.Load(r)
	n := r.Len(1)
	for i := range n {
		s := &stream{thread: i}
		c.loadStream(r, s)
		if r.Err != nil {
			break
		}
		c.streams = append(c.streams, s)
	}
	if r.Err == nil && len(c.memory.Stacks) != n {
		r.Fail(fmt.Errorf("%d stacks of %d threads", len(c.memory.Stacks), n))
	}
	for i := range c.sigs.Len() {
		k := c.sigs.Key(uint32(i))
		if p := c.program(k.Call()); r.Err == nil && (p == nil || len(k.Values()) == 0) {
			r.Fail(fmt.Errorf("signature %d: no call %d", i, k.Call()))
		}
	}
	if err := r.Close(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

func (s *stream) save(w *pack.Writer) {
	w.Uint(s.pos)
	w.String(string(s.grammar.Grammar().AppendBinary(nil)))
	w.Uint(uint64(s.prev + 1))
	w.Uint(s.last)
	w.Uint(uint64(len(s.held)))
	for _, n := range s.held {
		w.Uint(uint64(n))
	}
	w.Uint(uint64(s.depth))
	for i := range s.frames[:s.depth] {
		s.frames[i].save(w)
	}
}

func (c *Capture) loadStream(r *pack.Reader, s *stream) {
	terminals := c.sigs.Len()
	s.pos = r.Uint()
	g, _, err := grammar.Decode([]byte(r.String()))
	if err != nil {
		r.Fail(err)
		return
	}
	for _, n := range g.Terminals() {
		if int(n) >= terminals {
			r.Fail(fmt.Errorf("grammar: terminal %d of %d", n, terminals))
			return
		}
	}
	s.grammar = grammar.Restore(g)
	s.prev = uint32(r.Index(terminals+1)) - 1
	s.last = r.Uint()
	s.held = make([]uint32, r.Len(1))
	for i := range s.held {
		s.held[i] = uint32(r.Index(max(1, terminals)))
	}
	s.depth = r.Len(1)
	s.frames = make([]frame, s.depth)
	for i := range s.frames {
		f := &s.frames[i]
		c.loadFrame(r, f)
		if r.Err != nil {
			return
		}
		if !f.muted() && f.slot >= len(s.held) {
			r.Fail(fmt.Errorf("call under way: place %d of %d", f.slot, len(s.held)))
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
	id, site := uint16(r.Index(1<<16)), r.Fixed()
	p := c.program(id)
	if p == nil {
		r.Fail(fmt.Errorf("call under way: no call %d", id))
		return
	}
	f.prog = p
	f.key = make(signature.Key, signature.KeyHeader, 16)
	f.key.SetHeader(id, site)
	f.key = append(f.key, r.Ints()...)
	f.flags, f.begin, f.gap, f.slot = uint8(r.Index(256)), r.Uint(), r.Uint(), r.Index(1<<31)
	f.parent = r.Int()
	f.flag, f.index, f.newComm = -1, -1, symbol.Unknown
	f.requests = make([]int, r.Len(1))
	for i := range f.requests {
		f.requests[i] = r.Index(c.requests.Len()+1) - 1
	}
	if len(f.key) <= rcAt {
		r.Fail(fmt.Errorf("call under way: no values"))
	}
}
