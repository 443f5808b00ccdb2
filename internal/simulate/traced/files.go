package traced

import (
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// view is another view of a file, for which all wait: bytes that it has lie apart.
func (w *writer) view(c *trace.Call, x *ops.Operation) bool {
	if p := c.Param("filetype"); p != nil && w.handles() != nil {
		if w.views == nil {
			w.views = make(map[int]float64)
		}
		w.views[x.File.Number] = w.own.Holes(p.In.Num, c.Stream, c.Index)
	}
	return w.synchronised(x.Comm, meaning.Barrier, 0)
}

// file adds what a call does with a file, where the machine says what files take; false if it doesn't.
func (w *writer) file(a *ops.Act) bool {
	f, x := w.s.o.Machine.Files, &a.Operation
	if f == nil || w.s.o.apart {
		return false
	}
	base := w.s.function(x.Function).base
	together := strings.Contains(base, "_all") || strings.Contains(base, "_ordered")
	members, bytes, write := 1, int64(min(max(x.Sent, x.Received), 1<<50)), false
	switch a.Kind {
	case ops.FileOpened, ops.FileClosed:
		together, bytes = true, 0
		delete(w.views, x.File.Number)
	case ops.FileSynced:
		if together = true; !f.Syncs() {
			return false
		}
	case ops.FileDeleted:
		bytes = 0
	case ops.Write, ops.WriteBegin:
		write = true
	}
	o := dataflow.Op{Kind: dataflow.File}
	if together {
		g := w.group(x.Comm)
		if g.me < 0 {
			return false
		}
		members = x.Comm.Size
		o = dataflow.Op{Kind: dataflow.Meet, Context: context(x.Comm) + 1, Members: int32(members), Request: dataflow.NoRequest}
	}
	switch holes := w.views[x.File.Number]; {
	case a.Kind == ops.FileOpened, a.Kind == ops.FileClosed:
		o.Time = f.Opening()
	case a.Kind == ops.FileSynced: // by the one who wrote most
		o.Time = f.Syncing(w.unsynced[x.File.Number])
		delete(w.unsynced, x.File.Number)
	case holes > 1 && !together:
		o.Time = f.Sieved(bytes, write, holes)
	default:
		o.Time = f.Time(bytes, write, members)
	}
	if write {
		if w.unsynced == nil {
			w.unsynced = make(map[int]int64)
		}
		w.unsynced[x.File.Number] += bytes
	}
	if a.Kind != ops.ReadBegin && a.Kind != ops.WriteBegin {
		w.add(o)
		return true
	}
	if !together {
		o.Kind = dataflow.Later
	}
	w.begin(x.ID, o)
	return true
}
