// Package opstest computes what calls move the plain way: every call of a
// rank in turn, from its decoded parameters. Tests compare package ops, which
// never does that, with it; nothing else imports it.
package opstest

import (
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

type comm struct{ rank, size, remote, in, out int64 }

type walk struct {
	own     *handles.Rank
	stream  int
	index   uint64
	world   comm
	types   map[int64]int64
	comms   map[int64]comm
	started map[int64]ops.Amount
}

// Expand returns what all calls of a rank moved, by terminal.
func Expand(r *trace.Reader, k *trace.Rank) (map[int]ops.Amount, error) {
	own, err := handles.TableOf(r).Rank(k)
	if err != nil {
		return nil, err
	}
	w := &walk{
		own:   own,
		world: comm{rank: int64(k.Number()), size: int64(r.Ranks()), in: 1, out: 1},
		types: map[int64]int64{}, comms: map[int64]comm{}, started: map[int64]ops.Amount{},
	}
	// A handle used before its thread makes it is the first one with its number.
	calls, err := k.DistinctCalls()
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		w.make(c, false)
	}
	turns, err := handles.ThreadDependencies(k)
	if err != nil {
		return nil, err
	}
	totals := make(map[int]ops.Amount)
	walks := make([]*trace.Walk, k.Streams())
	for stream := range walks {
		if walks[stream], err = k.Walk(stream, 0); err != nil {
			return nil, err
		}
	}
	at := make([]uint64, len(walks))
	// One thread after the other, except where one depends on another's call.
	for {
		stream := next(k, turns, at)
		if stream < 0 {
			return totals, nil
		}
		if !walks[stream].Next() {
			return nil, walks[stream].Err()
		}
		c := walks[stream].Call()
		at[stream]++
		w.stream, w.index = stream, c.Index
		if a := w.call(c); a != (ops.Amount{}) {
			sum := totals[c.Terminal]
			sum.AddMultiple(a, 1)
			totals[c.Terminal] = sum
		}
		w.make(c, true)
	}
}

// next returns the first stream with a remaining call that waits for no other stream; -1 without one.
func next(k *trace.Rank, turns [][]handles.ThreadDependency, at []uint64) int {
	for stream := range at {
		list := &turns[stream]
		for len(*list) > 0 && (*list)[0].LaterCall <= at[stream] && at[(*list)[0].EarlierStream] > (*list)[0].EarlierCall {
			*list = (*list)[1:]
		}
		if at[stream] < k.CallCount(stream) && (len(*list) == 0 || (*list)[0].LaterCall > at[stream]) {
			return stream
		}
	}
	return -1
}

func in(c *trace.Call, name string) *trace.Value {
	if p := c.Param(name); p != nil && p.In.Type != trace.TypeNone {
		return &p.In
	}
	return &trace.Value{}
}

// make records the handles that a call makes.
func (w *walk) make(c *trace.Call, again bool) {
	if c.Return != 0 {
		return
	}
	for i := range c.Params {
		out := c.Params[i].Out
		switch kind := c.Params[i].Kind(); {
		case kind == mpi.KindDatatype && out.Type == trace.TypeHandle && c.NewType != nil:
			if _, known := w.types[out.Num]; again || !known {
				w.types[out.Num] = c.NewType.Size
			}
			return
		case kind == mpi.KindComm && out.Type == trace.TypeHandle && c.NewComm != nil:
			if _, known := w.comms[out.Num]; again || !known {
				w.comms[out.Num] = w.newComm(c)
			}
			return
		case kind == mpi.KindRequest && out.Type == trace.TypeRequest && strings.HasSuffix(strings.TrimSuffix(c.Name(), "_c"), "_init"):
			if _, known := w.started[out.Num]; again || !known {
				base := strings.TrimSuffix(strings.TrimSuffix(c.Name(), "_c"), "_init")
				w.started[out.Num] = w.moved(c, strings.ToLower(strings.TrimPrefix(base, "MPI_")))
			}
			return
		}
	}
}

func (w *walk) newComm(c *trace.Call) comm {
	n := c.NewComm
	m := comm{n.Rank, n.Size, n.RemoteSize, 1, 1}
	switch c.Name() {
	case "MPI_Cart_create":
		m.in = 2 * in(c, "ndims").Num
		m.out = m.in
	case "MPI_Cart_sub":
		m.in = 0
		for _, v := range in(c, "remain_dims").Elems {
			if v.Num != 0 {
				m.in += 2
			}
		}
		m.out = m.in
	case "MPI_Graph_create":
		index := in(c, "index").Elems
		if m.rank >= 0 && m.rank < int64(len(index)) {
			m.in = index[m.rank].Num
			if m.rank > 0 {
				m.in -= index[m.rank-1].Num
			}
			m.out = m.in
		}
	case "MPI_Dist_graph_create_adjacent":
		m.in, m.out = in(c, "indegree").Num, in(c, "outdegree").Num
	case "MPI_Dist_graph_create":
		n, _ := w.own.Neighbours(c.Param("comm_dist_graph").Out.Num, w.stream, w.index)
		m.in, m.out = int64(len(n.Sources)), int64(len(n.Destinations))
	case "MPI_Comm_dup", "MPI_Comm_idup", "MPI_Comm_dup_with_info", "MPI_Comm_idup_with_info":
		p := w.comm(in(c, "comm").Num)
		m.in, m.out = p.in, p.out
	}
	return m
}

