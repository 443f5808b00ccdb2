package efficiency

import (
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// alone finds the distinct calls of a class in which no rank has another to wait for: a collective call on a communicator
// of one process, a message to the rank itself or to MPI_PROC_NULL, access to a file that only the rank opened. Calls that
// complete requests are alone if all that make requests are. What is not known has others in it.
func alone(r *trace.Reader, members []int) ([]bool, error) {
	var all []bool
	lonely, err := lonely(r)
	if err != nil {
		return nil, err
	}
	for _, rank := range members {
		k, err := r.Rank(rank)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = slices.Repeat([]bool{true}, k.Terminals())
		}
		v := &company{r: r, k: k, lonely: lonely}
		requests := true
		for t := range all {
			if !all[t] {
				continue
			}
			if all[t], err = v.alone(t, &requests); err != nil {
				return nil, err
			}
		}
		for t := range all {
			if !all[t] || requests {
				continue
			}
			called := k.Called(t)
			all[t] = !passesRequest(called.Func, false)
		}
		if !slices.Contains(all, true) {
			break
		}
	}
	return all, nil
}

// passesRequest reports whether the calls of a function make requests or find messages, or else are given such.
func passesRequest(f *trace.Function, make bool) bool {
	def, _ := mpi.ByID(f.ID)
	return def != nil && slices.ContainsFunc(def.Params, func(p mpi.Param) bool {
		return (p.Kind == mpi.KindRequest || p.Kind == mpi.KindMessage) && (p.Dir == mpi.Out) == make
	})
}

// A company tells with whom one rank makes its calls.
type company struct {
	r      *trace.Reader
	k      *trace.Rank
	lonely bool
	view   *handles.Rank // nil until something is asked of it
}

// lonely reports whether the run was of one rank that met no other world, so that no parameter of a call needs a look.
func lonely(r *trace.Reader) (bool, error) {
	if r.Ranks() > 1 {
		return false, nil
	}
	procs, err := r.Processes()
	if err != nil {
		return false, err
	}
	if p := procs.At(0); p.OffNs() > 0 {
		return false, nil // it may have met one meanwhile
	}
	comms, err := handles.Of(r).Comms()
	return err == nil && !slices.ContainsFunc(comms.List(), func(c *handles.Comm) bool { return c.RemoteSize > 0 }), err
}

// alone reports whether nobody else has to do with a distinct call. If there is somebody and the call makes a request,
// requests becomes false.
func (v *company) alone(terminal int, requests *bool) (bool, error) {
	called := v.k.Called(terminal)
	if passesRequest(called.Func, false) {
		return true, nil
	}
	makes := passesRequest(called.Func, true)
	if f := called.Func; !makes && !blocks(f) && !f.Has(trace.Collective) {
		return false, nil // no rank waits in it anyway
	}
	if v.lonely {
		return true, nil
	}
	// What a lane changes from call to call lies between two, which mostly are the same.
	least, most, err := v.k.Extremes(terminal)
	if err != nil {
		return false, err
	}
	is, err := v.always(least, terminal)
	if is && err == nil && v.k.Lane(terminal) != nil {
		is, err = v.always(most, terminal)
	}
	*requests = *requests && (is || !makes)
	return is, err
}

// always reports it of all occurrences of a distinct call.
func (v *company) always(c *trace.Call, terminal int) (bool, error) {
	peers := peers(c)
	if m := meaning.Of(c.Name()); m != nil && m.Pattern == meaning.File && !c.Func.Has(trace.Collective) {
		return true, nil
	}
	if len(peers) > 0 && !slices.ContainsFunc(peers, func(n int) bool { return n != mpi.ProcNull }) {
		return true, nil
	}
	if p := c.Param("comm"); p != nil && p.In.Type == trace.Handle && p.In.Num == mpi.CommWorld && v.r.Ranks() > 1 {
		// Most calls are such, and need no view.
		return v.toItself(peers, func(n int) int { return n }), nil
	}
	if v.view == nil {
		var err error
		if v.view, err = handles.Of(v.r).CommRank(v.k); err != nil {
			return false, err
		}
	}
	for stream := range v.k.Streams() {
		if v.view.Count(stream, terminal) == 0 {
			continue
		}
		for _, piece := range v.view.Pieces(stream, c) {
			if !v.within(c, peers, stream, piece.At) {
				return false, nil
			}
		}
	}
	return true, nil
}

// peers are the ranks that a call names which is not collective.
func peers(c *trace.Call) (list []int) {
	for i := range c.Params {
		if p := &c.Params[i]; p.Kind() == mpi.KindRank && p.In.Type == trace.Int && !c.Func.Has(trace.Collective) {
			list = append(list, int(p.In.Num))
		}
	}
	return list
}

// toItself reports whether the peers are the rank itself or nobody; world gives the rank in the world.
func (v *company) toItself(peers []int, world func(int) int) bool {
	return len(peers) > 0 && !slices.ContainsFunc(peers, func(n int) bool { return n != mpi.ProcNull && world(n) != v.k.Number() })
}

// within reports it of a call at a position.
func (v *company) within(c *trace.Call, peers []int, stream int, at uint64) bool {
	comm := v.view.CommOf(c, stream, at)
	if comm == nil { // as of MPI_Init
		return v.r.Ranks() == 1
	}
	for i := range c.Params { // MPI_Intercomm_create passes two
		if p := &c.Params[i]; p.Kind() == mpi.KindComm && p.In.Type == trace.Handle {
			if x := v.view.Comm(&p.In, stream, at); x == nil || x.Size+x.RemoteSize > 1 {
				return v.toItself(peers, comm.Peer)
			}
		}
	}
	return comm.Size+comm.RemoteSize == 1 || v.toItself(peers, comm.Peer)
}
