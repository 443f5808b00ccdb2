package traced

import (
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
)

// neighbours reports whether a function is a neighbourhood collective.
func neighbours(base string) bool { return strings.HasPrefix(base, "Neighbor_") }

// exchange adds a neighbourhood collective: a message along each edge of the topology. It is false if
// the edges aren't known.
func (w *writer) exchange(x *ops.Operation, begins bool) bool {
	g := w.group(x.Comm)
	n := x.Neighbours
	if g.me < 0 || n == nil {
		return false
	}
	bytes := func(i int) uint64 {
		switch {
		case i < len(x.Shares.Out.By):
			return x.Shares.Out.By[i]
		case strings.HasPrefix(w.s.function(x.Function).base, "Neighbor_allgather"): // the same to each
			return x.Sent
		}
		return x.Sent / uint64(len(n.Out))
	}
	var numbers []int32
	message := dataflow.Op{Context: context(x.Comm) + 1}
	if begins { // others may be under way by then
		w.numbers[message.Context]++
		message.Tag = w.numbers[message.Context]
	}
	add := func(kind dataflow.Kind, peer int, bytes uint64) {
		if peer < 0 || peer >= x.Comm.Size || x.Comm.WorldRank(peer) < 0 {
			return
		}
		o := message
		o.Kind, o.Peer, o.Bytes, o.Request = kind, int32(x.Comm.WorldRank(peer)), int64(min(bytes, 1<<50)), w.number()
		numbers = append(numbers, o.Request)
		w.add(o)
	}
	for _, peer := range n.In {
		add(dataflow.Receive, peer, 0)
	}
	for i, peer := range n.Out {
		add(dataflow.Send, peer, bytes(i))
	}
	if begins {
		w.bundles[x.ID] = numbers
		return true
	}
	w.endAll(numbers)
	return true
}

// endAll waits for requests.
func (w *writer) endAll(numbers []int32) {
	for _, n := range numbers {
		w.add(dataflow.Op{Kind: dataflow.Wait, Request: n})
	}
	w.spare = slices.Concat(w.spare, numbers)
}
