package replay

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// array lays out an array argument, and returns its address. An output array has at least room elements.
func (s *Stream) array(c *trace.Call, plan *callPlan, st *argument, p *trace.Param, room int64) (uint64, error) {
	d := st.def
	sent := &s.p.layout.CSentinels
	v := &p.In
	if v.Type != trace.TypeArray {
		v = &p.Out
	}
	if v.Type == trace.TypeArray && v.Num < 0 {
		switch v.Num {
		case trace.ArrayUnweighted:
			return s.sentinel(sent.Unweighted)
		case trace.ArrayWeightsEmpty:
			return s.sentinel(sent.WeightsEmpty)
		case trace.ArrayStatusesIgnore:
			return s.sentinel(sent.StatusesIgnore)
		case trace.ArrayNull, trace.ArrayInsignificant:
			return 0, nil
		}
		return 0, fmt.Errorf("%s: %s: arrays of form %d can't be passed", c.Name(), d.Name, v.Num)
	}
	if d.Kind.IsStatus() && !d.Dir.HasIn() && ignored(&p.Out) {
		return s.sentinel(sent.StatusesIgnore)
	}
	if d.Kind == mpi.KindRequest && p.In.Type == trace.TypeArray {
		return s.requestArray(p)
	}
	width := int64(st.width)
	if d.Kind.IsStatus() {
		width = int64(s.p.layout.Status.SizeBytes)
	}
	in := p.In.Type == trace.TypeArray
	n := int64(len(p.In.Elems))
	if d.Dir.HasOut() {
		n = max(n, room)
	}
	at := s.arena.take(max(n, 1) * width)
	if at == 0 {
		return 0, s.arena.err
	}
	if d.Dir.HasOut() {
		clear(bytesAt(at, int(n*width)))
		if d.Kind.IsStatus() {
			s.leaveStatuses(at, &p.Out)
		}
		if d.Kind == mpi.KindDatatype { // Open MPI reads all elements for which there is room
			for i := range n {
				store(at+uint64(i*width), st.width, s.p.handles[d.Kind].null)
			}
		}
	}
	if in {
		for i := range p.In.Elems {
			raw, err := s.scalar(c, st, &p.In.Elems[i])
			if err != nil {
				return 0, err
			}
			store(at+uint64(i)*uint64(width), st.width, raw)
		}
	}
	if d.Dir.HasOut() {
		s.learnArray(st, p, at)
	}
	if plan.keeps && d.Dir == mpi.DirIn {
		return s.keep(at, int(n*width))
	}
	return at, nil
}

// ignored reports whether the program passed MPI_STATUSES_IGNORE for an array of statuses.
func ignored(v *trace.Value) bool {
	for i := range v.Elems {
		if x := v.Elems[i].Status; x != nil && x.Form == trace.StatusFormIgnored {
			return true
		}
	}
	return false
}

// A memoryRange is the memory of an array that a pending operation reads.
type memoryRange struct {
	at   uint64
	size int
}

// keep copies an array of n bytes to memory that lives until the request of the current call completes.
func (s *Stream) keep(at uint64, n int) (uint64, error) {
	to, err := s.p.blocks.take(n)
	if err != nil {
		return 0, err
	}
	copy(bytesAt(to, n), bytesAt(at, n))
	s.keeping = append(s.keeping, memoryRange{to, n})
	return to, nil
}

// keepFor hands the arrays that keep copied to the request of the current call, which owner stores at an address. It
// frees them if the address is 0: the call made no request.
func (s *Stream) keepFor(owner *Stream, at uint64) {
	if len(s.keeping) == 0 {
		return
	}
	if at != 0 {
		owner.kept[at] = append(owner.kept[at], s.keeping...)
	} else {
		s.giveBack(s.keeping)
	}
	s.keeping = s.keeping[:0]
}

func (s *Stream) giveBack(list []memoryRange) {
	for _, x := range list {
		s.p.blocks.give(x.at, x.size)
	}
}

func (s *Stream) sentinel(x mpi.Sentinel) (uint64, error) {
	switch x.Form {
	case mpi.SentinelValue:
		return uint64(x.Value), nil
	case mpi.SentinelAddress:
		if a, ok := s.p.host.SymbolAddress(x.Symbol); ok {
			return a, nil
		}
	case mpi.SentinelPointee:
		if a, ok := s.p.host.SymbolAddress(x.Symbol); ok {
			return load(a, 8), nil
		}
	}
	return 0, fmt.Errorf("this MPI lacks a special address")
}

// text lays out a string argument: an input, room for an output, or an array of strings.
func (s *Stream) text(p *trace.Param, room int64) (uint64, error) {
	if p.In.Type == trace.TypeNone || p.In.Type != trace.TypeString && p.In.Type != trace.TypeArray {
		const longest = 1 << 14
		n := max(longest, room+1)
		at := s.arena.take(n)
		if at != 0 {
			store(at, 8, 0)
		}
		return at, s.arena.err
	}
	if p.In.Type == trace.TypeString {
		return s.cstring(&p.In), s.arena.err
	}
	if p.In.Num < 0 {
		return 0, nil
	}
	at := s.arena.take(8 * int64(len(p.In.Elems)+1))
	if at == 0 {
		return 0, s.arena.err
	}
	for i := range p.In.Elems {
		store(at+8*uint64(i), 8, s.cstring(&p.In.Elems[i]))
	}
	store(at+8*uint64(len(p.In.Elems)), 8, 0)
	return at, s.arena.err
}

func (s *Stream) cstring(v *trace.Value) uint64 {
	if v.IsNullString {
		return 0
	}
	at := s.arena.take(int64(len(v.Text) + 1))
	if at != 0 {
		b := bytesAt(at, len(v.Text)+1)
		copy(b, v.Text)
		b[len(v.Text)] = 0
	}
	return at
}

// A relocation is memory for addresses of the recorded processes that occur as numbers: slotSize bytes for each
// window of their address spaces. It has the same address on all ranks, as one rank names another's memory in a
// dynamic window.
type relocation struct{ windows []reissue.AddressWindow }

const (
	slotSize = 8 << 30 // bytes for a window: twice its size, as a range that begins in the window may end after it
	// Address of the memory for the first window; neither Linux nor Go's heap places anything there unasked.
	relocated = 1 << 46
)

// newRelocation reserves address space. Pages are allocated when they are touched.
func newRelocation(windows []reissue.AddressWindow, h MPIHost) (*relocation, error) {
	l := &relocation{windows}
	if len(windows) == 0 {
		return l, nil
	}
	return l, h.ReserveAddress(relocated, l.size())
}

func (l *relocation) size() int64 { return slotSize * int64(len(l.windows)) }

// address converts an address of a recorded process to the address in the reserved memory that replaces it.
func (l *relocation) address(n int64) (int64, error) {
	w, offset := reissue.AddressWindowOf(n)
	i, ok := slices.BinarySearch(l.windows, w)
	if !ok {
		return 0, fmt.Errorf("nothing was set aside for address %#x", n)
	}
	return relocated + slotSize*int64(i) + offset, nil
}

// attach attaches all reserved memory to a new dynamic window.
func (s *Stream) attach(win uint64) error {
	if len(s.p.relocation.windows) == 0 {
		return nil
	}
	value := load(win, s.p.handles[mpi.KindWin].width)
	result, err := s.p.ask("PMPI_Win_attach", value, relocated, uint64(s.p.relocation.size())) // PMPI, so that no tool sees the call
	if err == nil && int32(result) != 0 {
		err = fmt.Errorf("MPI_Win_attach of what addresses are to point to ended with error %d", int32(result))
	}
	return err
}
