package efficiency

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// aloneIn reports, by terminal, the distinct calls of a class in which no rank can wait for another rank. A call that
// completes requests is one of them only if no call of the class makes a request that involves another rank.
func aloneIn(r *trace.Reader, members []int) ([]bool, error) {
	var all []bool
	none, err := ops.IsSingleRankRun(r)
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

// passesRequest reports whether a function returns requests or message handles (make), or is passed such (not make).
func passesRequest(f *trace.Function, make bool) bool {
	def, _ := mpi.CallByID(f.ID)
	return def != nil && slices.ContainsFunc(def.Params, func(p mpi.Param) bool {
		return (p.Kind == mpi.KindRequest || p.Kind == mpi.KindMessage) && (p.Dir == mpi.DirOut) == make
	})
}

// alone reports whether no other rank takes part in a distinct call. Calls that complete requests count as if none did.
// If another rank takes part in a call that makes a request, alone sets *requests to false.
func alone(k *trace.Rank, others *ops.RemoteCalls, terminal int, requests *bool) (bool, error) {
	called := k.CallWithoutParams(terminal)
	if passesRequest(called.Func, false) {
		return true, nil
	}
	makes := passesRequest(called.Func, true)
	if f := called.Func; !makes && !blocks(f) && !f.Has(trace.AttrCollective) {
		return false, nil // no rank waits in such a call, so the answer doesn't matter
	}
	in, err := others.InvolvesOthers(terminal)
	*requests = *requests && (!in || !makes)
	return !in, err
}
