package replay

import (
	"fmt"

	"spoor/mpi"
	"spoor/trace"
)

// Requests live in cells of their own. One-shot ones belong to the stream that
// made them; persistent ones to the process, where stream 0 keeps them.

func (s *Stream) owner(v *trace.Value) (*Stream, requestKey) {
	switch v.Form {
	case trace.RequestPersistent:
		return s.p.streams[0], requestKey{true, v.ID}
	case trace.RequestForeign:
		if v.Thread < len(s.p.streams) {
			o := s.p.streams[v.Thread]
			return o, requestKey{false, o.made - v.ID}
		}
	}
	return s, requestKey{false, v.ID}
}

// A located request is where it is kept and by whom.
type located struct {
	at    uint64 // 0: null or unknown
	owner *Stream
	key   requestKey
}

// locate finds a request, which another thread may have to make yet.
func (s *Stream) locate(v *trace.Value) (r located, err error) {
	if v.Form == trace.RequestNull || v.Form == trace.RequestUnknown {
		return r, nil
	}
	err = s.await(fmt.Sprintf("request %d", v.ID), func() (bool, error) {
		r.owner, r.key = s.owner(v)
		r.at = r.owner.requests[r.key]
		return r.at != 0, nil
	})
	return r, err
}

func (s *Stream) requestHandles() *handles { return s.p.handles[mpi.KindRequest] }

// requestValue is the value of a request.
func (s *Stream) requestValue(v *trace.Value) (uint64, error) {
	r, err := s.locate(v)
	if r.at == 0 || err != nil {
		return s.requestHandles().null, err
	}
	return load(r.at, s.requestHandles().width), nil
}

// requestPlace is the variable of a request that the call makes or may end.
func (s *Stream) requestPlace(p *trace.Param) (uint64, error) {
	h := s.requestHandles()
	if p.In.Type == trace.Request {
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
	at, err := s.p.cells.take()
	if err != nil {
		return 0, err
	}
	switch out := &p.Out; out.Form {
	case trace.RequestOnce:
		s.after = append(s.after, func() {
			s.requests[requestKey{false, out.ID}] = at
			s.made++
			s.p.changed.Broadcast()
		})
	case trace.RequestPersistent:
		s.after = append(s.after, func() {
			s.p.streams[0].requests[requestKey{true, out.ID}] = at
			s.p.changed.Broadcast()
		})
	default:
		s.after = append(s.after, func() { s.p.cells.give(at) })
	}
	return at, nil
}

// requestArray fills in an array of requests, and notes to take over what
// became of them.
func (s *Stream) requestArray(p *trace.Param, at uint64) error {
	h := s.requestHandles()
	list := make([]located, len(p.In.Elems))
	for i := range p.In.Elems {
		r, err := s.locate(&p.In.Elems[i])
		if err != nil {
			return err
		}
		raw := h.null
		if r.at != 0 {
			raw = load(r.at, h.width)
		}
		store(at+uint64(i*h.width), h.width, raw)
		list[i] = r
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
	return nil
}

// afterRequest forgets a request that has become null.
func (s *Stream) afterRequest(r located, raw uint64) {
	if raw == s.requestHandles().null && r.owner.requests[r.key] == r.at {
		delete(r.owner.requests, r.key)
		s.p.cells.give(r.at)
	}
}
