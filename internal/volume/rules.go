package volume

import "strings"

// A rule says which parameters of a function tell how much it moves. Empty
// names are parameters that there are not.
type rule struct {
	out, in     part
	root        bool   // a collective call with a root
	partitions  bool   // the counts are those of one partition
	blockOfOwn  bool   // what comes in is this process's part of the counts
	inPlace     string // buffer in whose place may stand MPI_IN_PLACE
	inPlaceIsIn bool   // and then it is the receive buffer of the root
}

// A part is one direction.
type part struct {
	count, datatype string // one of a block each; without a count it is one element
	peer            string // nothing moves to MPI_PROC_NULL
	times           times
	onlyRoot        bool // of a call with a root: only the root has this part
	onlyOthers      bool // or all but the root
}

// times says how many blocks of the count there are.
type times uint8

const (
	once     times = iota
	members        // one for each process of the (other) group
	sources        // one for each neighbour that sends
	targets        // one for each neighbour that gets something
	array          // the count is an array; so may be the datatype
	ownBlock       // the element of the array for this process
)

// rules by function, without MPI_, the I of a non-blocking call, the _init of a
// persistent one and the _c of large counts.
var rules = func() map[string]*rule {
	m := make(map[string]*rule)
	add := func(r rule, names string) {
		for _, name := range strings.Fields(names) {
			m[name] = &r
		}
	}
	p := func(count, datatype, peer string) part { return part{count: count, datatype: datatype, peer: peer} }
	c := func(count, datatype string, t times) part { return part{count: count, datatype: datatype, times: t} }
	root := func(q part) part { q.onlyRoot = true; return q }
	others := func(q part) part { q.onlyOthers = true; return q }

	add(rule{out: p("count", "datatype", "dest")}, "send bsend ssend rsend")
	add(rule{in: p("count", "datatype", "source")}, "recv")
	add(rule{in: p("count", "datatype", "")}, "mrecv")
	add(rule{out: p("sendcount", "sendtype", "dest"), in: p("recvcount", "recvtype", "source")}, "sendrecv")
	add(rule{out: p("count", "datatype", "dest"), in: p("count", "datatype", "source")}, "sendrecv_replace")
	add(rule{out: p("count", "datatype", "dest"), partitions: true}, "psend")
	add(rule{in: p("count", "datatype", "source"), partitions: true}, "precv")

	one := c("count", "datatype", once)
	add(rule{out: root(one), in: others(one), root: true}, "bcast")
	add(rule{out: c("sendcount", "sendtype", once), in: root(c("recvcount", "recvtype", members)), root: true, inPlace: "sendbuf"}, "gather")
	add(rule{out: c("sendcount", "sendtype", once), in: root(c("recvcounts", "recvtype", array)), root: true, inPlace: "sendbuf"}, "gatherv")
	add(rule{out: root(c("sendcount", "sendtype", members)), in: c("recvcount", "recvtype", once), root: true, inPlace: "recvbuf", inPlaceIsIn: true}, "scatter")
	add(rule{out: root(c("sendcounts", "sendtype", array)), in: c("recvcount", "recvtype", once), root: true, inPlace: "recvbuf", inPlaceIsIn: true}, "scatterv")
	add(rule{out: c("sendcount", "sendtype", once), in: c("recvcount", "recvtype", members), inPlace: "sendbuf"}, "allgather")
	add(rule{out: c("sendcount", "sendtype", once), in: c("recvcounts", "recvtype", array), inPlace: "sendbuf"}, "allgatherv")
	add(rule{out: c("sendcount", "sendtype", members), in: c("recvcount", "recvtype", members), inPlace: "sendbuf"}, "alltoall")
	add(rule{out: c("sendcounts", "sendtype", array), in: c("recvcounts", "recvtype", array), inPlace: "sendbuf"}, "alltoallv")
	add(rule{out: c("sendcounts", "sendtypes", array), in: c("recvcounts", "recvtypes", array), inPlace: "sendbuf"}, "alltoallw")
	add(rule{out: one, in: root(one), root: true}, "reduce")
	add(rule{out: one, in: one}, "allreduce scan exscan")
	add(rule{out: c("recvcount", "datatype", members), in: c("recvcount", "datatype", once)}, "reduce_scatter_block")
	add(rule{out: c("recvcounts", "datatype", array), in: c("recvcounts", "datatype", ownBlock)}, "reduce_scatter")

	add(rule{out: c("sendcount", "sendtype", once), in: c("recvcount", "recvtype", sources)}, "neighbor_allgather")
	add(rule{out: c("sendcount", "sendtype", once), in: c("recvcounts", "recvtype", array)}, "neighbor_allgatherv")
	add(rule{out: c("sendcount", "sendtype", targets), in: c("recvcount", "recvtype", sources)}, "neighbor_alltoall")
	add(rule{out: c("sendcounts", "sendtype", array), in: c("recvcounts", "recvtype", array)}, "neighbor_alltoallv")
	add(rule{out: c("sendcounts", "sendtypes", array), in: c("recvcounts", "recvtypes", array)}, "neighbor_alltoallw")

	origin := p("origin_count", "origin_datatype", "target_rank")
	add(rule{out: origin}, "put rput accumulate raccumulate")
	add(rule{in: origin}, "get rget")
	add(rule{out: origin, in: p("result_count", "result_datatype", "target_rank")}, "get_accumulate rget_accumulate")
	add(rule{out: p("", "datatype", "target_rank"), in: p("", "datatype", "target_rank")}, "fetch_and_op compare_and_swap")

	for _, how := range []string{"", "_at", "_all", "_at_all", "_shared", "_ordered"} {
		for _, step := range []string{"", "_begin"} {
			add(rule{out: one}, "file_write"+how+step)
			add(rule{in: one}, "file_read"+how+step)
		}
	}
	return m
}()

// ruleOf finds the rule of a function; nil if it moves nothing. persistent says
// that it only prepares to.
func ruleOf(function string) (r *rule, persistent bool) {
	name, ok := strings.CutPrefix(strings.ToLower(function), "mpi_")
	if !ok {
		return nil, false
	}
	name = strings.TrimSuffix(name, "_c")
	if r = rules[name]; r != nil {
		return r, false
	}
	if base, ok := strings.CutSuffix(name, "_init"); ok {
		return rules[base], rules[base] != nil
	}
	if base, ok := strings.CutPrefix(name, "file_i"); ok {
		return rules["file_"+base], false
	}
	if base, ok := strings.CutPrefix(name, "i"); ok {
		return rules[base], false
	}
	return nil, false
}
