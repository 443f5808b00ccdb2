package traced

import (
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// view adds a call of MPI_File_set_view, at which all members wait for each other. It keeps how scattered the bytes
// of the view are.
func (w *writer) view(c *trace.Call, x *ops.Operation) bool {
	if p := c.Param("filetype"); p != nil && w.handles() != nil {
		if w.views == nil {
			w.views = make(map[int]float64)
		}
		w.views[x.File.Number] = w.own.ExtentRatio(p.In.Num, c.Stream, c.Index)
	}
	return w.synchronised(x.Comm, meaning.CollectiveBarrier, 0)
}

// file adds an operation on a file. It returns false if the machine has no costs for it.
func (w *writer) file(a *ops.Act) bool {
	f, x := w.s.o.Machine.Files, &a.Operation
	if f == nil || w.s.o.apart {
		return false
	}
	base := w.s.function(x.StartedBy).base
	together := strings.Contains(base, "_all") || strings.Contains(base, "_ordered")
	members, bytes, write := 1, int64(min(max(x.SentBytes, x.ReceivedBytes), 1<<50)), false
	switch a.Kind {
	case ops.ActFileOpened, ops.ActFileClosed:
		together, bytes = true, 0
		delete(w.views, x.File.Number)
	case ops.ActFileSynced:
		if together = true; !f.IsSyncTimeKnown() {
			return false
		}
	case ops.ActFileDeleted:
		bytes = 0
	case ops.ActWrite, ops.ActWriteBegin:
		write = true
	}
	o := dataflow.Op{Kind: dataflow.OpFile}
	if together {
		g := w.group(x.Comm)
		if g.me < 0 {
			return false
		}
		members = x.Comm.Size
		o = dataflow.Op{Kind: dataflow.OpMeet, Context: context(x.Comm) + 1, Members: int32(members), Request: dataflow.NoRequest}
	}
	switch holes := w.views[x.File.Number]; {
	case a.Kind == ops.ActFileOpened, a.Kind == ops.ActFileClosed:
		o.TimePs = f.OpenTimePs()
	case a.Kind == ops.ActFileSynced: // the meeting's time is that of the rank that wrote most
		o.TimePs = f.SyncTimePs(w.unsynced[x.File.Number])
		delete(w.unsynced, x.File.Number)
	case holes > 1 && !together:
		o.TimePs = f.SievedTimePs(bytes, write, holes)
	default:
		o.TimePs = f.TransferTimePs(bytes, write, members)
	}
	if write {
		if w.unsynced == nil {
			w.unsynced = make(map[int]int64)
		}
		w.unsynced[x.File.Number] += bytes
	}
	if a.Kind != ops.ActReadBegin && a.Kind != ops.ActWriteBegin {
		w.add(o)
		return true
	}
	if !together {
		o.Kind = dataflow.OpBackground
	}
	w.begin(x.ID, o)
	return true
}
