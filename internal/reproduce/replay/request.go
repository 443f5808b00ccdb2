package replay

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// Each request is stored in memory of its own. One-shot requests belong to the stream that made them. Persistent ones
// belong to the process and are stored with stream 0.

func (s *Stream) owner(v *trace.Value) (*Stream, requestKey) {
	switch v.RequestForm {
	case trace.RequestPersistent:
		return s.p.streams[0], keyOf(true, v.RequestID)
	case trace.RequestOfOtherThread:
		if v.RequestThread < len(s.p.streams) {
			o := s.p.streams[v.RequestThread]
			return o, keyOf(false, o.made-v.RequestID)
		}
	}
	return s, keyOf(false, v.RequestID)
}

// A located is the address of a request, and the stream that stores it.
type located struct {
	at    uint64 // 0: the request is null or unknown
	owner *Stream
	key   requestKey
}

// locate finds a request. It waits if another thread has not made it yet.
func (s *Stream) locate(v *trace.Value) (r located, err error) {
	if v.RequestForm == trace.RequestNull || v.RequestForm == trace.RequestUnknown {
		return r, nil
	}
	look := func() (bool, error) {
		r.owner, r.key = s.owner(v)
		r.at = r.owner.requests[r.key]
		return r.at != 0, nil
	}
	if ok, _ := look(); ok {
		return r, nil
	}
	err = s.await(fmt.Sprintf("request %d", v.RequestID), look)
	return r, err
}

func (s *Stream) requestHandles() *handleTable { return s.p.handles[mpi.KindRequest] }

// requestValue returns the value of a request in this process; the null request if it is unknown.
func (s *Stream) requestValue(v *trace.Value) (uint64, error) {
	r, err := s.locate(v)
	if r.at == 0 || err != nil {
		return s.requestHandles().null, err
	}
	return load(r.at, s.requestHandles().width), nil
}

// requestPlace returns the address of a request that the call makes or may complete.
func (s *Stream) requestPlace(p *trace.Param) (uint64, error) {
	h := s.requestHandles()
	if p.In.Type == trace.TypeRequest {
		r, err := s.locate(&p.In)
		if err != nil {
			return 0, err
		}
		if r.at == 0 {
			at := s.arena.take(16)
			if at == 0 {
				return 0, s.arena.err
			}
			store(at, 8, h.null)
			return at, nil
		}
		s.after = append(s.after, func() { s.afterRequest(r, load(r.at, h.width)) })
		return r.at, nil
	}
	if s.derived != nil && s.derived.slot != 0 {
		return s.derived.slot, nil
	}
	at, err := s.placeFor()
	if err != nil {
		return 0, err
	}
	switch out := &p.Out; out.RequestForm {
	case trace.RequestOneShot:
		s.after = append(s.after, func() {
			s.keepFor(s, at)
			s.requests[keyOf(false, out.RequestID)] = at
			if s.pending != 0 {
				s.images[at], s.pending = s.pending, 0
			}
			s.made++
			s.p.changed.Broadcast()
		})
	case trace.RequestPersistent:
		s.after = append(s.after, func() {
			s.keepFor(s.p.streams[0], at)
			s.p.streams[0].requests[keyOf(true, out.RequestID)] = at
			s.p.changed.Broadcast()
		})
	default:
		s.after = append(s.after, func() { s.release(at) })
	}
	return at, nil
}

// A requestArray is the contiguous memory of requests that the program has in one array.
type requestArray struct {
	base   uint64
	length int
	live   int
}

// placeFor returns the address for the request of the current call. It is in the array in which the program uses the
// request, if a tool looks at it and the array is known.
func (s *Stream) placeFor() (uint64, error) {
	if s.completion == nil || s.completion.array == 0 {
		return s.p.cell()
	}
	w := s.requestHandles().width
	b := s.blocks[s.completion.array]
	if b == nil {
		at, err := s.p.blocks.take(s.completion.length * w)
		if err != nil {
			return 0, err
		}
		b = &requestArray{base: at, length: s.completion.length}
		s.blocks[s.completion.array] = b
		for i := range b.length {
			store(at+uint64(i*w), w, s.requestHandles().null)
		}
	}
	b.live++
	at := b.base + uint64(s.completion.position*w)
	s.inBlock[at] = s.completion.array
	return at, nil
}

