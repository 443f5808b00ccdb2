package otf2

import (
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// Collective operations by function; those that make and free windows have none of their own.
var collectives = map[meaning.Operation]byte{
	meaning.Barrier: 0, meaning.Bcast: 1, meaning.Gather: 2, meaning.Gatherv: 3, meaning.Scatter: 4, meaning.Scatterv: 5, meaning.Allgather: 6, meaning.Allgatherv: 7, meaning.Alltoall: 8,
	meaning.Alltoallv: 9, meaning.Alltoallw: 10, meaning.Allreduce: 11, meaning.Reduce: 12, meaning.ReduceScatter: 13, meaning.Scan: 14, meaning.Exscan: 15, meaning.ReduceScatterBlock: 16,
}

var atomics = map[string]byte{
	"Accumulate": 0, "Raccumulate": 0, "Compare_and_swap": 3, "Fetch_and_op": 7, "Get_accumulate": 7, "Rget_accumulate": 7,
}

// Synchronisation of processes and of memory.
const syncAll = 1 | 2

// begun writes what a call did when it began.
func (a *Writer) begun(f *file, time uint64, x *ops.Act) error {
	switch x.Kind {
	case ops.Send:
		return a.message(f, time, EvMpiSend, x, x.Sent)
	case ops.SendBegin:
		return a.message(f, time, EvMpiIsend, x, x.Sent)
	case ops.RecvBegin:
		return f.event(time, EvMpiIrecvRequest, x.ID)
	case ops.Collective, ops.CollectiveBegin:
		if _, ok := a.collective(x); !ok {
			return nil
		}
		if x.Kind == ops.CollectiveBegin {
			return f.event(time, EvCollectiveRequest, x.ID)
		}
		return f.event(time, EvMpiCollectiveBegin)
	case ops.WindowMade, ops.WindowFreed, ops.Fence:
		return f.event(time, EvRmaCollectiveBegin)
	case ops.Put:
		return a.transfer(f, time, EvRmaPut, x, x.Sent)
	case ops.Get:
		return a.transfer(f, time, EvRmaGet, x, x.Received)
	case ops.Atomic:
		return f.event(time, EvRmaAtomic, x.Window.Number, x.Peer, atomics[a.base(x.Function)], x.Sent, x.Received, x.ID)
	case ops.Read, ops.ReadBegin, ops.Write, ops.WriteBegin:
		return a.fileBegin(f, time, x)
	}
	return nil
}

// ended writes what a call had done when it returned.
func (a *Writer) ended(f *file, time uint64, x *ops.Act) error {
	switch x.Kind {
	case ops.Recv:
		return a.message(f, time, EvMpiRecv, x, x.Received)
	case ops.RecvEnd:
		return a.message(f, time, EvMpiIrecv, x, x.Received)
	case ops.SendEnd:
		return f.event(time, EvMpiIsendComplete, x.ID)
	case ops.Tested:
		if x.File == nil && x.Window == nil {
			return f.event(time, EvMpiRequestTest, x.ID)
		}
	case ops.Cancelled:
		return f.event(time, EvMpiRequestCancelled, x.ID)
	case ops.Collective, ops.CollectiveEnd:
		return a.collectiveEnd(f, time, x)
	case ops.CommMade, ops.CommFreed:
		id := byte(EvCommCreate)
		if x.Kind == ops.CommFreed {
			id = EvCommDestroy
		}
		return f.event(time, id, a.comm(x.Comm))
	case ops.WindowMade, ops.WindowFreed, ops.Fence:
		return a.windowEnd(f, time, x)
	case ops.TransferEnd:
		return f.event(time, EvRmaCompleteBlocking, x.Window.Number, x.ID)
	case ops.TransferDone:
		return f.event(time, EvRmaCompleteRequested, x.Window.Number, x.ID)
	case ops.Lock, ops.Unlock:
		return a.lock(f, time, x)
	}
	return a.fileEnd(f, time, x)
}

func (a *Writer) message(f *file, time uint64, id byte, x *ops.Act, bytes uint64) error {
	fields := []field{x.Peer, a.comm(x.Comm), uint32(x.Tag), bytes, x.ID}
	if x.ID == 0 {
		fields = fields[:4]
	}
	return f.event(time, id, fields...)
}

// collective returns which operation a collective is; those along a topology have none.
func (a *Writer) collective(x *ops.Act) (op byte, ok bool) {
	op, ok = collectives[ops.OperationOf(x.Function)]
	return op, ok
}

func (a *Writer) collectiveEnd(f *file, time uint64, x *ops.Act) error {
	op, ok := a.collective(x)
	if !ok {
		a.s.Losses.Add("collectives along a topology (MPI_Neighbor_…): calls, without the collective", 1)
		return nil
	}
	if x.ID > 0 {
		return f.event(time, EvCollectiveComplete, op, a.comm(x.Comm), root(x.Root), x.Sent, x.Received, x.ID)
	}
	return f.event(time, EvMpiCollectiveEnd, op, a.comm(x.Comm), root(x.Root), x.Sent, x.Received)
}

func root(rank int) uint32 {
	switch rank {
	case ops.RootSelf:
		return Undefined - 1
	case ops.RootThisSide:
		return Undefined - 2
	}
	return uint32(rank) // NoRoot is Undefined
}

func (a *Writer) windowEnd(f *file, time uint64, x *ops.Act) error {
	op, id := collectives[meaning.Barrier], byte(0)
	own := x.Window.MadeBy == "MPI_Win_create" || x.Window.MadeBy == "MPI_Win_create_dynamic"
	switch {
	case x.Kind == ops.WindowMade:
		op, id = CreateMemory, EvRmaWinCreate
		if own {
			op = CreateHandle
		}
	case x.Kind == ops.WindowFreed:
		op, id = DestroyMemory, EvRmaWinDestroy
		if own {
			op = DestroyHandle
		}
	}
	if id != 0 {
		if err := f.event(time, id, x.Window.Number); err != nil {
			return err
		}
	}
	return f.event(time, EvRmaCollectiveEnd, op, syncAll, x.Window.Number, uint32(Undefined), uint64(0), uint64(0))
}

func (a *Writer) transfer(f *file, time uint64, id byte, x *ops.Act, bytes uint64) error {
	return f.event(time, id, x.Window.Number, x.Peer, bytes, x.ID)
}

// lock writes that memory is locked or unlocked; that of all members, one by one.
func (a *Writer) lock(f *file, time uint64, x *ops.Act) error {
	first, last := x.Peer, x.Peer
	if x.Peer == ops.AllMembers {
		first, last = 0, x.Comm.Size-1
	}
	kind := byte(1) // shared
	if x.Exclusive() {
		kind = 0
	}
	for peer := first; peer <= last; peer++ {
		id, fields := byte(EvRmaAcquireLock), []field{x.Window.Number, peer, uint64(peer), kind} // there is one lock for each member
		if x.Kind == ops.Unlock {
			id, fields = EvRmaReleaseLock, fields[:3]
		}
		if err := f.event(time, id, fields...); err != nil {
			return err
		}
	}
	return nil
}

// How files are opened and made.
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
	if x.Kind == ops.Write || x.Kind == ops.WriteBegin {
		mode = 1
	}
	if x.Kind == ops.ReadBegin || x.Kind == ops.WriteBegin {
		flags |= unblocked
	}
	if x.Function.Has(trace.Collective) {
		flags |= collectivelyRun
	}
	return f.event(time, EvIoOperationBegin, x.File.Number, mode, flags, x.Wanted, x.ID)
}

