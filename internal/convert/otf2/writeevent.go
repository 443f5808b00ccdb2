package otf2

import (
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// Collective operations by function; those that make and free windows have none of their own.
var collectives = map[string]byte{
	"Barrier": 0, "Bcast": 1, "Gather": 2, "Gatherv": 3, "Scatter": 4, "Scatterv": 5, "Allgather": 6, "Allgatherv": 7, "Alltoall": 8,
	"Alltoallv": 9, "Alltoallw": 10, "Allreduce": 11, "Reduce": 12, "Reduce_scatter": 13, "Scan": 14, "Exscan": 15, "Reduce_scatter_block": 16,
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
		return identified(f, time, EvMpiIrecvRequest, x.ID)
	case ops.Collective, ops.CollectiveBegin:
		if _, ok := a.collective(x); !ok {
			return nil
		}
		f.start(EvMpiCollectiveBegin)
		if x.Kind == ops.CollectiveBegin {
			f.start(EvCollectiveRequest)
			f.u64(x.ID)
		}
		return f.end(time)
	case ops.WindowMade, ops.WindowFreed, ops.Fence:
		f.start(EvRmaCollectiveBegin)
		return f.end(time)
	case ops.Put:
		return a.transfer(f, time, EvRmaPut, x, x.Sent)
	case ops.Get:
		return a.transfer(f, time, EvRmaGet, x, x.Received)
	case ops.Atomic:
		return a.atomic(f, time, x)
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
		return identified(f, time, EvMpiIsendComplete, x.ID)
	case ops.Tested:
		if x.File == nil && x.Window == nil {
			return identified(f, time, EvMpiRequestTest, x.ID)
		}
	case ops.Cancelled:
		return identified(f, time, EvMpiRequestCancelled, x.ID)
	case ops.Collective, ops.CollectiveEnd:
		return a.collectiveEnd(f, time, x)
	case ops.CommMade, ops.CommFreed:
		id := byte(EvCommCreate)
		if x.Kind == ops.CommFreed {
			id = EvCommDestroy
		}
		f.start(id)
		f.u32(a.comm(x.Comm))
		return f.end(time)
	case ops.WindowMade, ops.WindowFreed, ops.Fence:
		return a.windowEnd(f, time, x)
	case ops.TransferEnd:
		return a.transferEnd(f, time, EvRmaCompleteBlocking, x)
	case ops.TransferDone:
		return a.transferEnd(f, time, EvRmaCompleteRequested, x)
	case ops.Lock, ops.Unlock:
		return a.lock(f, time, x)
	}
	return a.fileEnd(f, time, x)
}

// identified writes one of the records that have a request and no length.
func identified(f *file, time uint64, id byte, request uint64) error {
	f.record = append(f.record[:0], id)
	f.u64(request)
	return f.write(time)
}

func (a *Writer) message(f *file, time uint64, id byte, x *ops.Act, bytes uint64) error {
	f.start(id)
	f.u32(uint32(x.Peer))
	f.u32(a.comm(x.Comm))
	f.u32(uint32(x.Tag))
	f.u64(bytes)
	if x.ID > 0 {
		f.u64(x.ID)
	}
	return f.end(time)
}

// collective returns which operation a collective is; those along a topology have none.
func (a *Writer) collective(x *ops.Act) (op byte, ok bool) {
	op, ok = collectives[a.base(x.Function)]
	return op, ok
}

func (a *Writer) collectiveEnd(f *file, time uint64, x *ops.Act) error {
	op, ok := a.collective(x)
	if !ok {
		a.s.Losses.Add("collectives along a topology (MPI_Neighbor_…): calls, without the collective", 1)
		return nil
	}
	id := byte(EvMpiCollectiveEnd)
	if x.ID > 0 {
		id = EvCollectiveComplete
	}
	f.start(id)
	f.u8(op)
	f.u32(a.comm(x.Comm))
	f.u32(root(x.Root))
	f.u64(x.Sent)
	f.u64(x.Received)
	if x.ID > 0 {
		f.u64(x.ID)
	}
	return f.end(time)
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
	win := uint32(x.Window.Number)
	op, id := collectives["Barrier"], byte(0)
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
		f.start(id)
		f.u32(win)
		if err := f.end(time); err != nil {
			return err
		}
	}
	f.start(EvRmaCollectiveEnd)
	f.u8(op)
	f.u32(syncAll)
	f.u32(win)
	f.u32(Undefined)
	f.u64(0)
	f.u64(0)
	return f.end(time)
}

