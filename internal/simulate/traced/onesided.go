package traced

import (
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// windowInfo is the size in bytes of what members of a window tell each other when they make it.
const windowInfo = 24

// transfer begins a one-sided transfer, which ends in a call that synchronises the window, or when its
// request is waited for.
func (w *writer) transfer(a *ops.Act) bool {
	x := &a.Operation
	target := x.Comm.WorldRank(x.Peer)
	if target < 0 || w.s.o.apart {
		return false
	}
	o := dataflow.Op{Kind: dataflow.Put, Peer: int32(target), Bytes: int64(min(x.Sent, 1<<50))}
	if x.Received > 0 { // what comes back can't before what goes there
		o.Kind, o.Bytes = dataflow.Get, int64(min(max(x.Sent, x.Received), 1<<50))
	}
	if t := w.turnOf(x); t != nil && !t.waited && w.s.function(x.Function).base[0] != 'R' {
		o.Request, o.Site, o.Thread = w.number(), w.site, w.thread
		w.requests[x.ID] = o.Request
		t.kept = append(t.kept, o)
		return true
	}
	w.begin(x.ID, o)
	return true
}

// epoch is what a call does that synchronises a window with a group: word of what is open to them goes to its
// members, and word of what is complete back, in messages without bytes.
func (w *writer) epoch(a *ops.Act) bool {
	x := &a.Operation
	if w.s.o.apart {
		return false
	}
	o := dataflow.Op{Kind: dataflow.Send, Context: context(x.Comm) + 1, Tag: -1 - 2*int64(x.Window.Number), Buffered: true, Request: dataflow.NoRequest}
	if a.Kind == ops.Complete || a.Kind == ops.Posted {
		o.Tag--
	}
	if a.Kind == ops.Start || a.Kind == ops.Posted {
		o.Kind = dataflow.Receive
	}
	for _, rank := range x.Group {
		if rank != w.k.Number() {
			o.Peer = int32(rank)
			w.add(o)
		}
	}
	return true
}

// synchronised is what all members of a communicator do who wait for each other.
func (w *writer) synchronised(comm *handles.Comm, function string, bytes int64) bool {
	g := w.group(comm)
	if g.me < 0 || w.s.o.apart {
		return false
	}
	c := w.inRun(dataflow.Collective{
		Function: function, Members: comm.Size, Me: g.me, Root: -1, Rank: comm.WorldRank, Context: context(comm) + 1,
		Sent: bytes, Received: bytes * int64(comm.Size),
	})
	if c.Steps() {
		w.steps(&c)
	} else {
		w.add(c.Meet(g.level))
	}
	return true
}

// flushes reports whether a call of a function waits for no more than the rank's own transfers, if for anything.
func flushes(base string) bool {
	return strings.HasPrefix(base, "Win_flush") || base == "Win_sync" || strings.HasPrefix(base, "Win_lock") || strings.HasPrefix(base, "Win_unlock")
}
