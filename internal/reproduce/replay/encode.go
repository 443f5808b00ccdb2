package replay

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// encode lays out the argument words of a call in s.call. It returns the plan of the call's function.
func (s *Stream) encode(c *trace.Call) (*callPlan, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	x, err := s.prepare(c)
	if err != nil {
		return nil, err
	}
	plan := x.plan
	if s.p.allocs.follow {
		if err := s.p.allocs.until(c.Index, s.p.segments); err != nil {
			return nil, err
		}
	}
	s.arena.used = 0
	s.after = s.after[:0]
	s.vain = false
	if plan.through != 0 {
		return plan, s.encodeFile(c, plan)
	}
	s.call.FunctionAddress = plan.address
	version := s.p.segments.version
	for i := range plan.params {
		if x.has(i, version) {
			s.call.Words[i] = x.words[i]
			continue
		}
		st := &plan.params[i]
		if st.index < 0 {
			s.call.Words[i] = 0
			continue
		}
		p := &c.Params[st.index]
		w, err := s.word(c, plan, st, p, x.room)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", st.def.Name, err)
		}
		s.call.Words[i] = w
		x.keep(i, c, st, p, w)
	}
	x.version = s.p.segments.version
	for i := len(plan.params); i < CallWords; i++ {
		s.call.Words[i] = 0
	}
	if s.call.OutcomeAddress, err = s.outcome(c, plan); err != nil {
		return nil, err
	}
	return plan, s.arena.err
}

// roomFor returns the number of elements to provide for an output array. It exceeds all small numbers among the
// call's inputs, as one of them may be the array's length.
func roomFor(c *trace.Call) int64 {
	n := int64(64)
	for i := range c.Params {
		p := &c.Params[i]
		if p.In.Type == trace.TypeInt && p.In.Num < 1<<22 {
			n = max(n, p.In.Num+1)
		}
		n = max(n, int64(len(p.In.Elems)), int64(len(p.Out.Elems)))
	}
	return n
}

// word returns the argument word, an integer or an address, that is passed for a parameter.
func (s *Stream) word(c *trace.Call, plan *callPlan, st *argument, p *trace.Param, room int64) (uint64, error) {
	d := st.def
	form := d.Kind.ValueForm()
	switch {
	case form == mpi.ValueFormNone:
		return 0, nil // argc and argv may be null pointers
	case form == mpi.ValueFormString:
		return s.text(p, room)
	case d.Array:
		return s.array(c, plan, st, p, room)
	case form == mpi.ValueFormStatus:
		return s.status(d, p)
	case form == mpi.ValueFormHandle || form == mpi.ValueFormToolObject:
		return s.handle(c, st, p)
	case d.Kind == mpi.KindPointer && d.Name == "extra_state" && plan.call.Has(mpi.AttrNonblocking):
		return s.image()
	case !d.IsPassedByAddress():
		return s.scalar(c, st, &p.In)
	}
	at := s.arena.take(16)
	if at == 0 {
		return 0, s.arena.err
	}
	store(at, 8, 0)
	if p.In.Type != trace.TypeNone {
		v, err := s.scalar(c, st, &p.In)
		if err != nil {
			return 0, err
		}
		store(at, st.width, v)
	}
	s.learn(c, st, p, at)
	return at, nil
}

// scalar returns the value of an input parameter, or of one element of it, as this MPI has it.
func (s *Stream) scalar(c *trace.Call, st *argument, v *trace.Value) (uint64, error) {
	switch v.Type {
	case trace.TypeInt:
		if reissue.IsAddress(v.Num) && reissue.IsAbsolute(c, &c.Params[st.index]) {
			n, err := s.p.relocation.address(v.Num)
			return uint64(n), err
		}
		if st.def.Kind == mpi.KindFint && s.p.foreign && reissue.ConvertsInteger(c.Name()) {
			return s.fint(c)
		}
		return uint64(s.integer(c, st, v.Num)), nil
	case trace.TypeHandle, trace.TypeMPITObject:
		if st.def.Kind == mpi.KindPvar && v.Num == trace.UnknownHandle && c.Return == 0 && reissue.TakesAllPvarHandles(c.Name()) {
			return s.p.allPvars(), nil
		}
		return s.find(st.def.Kind, v.Num)
	case trace.TypeRequest:
		return s.requestValue(v)
	case trace.TypeAddress:
		return s.p.segments.address(v.Addr)
	case trace.TypeFunctionRef:
		if symbol := mpi.CallbackSymbol(s.p.flavour, st.def.Name, v.Num); symbol != "" {
			if f, ok := s.p.host.SymbolAddress(symbol); ok {
				return f, nil
			}
		} else if v.Num == mpi.CallbackDup {
			return mpi.CallbackDup, nil
		}
		null := v.Num == mpi.CallbackNull // in Open MPI, such a callback is a function
		kind, ok := reissue.StandInFor(st.def.Name, null)
		if !ok || null && s.p.flavour != mpi.FlavourOpenMPI {
			return 0, nil
		}
		return s.p.host.StandInAddress(kind), nil
	case trace.TypeNone, trace.TypeTime: // nothing was recorded
		return 0, nil
	}
	return 0, fmt.Errorf("%s: %s: values of type %d can't be passed", c.Name(), st.def.Name, v.Type)
}