func (a *Writer) transfer(f *file, time uint64, id byte, x *ops.Act, bytes uint64) error {
	f.start(id)
	f.u32(uint32(x.Window.Number))
	f.u32(uint32(x.Peer))
	f.u64(bytes)
	f.u64(x.ID)
	return f.end(time)
}

func (a *Writer) atomic(f *file, time uint64, x *ops.Act) error {
	f.start(EvRmaAtomic)
	f.u32(uint32(x.Window.Number))
	f.u32(uint32(x.Peer))
	f.u8(atomics[a.base(x.Function)])
	f.u64(x.Sent)
	f.u64(x.Received)
	f.u64(x.ID)
	return f.end(time)
}

func (a *Writer) transferEnd(f *file, time uint64, id byte, x *ops.Act) error {
	f.start(id)
	f.u32(uint32(x.Window.Number))
	f.u64(x.ID)
	return f.end(time)
}

// lock writes that memory is locked or unlocked; that of all members, one by one.
func (a *Writer) lock(f *file, time uint64, x *ops.Act) error {
	first, last := x.Peer, x.Peer
	if x.Peer == ops.AllMembers {
		first, last = 0, x.Comm.Size-1
	}
	kind := byte(1) // shared
	if p := x.Call.Param("lock_type"); p != nil && p.In.Num == mpi.LockExclusive {
		kind = 0
	}
	for peer := first; peer <= last; peer++ {
		id := byte(EvRmaAcquireLock)
		if x.Kind == ops.Unlock {
			id = EvRmaReleaseLock
		}
		f.start(id)
		f.u32(uint32(x.Window.Number))
		f.u32(uint32(peer))
		f.u64(uint64(peer)) // there is one lock for each member
		if x.Kind == ops.Lock {
			f.u8(kind)
		}
		if err := f.end(time); err != nil {
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
	f.start(EvIoOperationBegin)
	f.u32(uint32(x.File.Number))
	f.u8(mode)
	f.u32(flags)
	f.u64(x.Wanted)
	f.u64(x.ID)
	return f.end(time)
}

func (a *Writer) fileEnd(f *file, time uint64, x *ops.Act) error {
	switch x.Kind {
	case ops.FileOpened:
		return a.opened(f, time, x)
	case ops.FileClosed:
		f.start(EvIoDestroyHandle)
		f.u32(uint32(x.File.Number))
	case ops.FileDeleted:
		f.start(EvIoDeleteFile)
		f.u8(0) // the one paradigm
		f.u32(a.path(x.File.Name))
	case ops.FileSought:
		return a.sought(f, time, x)
	case ops.ReadBegin, ops.WriteBegin:
		f.start(EvIoOperationIssued)
		f.u32(uint32(x.File.Number))
		f.u64(x.ID)
	case ops.Read, ops.ReadEnd:
		return a.completed(f, time, x, x.Received)
	case ops.Write, ops.WriteEnd:
		return a.completed(f, time, x, x.Sent)
	default:
		return nil
	}
	return f.end(time)
}

func (a *Writer) completed(f *file, time uint64, x *ops.Act, bytes uint64) error {
	f.start(EvIoOperationComplete)
	f.u32(uint32(x.File.Number))
	f.u64(bytes)
	f.u64(x.ID)
	return f.end(time)
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
	f.start(EvIoCreateHandle)
	f.u32(uint32(x.File.Number))
	f.u8(access)
	f.u32(creation)
	f.u32(status)
	return f.end(time)
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
	f.start(EvIoSeek)
	f.u32(uint32(x.File.Number))
	f.u64(uint64(offset))
	f.u8(from)
	f.u64(uint64(max(0, offset)))
	return f.end(time)
}

func param(c *trace.Call, name string) int64 {
	if p := c.Param(name); p != nil {
		return p.In.Num
	}
	return 0
}
