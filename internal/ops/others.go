package ops

import (
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// RemoteCalls determines which distinct calls of a rank involve another rank. Collective calls on a communicator of
// one process, messages to the rank itself or to MPI_PROC_NULL, and access to a file that only the rank opened do
// not. Unknown calls do.
type RemoteCalls struct {
	r    *trace.Reader
	k    *trace.Rank
	none bool
	view *handles.Rank // meaning of the rank's handles; nil before the first use
}

// IsSingleRankRun reports whether the run had one rank that never connected to another world, so that no call involves
// others.
func IsSingleRankRun(r *trace.Reader) (bool, error) {
	if r.Ranks() > 1 {
		return false, nil
	}
	procs, err := r.Processes()
	if err != nil {
		return false, err
	}
	if p := procs.At(0); p.FirstThreadTracingOffNs() > 0 {
		return false, nil // the rank may have connected to another world
	}
	comms, err := handles.TableOf(r).Comms()
	return err == nil && !slices.ContainsFunc(comms.List(), func(c *handles.Comm) bool { return c.RemoteSize > 0 }), err
}

// RemoteCallsOf returns the RemoteCalls of a rank. none is the result of IsSingleRankRun.
func RemoteCallsOf(r *trace.Reader, k *trace.Rank, none bool) *RemoteCalls {
	return &RemoteCalls{r: r, k: k, none: none}
}

// InvolvesOthers reports whether some occurrence of a distinct call involves another rank. It considers the call's
// parameters without its requests.
func (o *RemoteCalls) InvolvesOthers(terminal int) (bool, error) {
	if o.none {
		return false, nil
	}
	// The values of all calls lie between those of two bounding calls, which are equal without a lane.
	least, most, err := o.k.BoundingCalls(terminal)
	if err != nil {
		return false, err
	}
	in, err := o.in(least, terminal)
	if !in && err == nil && o.k.Lane(terminal) != nil {
		in, err = o.in(most, terminal)
	}
	return in, err
}

// in reports whether some occurrence with the values of c involves another rank.
func (o *RemoteCalls) in(c *trace.Call, terminal int) (bool, error) {
	if m := meaning.DataMovementOf(c.Name()); m != nil && m.Pattern == meaning.PatternFile && !c.Func.Has(trace.AttrCollective) {
		return false, nil
	}
	if OnlyProcNull(c) {
		return false, nil
	}
	peers := peers(c)
	if p := c.Param("comm"); p != nil && p.In.Type == trace.TypeHandle && p.In.Num == mpi.HandleCommWorld && o.r.Ranks() > 1 {
		// This is the usual case, for which the meaning of handles need not be found.
		return !o.toItself(peers, func(n int) int { return n }), nil
	}
	if o.view == nil {
		var err error
		if o.view, err = handles.TableOf(o.r).RankWithCommsOnly(o.k); err != nil {
			return false, err
		}
	}
	for stream := range o.k.Streams() {
		if o.view.Count(stream, terminal) == 0 {
			continue
		}
		for _, piece := range o.view.GroupOccurrences(stream, c) {
			if o.at(c, peers, stream, piece.ExampleIndex) {
				return true, nil
			}
		}
	}
	return false, nil
}

// OnlyProcNull reports whether a call names ranks, and all of them are MPI_PROC_NULL.
func OnlyProcNull(c *trace.Call) bool {
	list := peers(c)
	return len(list) > 0 && !slices.ContainsFunc(list, func(n int) bool { return n != mpi.ProcNull })
}

// peers returns the ranks that a call names, if it is not collective.
func peers(c *trace.Call) (list []int) {
	for i := range c.Params {
		if p := &c.Params[i]; p.Kind() == mpi.KindRank && p.In.Type == trace.TypeInt && !c.Func.Has(trace.AttrCollective) {
			list = append(list, int(p.In.Num))
		}
	}
	return list
}

// toItself reports whether all peers are the rank itself or MPI_PROC_NULL; world converts to world ranks.
func (o *RemoteCalls) toItself(peers []int, world func(int) int) bool {
	return len(peers) > 0 && !slices.ContainsFunc(peers, func(n int) bool { return n != mpi.ProcNull && world(n) != o.k.Number() })
}

// at reports whether a call at a position involves another rank.
func (o *RemoteCalls) at(c *trace.Call, peers []int, stream int, index uint64) bool {
	comm := o.view.CommOf(c, stream, index)
	if comm == nil { // for example in MPI_Init
		return o.r.Ranks() > 1
	}
	for i := range c.Params { // MPI_Intercomm_create passes two
		if p := &c.Params[i]; p.Kind() == mpi.KindComm && p.In.Type == trace.TypeHandle {
			if x := o.view.Comm(&p.In, stream, index); x == nil || x.Size+x.RemoteSize > 1 {
				return !o.toItself(peers, comm.PeerWorldRank)
			}
		}
	}
	return comm.Size+comm.RemoteSize > 1 && !o.toItself(peers, comm.PeerWorldRank)
}
