package ops

import (
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

func opensFile(p *process, _ *thread, _ *plan, c *Call) {
	comm, name, handle := p.comm(c), input(c.Call, "filename"), c.Param("fh")
	if comm == nil || name == nil || handle == nil {
		p.lose(lostFile, 1)
		return
	}
	f := p.s.file(comm, p.ordinal(comm), name.Text)
	p.files[handle.Out.Num] = f
	c.add(ActFileOpened, &Operation{StartedBy: c.Func, Comm: comm, File: f, Call: c.Call})
}

// file returns an operation on the file that a call passes, without its amounts. If the file is unknown, it counts a
// loss and returns false.
func (p *process) file(c *Call) (op Operation, ok bool) {
	var f *File
	if v := input(c.Call, "fh"); v != nil {
		f = p.files[v.Num]
	}
	if f == nil {
		p.lose(lostFile, 1)
		return op, false
	}
	return Operation{StartedBy: c.Func, Comm: f.Comm, File: f, Call: c.Call}, true
}

func closesFile(p *process, _ *thread, _ *plan, c *Call) {
	if op, ok := p.file(c); ok {
		c.add(ActFileClosed, &op)
		delete(p.files, number(c.Call, "fh"))
	}
}

func seeks(p *process, _ *thread, _ *plan, c *Call) {
	if op, ok := p.file(c); ok {
		own := *c.Call // a copy: when this call ends, the walk may have reused c.Call for the next one
		own.Params = slices.Clone(own.Params)
		op.Call = &own
		c.add(ActFileSought, &op)
	}
}

func views(p *process, _ *thread, _ *plan, c *Call) {
	if op, ok := p.file(c); ok && p.s.o.PassFineSync {
		c.add(ActFileViewed, &op)
	}
}

func syncs(p *process, _ *thread, _ *plan, c *Call) {
	if op, ok := p.file(c); ok && p.s.o.PassFineSync {
		c.add(ActFileSynced, &op)
	}
}

func deletesFile(p *process, _ *thread, _ *plan, c *Call) {
	if name := input(c.Call, "filename"); name != nil {
		c.add(ActFileDeleted, &Operation{StartedBy: c.Func, File: &File{Number: -1, Name: name.Text}})
	}
}

// fileTransfer handles reads and writes: blocking ones, ones with a request, and split collectives.
func fileTransfer(p *process, _ *thread, q *plan, c *Call) {
	op, ok := p.file(c)
	if !ok {
		return
	}
	op.SentBytes, op.ReceivedBytes = q.out.op.SentBytes, q.out.op.ReceivedBytes
	kind := ActWrite
	if meaning.DataMovementOf(c.Func.Name).In != nil {
		kind = ActRead
	}
	split := strings.HasSuffix(BaseName(c.Func), "_begin")
	op.ID = p.nextID()
	if d := input(c.Call, "datatype"); d != nil {
		size, _ := p.x.TypeSize(d.Num, c.Stream, c.Index)
		op.RequestedBytes = uint64(max(0, number(c.Call, "count")) * max(0, size))
	}
	switch {
	case q.request >= 0 || split:
		kind++ // ActRead becomes ActReadBegin, ActWrite becomes ActWriteBegin
	case kind == ActRead:
		op.ReceivedBytes = transferred(op.ReceivedBytes, scalarStatus(c.Call))
	default:
		op.SentBytes = transferred(op.SentBytes, scalarStatus(c.Call))
	}
	op.Call = nil
	c.add(kind, &op)
	if split {
		p.hold(splitKey(c), c.Acts)
	}
}

// splitKey returns the key in pending for a file's split collective. A file can have only one at a time.
func splitKey(c *Call) requestKey { return requestKey{-2, number(c.Call, "fh")} }

func endsSplit(p *process, _ *thread, _ *plan, c *Call) {
	key := splitKey(c)
	x := p.under(key)
	if x == nil {
		p.lose(lostFile, 1)
		return
	}
	for i := range x.n {
		p.ended(c, &x.acts[i], scalarStatus(c.Call))
	}
	p.drop(key, x)
}

func scalarStatus(c *trace.Call) *trace.StatusValue {
	if q := c.Param("status"); q != nil {
		return q.Out.Status
	}
	return nil
}
