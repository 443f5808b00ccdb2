// An EventOrder determines the messages that a rank must receive from the sends of all ranks, without reading the
// receives that the program made.
//
// Every rank goes through the calls of all ranks in the same order, which follows from the trace alone. In turn, each
// rank advances to its next send, or to its next collective call, where it stays until all members are there. The
// replaying rank makes its own sends and collective calls in this order, and posts a receive for each send to it.
//
// No deadlock is possible. Before a rank waits at some position of the order, it has posted all its operations before
// that position, and it waits for nothing after it. Of all waiting ranks, take the one with the first position: all
// others are at least as far, so what it waits for has been posted at the other end, whether messages are buffered or
// not.
//
// Invariants:
//
//  1. The order MUST NOT depend on the rank that computes it.
//  2. A collective call has its position where the last of its members reaches it.

package replay

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// A Role is what a call means for other ranks. It decides what a replay that derives receives does with the call.
type Role uint8

// The roles of calls.
const (
	RoleOwn              Role = iota // nothing: the call is made as recorded
	RoleDropped                      // it receives, probes, or waits for requests: the replay doesn't make it
	RoleSends                        // it sends a message; a combined receive is left out
	RoleStartsPersistent             // it starts persistent requests; the replay starts only sends
	RoleMeets                        // all members of a communicator have to make it
)

// roleOf returns the role that all of a function's calls have.
func roleOf(def *mpi.Call) Role {
	m := meaning.DataMovementOf(def.Name)
	switch {
	case def.Has(mpi.AttrPosix):
		return RoleOwn
	case def.Has(mpi.AttrStarts):
		return RoleStartsPersistent
	case m != nil && m.Pattern == meaning.PatternToPeer && !m.TakesEffectAtStart:
		return RoleSends
	case m != nil && m.Pattern == meaning.PatternToPeer:
		return RoleOwn // MPI_Start sends, not this call
	case m != nil && m.Pattern == meaning.PatternReceive || meaning.WaitBehaviourOf(def).Probes || def.Index("query_fn") >= 0:
		return RoleDropped
	case def.Has(mpi.AttrCollective):
		return RoleMeets
	}
	for i := range def.Params {
		if p := &def.Params[i]; p.Kind == mpi.KindMessage || p.Kind == mpi.KindRequest && p.Dir != mpi.DirOut {
			return RoleDropped
		}
	}
	return RoleOwn
}

// LargeReceiveName is the function needed for receives of 2 GiB or more.
const LargeReceiveName = "MPI_Irecv_c"

// DerivedReceiveObstacles lists the calls that make derived receives impossible, for a trace that can otherwise be replayed.
func DerivedReceiveObstacles(r *trace.Reader) ([]reissue.Obstacle, error) {
	found := make(reissue.ObstacleTally)
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		if k.Streams() > 1 {
			found.Add(map[reissue.ObstacleCause]uint64{{Function: "any", Reason: "on a rank with several threads, whose calls have no one order"}: k.TotalCallCount()})
			continue
		}
		calls, err := k.DistinctCalls()
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		found.CollectRank(k, calls, why)
	}
	return found.List(), nil
}

// why returns the reason why a call makes derived receives impossible; "" if it doesn't.
func why(c *trace.Call) string {
	def, ok := mpi.CallNamed(c.Name())
	if !ok || def.Has(mpi.AttrPosix) {
		return ""
	}
	for i := range c.Params {
		p := &c.Params[i]
		if p.Kind() == mpi.KindWin {
			return "whom one-sided calls wait for doesn't follow from sends"
		}
		if cancelled(&p.Out) {
			return "a message that it was to complete had been cancelled"
		}
	}
	switch role := roleOf(def); {
	case def.Index("partitions") >= 0 || def.Index("partition") >= 0:
		return "its messages are sent in parts"
	case def.Has(mpi.AttrPersistent) && def.Has(mpi.AttrCollective):
		return "it makes a persistent collective request"
	case c.Return != 0 && (role == RoleSends || role == RoleStartsPersistent || role == RoleMeets):
		return "it failed, and who took part isn't known"
	}
	return ""
}

// cancelled reports whether a status is that of a send that was cancelled.
func cancelled(v *trace.Value) bool {
	return v.Status != nil && v.Status.Form == trace.StatusFormOfSend && v.Status.Cancelled ||
		slices.ContainsFunc(v.Elems, func(x trace.Value) bool { return cancelled(&x) })
}
