package traced

import (
	"iter"
	"math"

	"github.com/spoor-hpc/spoor/internal/export"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// A compiled program is that of a rank whose distinct calls do the same each time: what they
// do is found once for each, and then repeated in the order of the calls.
type compiled struct {
	s     *Source
	calls []compiledCall // by terminal
	next  func() (terminal int, gap, duration float64, ok bool, err error)
	stop  func()
	made  uint64 // requests
	mask  uint64
}

// A compiledCall is what a distinct call does.
type compiledCall struct {
	ops   []dataflow.Op // the first one is the gap
	waits []relative    // which of them are for requests, and how many requests ago these were made
	begun int           // which one makes a request; 0: none
	makes bool          // the call makes one, whether or not there is anything to wait for
	role  role          // if took is not 0
	took  int           // which one takes as long as the call did
	name  string
}

type relative struct{ op, ago int }

// Next gives what the next call does.
func (p *compiled) Next() ([]dataflow.Op, error) {
	terminal, gap, duration, ok, err := p.next()
	if !ok || err != nil {
		p.calls = nil
		p.stop()
		return nil, err
	}
	c := &p.calls[terminal]
	p.s.ns += gap + duration
	c.ops[0].Time = p.s.computed(gap - p.s.gap)
	for _, w := range c.waits {
		c.ops[w.op].Request = inner + int32((p.made-uint64(w.ago))&p.mask)
	}
	if c.begun > 0 {
		c.ops[c.begun].Request = inner + int32(p.made&p.mask)
	}
	if c.makes {
		p.made++
	}
	if c.took > 0 {
		if c.role == local {
			c.ops[c.took].Time = p.s.computed(duration - p.s.call)
		} else {
			p.s.leave(c.name, duration, true)
			c.ops[c.took].Time = recorded(duration)
		}
	}
	return c.ops, nil
}

func recorded(ns float64) int64 { return int64(math.Round(min(ns*1000, 1e18))) }

// compile returns the program of a rank; nil if its calls have to be looked at one by one.
func (s *Source) compile(k *trace.Rank) (*compiled, error) {
	process, err := k.Process()
	if err != nil || process.OffNs() > 0 || s.o.apart || s.o.single {
		return nil, err
	}
	p := &compiled{s: s, calls: make([]compiledCall, k.Terminals())}
	d, err := s.distinct.Distinct(k)
	if err != nil {
		return nil, err
	}
	w := &writer{s: s, k: k, groups: make(map[*trace.Comm]*group)}
	made, waited, most := uint64(0), uint64(0), 1
	for t, n := range k.Counts(0) {
		if n == 0 {
			continue
		}
		known, err := w.compile(d, t, &p.calls[t])
		if err != nil || !known {
			return nil, err
		}
		c := &p.calls[t]
		if c.makes {
			made += n
		}
		waited += n * uint64(len(c.waits))
		for _, x := range c.waits {
			most = max(most, x.ago)
		}
	}
	if made != waited || most > mostAgo { // what nobody waits for would keep its place
		return nil, nil
	}
	for p.mask = 1; p.mask < uint64(most+1); p.mask *= 2 {
	}
	p.mask--
	return p, p.follow(k, w)
}

// mostAgo is how many requests may be between the beginning and the end of one.
const mostAgo = 1 << 20

// compile finds out what a distinct call does; false if that depends on more than the call.
func (w *writer) compile(d *export.Distinct, terminal int, x *compiledCall) (bool, error) {
	c, err := w.k.Terminal(terminal)
	if err != nil || !repeatable(c) {
		return false, err
	}
	call, err := d.Call(terminal)
	if err != nil || call == nil {
		return false, err
	}
	call.Rank = w.k.Number()
	w.ops = []dataflow.Op{{Kind: dataflow.Compute}}
	x.name, x.makes = c.Name(), c.Func.Has(trace.Nonblocking)
	if c.Func.Has(trace.Completes) {
		for _, v := range completed(c) {
			switch v.Form {
			case trace.RequestNull:
			case trace.RequestOnce:
				if v.ID < 1 || v.ID > mostAgo {
					return false, nil
				}
				x.waits = append(x.waits, relative{len(w.ops), int(v.ID)})
				w.add(dataflow.Op{Kind: dataflow.Wait})
			default:
				return false, nil
			}
		}
		x.ops = again(w.ops)
		return true, nil
	}
	begins := 0
	for i := range call.Acts {
		a := &call.Acts[i]
		switch a.Kind {
		case export.SendBegin, export.RecvBegin, export.CollectiveBegin:
			if begins++; a.Kind == export.RecvBegin && (a.Peer < 0 || a.Tag < 0) {
				return false, nil
			}
		}
		if a.Kind != export.CollectiveBegin && a.Kind != export.Collective && a.Comm != nil && a.Peer >= 0 && a.World() < 0 {
			return false, nil
		}
	}
	w.requests, w.made, w.spare = make(map[uint64]int32), 0, nil
	known := w.acts(call)
	if begins > 1 || begins == 1 && (!known || !x.makes) {
		return false, nil
	}
	if begins == 1 {
		x.begun = len(w.ops) - 1
	}
	if !known {
		switch x.role = w.kind(call); {
		case x.role == waitsLater:
		case x.role == unknown && moves(c):
			return false, nil
		default:
			kind := dataflow.Recorded
			if x.role == local {
				kind = dataflow.Overhead
			}
			x.took = len(w.ops)
			w.add(dataflow.Op{Kind: kind})
		}
	}
	x.ops = again(w.ops)
	return true, nil
}

// again marks operations as those that will come again.
func again(ops []dataflow.Op) []dataflow.Op {
	ops = append([]dataflow.Op(nil), ops...)
	for i := range ops {
		ops[i].Again = true
	}
	return ops
}

// repeatable reports whether what a call does follows from what it is called with, and is
// a message, a collective, the end of such, or nothing that the simulation knows of.
func repeatable(c *trace.Call) bool {
	def, ok := mpi.Lookup(c.Name())
	if !ok || c.Return != 0 || def.Has(mpi.Polls) || c.Func.Has(trace.Persistent) || c.Func.Has(trace.Starts) || c.Func.Has(trace.CreatesWin) {
		return false
	}
	for i := range c.Params {
		switch c.Params[i].Kind() {
		case "message", "win", "file":
			return false
		}
	}
	switch export.Base(c.Func) {
	case "Cancel", "Request_free":
		return false
	}
	m := meaning.Of(c.Name())
	return m == nil || m.Pattern == meaning.ToPeer || m.Pattern == meaning.Receive || m.Pattern.Collective()
}

// moves reports whether a call sends or receives, or makes a request.
func moves(c *trace.Call) bool {
	m := meaning.Of(c.Name())
	return c.Func.Has(trace.Nonblocking) || m != nil && !m.Pattern.Collective()
}

// completed returns the requests that a call has waited for.
func completed(c *trace.Call) (list []*trace.Value) {
	if p := c.Param("request"); p != nil {
		return []*trace.Value{&p.In}
	}
	p := c.Param("array_of_requests")
	if p == nil {
		return nil
	}
	elems := p.In.Elems
	add := func(i int64) {
		if i >= 0 && i < int64(len(elems)) {
			list = append(list, &elems[i])
		}
	}
	switch at, some := c.Param("index"), c.Param("array_of_indices"); {
	case at != nil:
		if at.Out.Type == trace.Int {
			add(at.Out.Num)
		}
	case some != nil:
		for i := range some.Out.Elems {
			add(some.Out.Elems[i].Num)
		}
	default:
		for i := range elems {
			add(int64(i))
		}
	}
	return list
}

// follow has the program go through the calls of its rank.
func (p *compiled) follow(k *trace.Rank, w *writer) error {
	if err := w.Begin(k); err != nil {
		return err
	}
	p.stop = func() {}
	if w.leaves != nil {
		leaves, of, cursor := w.leaves, w.of, w.cursor // w knows more than has to be kept
		p.next = func() (int, float64, float64, bool, error) {
			i, enters, ok := cursor.Next()
			if !ok {
				return 0, 0, 0, false, nil
			}
			gap, duration := leaves[i].times(enters)
			return of.Terminal(i), gap, duration, true, nil
		}
		return nil
	}
	type timed struct{ terminal, gap, duration uint64 }
	var now []timed
	more, stop := iter.Pull2(func(yield func([]timed, error) bool) {
		list := make([]timed, 0, batch)
		for t, err := range k.Timings(0) {
			if err != nil {
				yield(nil, err)
				return
			}
			list = append(list, timed{uint64(t.Terminal), t.Timing.Gap.Ns, t.Timing.Duration.Ns})
			if len(list) == batch {
				if !yield(list, nil) {
					return
				}
				list = list[:0]
			}
		}
		if len(list) > 0 {
			yield(list, nil)
		}
	})
	p.stop = stop
	p.next = func() (int, float64, float64, bool, error) {
		if len(now) == 0 {
			list, err, ok := more()
			if now = list; !ok || err != nil {
				return 0, 0, 0, false, err
			}
		}
		t := now[0]
		now = now[1:]
		return int(t.terminal), float64(t.gap), float64(t.duration), true, nil
	}
	return nil
}
