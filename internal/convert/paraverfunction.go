package convert

import (
	"strings"
	"sync"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// Types of events, as Extrae numbers them.
const (
	pointToPoint = 50000001
	collective   = 50000002
	other        = 50000003
	oneSided     = 50000004
	fileIO       = 50000005
	sentType     = 50100001 // bytes that a rank sends in a collective
	receivedType = 50100002
	rootType     = 50100003
	commType     = 50100004
	lineType     = 80000001
	finding      = 85000001 // spoor's findings, which Extrae doesn't have
	valueType    = 90000001 // the first attached value; further ones have the following numbers
)

// States of threads, as Paraver numbers them.
const (
	running            = 1
	waitMessage        = 3
	blockingSend       = 4
	synchronising      = 5
	inTest             = 6
	waiting            = 8
	immediateSend      = 10
	immediateRecv      = 11
	inFile             = 12
	inGroup            = 13
	others             = 15
	sendReceiveProgram = 16
)

// A state is a state that Paraver knows: its number, name and colour as {red,green,blue}.
type state struct {
	number      int
	name, color string
}

var states = []state{
	{0, "Idle", "{117,195,255}"}, {running, "Running", "{0,0,255}"}, {2, "Not created", "{255,255,255}"},
	{waitMessage, "Waiting a message", "{255,0,0}"}, {blockingSend, "Blocking Send", "{255,0,174}"},
	{synchronising, "Synchronization", "{179,0,0}"}, {inTest, "Test/Probe", "{0,255,0}"},
	{7, "Scheduling and Fork/Join", "{255,255,0}"}, {waiting, "Wait/WaitAll", "{235,0,0}"}, {9, "Blocked", "{0,162,0}"},
	{immediateSend, "Immediate Send", "{255,0,255}"}, {immediateRecv, "Immediate Receive", "{100,100,177}"},
	{inFile, "I/O", "{172,174,41}"}, {inGroup, "Group Communication", "{255,144,26}"}, {14, "Tracing Disabled", "{2,255,177}"},
	{others, "Others", "{192,224,0}"}, {sendReceiveProgram, "Send Receive", "{66,66,66}"},
}

// numbered lists the MPI functions that Extrae numbers, without MPI_. The first has number 1.
const numbered = `
	Send Recv Isend Irecv Wait Waitall Bcast Barrier Reduce Allreduce Alltoall Alltoallv Gather Gatherv Scatter Scatterv
	Allgather Allgatherv Comm_rank Comm_size Comm_create Comm_dup Comm_split Comm_group Comm_free Comm_remote_group
	Comm_remote_size Comm_test_inter Comm_compare Scan Init Finalize Bsend Ssend Rsend Ibsend Issend Irsend Test Cancel
	Sendrecv Sendrecv_replace Cart_create Cart_shift Cart_coords Cart_get Cart_map Cart_rank Cart_sub Cartdim_get
	Dims_create Graph_get Graph_map Graph_create Graph_neighbors Graphdims_get Graph_neighbors_count Topo_test Waitany
	Waitsome Probe Iprobe Win_create Win_free Put Get Accumulate Win_fence Win_start Win_complete Win_post Win_wait
	Win_test Win_lock Win_unlock Pack Unpack Op_create Op_free Reduce_scatter Attr_delete Attr_get Attr_put
	Group_difference Group_excl Group_free Group_incl Group_intersection Group_rank Group_range_excl Group_range_incl
	Group_size Group_translate_ranks Group_union Group_compare Intercomm_create Intercomm_merge Keyval_free Keyval_create
	Abort Error_class Errhandler_create Errhandler_free Errhandler_get Error_string Errhandler_set Get_processor_name
	Initialized Wtick Wtime Address Bsend_init Buffer_attach Buffer_detach Request_free Recv_init Send_init Get_count
	Get_elements Pack_size Rsend_init Ssend_init Start Startall Testall Testany Test_cancelled Testsome Type_commit
	Type_contiguous Type_extent Type_free Type_hindexed Type_hvector Type_indexed Type_lb Type_size Type_struct Type_ub
	Type_vector File_open File_close File_read File_read_all File_write File_write_all File_read_at File_read_at_all
	File_write_at File_write_at_all Comm_spawn Comm_spawn_multiple Request_get_status Ireduce Iallreduce Ibarrier Ibcast
	Ialltoall Ialltoallv Iallgather Iallgatherv Igather Igatherv Iscatter Iscatterv Ireduce_scatter Iscan`

var numbers = sync.OnceValue(func() map[string]int {
	list := make(map[string]int)
	for i, name := range strings.Fields(numbered) {
		list["mpi_"+strings.ToLower(name)] = i + 1
	}
	return list
})

// A function is how calls of an MPI function appear in Paraver: type and value of the event, and the thread's state.
type function struct {
	event, value, state int
	name                string
	// number of the event when a call returns to the program, not to a call around it; noEvent: not made yet
	left int
}

// describe determines how calls of a function appear in Paraver. A function that Extrae does not number has the value
// 1000 plus its id.
func describe(f *trace.Function) *function {
	x := &function{event: other, value: 1000 + int(f.ID), state: others, name: f.Name}
	if n, ok := numbers()[strings.ToLower(f.Name)]; ok {
		x.value = n
	}
	base, m := ops.BaseName(f), meaning.DataMovementOf(f.Name)
	switch {
	case strings.HasPrefix(base, "File_"):
		x.event, x.state = fileIO, inFile
	case strings.HasPrefix(base, "Win_") || m != nil && m.Pattern == meaning.PatternOneSided:
		x.event = oneSided
	case ops.HasAttr(f, mpi.AttrBarrier):
		x.event, x.state = collective, synchronising
	case m != nil && m.Pattern.IsCollective():
		x.event, x.state = collective, inGroup
	case m != nil && m.Pattern == meaning.PatternReceive:
		x.event, x.state = pointToPoint, waitMessage
		if f.Has(trace.AttrNonblocking) {
			x.state = immediateRecv
		}
	case m != nil && m.Pattern == meaning.PatternToPeer:
		x.event, x.state = pointToPoint, blockingSend
		switch {
		case m.In != nil:
			x.state = sendReceiveProgram
		case f.Has(trace.AttrNonblocking):
			x.state = immediateSend
		}
	case strings.HasPrefix(base, "Test") && f.Has(trace.AttrCompletes), strings.HasSuffix(base, "probe"), base == "Probe":
		x.event, x.state = pointToPoint, inTest
	case f.Has(trace.AttrCompletes):
		x.event, x.state = pointToPoint, waiting
	case f.Has(trace.AttrStarts):
		x.event, x.state = pointToPoint, immediateSend
	}
	return x
}
