package otf2

import (
	"github.com/spoor-hpc/spoor/internal/convert/export"
	records "github.com/spoor-hpc/spoor/internal/convert/otf2"
	"github.com/spoor-hpc/spoor/mpi"
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
func (a *Archive) begun(f *file, time uint64, x *export.Act) error {
	switch x.Kind {
	case export.Send:
		return a.message(f, time, records.EvMpiSend, x, x.Sent)
	case export.SendBegin:
		return a.message(f, time, records.EvMpiIsend, x, x.Sent)
	case export.RecvBegin:
		return identified(f, time, records.EvMpiIrecvRequest, x.ID)
	case export.Collective, export.CollectiveBegin:
		if _, ok := a.collective(x); !ok {
			return nil
		}
		f.start(records.EvMpiCollectiveBegin)
		if x.Kind == export.CollectiveBegin {
			f.start(records.EvCollectiveRequest)
			f.u64(x.ID)
		}
		return f.end(time)
	case export.WindowMade, export.WindowFreed, export.Fence:
		f.start(records.EvRmaCollectiveBegin)
		return f.end(time)
	case export.Put:
		return a.transfer(f, time, records.EvRmaPut, x, x.Sent)
	case export.Get:
		return a.transfer(f, time, records.EvRmaGet, x, x.Received)
	case export.Atomic:
		return a.atomic(f, time, x)
	case export.Read, export.ReadBegin, export.Write, export.WriteBegin:
		return a.fileBegin(f, time, x)
	}
	return nil
}

// ended writes what a call had done when it returned.
func (a *Archive) ended(f *file, time uint64, x *export.Act) error {
	switch x.Kind {
	case export.Recv:
		return a.message(f, time, records.EvMpiRecv, x, x.Received)
	case export.RecvEnd:
		return a.message(f, time, records.EvMpiIrecv, x, x.Received)
	case export.SendEnd:
		return identified(f, time, records.EvMpiIsendComplete, x.ID)
	case export.Tested:
		if x.File == nil && x.Window == nil {
			return identified(f, time, records.EvMpiRequestTest, x.ID)
		}
	case export.Cancelled:
		return identified(f, time, records.EvMpiRequestCancelled, x.ID)
	case export.Collective, export.CollectiveEnd:
		return a.collectiveEnd(f, time, x)
	case export.CommMade, export.CommFreed:
		id := byte(records.EvCommCreate)
		if x.Kind == export.CommFreed {
			id = records.EvCommDestroy
		}
		f.start(id)
		f.u32(a.comm(x.Comm))
		return f.end(time)
	case export.WindowMade, export.WindowFreed, export.Fence:
		return a.windowEnd(f, time, x)
	case export.TransferEnd:
		return a.transferEnd(f, time, records.EvRmaCompleteBlocking, x)
	case export.TransferDone:
		return a.transferEnd(f, time, records.EvRmaCompleteRequested, x)
	case export.Lock, export.Unlock:
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

func (a *Archive) message(f *file, time uint64, id byte, x *export.Act, bytes uint64) error {
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
func (a *Archive) collective(x *export.Act) (op byte, ok bool) {
	op, ok = collectives[a.base(x.Function)]
	return op, ok
}

func (a *Archive) collectiveEnd(f *file, time uint64, x *export.Act) error {
	op, ok := a.collective(x)
	if !ok {
		a.s.Losses.Add("collectives along a topology (MPI_Neighbor_…): calls, without the collective", 1)
		return nil
	}
	id := byte(records.EvMpiCollectiveEnd)
	if x.ID > 0 {
		id = records.EvCollectiveComplete
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
	case export.RootSelf:
		return records.Undefined - 1
	case export.RootThisSide:
		return records.Undefined - 2
	}
	return uint32(rank) // NoRoot is records.Undefined
}

func (a *Archive) windowEnd(f *file, time uint64, x *export.Act) error {
	win := uint32(x.Window.Number)
	op, id := collectives["Barrier"], byte(0)
	own := x.Window.MadeBy == "MPI_Win_create" || x.Window.MadeBy == "MPI_Win_create_dynamic"
	switch {
	case x.Kind == export.WindowMade:
		op, id = records.CreateMemory, records.EvRmaWinCreate
		if own {
			op = records.CreateHandle
		}
	case x.Kind == export.WindowFreed:
		op, id = records.DestroyMemory, records.EvRmaWinDestroy
		if own {
			op = records.DestroyHandle
		}
	}
	if id != 0 {
		f.start(id)
		f.u32(win)
		if err := f.end(time); err != nil {
			return err
		}
	}
	f.start(records.EvRmaCollectiveEnd)
	f.u8(op)
	f.u32(syncAll)
	f.u32(win)
	f.u32(records.Undefined)
	f.u64(0)
	f.u64(0)
	return f.end(time)
}

func (a *Archive) transfer(f *file, time uint64, id byte, x *export.Act, bytes uint64) error {
	f.start(id)
	f.u32(uint32(x.Window.Number))
	f.u32(uint32(x.Peer))
	f.u64(bytes)
	f.u64(x.ID)
	return f.end(time)
}

func (a *Archive) atomic(f *file, time uint64, x *export.Act) error {
	f.start(records.EvRmaAtomic)
	f.u32(uint32(x.Window.Number))
	f.u32(uint32(x.Peer))
	f.u8(atomics[a.base(x.Function)])
	f.u64(x.Sent)
	f.u64(x.Received)
	f.u64(x.ID)
	return f.end(time)
}

func (a *Archive) transferEnd(f *file, time uint64, id byte, x *export.Act) error {
	f.start(id)
	f.u32(uint32(x.Window.Number))
	f.u64(x.ID)
	return f.end(time)
}

// lock writes that memory is locked or unlocked; that of all members, one by one.
func (a *Archive) lock(f *file, time uint64, x *export.Act) error {
	first, last := x.Peer, x.Peer
	if x.Peer == export.AllMembers {
		first, last = 0, x.Comm.Size-1
	}
	kind := byte(1) // shared
	if p := x.Call.Param("lock_type"); p != nil && p.In.Num == mpi.LockExclusive {
		kind = 0
	}
	for peer := first; peer <= last; peer++ {
		id := byte(records.EvRmaAcquireLock)
		if x.Kind == export.Unlock {
			id = records.EvRmaReleaseLock
		}
		f.start(id)
		f.u32(uint32(x.Window.Number))
		f.u32(uint32(peer))
		f.u64(uint64(peer)) // there is one lock for each member
		if x.Kind == export.Lock {
			f.u8(kind)
		}
		if err := f.end(time); err != nil {
			return err
		}
	}
	return nil
}
