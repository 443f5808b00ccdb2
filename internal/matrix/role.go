package matrix

import (
	"strings"

	"spoor/trace"
)

// A role is what a function does with messages.
type role uint8

const (
	other        role = iota
	send              // to one rank, at once
	start             // of one persistent request, or several
	rma               // to or from a window
	bcast             // the root's data to all others
	scatter           // a part for each other rank
	scatterv          //
	gather            // to the root
	reduce            //
	reduceAll         // to all others
	allgather         // to all others
	alltoall          //
	alltoallv         //
	reduceBlock       // to each the part it gets the result of
	reduceParts       //
	scan              // to the next rank
	neighbours        // the same to all neighbours
	toNeighbours      // a part for each neighbour
)

// roles are those of functions by the name of their blocking form; what makes a
// persistent request has the role that starting it has.
var roles = map[string]role{
	"Send": send, "Bsend": send, "Ssend": send, "Rsend": send,
	"Sendrecv": send, "Sendrecv_replace": send, "Psend": send,
	"Put": rma, "Get": rma, "Accumulate": rma, "Get_accumulate": rma, "Fetch_and_op": rma, "Compare_and_swap": rma,
	"Bcast": bcast, "Scatter": scatter, "Scatterv": scatterv, "Gather": gather, "Gatherv": gather, "Reduce": reduce,
	"Allgather": allgather, "Allgatherv": allgather, "Allreduce": reduceAll, "Alltoall": alltoall,
	"Alltoallv": alltoallv, "Alltoallw": alltoallv, "Reduce_scatter_block": reduceBlock, "Reduce_scatter": reduceParts,
	"Scan": scan, "Exscan": scan, "Neighbor_allgather": neighbours, "Neighbor_allgatherv": neighbours,
	"Neighbor_alltoall": toNeighbours, "Neighbor_alltoallv": toNeighbours, "Neighbor_alltoallw": toNeighbours,
	"Start": start, "Startall": start,
}

// roleOf returns a function's role, and whether it takes effect only when the
// request it makes is started.
func roleOf(f *trace.Function) (role, bool) {
	name := strings.TrimSuffix(strings.TrimPrefix(f.Name, "MPI_"), "_c")
	name, later := strings.CutSuffix(name, "_init")
	if r, ok := roles[name]; ok {
		return r, later
	}
	if rest, ok := strings.CutPrefix(name, "I"); ok && len(rest) > 0 { // nonblocking: Isend, Ineighbor_…
		rest = strings.ToUpper(rest[:1]) + rest[1:]
		return roles[rest], later
	}
	if rest, ok := strings.CutPrefix(name, "R"); ok && len(rest) > 0 && f.Has(trace.Nonblocking) { // Rput, Rget, …
		return roles[strings.ToUpper(rest[:1])+rest[1:]], later
	}
	return other, later
}
