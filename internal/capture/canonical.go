package capture

import (
	"errors"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/event"
	"github.com/spoor-hpc/spoor/internal/signature"
)

var errValues = errors.New("values don't fit the call")

// canonical puts values from the order of recording (return code, all inputs,
// all outputs, aux words) into the order of a signature, where each
// parameter's output follows its input.
func (c *Capture) canonical(p *program, vals []int64) ([]int64, error) {
	order, err := c.order(p, vals)
	if err != nil {
		return nil, err
	}
	return inOrder(make([]int64, 0, len(order)), vals, order), nil
}

// inOrder appends values in an order.
func inOrder(out, vals []int64, order []int) []int64 {
	for _, from := range order {
		out = append(out, vals[from])
	}
	return out
}

// An ordering is room for what order goes by.
type ordering struct {
	out      []int
	ins, end []span
}

// order tells which of the values as recorded stands at each place of a signature.
func (c *Capture) order(p *program, vals []int64) ([]int, error) {
	var o ordering
	return c.orderIn(&o, p, vals)
}

// orderIn does the same in room that is used again.
func (c *Capture) orderIn(o *ordering, p *program, vals []int64) ([]int, error) {
	if len(vals) == 0 {
		return nil, errValues
	}
	out := append(o.out[:0], 0)
	add := func(part span) {
		for i := part.from; i < part.to; i++ {
			out = append(out, i)
		}
	}
	defer func() { o.out = out }()
	ins, at, err := split(o.ins[:0], p.in, vals, 1, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.call.Name, err)
	}
	o.ins = ins
	if at == len(vals) {
		for _, part := range ins {
			add(part)
		}
		return out, nil
	}
	outs, at, err := split(o.end[:0], p.out, vals, at, vals[0] == c.inStatus)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.call.Name, err)
	}
	o.end = outs
	if p.returns() {
		add(outs[0])
		outs = outs[1:]
	}
	for i := range p.call.Params {
		q := &p.call.Params[i]
		if q.LargeOnly && !p.call.Large {
			continue
		}
		if q.HasIn() {
			add(ins[0])
			ins = ins[1:]
		}
		if q.HasOut() {
			add(outs[0])
			outs = outs[1:]
		}
	}
	add(span{at, len(vals)})
	return out, nil
}

type span struct{ from, to int }

// split cuts values from a place on into the parts that steps made, which it appends to
// a list, and returns where they end. Statuses hold error codes if failures is set.
func split(parts []span, steps []step, vals []int64, at int, failures bool) (_ []span, end int, err error) {
	for i := range steps {
		n, err := width(&steps[i], steps[i].code, vals[at:], failures)
		if err != nil || n > len(vals)-at {
			return nil, at, errValues
		}
		parts = append(parts, span{at, at + n})
		at += n
	}
	return parts, at, nil
}

// width is how many of vals belong to a part.
func width(s *step, c code, vals []int64, failures bool) (int, error) {
	if len(vals) == 0 {
		return 0, errValues
	}
	switch c {
	case codeAddress:
		return 2, nil
	case codeStatus:
		switch vals[0] {
		case event.StatusFilled, event.StatusIgnored:
			if failures {
				return 6, nil
			}
			return 5, nil
		case statusOfSend:
			return 2, nil
		}
		return 1, nil
	case codeArray:
		n, _ := signature.Length(vals[0])
		at := 1
		element := s.element
		if c == codeArray && s.element == codeArray {
			inner := *s
			inner.element = codeString
			for range max(n, 0) {
				k, err := width(&inner, codeArray, vals[min(at, len(vals)):], failures)
				if err != nil {
					return 0, err
				}
				at += k
			}
			return at, nil
		}
		for range max(n, 0) {
			k, err := width(s, element, vals[min(at, len(vals)):], failures)
			if err != nil {
				return 0, err
			}
			at += k
		}
		return at, nil
	}
	return 1, nil
}
