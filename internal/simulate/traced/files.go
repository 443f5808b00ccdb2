package traced

import (
	"strings"

	"github.com/spoor-hpc/spoor/internal/export"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
)

// file adds what a call does with a file, where the machine says what files take; false if it doesn't.
func (w *writer) file(a *export.Act) bool {
	f, x := w.s.o.Machine.Files, &a.Operation
	if f == nil || w.s.o.apart {
		return false
	}
	base := w.s.function(x.Function).base
	together := strings.Contains(base, "_all") || strings.Contains(base, "_ordered")
	members, bytes, write := 1, int64(min(max(x.Sent, x.Received), 1<<50)), false
	switch a.Kind {
	case export.FileOpened, export.FileClosed:
		together, bytes = true, 0
	case export.FileDeleted:
		bytes = 0
	case export.Write, export.WriteBegin:
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
	o.Time = f.Time(bytes, write, members)
	if a.Kind != export.ReadBegin && a.Kind != export.WriteBegin {
		w.add(o)
		return true
	}
	if !together {
		o.Kind = dataflow.Later
	}
	w.begin(x.ID, o)
	return true
}