func (w *walk) comm(handle int64) comm {
	switch handle {
	case mpi.HandleCommWorld:
		return w.world
	case mpi.HandleCommSelf:
		return comm{0, 1, 0, 0, 0}
	}
	return w.comms[handle]
}

func (w *walk) size(handle int64) uint64 {
	if n, ok := mpi.PredefinedTypeSize(handle); ok {
		return uint64(n)
	}
	return uint64(max(0, w.types[handle]))
}

func (w *walk) call(c *trace.Call) (a ops.Amount) {
	if c.Return != 0 {
		return a
	}
	name := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(c.Name(), "MPI_"), "_c"))
	switch name {
	case "start":
		return w.started[in(c, "request").Num]
	case "startall":
		for _, v := range in(c, "array_of_requests").Elems {
			a.AddMultiple(w.started[v.Num], 1)
		}
		return a
	}
	if strings.HasSuffix(name, "_init") {
		return a
	}
	return w.moved(c, name)
}

// moved computes what a call moves; name is without MPI_, in lower case.
func (w *walk) moved(c *trace.Call, name string) (a ops.Amount) {
	amount := func(count, datatype string, times int64) uint64 {
		return uint64(max(0, in(c, count).Num)) * w.size(in(c, datatype).Num) * uint64(max(0, times))
	}
	sum := func(counts, types string) uint64 {
		total := uint64(0)
		for i, v := range in(c, counts).Elems {
			t := in(c, types)
			if t.Type == trace.TypeArray {
				t = &t.Elems[i]
			}
			total += uint64(max(0, v.Num)) * w.size(t.Num)
		}
		return total
	}
	to := func(peer string) int64 {
		if in(c, peer).Num == -3 {
			return 0
		}
		return 1
	}
	received := func(posted uint64) uint64 {
		if p := c.Param("status"); p != nil && p.Out.Type == trace.TypeStatus && posted > 0 {
			if s := p.Out.Status; (s.Form == trace.StatusFormFilled || s.Form == trace.StatusFormIgnored) && s.ReceivedBytes >= 0 {
				return uint64(s.ReceivedBytes)
			}
		}
		return posted
	}
	here := func(name string) bool {
		a := in(c, name).Addr
		return in(c, name).Type == trace.TypeAddress && a.Class == trace.AddressSpecial && a.Offset == trace.SpecialInPlace
	}
	cm := w.comm(in(c, "comm").Num)
	root, group, others := in(c, "root").Num, cm.size, true
	isRoot := root == cm.rank
	if cm.remote > 0 {
		group = cm.remote
		isRoot, others = root == -4, root != -4 && root != -3
	}
	own := func(counts, datatype string) uint64 {
		if list := in(c, counts).Elems; cm.rank >= 0 && cm.rank < int64(len(list)) {
			return uint64(max(0, list[cm.rank].Num)) * w.size(in(c, datatype).Num)
		}
		return 0
	}
	base := name
	if strings.HasPrefix(name, "file_") {
		for _, s := range []string{"file_iread", "file_read"} {
			if strings.HasPrefix(name, s) && !strings.HasSuffix(name, "_end") {
				a.BytesIn = received(amount("count", "datatype", 1))
			}
		}
		for _, s := range []string{"file_iwrite", "file_write"} {
			if strings.HasPrefix(name, s) && !strings.HasSuffix(name, "_end") {
				a.BytesOut = amount("count", "datatype", 1)
			}
		}
		return a
	}
	known := " send bsend ssend rsend recv mrecv sendrecv sendrecv_replace bcast gather gatherv scatter scatterv allgather" +
		" allgatherv alltoall alltoallv alltoallw reduce allreduce scan exscan reduce_scatter_block reduce_scatter neighbor_allgather" +
		" neighbor_allgatherv neighbor_alltoall neighbor_alltoallv neighbor_alltoallw "
	if strings.HasPrefix(name, "i") && strings.Contains(known, " "+name[1:]+" ") {
		base = name[1:]
	}
	switch base {
	case "send", "bsend", "ssend", "rsend":
		a.BytesOut = amount("count", "datatype", to("dest"))
	case "recv":
		a.BytesIn = received(amount("count", "datatype", to("source")))
	case "mrecv":
		a.BytesIn = received(amount("count", "datatype", 1))
	case "sendrecv":
		a.BytesOut, a.BytesIn = amount("sendcount", "sendtype", to("dest")), received(amount("recvcount", "recvtype", to("source")))
	case "sendrecv_replace":
		a.BytesOut, a.BytesIn = amount("count", "datatype", to("dest")), received(amount("count", "datatype", to("source")))
	case "psend":
		a.BytesOut = amount("count", "datatype", to("dest")*in(c, "partitions").Num)
	case "precv":
		a.BytesIn = amount("count", "datatype", to("source")*in(c, "partitions").Num)
	case "put", "rput", "accumulate", "raccumulate":
		a.BytesOut = amount("origin_count", "origin_datatype", to("target_rank"))
	case "get", "rget":
		a.BytesIn = amount("origin_count", "origin_datatype", to("target_rank"))
	case "get_accumulate", "rget_accumulate":
		a.BytesOut = amount("origin_count", "origin_datatype", to("target_rank"))
		a.BytesIn = amount("result_count", "result_datatype", to("target_rank"))
	case "fetch_and_op", "compare_and_swap":
		a.BytesOut = w.size(in(c, "datatype").Num) * uint64(to("target_rank"))
		a.BytesIn = a.BytesOut
	case "bcast":
		if isRoot {
			a.BytesOut = amount("count", "datatype", 1)
		} else if others {
			a.BytesIn = amount("count", "datatype", 1)
		}
	case "reduce":
		if others {
			a.BytesOut = amount("count", "datatype", 1)
		}
		if isRoot {
			a.BytesIn = amount("count", "datatype", 1)
		}
	case "allreduce", "scan", "exscan":
		a.BytesOut = amount("count", "datatype", 1)
		a.BytesIn = a.BytesOut
	case "reduce_scatter_block":
		a.BytesOut, a.BytesIn = amount("recvcount", "datatype", group), amount("recvcount", "datatype", 1)
	case "reduce_scatter":
		a.BytesOut, a.BytesIn = sum("recvcounts", "datatype"), own("recvcounts", "datatype")
	case "gather":
		switch {
		case here("sendbuf"):
			a.BytesOut = amount("recvcount", "recvtype", 1)
		case others:
			a.BytesOut = amount("sendcount", "sendtype", 1)
		}
		if isRoot {
			a.BytesIn = amount("recvcount", "recvtype", group)
		}
	case "gatherv":
		switch {
		case here("sendbuf"):
			a.BytesOut = own("recvcounts", "recvtype")
		case others:
			a.BytesOut = amount("sendcount", "sendtype", 1)
		}
		if isRoot {
			a.BytesIn = sum("recvcounts", "recvtype")
		}
	case "scatter":
		if isRoot {
			a.BytesOut = amount("sendcount", "sendtype", group)
		}
		switch {
		case here("recvbuf"):
			a.BytesIn = amount("sendcount", "sendtype", 1)
		case others:
			a.BytesIn = amount("recvcount", "recvtype", 1)
		}
	case "scatterv":
		if isRoot {
			a.BytesOut = sum("sendcounts", "sendtype")
		}
		switch {
		case here("recvbuf"):
			a.BytesIn = own("sendcounts", "sendtype")
		case others:
			a.BytesIn = amount("recvcount", "recvtype", 1)
		}
	case "allgather":
		if a.BytesOut = amount("sendcount", "sendtype", 1); here("sendbuf") {
			a.BytesOut = amount("recvcount", "recvtype", 1)
		}
		a.BytesIn = amount("recvcount", "recvtype", group)
	case "allgatherv":
		if a.BytesOut = amount("sendcount", "sendtype", 1); here("sendbuf") {
			a.BytesOut = own("recvcounts", "recvtype")
		}
		a.BytesIn = sum("recvcounts", "recvtype")
	case "alltoall":
		a.BytesIn = amount("recvcount", "recvtype", group)
		if a.BytesOut = amount("sendcount", "sendtype", group); here("sendbuf") {
			a.BytesOut = a.BytesIn
		}
	case "alltoallv", "alltoallw":
		s := ""
		if base == "alltoallw" {
			s = "s"
		}
		a.BytesIn = sum("recvcounts", "recvtype"+s)
		if here("sendbuf") {
			a.BytesOut = a.BytesIn
		} else {
			a.BytesOut = sum("sendcounts", "sendtype"+s)
		}
	case "neighbor_allgather":
		a.BytesOut, a.BytesIn = amount("sendcount", "sendtype", 1), amount("recvcount", "recvtype", cm.in)
	case "neighbor_allgatherv":
		a.BytesOut, a.BytesIn = amount("sendcount", "sendtype", 1), sum("recvcounts", "recvtype")
	case "neighbor_alltoall":
		a.BytesOut, a.BytesIn = amount("sendcount", "sendtype", cm.out), amount("recvcount", "recvtype", cm.in)
	case "neighbor_alltoallv":
		a.BytesOut, a.BytesIn = sum("sendcounts", "sendtype"), sum("recvcounts", "recvtype")
	case "neighbor_alltoallw":
		a.BytesOut, a.BytesIn = sum("sendcounts", "sendtypes"), sum("recvcounts", "recvtypes")
	case "isendrecv":
		a.BytesOut, a.BytesIn = amount("sendcount", "sendtype", to("dest")), amount("recvcount", "recvtype", to("source"))
	case "isendrecv_replace":
		a.BytesOut, a.BytesIn = amount("count", "datatype", to("dest")), amount("count", "datatype", to("source"))
	}
	return a
}