// integer converts a number of the trace to this MPI's or this run's number.
func (s *Stream) integer(c *trace.Call, st *argument, n int64) int64 {
	if what, ok := numbered(c, st.def.Kind); ok {
		if v, ok := s.p.numbers[numberKey{what, n}]; ok {
			return v
		}
	}
	return st.table.FromABI(n)
}

// numbered reports whether the MPI assigns values of a kind at run time. It returns the name under which
// Process.numbers has them.
func numbered(c *trace.Call, k mpi.Kind) (string, bool) {
	switch k {
	case mpi.KindKeyval:
		return "keyval", true
	case mpi.KindError, mpi.KindErrorClass:
		return "error", true
	case mpi.KindFint:
		return "fint " + object(c.Name()), true
	}
	return "", false
}

// fint asks the MPI for the integer of a handle, instead of using the recorded one of another MPI.
func (s *Stream) fint(c *trace.Call) (uint64, error) {
	if !c.Func.ReturnKind.IsHandle() {
		return 0, fmt.Errorf("%s gives no handle", c.Name())
	}
	v, err := s.find(c.Func.ReturnKind, c.Result.Num)
	if err != nil {
		return 0, err
	}
	return s.p.ask("P"+reissue.InverseConversion(c.Name()), v) // PMPI, so that no tool sees the call
}

// allPvars returns MPI_T_PVAR_ALL_HANDLES of this MPI. MPICH has it in a variable.
func (p *Process) allPvars() uint64 {
	if at, ok := p.host.SymbolAddress("MPI_T_PVAR_ALL_HANDLES"); ok {
		return load(at, 8)
	}
	return ^uint64(0)
}

// object returns the part of a conversion function's name that names the kind of object.
func object(name string) string {
	of, _, _ := strings.Cut(strings.TrimPrefix(name, "MPI_"), "_")
	return of
}

// find returns the value of a handle. It waits if another thread has not made the handle yet.
func (s *Stream) find(k mpi.Kind, number int64) (uint64, error) {
	h := s.p.handles[k]
	if h == nil {
		return 0, fmt.Errorf("no handles of kind %s", k.Name())
	}
	v, ok, err := h.raw(s.number, number)
	if ok || err != nil {
		return v, err
	}
	err = s.await(fmt.Sprintf("%s %d", k.Name(), number), func() (ok bool, err error) {
		v, ok, err = h.raw(s.number, number)
		return ok, err
	})
	return v, err
}

// handle returns the argument word for a handle passed by value or by address.
func (s *Stream) handle(c *trace.Call, st *argument, p *trace.Param) (uint64, error) {
	k := st.def.Kind
	if !st.def.IsPassedByAddress() {
		if k == mpi.KindToolBoundHandle {
			return s.toolObject(p)
		}
		return s.scalar(c, st, &p.In)
	}
	if k == mpi.KindRequest {
		return s.requestPlace(p)
	}
	out := &p.Out
	if p.In.Type == trace.TypeNone && out.Type != trace.TypeNone && out.Num >= trace.FirstCreatedHandle {
		return s.cell(k, out.Num)
	}
	at := s.arena.take(16)
	if at == 0 {
		return 0, s.arena.err
	}
	store(at, 8, 0)
	if p.In.Type != trace.TypeNone {
		v, err := s.find(k, p.In.Num)
		if err != nil {
			return 0, err
		}
		store(at, st.width, v)
		s.forget(c, st, p.In.Num)
	}
	return at, nil
}

