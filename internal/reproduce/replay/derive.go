// An Order finds which messages a rank has to receive from what all ranks send, without a look
// at the receives that the program made.
//
// Every rank goes through the calls of all ranks in one and the same order, which follows from the trace alone: in
// turn, each rank goes on to its next send, or to its next collective call, where it stays until all members are there.
// The rank acts on what concerns it: it makes its own sends and collective calls at their places in the order, and
// posts a receive for each send to it.
//
// Nothing can wait in vain then. Before a rank waits at some place of the order, it has posted everything before that
// place that concerns it, and it waits for nothing after it. Of all ranks that are held up, take the one with the first
// place: all others are at least as far, so what it waits for has been posted at the other end, whether messages are
// buffered or not.
//
// Invariants:
//
//  1. The order MUST NOT depend on who asks.
//  2. A collective call has its place where the last of its members reaches it.

package replay

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// A Role is what a call is to other ranks.
type Role uint8

// The roles.
const (
	RoleOwn     Role = iota // none: it is made as recorded
	RoleDropped             // it receives, probes, or waits for requests: it isn't made
	RoleSends               // it sends a message; what it receives besides is left out
	RoleStarts              // it starts persistent requests; of these, those that send
	RoleMeets               // all members of a communicator have to make it
)

// roleOf returns the role that all of a function's calls have.
func roleOf(def *mpi.Call) Role {
	m := meaning.DataMovementOf(def.Name)
	switch {
	case def.Has(mpi.AttrPosix):
		return RoleOwn
	case def.Has(mpi.AttrStarts):
		return RoleStarts
	case m != nil && m.Pattern == meaning.PatternToPeer && !m.TakesEffectAtStart:
		return RoleSends
	case m != nil && m.Pattern == meaning.PatternToPeer:
		return RoleOwn // it is its starts that send
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

// LargeReceiveName is what receives of 2 GiB and more need.
const LargeReceiveName = "MPI_Irecv_c"

// DeriveObstacles lists the calls that rule out derived receives, for a trace that can otherwise be replayed.
func DeriveObstacles(r *trace.Reader) ([]reissue.Obstacle, error) {
	found := make(reissue.ObstacleTally)
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		if k.Streams() > 1 {
			found.Add(map[reissue.ObstacleCause]uint64{{Function: "any", Reason: "on a rank with several threads, whose calls have no one order"}: k.Total()})
			continue
		}
		calls, err := k.Distinct()
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		found.CollectRank(k, calls, why)
	}
	return found.List(), nil
}

// why is the reason for which a call rules out derived receives; "" if it does not.
func why(c *trace.Call) string {
	def, ok := mpi.Lookup(c.Name())
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
	case c.Return != 0 && (role == RoleSends || role == RoleStarts || role == RoleMeets):
		return "it failed, and who took part isn't known"
	}
	return ""
}

// cancelled reports whether a status is that of a message that was to be sent and never was.
func cancelled(v *trace.Value) bool {
	return v.Status != nil && v.Status.Form == trace.StatusSend && v.Status.Cancelled ||
		slices.ContainsFunc(v.Elems, func(x trace.Value) bool { return cancelled(&x) })
}
