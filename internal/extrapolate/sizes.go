package extrapolate

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// sizes adds up what messages take: at their sender, and as their receiver is told.
type sizes struct {
	rank int
	of   map[ops.Channel][2]uint64
}

func (s *sizes) Begin(k *trace.Rank) error {
	s.rank = k.Number()
	return nil
}

func (s *sizes) Enter(c *ops.Call) error {
	for i := range c.Acts {
		switch a := &c.Acts[i]; a.Kind {
		case ops.Send, ops.SendBegin:
			s.add(a.Channel(s.rank, a.World()), a.Sent, 0)
		case ops.Recv, ops.RecvEnd:
			s.add(a.Channel(a.World(), s.rank), 0, a.Received)
		}
	}
	return nil
}

func (s *sizes) Leave(*ops.Call) error { return nil }

func (s *sizes) End(*trace.Rank) error { return nil }

func (s *sizes) add(c ops.Channel, sent, received uint64) {
	b := s.of[c]
	s.of[c] = [2]uint64{b[0] + sent, b[1] + received}
}

// sameSizes checks that receivers are told what senders sent. Statuses are values of their own, which have forms.
func sameSizes(r *trace.Reader) error {
	o, err := ops.New(r, ops.Options{From: ops.FromStart, To: ops.ToEnd, Untimed: true})
	if err != nil {
		return err
	}
	s := &sizes{of: make(map[ops.Channel][2]uint64)}
	if err := o.Run(s); err != nil {
		return err
	}
	for c, b := range s.of {
		if b[0] != b[1] {
			return fmt.Errorf("the result does not match: rank %d sends %d B to rank %d with tag %d, which receives %d B", c.From, b[0], c.To, c.Tag, b[1])
		}
	}
	return nil
}
