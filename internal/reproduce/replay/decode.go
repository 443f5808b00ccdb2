package replay

import (
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// learn schedules, for after the call, the reading of scalar output p at an address.
func (s *Stream) learn(c *trace.Call, st *argument, p *trace.Param, at uint64) {
	out := &p.Out
	switch out.Type {
	case trace.TypeInt:
		if what, ok := numbered(c, st.def.Kind); ok && st.def.Dir != mpi.DirIn {
			s.after = append(s.after, func() { s.p.numbers[numberKey{what, out.Num}] = signed(load(at, st.width), st.width) })
		}
	case trace.TypeAddress:
		if st.def.Kind == mpi.KindPointerOut && reissue.AllocatesMemory(c.Name()) {
			s.after = append(s.after, func() { s.p.segments.bind(out.Addr, load(at, 8)) })
		}
	}
}

func signed(v uint64, width int) int64 {
	if width == 4 {
		return int64(int32(v))
	}
	return int64(v)
}

// learnArray schedules, for after the call, the reading of the handles in output array p at an address.
func (s *Stream) learnArray(st *argument, p *trace.Param, at uint64) {
	k := st.def.Kind
	h := s.p.handles[k]
	if h == nil || p.Out.Type != trace.TypeArray {
		return
	}
	for i := range p.Out.Elems {
		n := p.Out.Elems[i].Num
		if n < trace.FirstCreatedHandle {
			continue
		}
		from := at + uint64(i*st.width)
		s.after = append(s.after, func() { s.setHandle(h, n, load(from, st.width)) })
	}
}

// setHandle sets the value v that a handle, which the program made under a number, has in this process.
func (s *Stream) setHandle(h *handleTable, number int64, v uint64) {
	at, ok := h.cell[s.number][number]
	if !ok {
		var err error
		if at, err = s.p.cell(); err != nil {
			s.arena.err = err
			return
		}
		h.cell[s.number][number] = at
	}
	h.again(at)
	store(at, h.width, v)
	s.p.changed.Broadcast()
}

// decode reads the outputs of a call.
func (s *Stream) decode(c *trace.Call, plan *callPlan) error {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	for _, f := range s.after {
		f()
	}
	s.keepFor(s, 0)
	if c.Func.ResultType != trace.TypeNone {
		s.result(c, plan)
	}
	if c.Name() == "MPI_Win_create_dynamic" && c.Return == 0 {
		for i := range plan.params {
			if plan.params[i].def.Kind == mpi.KindWin {
				return s.attach(s.call.Words[i])
			}
		}
	}
	return s.arena.err
}

// result records a call's result if it is a handle or a number that the MPI chose, not an error code.
func (s *Stream) result(c *trace.Call, plan *callPlan) {
	switch c.Result.Type {
	case trace.TypeHandle:
		if h := s.p.handles[plan.call.ReturnKind]; h != nil && c.Result.Num >= trace.FirstCreatedHandle {
			s.setHandle(h, c.Result.Num, s.call.Result)
		}
	case trace.TypeInt:
		if what, ok := numbered(c, plan.call.ReturnKind); ok {
			s.p.numbers[numberKey{what, c.Result.Num}] = signed(s.call.Result, 4)
		}
	}
}
