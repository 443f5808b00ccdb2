package ops

import (
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// An openWindow is a window of a process with the transfers that are not yet complete.
type openWindow struct {
	*Window
	transfers []Operation

	started, posted []int // world ranks of the open epochs of MPI_Win_start and MPI_Win_post, if PassFineSync is set
}

const lostGroup = "synchronisations of a window with a group of ranks (MPI_Win_post, start, wait)"

// ordinal returns how many windows and files the communicator's ranks made together before, and counts this one.
func (p *process) ordinal(comm *handles.Comm) int {
	n := p.made[comm.ID()]
	p.made[comm.ID()]++
	return n
}

func makesWindow(p *process, _ *thread, _ *plan, c *Call) {
	comm, win := p.comm(c), c.Param("win")
	if comm == nil || win == nil {
		p.lose(lostComm, 1)
		return
	}
	w := p.s.window(comm, p.ordinal(comm), c.Name())
	p.windows[win.Out.Num] = &openWindow{Window: w}
	c.add(ActWindowMade, &Operation{StartedBy: c.Func, Comm: comm, Window: w})
}

func namesWindow(p *process, _ *thread, _ *plan, c *Call) {
	win, name := input(c.Call, "win"), input(c.Call, "win_name")
	if win == nil || name == nil {
		return
	}
	if w := p.windows[win.Num]; w != nil && w.Name == "" {
		w.Name = name.Text
	}
}

// window returns the window that a call passes, and an operation on it.
func (p *process) window(c *Call) (*openWindow, Operation) {
	var w *openWindow
	if v := input(c.Call, "win"); v != nil {
		w = p.windows[v.Num]
	}
	if w == nil {
		p.lose(lostWindow, 1)
		return nil, Operation{}
	}
	op := Operation{StartedBy: c.Func, Comm: w.Comm, Window: w.Window, PeerInComm: AllMembers, Root: NoRoot, Call: c.Call}
	if v := input(c.Call, "rank"); v != nil {
		op.PeerInComm = int(v.Num)
	}
	return w, op
}

func freesWindow(p *process, _ *thread, _ *plan, c *Call) {
	w, op := p.window(c)
	if w == nil {
		return
	}
	w.complete(c, AllMembers)
	c.add(ActWindowFreed, &op)

}

func oneSided(p *process, _ *thread, q *plan, c *Call) {
	if !q.out.is {
		return
	}
	w, op := p.window(c)
	if w == nil {
		return
	}
	op.PeerInComm, op.SentBytes, op.ReceivedBytes, op.Call = q.out.op.PeerInComm, q.out.op.SentBytes, q.out.op.ReceivedBytes, nil
	op.ID = p.nextID()
	kind := transferKind(meaning.DataMovementOf(c.Name()))
	c.add(kind, &op)
	if q.request < 0 {
		w.transfers = append(w.transfers, op)
	}
}

// complete adds to c the ends of the open transfers with peer, or with all members if peer is AllMembers.
func (w *openWindow) complete(c *Call, peer int) {
	rest := w.transfers[:0]
	for _, op := range w.transfers {
		if peer != AllMembers && peer != op.PeerInComm {
			rest = append(rest, op)
			continue
		}
		c.add(ActRMAEndBySync, &op)
	}
	w.transfers = rest
}

func fence(p *process, _ *thread, _ *plan, c *Call) {
	if w, op := p.window(c); w != nil {
		w.complete(c, AllMembers)
		c.add(ActWinFence, &op)
	}
}

func flushes(p *process, _ *thread, _ *plan, c *Call) {
	if w, op := p.window(c); w != nil {
		w.complete(c, op.PeerInComm)
	}
}

func locks(p *process, _ *thread, _ *plan, c *Call) {
	if w, op := p.window(c); w != nil {
		c.add(ActWinLock, &op)
	}
}

func unlocks(p *process, _ *thread, _ *plan, c *Call) {
	if w, op := p.window(c); w != nil {
		w.complete(c, op.PeerInComm)
		c.add(ActWinUnlock, &op)
	}
}
