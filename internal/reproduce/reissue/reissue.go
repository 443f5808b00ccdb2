// Package reissue determines what is needed to make the calls of a trace again: which of them can't be made and why,
// which memory they touch, how many slots for handles and requests they need, and a rank's gaps before its calls. It
// reads the distinct calls of a rank and never expands a trace.
//
// The package makes no calls itself and writes no programs. It needs no MPI.
//
// It relies on these rules, and callers that make the calls must keep them:
//
//  1. A handle's number in a trace is a slot. The call that makes the handle stores it there, later calls read it
//     there. Numbers are reused, so a slot holds one handle after the other.
//  2. A one-shot request is identified by the number of request creations of its thread since it was made. Each creation
//     that gave a request takes the next slot of a ring. A ring of ResourcePlan.MaxRequestDistance slots holds every
//     request that is still used.
//  3. Memory is a segment and an offset. Two addresses overlap if their segments are equal and their byte ranges overlap;
//     different segments never overlap. A segment that is kept after its first use gets the same number in a new
//     trace, as numbers are given at first use, lowest first.
package reissue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A MemorySegment identifies a block of memory that addresses count from.
type MemorySegment struct {
	Class  trace.AddressClass
	Device int // 0: the host; n+1: GPU n
	ID     int64
}

// SegmentOf returns the segment that a location is in.
func SegmentOf(l *trace.SymbolicAddress) MemorySegment { return MemorySegment{l.Class, l.Device, l.ID} }

// A TouchedSegment is a segment, and the part of it that calls touch.
type TouchedSegment struct {
	MemorySegment
	Low, High int64 // in bytes; High is exclusive
	FromMPI   bool  // a call of the MPI allocates it; if false it must always be allocated
}

// A ResourcePlan is the memory, handles and requests that ranks need to make their calls again.
type ResourcePlan struct {
	Segments []TouchedSegment // by class, device and number
	// By mpi.Kind of handles and tool objects: number of slots for them, see the package's rules.
	HandleSlots        [256]int
	PersistentRequests int   // number of slots for persistent requests
	MaxRequestDistance int64 // size of the ring of one-shot requests, see the package's rules
	LongestStatusArray int   // elements of the longest array of statuses
	LongestOutputArray int   // elements of the longest array of anything that a call writes
	Threads            int
}

// ResourcePlanOf makes the plan of a rank.
func ResourcePlanOf(r *trace.Reader, k *trace.Rank) (*ResourcePlan, error) {
	p := planner{
		plan: &ResourcePlan{Threads: k.Streams()}, segments: make(map[MemorySegment]*TouchedSegment),
		bounds: handles.NewHandleBounds(r.Ranks()),
	}
	calls, err := k.DistinctCalls()
	if err != nil {
		return nil, fmt.Errorf("reissue: %w", err)
	}
	if p.plan.MaxRequestDistance, err = k.MaxRequestDistance(); err != nil {
		return nil, fmt.Errorf("reissue: %w", err)
	}
	for _, c := range calls {
		p.note(c)
	}
	for t, c := range calls {
		p.slots(c)
		low, high, err := k.BoundingCalls(t)
		if err != nil {
			return nil, fmt.Errorf("reissue: %w", err)
		}
		if p.memory(low); low != high {
			p.memory(high)
		}
	}
	p.plan.Segments = make([]TouchedSegment, 0, len(p.segments))
	for _, s := range p.segments {
		p.plan.Segments = append(p.plan.Segments, *s)
	}
	slices.SortFunc(p.plan.Segments, func(a, b TouchedSegment) int { return a.MemorySegment.Compare(b.MemorySegment) })
	return p.plan, nil
}

// Compare orders segments by class, device and number.
func (p MemorySegment) Compare(q MemorySegment) int {
	return cmp.Or(cmp.Compare(p.Class, q.Class), cmp.Compare(p.Device, q.Device), cmp.Compare(p.ID, q.ID))
}

// Widen widens the plan so that it serves another rank's calls too.
func (p *ResourcePlan) Widen(q *ResourcePlan) {
	byPlace := make(map[MemorySegment]TouchedSegment)
	for _, list := range [][]TouchedSegment{p.Segments, q.Segments} {
		for _, s := range list {
			if old, ok := byPlace[s.MemorySegment]; ok {
				s.Low, s.High, s.FromMPI = min(s.Low, old.Low), max(s.High, old.High), s.FromMPI || old.FromMPI
			}
			byPlace[s.MemorySegment] = s
		}
	}
	p.Segments = slices.SortedFunc(maps.Values(byPlace), func(a, b TouchedSegment) int { return a.MemorySegment.Compare(b.MemorySegment) })
	for k, n := range q.HandleSlots {
		p.HandleSlots[k] = max(p.HandleSlots[k], n)
	}
	p.PersistentRequests = max(p.PersistentRequests, q.PersistentRequests)
	p.MaxRequestDistance = max(p.MaxRequestDistance, q.MaxRequestDistance)
	p.LongestStatusArray = max(p.LongestStatusArray, q.LongestStatusArray)
	p.LongestOutputArray = max(p.LongestOutputArray, q.LongestOutputArray)
	p.Threads = max(p.Threads, q.Threads)
}

type planner struct {
	plan     *ResourcePlan
	segments map[MemorySegment]*TouchedSegment
	bounds   *handles.HandleBounds
}

// note records the datatype or communicator that a call creates.
func (p *planner) note(c *trace.Call) {
	if t := c.NewType; t != nil && IsAddress(t.TrueLowerBound) {
		return // datatypes with addresses are used with MPI_BOTTOM
	}
	p.bounds.AddCreation(c)
}

// slots extends the plan to the slots of a call's handles and requests, and to the length of its output arrays.
func (p *planner) slots(c *trace.Call) {
	for i := range c.Params {
		q := &c.Params[i]
		p.value(q.Kind(), &q.In)
		p.value(q.Kind(), &q.Out)
		if q.Out.Type == trace.TypeArray {
			p.plan.LongestOutputArray = max(p.plan.LongestOutputArray, len(q.Out.Elems))
			if q.Def.Type == trace.TypeStatus {
				p.plan.LongestStatusArray = max(p.plan.LongestStatusArray, len(q.Out.Elems))
			}
		}
	}
	if c.Result.Type != trace.TypeNone {
		p.value(c.Func.ReturnKind, &c.Result)
	}
}

func (p *planner) value(kind mpi.Kind, v *trace.Value) {
	switch v.Type {
	case trace.TypeHandle, trace.TypeMPITObject:
		if kind != mpi.KindUnknown && v.Num >= trace.FirstCreatedHandle {
			p.plan.HandleSlots[kind] = max(p.plan.HandleSlots[kind], int(v.Num-trace.FirstCreatedHandle)+1)
		}
	case trace.TypeRequest:
		if v.RequestForm == trace.RequestPersistent {
			p.plan.PersistentRequests = max(p.plan.PersistentRequests, int(v.RequestID)+1)
		}
	case trace.TypeArray:
		for i := range v.Elems {
			p.value(kind, &v.Elems[i])
		}
	}
}
