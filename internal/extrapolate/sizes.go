package extrapolate

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// sizes adds up what messages take: at their sender, and as their receiver is told.
type sizes struct {
	rank int
	of   map[channel]*balance
}

type channel struct {
	from, to int
	tag      int64
}

// A balance is what a channel's ends say, in bytes.
type balance struct{ sent, received uint64 }

func (s *sizes) Begin(k *trace.Rank) error {
	s.rank = k.Number()
	return nil
}

func (s *sizes) Enter(c *ops.Call) error {
	for i := range c.Acts {
		if a := &c.Acts[i]; a.Kind == ops.Send || a.Kind == ops.SendBegin {
			s.at(channel{s.rank, a.World(), a.Tag}).sent += a.Sent
		}
	}
	return nil
}

func (s *sizes) Leave(c *ops.Call) error {
	for i := range c.Acts {
		if a := &c.Acts[i]; a.Kind == ops.Recv || a.Kind == ops.RecvEnd {
			s.at(channel{a.World(), s.rank, a.Tag}).received += a.Received
		}
	}
	return nil
}

func (s *sizes) End(*trace.Rank) error { return nil }

func (s *sizes) at(c channel) *balance {
	b := s.of[c]
	if b == nil {
		b = &balance{}
		s.of[c] = b
	}
	return b
}

// sameSizes checks that receivers are told what senders sent. Statuses are values of their own, which have forms.
func sameSizes(r *trace.Reader) error {
	o, err := ops.New(r, ops.Options{From: ops.FromStart, To: ops.ToEnd, Untimed: true})
	if err != nil {
		return err
	}
	s := &sizes{of: make(map[channel]*balance)}
	if err := o.Run(s); err != nil {
		return err
	}
	for c, b := range s.of {
		if b.sent != b.received {
			return fmt.Errorf("the result does not match: rank %d sends %d B to rank %d with tag %d, which receives %d B", c.from, b.sent, c.to, c.tag, b.received)
		}
	}
	return nil
}
