package ops

import "github.com/spoor-hpc/spoor/trace"

// Distinct tells of distinct calls of a rank's first thread what each of them does.
type Distinct struct {
	p *process
	t *thread
}

// Distinct returns what tells that of a rank that has a track.
func (s *Source) Distinct(k *trace.Rank) (*Distinct, error) {
	p, err := s.process(k)
	if err != nil {
		return nil, err
	}
	return &Distinct{p, p.threads[0]}, nil
}

// Call returns a distinct call with what it does by itself: messages and collectives that it
// sends, receives or begins. It is nil if calls of the terminal differ, in values or in
// what handles stand for. What it completes is not said: requests are numbered back from the call.
func (d *Distinct) Call(terminal int) (*Call, error) {
	c, err := d.p.k.Terminal(terminal)
	if err != nil {
		return nil, err
	}
	pieces := d.p.x.Pieces(0, c)
	if len(pieces) != 1 || d.p.k.Lane(terminal) != nil {
		return nil, nil
	}
	at := *c
	at.Index = pieces[0].At
	x := &Call{Call: &at}
	q := &plan{}
	d.p.prepare(d.t, q, x.Call)
	if c.Func.Has(trace.Starts) || c.Func.Has(trace.Completes) {
		return x, nil
	}
	if q.act != nil && c.Return == 0 {
		q.act(d.p, d.t, q, x)
	}
	return x, nil
}
