package waits

import (
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// tornMessages names the loss of messages whose two ends can't be matched.
const tornMessages = "messages that could not be matched: their two ends were not recorded equally often"

// isTorn reports whether a message's channel is torn: its sends and its receives were not recorded equally often. It
// counts such messages.
func (w *rankAnalysis) isTorn(x *ops.Act, from, to int) bool {
	if w.torn == nil || !w.torn[x.Channel(from, to)] {
		return false
	}
	w.s.Losses.Add(tornMessages, 1)
	return true
}

// missing reports whether calls are missing from a trace: some rank lost calls, or had tracing switched off.
func missing(r *trace.Reader) (bool, error) {
	list, err := r.Processes()
	if err != nil {
		return false, err
	}
	for _, p := range list.All() {
		if p.FirstThreadTracingOffNs() > 0 || p.LostCalls > 0 {
			return true, nil
		}
	}
	return false, nil
}

// findTorn finds torn channels, whose two ends count different numbers of messages. If calls are missing from the
// trace, the k-th send on such a channel no longer belongs to the k-th receive.
func (w *rankAnalysis) findTorn(r *trace.Reader) error {
	more := make(balance)
	w.try(func() error {
		s, err := ops.NewSource(r, ops.Options{IgnoreTimes: true, NumberMessages: true, PassFineSync: true, FromNs: ops.MinTime, ToNs: ops.MaxTime, Ranks: []int{w.Rank()}})
		if err != nil {
			return err
		}
		return s.Run(&balancing{rank: w.Rank(), more: more})
	})
	out := make(map[int][]byte)
	for c, n := range more {
		with := c.FromWorldRank + c.ToWorldRank - w.Rank()
		b := wire.AppendUvarint(wire.AppendUvarint(out[with], uint64(c.FromWorldRank)), uint64(c.ToWorldRank))
		out[with] = wire.AppendVarint(wire.AppendVarint(wire.AppendVarint(b, int64(c.Comm)), c.Tag), n)
	}
	in, err := w.exchange(out)
	if err != nil {
		return err
	}
	w.try(func() error {
		return w.hear(in, func(from int, r *wire.Reader) {
			if from == w.Rank() {
				r.Skip(r.RemainingLen())
				return
			}
			c := ops.Channel{FromWorldRank: r.Int(w.Size() - 1), ToWorldRank: r.Int(w.Size() - 1), Comm: int(r.Varint()), Tag: r.Varint()}
			more[c] += r.Varint()
		})
	})
	w.torn = make(map[ops.Channel]bool)
	for c, n := range more {
		if n != 0 {
			w.torn[c] = true
		}
	}
	return nil
}

// A balance is the number of sends minus the number of receives, by channel.
type balance map[ops.Channel]int64

// balancing computes a balance. It is an ops.Sink.
type balancing struct {
	ops.NopSink
	rank int
	more balance
}

// Enter adds the messages of a call to the balance.
func (t *balancing) Enter(c *ops.Call) error {
	for i := range c.Acts {
		switch x := &c.Acts[i]; {
		case x.MessageNumber == 0 || x.PeerWorldRank() < 0:
		case x.Kind == ops.ActSend || x.Kind == ops.ActSendBegin:
			t.more[x.Channel(t.rank, x.PeerWorldRank())]++
		case x.Kind == ops.ActRecv || x.Kind == ops.ActRecvEnd:
			t.more[x.Channel(x.PeerWorldRank(), t.rank)]--
		}
	}
	return nil
}
