// A DimemasWriter writes traces for the simulator Dimemas: one text file with the computations, messages and
// collectives of each task, and the offset of each task. The grammar is that of Dimemas' own reader
// (Simulator/input/file_data_access.c).

package convert

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// Kinds of records in a Dimemas trace.
const (
	burst    = 1
	send     = 2
	receive  = 3
	globalOp = 10
)

// Values of a receive record's field that says whether the receive blocks, begins or is waited for.
const (
	blocking  = 0
	immediate = 1
	wait      = 2
)

// Bits of a send record's field that says how the message is sent.
const (
	rendezvous   = 1
	immediateBit = 2
)

// operations are Dimemas's numbers of collectives. Nonblocking ones have the number of the blocking variant, since
// versions of Dimemas number them differently.
var operations = map[meaning.CollectiveOperation]int{
	meaning.CollectiveBarrier: 0, meaning.CollectiveBcast: 1, meaning.CollectiveGather: 2, meaning.CollectiveGatherv: 3, meaning.CollectiveScatter: 4, meaning.CollectiveScatterv: 5, meaning.CollectiveAllgather: 6, meaning.CollectiveAllgatherv: 7, meaning.CollectiveAlltoall: 8, meaning.CollectiveAlltoallv: 9,
	meaning.CollectiveAlltoallw: 9, meaning.CollectiveReduce: 10, meaning.CollectiveAllreduce: 11, meaning.CollectiveReduceScatter: 12, meaning.CollectiveReduceScatterBlock: 12, meaning.CollectiveScan: 14, meaning.CollectiveExscan: 14,
}

// A DimemasWriter writes a trace for the simulator Dimemas. It is an ops.Sink. The trace must have all ranks, as the
// simulator would wait for a missing task.
type DimemasWriter struct {
	RankOperationWriter
	line []byte

	offsets int64   // position of the header's field with the offset of the list of tasks
	begins  []int64 // by task: offset in the file of its first record

	comms map[int]bool // numbers of the defined communicators
}

// firstOwn is the first tag for messages on communicators that Dimemas can't represent.
const firstOwn = 1 << 24

// NewDimemasWriter starts writing. name is the application's name.
func NewDimemasWriter(s *ops.Source, f *os.File, name string) (*DimemasWriter, error) {
	w := &DimemasWriter{comms: make(map[int]bool)}
	var err error
	if w.RankOperationWriter, err = NewRankOperationWriter(s, "simulation", w.nothing); err != nil {
		return nil, err
	}
	w.Out = NewPatchedFile(f)
	var comms []string
	for _, c := range s.Comms.List() {
		text := fmt.Sprintf("d:1:%d:%d", c.Number+1, c.Size)
		known := c.RemoteSize == 0
		for _, rank := range c.Members() {
			known = known && rank >= 0
			text += ":" + strconv.Itoa(rank)
		}
		if known {
			w.comms[c.Number] = true
			comms = append(comms, text+"\n")
		}
	}
	head := fmt.Sprintf("#DIMEMAS:%q:1,", strings.NewReplacer(":", " ", "\n", " ", `"`, "").Replace(name))
	w.offsets = int64(len(head))
	tasks := strings.TrimSuffix(strings.Repeat("1,", s.Reader.Ranks()), ",")
	w.Out.Append(fmt.Appendf(nil, "%s%019d:%d(%s),%d\n", head, 0, s.Reader.Ranks(), tasks, len(comms)))
	for _, text := range comms {
		w.Out.Append([]byte(text))
	}
	return w, w.Out.Err()
}

// Begin begins a task.
func (w *DimemasWriter) Begin(k *trace.Rank) error {
	w.StartRank(k)
	w.begins = append(w.begins, w.Out.Position())
	return w.Out.Err()
}

// End ends the current task.
func (w *DimemasWriter) End(*trace.Rank) error {
	w.FinishRank()
	return w.Out.Err()
}

// Close writes where tasks begin, and ends the file.
func (w *DimemasWriter) Close() error {
	at := w.Out.Position()
	for task, begin := range w.begins {
		w.Out.Append(fmt.Appendf(nil, "s:%d:%d\n", task, begin))
	}
	w.Out.Patch(w.offsets, fmt.Appendf(nil, "%019d", at))
	return w.Out.Close()
}

// record writes a record of the task's one thread.
func (w *DimemasWriter) record(kind int, fields ...int64) {
	b := w.text(kind)
	for _, n := range fields {
		b = strconv.AppendInt(append(b, ':'), n, 10)
	}
	w.line = append(b, '\n')
	w.Out.Append(w.line)
}

// text returns the beginning of a record: its kind, task and thread.
func (w *DimemasWriter) text(kind int) []byte {
	b := strconv.AppendInt(w.line[:0], int64(kind), 10)
	return append(strconv.AppendInt(append(b, ':'), int64(w.Rank), 10), ":0"...)
}

