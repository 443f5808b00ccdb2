// Package smpi writes traces as SimGrid's SMPI replays them: time-independent traces, one file of
// actions for each rank and a list of these files. An action says how much is computed or
// moved, never when; how long that takes is up to the platform of the replay. See Casanova,
// Desprez, Markomanolis and Suter, "Simulation of MPI applications with time-independent traces", CCPE
// 27(5), 2015.
//
// Computation is in flops. A nanosecond is written as one, so that a host of 1 Gf computes as
// fast as the traced one. What passes between calls is computation; calls themselves
// take what the platform makes of them.
package smpi

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/convert"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// List is the file that names the others, in order of ranks.
const List = "index"

// A Writer fills a folder. It is an ops.Sink; the trace has to be whole, as a rank that is
// missing would be waited for. It needs ops.Options.Shares.
type Writer struct {
	s     *ops.Source
	dir   string
	names []string
	tags  map[tag]int
	world map[*handles.Comm]bool // has the ranks of MPI_COMM_WORLD in their order
	self  map[*handles.Comm]int  // own rank, of the communicators of this rank's collectives

	rank int
	out  *convert.Patched
	line []byte
	last int64 // when the last call ended

	posted map[uint64]posted // receives under way, by the number of their request
	steps  []step
}

// A tag is what messages are told apart by besides sender and receiver.
type tag struct {
	comm int
	tag  int64
}

// Tags of the messages of collectives, which no program can use.
const (
	collectiveTag = -10
	flatTag       = -11
)

// A posted receive may turn out to get nothing, or its message from somebody it did not name.
type posted struct{ at, length int64 } // of its line

// blank is the length of a line whose numbers are still to come.
const blank = 64

// New begins to write into a folder that is there.
func New(s *ops.Source, dir string) (*Writer, error) {
	for rank := range s.Reader.Ranks() {
		if s.Reader.ClassOf(rank) < 0 {
			return nil, fmt.Errorf("rank %d left no track, and the others would wait for it in a replay", rank)
		}
	}
	return &Writer{s: s, dir: dir, tags: make(map[tag]int), world: make(map[*handles.Comm]bool)}, nil
}

// Begin opens the file of a rank.
func (w *Writer) Begin(k *trace.Rank) error {
	name := fmt.Sprintf("rank%d.txt", k.Number())
	f, err := os.Create(filepath.Join(w.dir, name))
	if err != nil {
		return err
	}
	w.names = append(w.names, name)
	w.rank, w.out, w.last, w.posted = k.Number(), convert.NewPatched(f), 0, make(map[uint64]posted)
	w.self = make(map[*handles.Comm]int)
	w.action("init")
	return nil
}

// End closes it.
func (w *Writer) End(*trace.Rank) error {
	for id, r := range w.posted { // nobody waits for these
		w.withdraw(id, r)
	}
	w.action("finalize")
	return w.out.Close()
}

// Close writes the list.
func (w *Writer) Close() error {
	var b []byte
	for _, name := range w.names {
		b = append(append(b, name...), '\n')
	}
	return os.WriteFile(filepath.Join(w.dir, List), b, 0o666)
}

// action writes a line.
func (w *Writer) action(name string, numbers ...int64) { w.out.Add(w.text(name, numbers...)) }

