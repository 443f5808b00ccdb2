package waits

import (
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// A lane is what messages don't overtake each other on.
type lane struct {
	comm     int
	from, to int // ranks of the world
	tag      int64
}

func laneOf(x *ops.Act, from, to int) lane { return lane{x.Comm.Channel(), from, to, x.Tag} }

// tornMessages are messages of which nobody knows which was received where.
const tornMessages = "messages from and to ranks that counted unequally many, as tracing was off or calls were lost"

// torn reports whether a message is on a lane that isn't looked at, and counts it.
func (w *watcher) torn(x *ops.Act, from, to int) bool {
	if !w.a.torn[laneOf(x, from, to)] {
		return false
	}
	w.a.s.Losses.Add(tornMessages, 1)
	return true
}

// torn finds the lanes of which the two ends count unequally many messages, in a run of which some calls are
// missing: there the k-th that was sent isn't the k-th that was received.
func torn(r *trace.Reader) (map[lane]bool, error) {
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
	t := &balance{more: make(map[lane]int64)}
	if err := s.Run(t); err != nil {
		return nil, err
	}
	torn := make(map[lane]bool)
	for l, n := range t.more {
		if n != 0 {
			torn[l] = true
		}
	}
	return torn, nil
}

// A balance counts by how many messages more were sent than received. It is an ops.Sink.
type balance struct {
	k    *trace.Rank
	more map[lane]int64
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
			t.more[laneOf(x, t.k.Number(), x.World())]++
		case x.Kind == ops.Recv || x.Kind == ops.RecvEnd:
			t.more[laneOf(x, x.World(), t.k.Number())]--
		}
	}
	return nil
}

// Leave does nothing.
func (t *balance) Leave(*ops.Call) error { return nil }

// End does nothing.
func (t *balance) End(*trace.Rank) error { return nil }
