package otf2

import (
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// collectives are OTF2's numbers of collective operations. Those that make and free windows are constants, such as
// CollectiveCreateHandle.
var collectives = map[meaning.CollectiveOperation]byte{
	meaning.CollectiveBarrier: 0, meaning.CollectiveBcast: 1, meaning.CollectiveGather: 2, meaning.CollectiveGatherv: 3, meaning.CollectiveScatter: 4, meaning.CollectiveScatterv: 5, meaning.CollectiveAllgather: 6, meaning.CollectiveAllgatherv: 7, meaning.CollectiveAlltoall: 8,
	meaning.CollectiveAlltoallv: 9, meaning.CollectiveAlltoallw: 10, meaning.CollectiveAllreduce: 11, meaning.CollectiveReduce: 12, meaning.CollectiveReduceScatter: 13, meaning.CollectiveScan: 14, meaning.CollectiveExscan: 15, meaning.CollectiveReduceScatterBlock: 16,
}

var atomics = map[string]byte{
	"Accumulate": 0, "Raccumulate": 0, "Compare_and_swap": 3, "Fetch_and_op": 7, "Get_accumulate": 7, "Rget_accumulate": 7,
}

// syncAll are the flags for synchronisation of processes and of memory.
const syncAll = 1 | 2

// begun writes the events that an act has at the beginning of its call.
func (a *Writer) begun(f *file, time uint64, x *ops.Act) error {
	switch x.Kind {
	case ops.ActSend:
		return a.message(f, time, EvMpiSend, x, x.SentBytes)
	case ops.ActSendBegin:
		return a.message(f, time, EvMpiIsend, x, x.SentBytes)
	case ops.ActRecvBegin:
		return f.event(time, EvMpiIrecvRequest, x.ID)
	case ops.ActCollective, ops.ActCollectiveBegin:
		if _, ok := a.collective(x); !ok {
			return nil
		}
		if x.Kind == ops.ActCollectiveBegin {
			return f.event(time, EvCollectiveRequest, x.ID)
		}
		return f.event(time, EvMpiCollectiveBegin)
	case ops.ActWindowMade, ops.ActWindowFreed, ops.ActWinFence:
		return f.event(time, EvRmaCollectiveBegin)
	case ops.ActPut:
		return a.transfer(f, time, EvRmaPut, x, x.SentBytes)
	case ops.ActGet:
		return a.transfer(f, time, EvRmaGet, x, x.ReceivedBytes)
	case ops.ActAtomic:
		return f.event(time, EvRmaAtomic, x.Window.Number, x.PeerInComm, atomics[a.base(x.StartedBy)], x.SentBytes, x.ReceivedBytes, x.ID)
	case ops.ActRead, ops.ActReadBegin, ops.ActWrite, ops.ActWriteBegin:
		return a.fileBegin(f, time, x)
	}
	return nil
}

// ended writes the events that an act has at the end of its call.
func (a *Writer) ended(f *file, time uint64, x *ops.Act) error {
	switch x.Kind {
	case ops.ActRecv:
		return a.message(f, time, EvMpiRecv, x, x.ReceivedBytes)
	case ops.ActRecvEnd:
		return a.message(f, time, EvMpiIrecv, x, x.ReceivedBytes)
	case ops.ActSendEnd:
		return f.event(time, EvMpiIsendComplete, x.ID)
	case ops.ActTestedIncomplete:
		if x.File == nil && x.Window == nil {
			return f.event(time, EvMpiRequestTest, x.ID)
		}
	case ops.ActCancelled:
		return f.event(time, EvMpiRequestCancelled, x.ID)
	case ops.ActCollective, ops.ActCollectiveEnd:
		return a.collectiveEnd(f, time, x)
	case ops.ActCommMade, ops.ActCommFreed:
		id := byte(EvCommCreate)
		if x.Kind == ops.ActCommFreed {
			id = EvCommDestroy
		}
		return f.event(time, id, a.comm(x.Comm))
	case ops.ActWindowMade, ops.ActWindowFreed, ops.ActWinFence:
		return a.windowEnd(f, time, x)
	case ops.ActRMAEndBySync:
		return f.event(time, EvRmaCompleteBlocking, x.Window.Number, x.ID)
	case ops.ActRMAEndByRequest:
		return f.event(time, EvRmaCompleteRequested, x.Window.Number, x.ID)
	case ops.ActWinLock, ops.ActWinUnlock:
		return a.lock(f, time, x)
	}
	return a.fileEnd(f, time, x)
}

func (a *Writer) message(f *file, time uint64, id byte, x *ops.Act, bytes uint64) error {
	fields := []field{x.PeerInComm, a.comm(x.Comm), uint32(x.Tag), bytes, x.ID}
	if x.ID == 0 {
		fields = fields[:4]
	}
	return f.event(time, id, fields...)
}

// collective returns the OTF2 operation of a collective; false for neighbourhood collectives, which have none.
func (a *Writer) collective(x *ops.Act) (op byte, ok bool) {
	op, ok = collectives[ops.CollectiveOperationOf(x.StartedBy)]
	return op, ok
}

func (a *Writer) collectiveEnd(f *file, time uint64, x *ops.Act) error {
	op, ok := a.collective(x)
	if !ok {
		a.s.Losses.Add("collectives along a topology (MPI_Neighbor_…): calls, without the collective", 1)
		return nil
	}
	if x.ID > 0 {
		return f.event(time, EvCollectiveComplete, op, a.comm(x.Comm), root(x.Root), x.SentBytes, x.ReceivedBytes, x.ID)
	}
	return f.event(time, EvMpiCollectiveEnd, op, a.comm(x.Comm), root(x.Root), x.SentBytes, x.ReceivedBytes)
}

func root(rank int) uint32 {
	switch rank {
	case ops.RootSelf:
		return UndefinedRef - 1
	case ops.RootThisSide:
		return UndefinedRef - 2
	}
	return uint32(rank) // NoRoot, -1, becomes Undefined
}

func (a *Writer) windowEnd(f *file, time uint64, x *ops.Act) error {
	op, id := collectives[meaning.CollectiveBarrier], byte(0)
	own := x.Window.MadeBy == "MPI_Win_create" || x.Window.MadeBy == "MPI_Win_create_dynamic"
	switch {
	case x.Kind == ops.ActWindowMade:
		op, id = CollectiveCreateMemory, EvRmaWinCreate
		if own {
			op = CollectiveCreateHandle
		}
	case x.Kind == ops.ActWindowFreed:
		op, id = CollectiveDestroyMemory, EvRmaWinDestroy
		if own {
			op = CollectiveDestroyHandle
		}
	}
	if id != 0 {
		if err := f.event(time, id, x.Window.Number); err != nil {
			return err
		}
	}
	return f.event(time, EvRmaCollectiveEnd, op, syncAll, x.Window.Number, uint32(UndefinedRef), uint64(0), uint64(0))
}

func (a *Writer) transfer(f *file, time uint64, id byte, x *ops.Act, bytes uint64) error {
	return f.event(time, id, x.Window.Number, x.PeerInComm, bytes, x.ID)
}

// lock writes a lock or unlock; for all members, one by one.
func (a *Writer) lock(f *file, time uint64, x *ops.Act) error {
	first, last := x.PeerInComm, x.PeerInComm
	if x.PeerInComm == ops.AllMembers {
		first, last = 0, x.Comm.Size-1
	}
	kind := byte(1) // a shared lock
	if x.IsExclusiveLock() {
		kind = 0
	}
	for peer := first; peer <= last; peer++ {
		// Each member's memory has a lock of its own, with the member's number.
		id, fields := byte(EvRmaAcquireLock), []field{x.Window.Number, peer, uint64(peer), kind}
		if x.Kind == ops.ActWinUnlock {
			id, fields = EvRmaReleaseLock, fields[:3]
		}
		if err := f.event(time, id, fields...); err != nil {
			return err
		}
	}
	return nil
}

// Flags of files: of their creation (made, exclusive), of their status (appending, deletedOnClose), and of operations
// on them.
const (
	made      = 1 << 0
	exclusive = 1 << 3

	appending       = 1 << 1
	deletedOnClose  = 1 << 8
	unblocked       = 1 << 0
	collectivelyRun = 1 << 1
)

func (a *Writer) fileBegin(f *file, time uint64, x *ops.Act) error {
	mode, flags := byte(0), uint32(0)
	if x.Kind == ops.ActWrite || x.Kind == ops.ActWriteBegin {
		mode = 1
	}
	if x.Kind == ops.ActReadBegin || x.Kind == ops.ActWriteBegin {
		flags |= unblocked
	}
	if x.StartedBy.Has(trace.AttrCollective) {
		flags |= collectivelyRun
	}
	return f.event(time, EvIoOperationBegin, x.File.Number, mode, flags, x.RequestedBytes, x.ID)
}

func (a *Writer) fileEnd(f *file, time uint64, x *ops.Act) error {
	switch x.Kind {
	case ops.ActFileOpened:
		return a.opened(f, time, x)
	case ops.ActFileClosed:
		return f.event(time, EvIoDestroyHandle, x.File.Number)
	case ops.ActFileDeleted:
		return f.event(time, EvIoDeleteFile, uint8(0), a.path(x.File.Name)) // 0: the only paradigm
	case ops.ActFileSought:
		return a.sought(f, time, x)
	case ops.ActReadBegin, ops.ActWriteBegin:
		return f.event(time, EvIoOperationIssued, x.File.Number, x.ID)
	case ops.ActRead, ops.ActReadEnd:
		return f.event(time, EvIoOperationComplete, x.File.Number, x.ReceivedBytes, x.ID)
	case ops.ActWrite, ops.ActWriteEnd:
		return f.event(time, EvIoOperationComplete, x.File.Number, x.SentBytes, x.ID)
	}
	return nil
}

func (a *Writer) opened(f *file, time uint64, x *ops.Act) error {
	access, creation, status := byte(IoAccessReadWrite), uint32(0), uint32(0)
	mode := param(x.Call, "amode")
	switch {
	case mode&mpi.ModeReadOnly != 0:
		access = IoAccessReadOnly
	case mode&mpi.ModeWriteOnly != 0:
		access = IoAccessWriteOnly
	}
	for bit, flag := range map[int64]uint32{mpi.ModeCreate: made, mpi.ModeExclusive: exclusive} {
		if mode&bit != 0 {
			creation |= flag
		}
	}
	for bit, flag := range map[int64]uint32{mpi.ModeAppend: appending, mpi.ModeDeleteOnClose: deletedOnClose} {
		if mode&bit != 0 {
			status |= flag
		}
	}
	return f.event(time, EvIoCreateHandle, x.File.Number, access, creation, status)
}

// sought writes a file's new position. MPI gives it in units of the view.
func (a *Writer) sought(f *file, time uint64, x *ops.Act) error {
	offset := param(x.Call, "offset")
	from := byte(0)
	switch param(x.Call, "whence") {
	case mpi.SeekCurrent:
		from = 1
	case mpi.SeekEnd:
		from = 2
	}
	return f.event(time, EvIoSeek, x.File.Number, uint64(offset), from, uint64(max(0, offset)))
}

func param(c *trace.Call, name string) int64 {
	if p := c.Param(name); p != nil {
		return p.In.Num
	}
	return 0
}
