package extrapolate

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/spoor-hpc/spoor/internal/analyse/hang"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// check looks in an extrapolated trace for unreceived messages, receives without a message, and collective calls that
// differ. It does not use the forms that the trace was made by.
func check(c *sections.Content) error {
	r, err := readerOf(c)
	if err != nil {
		return err
	}
	var sizes error
	var group sync.WaitGroup
	group.Go(func() { sizes = sameSizes(r) })
	rep, err := hang.Analyse(r, hang.Options{})
	group.Wait()
	switch {
	case err != nil:
		return err
	case len(rep.Receives) > 0:
		m := rep.Receives[0]
		return fmt.Errorf("the result does not match: rank %d waits in %s for a message from rank %d that nobody sends", m.Rank, m.Function, m.SourceWorldRank)
	case len(rep.Messages) > 0:
		m := rep.Messages[0]
		return fmt.Errorf("the result does not match: rank %d receives no message that rank %d sends by %s", m.To, m.From, m.Function)
	case len(rep.Mismatches) > 0:
		return fmt.Errorf("the result does not match: ranks of %s call different collective functions", rep.Mismatches[0].Comm)
	}
	return sizes
}

// readerOf returns a reader of the content of an extrapolated trace.
func readerOf(c *sections.Content) (*trace.Reader, error) {
	file, err := sections.EncodeFileWithoutSeries(c)
	if err != nil {
		return nil, err
	}
	return trace.ReadBytes(file, "the extrapolated trace")
}

// A messageSink passes on a rank's messages: those that it sends to sent, and those that its statuses show as received
// to received.
type messageSink struct {
	ops.NopSink
	rank     int
	sent     func(rank int, c ops.Channel, a *ops.Act)
	received func(rank int, c ops.Channel, a *ops.Act)
}

func (t *messageSink) Begin(k *trace.Rank) error {
	t.rank = k.Number()
	return nil
}

func (t *messageSink) Enter(c *ops.Call) error {
	for i := range c.Acts {
		switch a := &c.Acts[i]; a.Kind {
		case ops.ActSend, ops.ActSendBegin:
			t.sent(t.rank, a.Channel(t.rank, a.PeerWorldRank()), a)
		case ops.ActRecv, ops.ActRecvEnd:
			t.received(t.rank, a.Channel(a.PeerWorldRank(), t.rank), a)
		}
	}
	return nil
}

// messages passes each message of a trace to sent at its send, and to received at its receive.
func messages(r *trace.Reader, sent, received func(rank int, c ops.Channel, a *ops.Act)) error {
	o, err := ops.NewSource(r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, IgnoreTimes: true, NumberMessages: true})
	if err != nil {
		return err
	}
	return o.Run(&messageSink{sent: sent, received: received})
}

// sameSizes checks that receives have the senders' sizes. Statuses are fitted separately, so their values may differ.
func sameSizes(r *trace.Reader) error {
	type pair struct{ from, to int }
	type sizes struct {
		sent, received uint64 // bytes of all messages from one rank to another
		// difference of sent and received bytes, weighted by message: 0 if each message has equal sizes at both ends
		off uint64
	}
	of := make(map[pair]sizes)
	const odd = 0x9e3779b97f4a7c15 // weights sizes by the message's number, so that differences don't cancel out
	if err := messages(r, func(_ int, c ops.Channel, a *ops.Act) {
		s := of[pair{c.FromWorldRank, c.ToWorldRank}]
		of[pair{c.FromWorldRank, c.ToWorldRank}] = sizes{s.sent + a.SentBytes, s.received, s.off + (a.MessageNumber*odd|1)*a.SentBytes}
	}, func(_ int, c ops.Channel, a *ops.Act) {
		s := of[pair{c.FromWorldRank, c.ToWorldRank}]
		of[pair{c.FromWorldRank, c.ToWorldRank}] = sizes{s.sent, s.received + a.ReceivedBytes, s.off - (a.MessageNumber*odd|1)*a.ReceivedBytes}
	}); err != nil {
		return err
	}
	for p, s := range of {
		if s.off != 0 {
			return fmt.Errorf("the result does not match: rank %d sends %d B to rank %d, which receives %d B, or in another order", p.from, s.sent, p.to, s.received)
		}
	}
	return nil
}

// unsaid is the sizes of messages whose receives have no size that can be determined. Such a receive gets the
// sender's size. Until that is known, each kind of receive of a rank has a placeholder that is no message's size.
type unsaid struct {
	of     [][]int64 // by rank and kind of receive: size in bytes; negative: not known
	any    atomic.Bool
	looked bool // lookUp has filled the sizes
}

const unsaidSize = 1 << 48

// size returns the size of a received message that no form determines: the placeholder, or what lookUp found. If it
// found nothing, the error is why.
func (x *maker) size(why error) (int64, error) {
	s := x.all.sizes
	if s == nil {
		return 0, why
	}
	n := x.unsaid
	x.unsaid++
	switch of := s.of[x.rank]; {
	case !s.looked:
		s.any.Store(true)
		return unsaidSize + int64(n), nil
	case n < len(of) && of[n] >= 0:
		return of[n], nil
	}
	return 0, why
}

// lookUp finds the size of the message that the first receive of each kind gets. sameSizes checks later that the others
// of the kind are equal.
func (s *unsaid) lookUp(c *sections.Content) error {
	r, err := readerOf(c)
	if err != nil {
		return err
	}
	s.looked = true
	const unseen = -2
	type kind struct{ rank, n int }
	asking := make(map[uint64][]kind) // by message: the kinds that need its size
	if err := messages(r, func(int, ops.Channel, *ops.Act) {}, func(rank int, _ ops.Channel, a *ops.Act) {
		if a.ReceivedBytes < unsaidSize {
			return
		}
		n := int(a.ReceivedBytes - unsaidSize)
		for n >= len(s.of[rank]) {
			s.of[rank] = append(s.of[rank], unseen)
		}
		if s.of[rank][n] == unseen {
			s.of[rank][n] = -1
			asking[a.MessageNumber] = append(asking[a.MessageNumber], kind{rank, n})
		}
	}); err != nil {
		return err
	}
	return messages(r, func(_ int, _ ops.Channel, a *ops.Act) {
		for _, k := range asking[a.MessageNumber] {
			s.of[k.rank][k.n] = int64(a.SentBytes)
		}
	}, func(int, ops.Channel, *ops.Act) {})
}
