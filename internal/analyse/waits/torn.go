package waits

import (
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// tornMessages is the loss of messages whose two ends can't be matched.
const tornMessages = "messages that could not be matched: their two ends were not recorded equally often"

// torn reports whether a message is on a torn channel, and counts it.
func (w *watcher) torn(x *ops.Act, from, to int) bool {
	if !w.a.torn[x.Channel(from, to)] {
		return false
	}
	w.a.s.Losses.Add(tornMessages, 1)
	return true
}

// torn finds channels whose two ends count different numbers of messages. It looks only if calls are missing from the
// trace: on such a channel the k-th send no longer belongs to the k-th receive.
func torn(r *trace.Reader) (map[ops.Channel]bool, error) {
	missing := false
	for k, err := range r.Tracks() {
		if err != nil {
			return nil, err
		}
		p, err := k.Process()
		if err != nil {
			return nil, err
		}
		missing = missing || p.OffNs() > 0 || p.Lost > 0
	}
	if !missing {
		return nil, nil
	}
	s, err := ops.New(r, ops.Options{Untimed: true, Messages: true, From: ops.FromStart, To: ops.ToEnd})
	if err != nil {
		return nil, err
	}
	t := &balance{more: make(map[ops.Channel]int64)}
	if err := s.Run(t); err != nil {
		return nil, err
	}
	torn := make(map[ops.Channel]bool)
	for l, n := range t.more {
		if n != 0 {
			torn[l] = true
		}
	}
	return torn, nil
}

// A balance counts sends minus receives of each channel. It is an ops.Sink.
type balance struct {
	k    *trace.Rank
	more map[ops.Channel]int64
}

// Begin is of ops.Sink, as all of these.
func (t *balance) Begin(k *trace.Rank) error {
	t.k = k
	return nil
}

// Enter counts the messages of a call.
func (t *balance) Enter(c *ops.Call) error {
	for i := range c.Acts {
		switch x := &c.Acts[i]; {
		case x.Message == 0:
		case x.Kind == ops.Send || x.Kind == ops.SendBegin:
			t.more[x.Channel(t.k.Number(), x.World())]++
		case x.Kind == ops.Recv || x.Kind == ops.RecvEnd:
			t.more[x.Channel(x.World(), t.k.Number())]--
		}
	}
	return nil
}

// Leave does nothing.
func (t *balance) Leave(*ops.Call) error { return nil }

// End does nothing.
func (t *balance) End(*trace.Rank) error { return nil }
