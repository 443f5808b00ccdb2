package convert

// SMPI, of SimGrid, replays time-independent traces: a file of actions for each rank, and a list of these files. An
// action has an amount of computation or data, but no time, which depends on the simulated platform. See Casanova,
// Desprez, Markomanolis and Suter, "Simulation of MPI applications with time-independent traces", CCPE 27(5), 2015.
//
// Computation is in flops. A nanosecond is written as one flop, so that a host of 1 Gf computes as fast as the traced
// one. The time between calls is computation; the platform determines the calls' own time.

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// SMPIIndexFile is the name of the file that lists the ranks' files, in order of ranks.
const SMPIIndexFile = "index"

// A SMPIWriter writes a trace for SMPI into a folder. It is an ops.Sink and needs ops.Options.Shares. The trace must have all
// ranks, as the simulator would wait for a missing one.
type SMPIWriter struct {
	RankOperationWriter
	dir   string
	names []string
	world map[*handles.Comm]bool // by communicator: whether it has exactly the ranks of MPI_COMM_WORLD, in order
	self  map[*handles.Comm]int  // by communicator of a collective: the current rank's rank in it; -1: not a member

	line  []byte
	steps []sendReceive
}

// Tags of the messages that blocking (collectiveTag) and nonblocking collectives (flatTag) are decomposed into.
// Programs' tags are not negative.
const (
	collectiveTag = -10
	flatTag       = -11
)

// blankOf is the length in bytes of the line reserved for a wildcard receive, whose numbers are filled in later.
const blankOf = 64

// NewSMPIWriter begins to write into a folder that is there.
func NewSMPIWriter(s *ops.Source, dir string) (*SMPIWriter, error) {
	w := &SMPIWriter{dir: dir, world: make(map[*handles.Comm]bool)}
	var err error
	w.RankOperationWriter, err = NewRankOperationWriter(s, "replay", func(length int64) []byte { return padded(w.text("compute", 0), length) })
	return w, err
}

// Begin opens the file of a rank.
func (w *SMPIWriter) Begin(k *trace.Rank) error {
	name := fmt.Sprintf("rank%d.txt", k.Number())
	f, err := os.Create(filepath.Join(w.dir, name))
	if err != nil {
		return err
	}
	w.names = append(w.names, name)
	w.StartRank(k)
	w.Out = NewPatchedFile(f)
	w.self = make(map[*handles.Comm]int)
	w.action("init")
	return nil
}

// End closes the rank's file.
func (w *SMPIWriter) End(*trace.Rank) error {
	w.FinishRank()
	w.action("finalize")
	return w.Out.Close()
}

// Close writes the list of the ranks' files.
func (w *SMPIWriter) Close() error {
	var b []byte
	for _, name := range w.names {
		b = append(append(b, name...), '\n')
	}
	return os.WriteFile(filepath.Join(w.dir, SMPIIndexFile), b, 0o666)
}

// action writes a line of the current rank's file: an action's name and its parameters.
func (w *SMPIWriter) action(name string, numbers ...int64) { w.Out.Append(w.text(name, numbers...)) }

func (w *SMPIWriter) text(name string, numbers ...int64) []byte {
	b := strconv.AppendInt(w.line[:0], int64(w.Rank), 10)
	b = append(append(b, ' '), name...)
	for _, n := range numbers {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	w.line = append(b, '\n')
	return w.line
}

// padded inserts spaces before a line's newline, so that the line has length bytes.
func padded(line []byte, length int64) []byte {
	line = line[:len(line)-1]
	for int64(len(line)) < length-1 {
		line = append(line, ' ')
	}
	return append(line, '\n')
}

// Enter writes what was computed before a call, and what the call did.
func (w *SMPIWriter) Enter(c *ops.Call) error {
	gap, ok := w.ComputeNsBeforeCall(c, "a rank is one sequence of actions")
	if gap > 0 && w.Source.Reader.HasTimes() {
		w.action("compute", gap)
	}
	if ok && !w.exchange(c) {
		for i := range c.Acts {
			w.act(&c.Acts[i])
		}
	}
	return w.Out.Err()
}

// exchange writes a call that sends and receives at once, as MPI_Sendrecv. It returns false for other calls.
func (w *SMPIWriter) exchange(c *ops.Call) bool {
	if len(c.Acts) != 2 || c.Acts[0].Kind != ops.ActSend || c.Acts[1].Kind != ops.ActRecv {
		return false
	}
	out, in := &c.Acts[0], &c.Acts[1]
	from, to := in.PeerWorldRank(), out.PeerWorldRank()
	if from < 0 || to < 0 {
		return false
	}
	w.action("irecv", int64(from), w.tag(&in.Operation), sizeOf(in.ReceivedBytes))
	w.action("send", int64(to), w.tag(&out.Operation), sizeOf(out.SentBytes))
	w.action("wait", int64(from), int64(w.Rank), w.tag(&in.Operation))
	return true
}

// sizeOf returns the size to write for a message: at least 1, as SMPI reads 0 as "ask the sender".
func sizeOf(bytes uint64) int64 { return int64(max(1, bytes)) }

func (w *SMPIWriter) tag(op *ops.Operation) int64 { return w.ChannelNumber(ChannelOf(op)) }

func (w *SMPIWriter) act(x *ops.Act) {
	switch x.Kind {
	case ops.ActSend, ops.ActSendBegin, ops.ActSendEnd, ops.ActRecv, ops.ActRecvBegin, ops.ActRecvEnd:
		w.message(x)
	case ops.ActCancelled:
		if x.Window == nil && x.File == nil {
			w.message(x)
		}
	case ops.ActCollective, ops.ActCollectiveBegin, ops.ActCollectiveEnd:
		w.collective(x)
	case ops.ActWinFence, ops.ActWindowMade, ops.ActWindowFreed:
		w.barrier(x.Comm)
	default:
		w.CountUnsupported(x)
	}
}

// message writes the actions for a send, a receive, or the end of either. SMPI's waits name no request: they complete
// the oldest pending one of the same ranks and tag.
func (w *SMPIWriter) message(x *ops.Act) {
	switch {
	case x.Kind == ops.ActRecvBegin:
		w.PostReceive(x, blankOf, func(peer int64) { w.action("irecv", peer, w.tag(&x.Operation), sizeOf(x.ReceivedBytes)) })
		return
	case x.Kind == ops.ActCancelled && w.CancelReceive(x.ID):
		return
	}
	peer, ok := w.Peer(x)
	if !ok {
		return
	}
	me, t := int64(w.Rank), w.tag(&x.Operation)
	switch x.Kind {
	case ops.ActSend:
		w.action("send", peer, t, sizeOf(x.SentBytes))
	case ops.ActSendBegin:
		w.action("isend", peer, t, sizeOf(x.SentBytes))
	case ops.ActSendEnd, ops.ActCancelled: // SMPI can't cancel a send: it is sent, and waited for like others
		w.action("wait", me, peer, t)
	case ops.ActRecv:
		w.action("recv", peer, t, sizeOf(x.ReceivedBytes))
	case ops.ActRecvEnd:
		w.FillReceive(x, func() []byte { return padded(w.text("irecv", peer, t, sizeOf(x.ReceivedBytes)), blankOf) })
		w.action("wait", peer, me, t)
	}
}