func (a *Writer) fileEnd(f *file, time uint64, x *ops.Act) error {
	switch x.Kind {
	case ops.FileOpened:
		return a.opened(f, time, x)
	case ops.FileClosed:
		return f.event(time, EvIoDestroyHandle, x.File.Number)
	case ops.FileDeleted:
		return f.event(time, EvIoDeleteFile, uint8(0), a.path(x.File.Name)) // of the one paradigm
	case ops.FileSought:
		return a.sought(f, time, x)
	case ops.ReadBegin, ops.WriteBegin:
		return f.event(time, EvIoOperationIssued, x.File.Number, x.ID)
	case ops.Read, ops.ReadEnd:
		return f.event(time, EvIoOperationComplete, x.File.Number, x.Received, x.ID)
	case ops.Write, ops.WriteEnd:
		return f.event(time, EvIoOperationComplete, x.File.Number, x.Sent, x.ID)
	}
	return nil
}

func (a *Writer) opened(f *file, time uint64, x *ops.Act) error {
	access, creation, status := byte(ReadWrite), uint32(0), uint32(0)
	mode := param(x.Call, "amode")
	switch {
	case mode&mpi.ModeReadOnly != 0:
		access = ReadOnly
	case mode&mpi.ModeWriteOnly != 0:
		access = WriteOnly
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

// sought writes where a file's pointer went. Where it is then, MPI says in units of the view.
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
