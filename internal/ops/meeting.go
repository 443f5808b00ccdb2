package ops

import (
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A Meeting is a rank's part in a collective call. All members of a communicator make the same collective calls in
// the same order, and so do all members that share a window or a file. Failed calls count, too.
type Meeting struct {
	Comm        *handles.Comm // nil: not all members of a communicator have to make the call, or they are unknown
	Window      *Window       // window on which the call is collective; nil: the call is on the communicator itself
	File        *File
	OwnCommRank int    // the rank's own number in Comm; -1: unknown
	Ordinal     uint64 // number of the rank's earlier calls with the same CollectiveSequence
}

// A CollectiveSequence identifies a sequence of collective calls that its members make in the same order: those on a
// communicator, window or file.
type CollectiveSequence struct {
	CommKey    int // handles.Comm.ID of the communicator
	ObjectCode int // 0: the communicator itself; 2·Ordinal + 1 of a window; 2·Ordinal + 2 of a file
}

// CollectiveSequence returns the sequence that a meeting belongs to.
func (m *Meeting) CollectiveSequence() CollectiveSequence {
	switch {
	case m.Window != nil:
		return CollectiveSequence{m.Comm.ID(), 2*m.Window.WindowsAndFilesBefore + 1}
	case m.File != nil:
		return CollectiveSequence{m.Comm.ID(), 2*m.File.WindowsAndFilesBefore + 2}
	}
	return CollectiveSequence{m.Comm.ID(), 0}
}

// meetsOn returns the index of the parameter that determines the members of a call: a communicator, window or file.
// It returns -1 if the call isn't collective, or if only some members make it, which then pass a tag.
func meetsOn(c *trace.Call) int {
	if !c.Func.Has(trace.AttrCollective) {
		return -1
	}
	on := -1
	for i := range c.Params {
		switch p := &c.Params[i]; p.Kind() {
		case mpi.KindTag:
			return -1
		case mpi.KindComm, mpi.KindWin, mpi.KindFile:
			if on < 0 && p.In.Type == trace.TypeHandle {
				on = i
			}
		}
	}
	return on
}

// CollectiveComm returns the communicator whose members must all make the call at a position; nil if it is not collective, or
// unknown.
func (a *CallInterpreter) CollectiveComm(c *trace.Call, stream int, index uint64) *handles.Comm {
	if meetsOn(c) < 0 {
		return nil
	}
	return a.x.CommOf(c, stream, index)
}

// meets sets c.Meeting.
func (p *process) meets(q *plan, c *Call) {
	on := &c.Params[q.on]
	m := &c.Meeting
	switch on.Kind() {
	case mpi.KindComm:
		m.Comm = q.comm
	case mpi.KindWin:
		if w := p.windows[on.In.Num]; w != nil {
			m.Comm, m.Window = w.Comm, w.Window
		}
	case mpi.KindFile:
		if f := p.files[on.In.Num]; f != nil {
			m.Comm, m.File = f.Comm, f
		}
	}
	if m.Comm == nil {
		return
	}
	if m.Comm != p.own.of {
		p.own.of, p.own.rank = m.Comm, m.Comm.RankOf(p.k.Number())
	}
	m.OwnCommRank = p.own.rank
	n := q.count
	if n == nil {
		if n = p.met[m.CollectiveSequence()]; n == nil {
			n = new(uint64)
			p.met[m.CollectiveSequence()] = n
		}
		if m.Window == nil && m.File == nil {
			q.count = n
		}
	}
	m.Ordinal = *n
	*n++
}

// CollectiveCallsOn returns a rank's collective calls of all members of a communicator, if the rank has one stream only. It
// returns nil if it has several, or if a distinct call is on different communicators at different times.
func CollectiveCallsOn(comm *handles.Comm, k *trace.Rank, x *handles.Rank) (*trace.Occurrences, error) {
	if k.Streams() != 1 {
		return nil, nil
	}
	wanted := make([]bool, k.Terminals())
	for t := range wanted {
		called := k.CallWithoutParams(t)
		if !called.Func.Has(trace.AttrCollective) {
			continue
		}
		c, err := k.Terminal(t)
		if err != nil {
			return nil, err
		}
		if on := meetsOn(c); on < 0 || c.Params[on].Kind() != mpi.KindComm {
			continue
		}
		for i, piece := range x.GroupOccurrences(0, c) {
			is := x.CommOf(c, 0, piece.ExampleIndex) == comm
			if i > 0 && is != wanted[t] {
				return nil, nil
			}
			wanted[t] = is
		}
	}
	return k.Occurrences(0, func(t int) bool { return wanted[t] }), nil
}

// collective handles a call in which all members of a communicator take part.
func collective(p *process, _ *thread, q *plan, c *Call) {
	op := q.out.op
	if !p.known(&op) {
		return
	}
	kind := ActCollective
	if q.request >= 0 {
		kind, op.ID = ActCollectiveBegin, p.nextID()
	}
	c.add(kind, &op)
}

// makesComm handles a call that makes a communicator.
func makesComm(p *process, _ *thread, _ *plan, c *Call) {
	for i := range c.Params {
		q := &c.Params[i]
		if q.Kind() != mpi.KindComm || q.Out.Type != trace.TypeHandle || c.NewComm == nil {
			continue
		}
		if comm := p.x.Comm(&q.Out, c.Stream, c.Index); comm != nil {
			c.add(ActCommMade, &Operation{StartedBy: c.Func, Comm: comm})
		}
	}
}

func freesComm(p *process, _ *thread, _ *plan, c *Call) {
	if comm := p.comm(c); comm != nil {
		c.add(ActCommFreed, &Operation{StartedBy: c.Func, Comm: comm})
	}
}