func (w *DimemasWriter) burst(ns int64) {
	b := strconv.AppendInt(append(w.text(burst), ':'), ns/1e9, 10)
	b = append(b, ".000000000\n"...)
	for i, n := len(b)-2, ns%1e9; n > 0; i, n = i-1, n/10 {
		b[i] += byte(n % 10)
	}
	w.line = b
	w.Out.Append(b)
}

// nothing returns a record without effect, a computation of 0 s, that is length bytes long.
func (w *DimemasWriter) nothing(length int64) []byte {
	b := append(w.text(burst), ":0."...)
	for int64(len(b)) < length-1 {
		b = append(b, '0')
	}
	return append(b, '\n')
}

// Enter writes the computation before a call, and the call's actions.
func (w *DimemasWriter) Enter(c *ops.Call) error {
	gap, ok := w.ComputeNsBeforeCall(c, "a task is one sequence of records")
	if !ok {
		return w.Out.Err()
	}
	if w.Source.Reader.HasTimes() {
		w.burst(gap)
	}
	for i := range c.Acts {
		w.act(&c.Acts[i])
	}
	return w.Out.Err()
}

func (w *DimemasWriter) act(x *ops.Act) {
	switch x.Kind {
	case ops.ActSend, ops.ActSendBegin, ops.ActRecv, ops.ActRecvEnd:
		w.message(x)
	case ops.ActRecvBegin:
		w.PostReceive(x, int64(len(w.late(0, 0, 0, 0))), func(peer int64) {
			t, comm := w.channel(&x.Operation)
			w.record(receive, peer, -1, int64(x.ReceivedBytes), t, comm, immediate)
		})
	case ops.ActCancelled:
		w.CancelReceive(x.ID)
	case ops.ActCollective, ops.ActCollectiveBegin:
		w.collective(x)
	case ops.ActWinFence, ops.ActWindowMade, ops.ActWindowFreed:
		if w.comms[x.Comm.Number] {
			w.record(globalOp, 0, int64(x.Comm.Number+1), 0, 0, 0, 0, 0)
		}
	default:
		w.CountUnsupported(x)
	}
}

// channel returns a message's tag and communicator. For intercommunicators and for communicators of one rank these
// are MPI_COMM_WORLD and a new tag.
func (w *DimemasWriter) channel(op *ops.Operation) (number, comm int64) {
	c := op.Comm.Number
	if w.comms[c] {
		return op.Tag, int64(c + 1)
	}
	return firstOwn + w.ChannelNumber(ChannelOf(op)), 1
}

func (w *DimemasWriter) message(x *ops.Act) {
	peer, ok := w.Peer(x)
	if !ok {
		return
	}
	t, comm := w.channel(&x.Operation)
	switch x.Kind {
	case ops.ActSend, ops.ActSendBegin:
		how := int64(0)
		if ops.HasAttr(x.StartedBy, mpi.AttrSynchronous) {
			how |= rendezvous
		}
		if x.Kind == ops.ActSendBegin {
			how |= immediateBit
		}
		w.record(send, peer, -1, int64(x.SentBytes), t, comm, how)
	case ops.ActRecv:
		w.record(receive, peer, -1, int64(x.ReceivedBytes), t, comm, blocking)
	case ops.ActRecvEnd:
		w.FillReceive(x, func() []byte { return w.late(peer, int64(x.ReceivedBytes), t, comm) })
		w.record(receive, peer, -1, int64(x.ReceivedBytes), t, comm, wait)
	}
}

// late returns the record of a posted receive, padded to a fixed length, as it is filled in later.
func (w *DimemasWriter) late(peer, bytes, tag, comm int64) []byte {
	return fmt.Appendf(w.text(receive), ":%010d:-1:%019d:%010d:%010d:%d\n", peer, bytes, tag, comm, immediate)
}

func (w *DimemasWriter) collective(x *ops.Act) {
	number, ok := operations[ops.CollectiveOperationOf(x.StartedBy)]
	switch {
	case !ok:
		w.Source.Losses.Add("collectives along a topology (MPI_Neighbor_…)", 1)
		return
	case x.Comm.Number < 0: // a communicator of one rank
		return
	case !w.comms[x.Comm.Number]:
		w.Source.Losses.Add("collectives between two groups, or on a communicator whose members the trace does not have", 1)
		return
	}
	root := int64(0)
	if x.Root >= 0 && x.Comm.WorldRank(x.Root) == w.Rank {
		root = 1
	}
	w.record(globalOp, int64(number), int64(x.Comm.Number+1), root, 0, int64(x.SentBytes), int64(x.ReceivedBytes), 0)
}