// release frees the memory of a request, by its address, and what was kept for the request.
func (s *Stream) release(at uint64) {
	if p, ok := s.images[at]; ok {
		delete(s.images, at)
		s.p.blocks.give(p, imageSize)
	}
	if list, ok := s.kept[at]; ok {
		delete(s.kept, at)
		s.giveBack(list)
	}
	n, ok := s.inBlock[at]
	if !ok {
		s.p.blocks.give(at, cellSize)
		return
	}
	delete(s.inBlock, at)
	b := s.blocks[n]
	if b.live--; b.live == 0 {
		delete(s.blocks, n)
		s.p.blocks.give(b.base, b.length*s.requestHandles().width)
	}
}

// side returns the address of the first request if all are stored one after the other, w bytes each; else 0.
func (s *Stream) side(list []located, w int) uint64 {
	for i, r := range list {
		if r.at == 0 {
			continue
		}
		n, ok := r.owner.inBlock[r.at]
		if !ok {
			return 0
		}
		b := r.owner.blocks[n]
		base := r.at - uint64(i*w)
		if base < b.base || base+uint64(len(list)*w) > b.base+uint64(b.length*w) {
			return 0
		}
		for j, q := range list {
			if q.at != 0 && q.at != base+uint64(j*w) {
				return 0
			}
			if q.at == 0 {
				if _, taken := r.owner.inBlock[base+uint64(j*w)]; taken {
					return 0
				}
			}
		}
		return base
	}
	return 0
}

// requestArray lays out an array of requests, and schedules reading their new values.
func (s *Stream) requestArray(p *trace.Param) (uint64, error) {
	h := s.requestHandles()
	list := make([]located, len(p.In.Elems))
	for i := range p.In.Elems {
		r, err := s.locate(&p.In.Elems[i])
		if err != nil {
			return 0, err
		}
		list[i] = r
	}
	at := s.side(list, h.width)
	if at == 0 {
		at = s.arena.take(int64(max(len(list), 1) * h.width))
	}
	if at == 0 {
		return 0, s.arena.err
	}
	for i, r := range list {
		raw := h.null
		if r.at != 0 {
			raw = load(r.at, h.width)
		}
		store(at+uint64(i*h.width), h.width, raw)
	}
	s.after = append(s.after, func() {
		for i, r := range list {
			if r.at == 0 {
				continue
			}
			raw := load(at+uint64(i*h.width), h.width)
			store(r.at, h.width, raw)
			s.afterRequest(r, raw)
		}
	})
	return at, nil
}

// afterRequest forgets a request whose new value, raw, is the null request.
func (s *Stream) afterRequest(r located, raw uint64) {
	if raw == s.requestHandles().null && r.owner.requests[r.key] == r.at {
		delete(r.owner.requests, r.key)
		r.owner.release(r.at)
	}
}

// A prepared is the data that all calls of a terminal share, computed once.
type prepared struct {
	plan    *callPlan
	room    int64
	lane    bool   // its calls differ in some values
	fixed   uint32 // bit set of parameters whose words never change
	placed  uint32 // bit set of parameters whose words change only with segments
	version uint64 // version of the segments for which the words of placed are valid
	words   [CallWords]uint64
}

// prepare returns the prepared data of a call's terminal. The process is locked.
func (s *Stream) prepare(c *trace.Call) (*prepared, error) {
	if s.ready == nil {
		s.ready = make([]*prepared, s.p.rank.Terminals())
	}
	x := s.ready[c.Terminal]
	if x == nil {
		plan, err := s.p.plan(c.Func)
		if err != nil {
			return nil, err
		}
		x = &prepared{plan: plan, room: roomFor(c), lane: s.p.rank.Lane(c.Terminal) != nil}
		s.ready[c.Terminal] = x
	}
	if x.lane {
		x.room = roomFor(c)
	}
	return x, nil
}

// has reports whether the word of parameter i is known, in a version of the segments.
func (x *prepared) has(i int, version uint64) bool {
	return (x.fixed|x.placed&-b2u(x.version == version))>>i&1 != 0
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// keep stores the word w of parameter i if it stays valid for later calls of the terminal.
func (x *prepared) keep(i int, c *trace.Call, st *argument, p *trace.Param, w uint64) {
	if x.lane {
		return
	}
	d := st.def
	if d.Array || d.IsPassedByAddress() || d.Kind == mpi.KindPointer && d.Name == "extra_state" {
		return
	}
	switch v := &p.In; {
	case d.Kind.ValueForm() == mpi.ValueFormInt && v.Type == trace.TypeInt:
		if _, ok := numbered(c, d.Kind); ok || reissue.IsAddress(v.Num) {
			return
		}
		x.fixed |= 1 << i
	case v.Predefined() && d.Kind.IsHandle():
		x.fixed |= 1 << i
	case v.Type == trace.TypeAddress:
		x.placed |= 1 << i
	default:
		return
	}
	x.words[i] = w
}
