package bysite

import (
	"fmt"
	"iter"

	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/signature"
)

// treeOf takes the calls of a thread apart.
func treeOf(thread *Thread, ranks int, follow bool, room *budget) (*tree, error) {
	t, err := newTree(ranks, thread.Sites, thread.Loops, room)
	if err != nil {
		return nil, err
	}
	for rank := range ranks {
		calls := thread.Calls(rank)
		if calls == nil {
			if err := t.put(0, rank, 0); err != nil {
				return nil, err
			}
			continue
		}
		if err := t.put(0, rank, 1); err != nil {
			return nil, err
		}
		if err := t.take(rank, calls, follow); err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	for n := range t.nodes {
		if err := t.measure(n); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// take puts the calls of a rank into the columns.
func (t *tree) take(rank int, calls iter.Seq2[int, *signature.Signature], follow bool) error {
	p := &parser{t: t, rank: rank}
	if follow {
		p.requests = newRequests()
	}
	next, stop := iter.Pull2(calls)
	defer stop()
	p.next = next
	p.advance()
	if err := p.round(-1); err != nil {
		return err
	}
	if p.more {
		return fmt.Errorf("call %d comes in no order that the shape has", p.taken)
	}
	return nil
}

func (t *tree) put(n, rank int, v int64) error { return t.nodes[n].cols[rank].put(v, t.room) }

// A parser takes the calls of a rank apart.
type parser struct {
	t    *tree
	rank int
	next func() (int, *signature.Signature, bool)

	place int // of the next call
	sig   *signature.Signature
	more  bool
	taken int64

	requests *requests // nil: nothing is left out
	vals     []int64
	err      error
}

func (p *parser) advance() { p.place, p.sig, p.more = p.next() }

func (p *parser) put(n int, v int64) {
	if err := p.t.put(n, p.rank, v); err != nil && p.err == nil {
		p.err = err
	}
}

// round takes a round of a loop, or all if it is -1.
func (p *parser) round(loop int) error {
	for _, x := range p.t.items[loop+1] {
		n := int64(0)
		if x.loop >= 0 {
			for ; p.more && p.t.loops[x.loop].has(p.place); n++ {
				before := p.taken
				if err := p.round(x.loop); err != nil {
					return err
				}
				if p.taken == before {
					return fmt.Errorf("call %d is in no round", before)
				}
			}
		} else if p.more && p.place == x.place {
			n = 1
			if err := p.call(x.place); err != nil {
				return err
			}
			p.taken++
			p.advance()
		}
		if p.put(x.node, n); p.err != nil {
			return p.err
		}
	}
	return nil
}

// call puts the values of a call into their columns.
func (p *parser) call(place int) error {
	if p.t.taken++; p.t.taken > p.t.room.calls {
		return errBudget
	}
	s := &p.t.sites[place]
	p.vals = append(p.vals[:0], p.sig.Vals...)
	vals := p.vals
	var room [sections.SomeSpans]signature.Span
	spans, err := sections.SpansOf(s.Function, room[:0], vals)
	if err != nil {
		return err
	}
	if p.requests != nil {
		p.requests.step(place, s.Function, spans, vals, false)
	}
	if s.where >= 0 {
		p.put(s.where, s.numbered(int(p.sig.Site)))
	}
	p.put(s.parts[0].nodes[0], vals[0])
	outputs, made := int64(0), false
	for _, x := range s.parts[1:] {
		var of *signature.Span
		for i := range spans {
			if spans[i].Param == x.param && spans[i].Out == x.out {
				of = &spans[i]
			}
		}
		switch {
		case of != nil && x.option:
			made = true
			p.put(x.nodes[0], 1)
			for i, n := range x.nodes[1:] {
				p.put(n, vals[of.At+i])
			}
		case of != nil:
			p.span(x.nodes, of, vals)
		case !x.out:
			return fmt.Errorf("%s: parameter %d is missing", s.Function.Name, x.param)
		}
		if x.out && of != nil {
			outputs = 1
		}
	}
	p.put(s.outputs, outputs)
	if last := &s.parts[len(s.parts)-1]; last.option && outputs > 0 && !made {
		p.put(last.nodes[0], 0)
	}
	return p.err
}

func (p *parser) span(nodes []int, s *signature.Span, vals []int64) {
	t := p.t
	if len(nodes) == 0 {
		return
	}
	n := nodes[0]
	below := t.nodes[n].below
	switch t.nodes[n].kind {
	case list:
		p.put(n, vals[s.At])
		if s.Summed(vals) {
			for _, v := range vals[s.At+1 : s.End] {
				p.put(below[0], v)
			}
			return
		}
		for e := range s.Elements(vals) {
			p.span(below, &e, vals)
		}
	case status:
		p.put(n, vals[s.At])
		if s.Filled(vals) {
			fields := t.nodes[below[0]].below
			for i := range signature.StatusCancelled {
				p.put(fields[i], vals[s.At+1+i])
			}
			err := fields[signature.StatusCancelled]
			if s.At+signature.StatusError < s.End {
				p.put(err, 1)
				p.put(t.nodes[err].below[0], vals[s.At+signature.StatusError])
			} else {
				p.put(err, 0)
			}
		} else if vals[s.At] == signature.StatusOfSend {
			p.put(t.nodes[below[1]].below[0], vals[s.At+1])
		}
	default:
		for i, n := range nodes {
			p.put(n, vals[s.At+i])
		}
	}
}