func (w *Writer) text(name string, numbers ...int64) []byte {
	b := strconv.AppendInt(w.line[:0], int64(w.rank), 10)
	b = append(append(b, ' '), name...)
	for _, n := range numbers {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	w.line = append(b, '\n')
	return w.line
}

// padded is a line with room for other numbers.
func (w *Writer) padded(name string, numbers ...int64) []byte {
	return pad(w.text(name, numbers...), blank)
}

// pad makes a line longer with spaces before its end.
func pad(line []byte, length int64) []byte {
	line = line[:len(line)-1]
	for int64(len(line)) < length-1 {
		line = append(line, ' ')
	}
	return append(line, '\n')
}

// Enter writes what was computed before a call, and what the call did.
func (w *Writer) Enter(c *ops.Call) error {
	if c.Stream > 0 {
		w.s.Losses.Add("calls of threads but the first: a rank is one sequence of actions, which waits for ever if they exchanged messages", 1)
		return w.out.Err()
	}
	if gap := c.Start - w.last; gap > 0 && w.s.Reader.HasTimes() {
		w.action("compute", gap)
	}
	w.last = max(w.last, c.Start)
	if !w.exchange(c) {
		for i := range c.Acts {
			w.act(&c.Acts[i])
		}
	}
	return w.out.Err()
}

// Leave notes from when on there is computation again.
func (w *Writer) Leave(c *ops.Call) error {
	if c.Stream == 0 {
		w.last = max(w.last, c.End)
	}
	return nil
}

// exchange writes a call that sends and receives at once, if it is one.
func (w *Writer) exchange(c *ops.Call) bool {
	if len(c.Acts) != 2 || c.Acts[0].Kind != ops.Send || c.Acts[1].Kind != ops.Recv {
		return false
	}
	out, in := &c.Acts[0], &c.Acts[1]
	from, to := in.World(), out.World()
	if from < 0 || to < 0 {
		return false
	}
	w.action("irecv", int64(from), w.tag(&in.Operation), size(in.Received))
	w.action("send", int64(to), w.tag(&out.Operation), size(out.Sent))
	w.action("wait", int64(from), int64(w.rank), w.tag(&in.Operation))
	return true
}

// size is what is written for a message. SMPI takes nothing for "ask the sender".
func size(bytes uint64) int64 { return int64(max(1, bytes)) }

// tag returns a small number for communicator and tag, the same on all ranks.
func (w *Writer) tag(op *ops.Operation) int64 {
	comm := op.Comm.Number
	if op.Comm.Remote != nil {
		comm = min(comm, op.Comm.Remote.Number)
	}
	return w.number(tag{comm, op.Tag})
}

func (w *Writer) number(t tag) int64 {
	n, ok := w.tags[t]
	if !ok {
		n = len(w.tags)
		w.tags[t] = n
	}
	return int64(n)
}

func (w *Writer) act(x *ops.Act) {
	switch x.Kind {
	case ops.Send, ops.SendBegin, ops.SendEnd, ops.Recv, ops.RecvBegin, ops.RecvEnd:
		w.message(x)
	case ops.Cancelled:
		if x.Window == nil && x.File == nil {
			w.message(x)
		}
	case ops.Collective, ops.CollectiveBegin, ops.CollectiveEnd:
		w.collective(x)
	case ops.Fence, ops.WindowMade, ops.WindowFreed:
		w.barrier(x.Comm)
	case ops.Put, ops.Get, ops.Atomic:
		w.s.Losses.Add("one-sided transfers", 1)
	case ops.Read, ops.ReadBegin, ops.Write, ops.WriteBegin:
		w.s.Losses.Add("reads and writes of files", 1)
	}
}

// message writes what happens to a message. Requests have no names: the first that is under way
// between two ranks with a tag is the first that is waited for.
func (w *Writer) message(x *ops.Act) {
	peer, me := int64(x.World()), int64(w.rank)
	switch x.Kind {
	case ops.RecvBegin:
		w.post(x)
		return
	case ops.Cancelled:
		if r, ok := w.posted[x.ID]; ok {
			w.withdraw(x.ID, r)
			return
		}
	}
	if peer < 0 {
		w.s.Losses.Add("messages to or from processes of another world", 1)
		return
	}
	t := w.tag(&x.Operation)
	switch x.Kind {
	case ops.Send:
		w.action("send", peer, t, size(x.Sent))
	case ops.SendBegin:
		w.action("isend", peer, t, size(x.Sent))
	case ops.SendEnd, ops.Cancelled: // a send whose cancelling succeeded had no effect; here it has
		w.action("wait", me, peer, t)
	case ops.Recv:
		w.action("recv", peer, t, size(x.Received))
	case ops.RecvEnd:
		if r, ok := w.posted[x.ID]; ok {
			if r.length == blank {
				w.out.Patch(r.at, w.padded("irecv", peer, t, size(x.Received)))
			}
			delete(w.posted, x.ID)
		}
		w.action("wait", peer, me, t)
	}
}

// post writes that a receive is posted. Of one with a wildcard it leaves room for what comes out.
func (w *Writer) post(x *ops.Act) {
	r := posted{at: w.out.Position()}
	if peer := int64(x.World()); peer >= 0 && x.Tag >= 0 {
		w.action("irecv", peer, w.tag(&x.Operation), size(x.Received))
		r.length = w.out.Position() - r.at
	} else {
		w.out.Add(w.padded("compute", 0))
		r.length = blank
	}
	w.posted[x.ID] = r
}

// withdraw makes nothing of a receive that never got a message.
func (w *Writer) withdraw(id uint64, r posted) {
	w.out.Patch(r.at, pad(w.text("compute", 0), r.length))
	delete(w.posted, id)
}
