package efficiency

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// aloneIn finds the distinct calls of a class in which no rank can wait for another. Calls that complete requests are
// local if all calls that make requests are.
func aloneIn(r *trace.Reader, members []int) ([]bool, error) {
	var all []bool
	none, err := ops.SingleRank(r)
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
		others := ops.RemoteCallsOf(r, k, none)
		requests := true
		for t := range all {
			if !all[t] {
				continue
			}
			if all[t], err = alone(k, others, t, &requests); err != nil {
				return nil, err
			}
		}
		for t := range all {
			if !all[t] || requests {
				continue
			}
			called := k.CallWithoutParams(t)
			all[t] = !passesRequest(called.Func, false)
		}
		if !slices.Contains(all, true) {
			break
		}
	}
	return all, nil
}

// passesRequest reports whether a function makes requests or finds messages (make), or is given requests or messages.
func passesRequest(f *trace.Function, make bool) bool {
	def, _ := mpi.ByID(f.ID)
	return def != nil && slices.ContainsFunc(def.Params, func(p mpi.Param) bool {
		return (p.Kind == mpi.KindRequest || p.Kind == mpi.KindMessage) && (p.Dir == mpi.DirOut) == make
	})
}

// alone reports whether no other rank takes part in a distinct call. If one does and the call makes a request, alone
// clears *requests.
func alone(k *trace.Rank, others *ops.RemoteCalls, terminal int, requests *bool) (bool, error) {
	called := k.CallWithoutParams(terminal)
	if passesRequest(called.Func, false) {
		return true, nil
	}
	makes := passesRequest(called.Func, true)
	if f := called.Func; !makes && !blocks(f) && !f.Has(trace.AttrCollective) {
		return false, nil // ranks don't wait in it anyway
	}
	in, err := others.InvolvesOthers(terminal)
	*requests = *requests && (!in || !makes)
	return !in, err
}