// forget removes the handle that the call frees. It does so before the call if another thread may get its value or
// number during the call. Otherwise it does so after the call, as the number may have earlier handles.
func (s *Stream) forget(c *trace.Call, st *argument, number int64) {
	k := st.def.Kind
	if number < trace.FirstCreatedHandle || st.def.Dir != mpi.DirFree || c.Return != 0 {
		return
	}
	h := s.p.handles[k]
	i := h.find(s.number, number)
	if i < 0 {
		return
	}
	cell := h.cell[i][number]
	if !k.IsPosix() && (len(s.p.streams) == 1 || k != mpi.KindComm && k != mpi.KindWin && k != mpi.KindFile) {
		s.after = append(s.after, func() { h.freed(cell) })
		return
	}
	delete(h.cell[i], number) // another thread may reuse the value or number before this call returns
	delete(h.alive, cell)
	delete(h.beneath, cell)
	s.after = append(s.after, func() { s.p.blocks.give(cell, cellSize) })
}

// cell returns the address where the value of the handle is stored that the current call makes under a number.
func (s *Stream) cell(k mpi.Kind, number int64) (uint64, error) {
	h := s.p.handles[k]
	if at, ok := h.cell[s.number][number]; ok {
		// The handle gets its value when the call returns. Until then the old value, if any, is invalid.
		h.again(at)
		return at, nil
	}
	at, err := s.p.cell()
	if err != nil {
		return 0, err
	}
	s.after = append(s.after, func() {
		h.cell[s.number][number] = at
		h.again(at)
		s.p.changed.Broadcast()
	})
	return at, nil
}

// toolObject returns the address of the handle that a tool variable is bound to.
func (s *Stream) toolObject(p *trace.Param) (uint64, error) {
	if p.In.Num == 0 {
		return 0, nil
	}
	// The trace lacks the object. Most variables are bound to communicators.
	world, err := s.find(mpi.KindComm, mpi.HandleCommWorld)
	if err != nil {
		return 0, err
	}
	at := s.arena.take(16)
	if at != 0 {
		store(at, s.p.handles[mpi.KindComm].width, world)
	}
	return at, s.arena.err
}

// status lays out a status argument, and returns its address.
func (s *Stream) status(d *mpi.Param, p *trace.Param) (uint64, error) {
	if !d.Dir.HasIn() && p.Out.Status != nil && p.Out.Status.Form == trace.StatusFormIgnored {
		return s.sentinel(s.p.layout.CSentinels.StatusIgnore)
	}
	at := s.arena.take(256)
	if at == 0 {
		return 0, s.arena.err
	}
	clear(bytesAt(at, 256))
	if p.In.Status != nil {
		s.fillStatus(at, p.In.Status)
	} else if p.Out.Status != nil {
		s.fillStatus(at, p.Out.Status)
	}
	return at, nil
}

// image lays out the status that the callback of a generalized request returns.
func (s *Stream) image() (uint64, error) {
	at, err := s.p.blocks.take(imageSize)
	if err != nil {
		return 0, err
	}
	clear(bytesAt(at, imageSize))
	if s.completion != nil && s.completion.status != nil {
		s.fillStatus(at, s.completion.status)
	}
	s.pending = at
	return at, nil
}

// leaveStatuses writes the recorded statuses where the MPI will write its own. Fields that the MPI does not set then
// have the recorded old values.
func (s *Stream) leaveStatuses(at uint64, v *trace.Value) {
	for i := range v.Elems {
		if x := v.Elems[i].Status; x != nil {
			s.fillStatus(at+uint64(i*s.p.layout.Status.SizeBytes), x)
		}
	}
}

// fillStatus lays out a status in the MPI's format.
func (s *Stream) fillStatus(at uint64, v *trace.StatusValue) {
	if v.Form == trace.StatusFormEmpty {
		v = &trace.StatusValue{Source: mpi.AnySource, Tag: mpi.AnyTag}
	}
	l := &s.p.layout.Status
	source := mpi.NumberTableOf(s.p.flavour, mpi.KindRank).FromABI(v.Source)
	tag := mpi.NumberTableOf(s.p.flavour, mpi.KindTag).FromABI(v.Tag)
	store(at+uint64(l.SourceOffset), 4, uint64(source))
	store(at+uint64(l.TagOffset), 4, uint64(tag))
	if v.HasError {
		store(at+uint64(l.ErrorOffset), 4, uint64(mpi.NumberTableOf(s.p.flavour, mpi.KindError).FromABI(v.Error)))
	}
	count := uint64(max(v.ReceivedBytes, 0))
	switch l.CountForm {
	case mpi.StatusCountSplit:
		store(at, 4, count)
		high := count >> 32 << 1
		if v.Cancelled {
			high |= 1
		}
		store(at+4, 4, high)
	case mpi.StatusCountWord:
		if v.Cancelled {
			store(at+12, 4, 1)
		}
		store(at+16, 8, count)
	}
}
