package otf2

import (
	"github.com/spoor-hpc/spoor/internal/convert/export"
	records "github.com/spoor-hpc/spoor/internal/convert/otf2"
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

func (a *Archive) fileBegin(f *file, time uint64, x *export.Act) error {
	mode, flags := byte(0), uint32(0)
	if x.Kind == export.Write || x.Kind == export.WriteBegin {
		mode = 1
	}
	if x.Kind == export.ReadBegin || x.Kind == export.WriteBegin {
		flags |= unblocked
	}
	if x.Function.Has(trace.Collective) {
		flags |= collectivelyRun
	}
	f.start(records.EvIoOperationBegin)
	f.u32(uint32(x.File.Number))
	f.u8(mode)
	f.u32(flags)
	f.u64(x.Wanted)
	f.u64(x.ID)
	return f.end(time)
}

func (a *Archive) fileEnd(f *file, time uint64, x *export.Act) error {
	switch x.Kind {
	case export.FileOpened:
		return a.opened(f, time, x)
	case export.FileClosed:
		f.start(records.EvIoDestroyHandle)
		f.u32(uint32(x.File.Number))
	case export.FileDeleted:
		f.start(records.EvIoDeleteFile)
		f.u8(0) // the one paradigm
		f.u32(a.path(x.File.Name))
	case export.FileSought:
		return a.sought(f, time, x)
	case export.ReadBegin, export.WriteBegin:
		f.start(records.EvIoOperationIssued)
		f.u32(uint32(x.File.Number))
		f.u64(x.ID)
	case export.Read, export.ReadEnd:
		return a.completed(f, time, x, x.Received)
	case export.Write, export.WriteEnd:
		return a.completed(f, time, x, x.Sent)
	default:
		return nil
	}
	return f.end(time)
}

func (a *Archive) completed(f *file, time uint64, x *export.Act, bytes uint64) error {
	f.start(records.EvIoOperationComplete)
	f.u32(uint32(x.File.Number))
	f.u64(bytes)
	f.u64(x.ID)
	return f.end(time)
}

func (a *Archive) opened(f *file, time uint64, x *export.Act) error {
	access, creation, status := byte(records.ReadWrite), uint32(0), uint32(0)
	mode := param(x.Call, "amode")
	switch {
	case mode&mpi.ModeReadOnly != 0:
		access = records.ReadOnly
	case mode&mpi.ModeWriteOnly != 0:
		access = records.WriteOnly
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
	f.start(records.EvIoCreateHandle)
	f.u32(uint32(x.File.Number))
	f.u8(access)
	f.u32(creation)
	f.u32(status)
	return f.end(time)
}

// sought writes where a file's pointer went. Where it is then, MPI says in units of the view.
func (a *Archive) sought(f *file, time uint64, x *export.Act) error {
	offset := param(x.Call, "offset")
	from := byte(0)
	switch param(x.Call, "whence") {
	case mpi.SeekCurrent:
		from = 1
	case mpi.SeekEnd:
		from = 2
	}
	f.start(records.EvIoSeek)
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
