package otf2

import (
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

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
