package capture

import (
	"errors"
	"fmt"

	"spoor/internal/event"
)

var errValues = errors.New("values don't fit the call")

// canonical puts values from the order of recording (return code, all inputs,
// all outputs, aux words) into the order of a signature, where each
// parameter's output follows its input.
func (c *Capture) canonical(p *program, vals []int64) ([]int64, error) {
	if len(vals) == 0 {
		return nil, errValues
	}
	out := make([]int64, 0, len(vals))
	rest := vals[1:]
	out = append(out, vals[0])
	ins, rest, err := split(p.in, rest, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.call.Name, err)
	}
	if len(rest) == 0 {
		for _, part := range ins {
			out = append(out, part...)
		}
		return out, nil
	}
	outs, aux, err := split(p.out, rest, vals[0] == c.inStatus)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.call.Name, err)
	}
	if p.returns() {
		out = append(out, outs[0]...)
		outs = outs[1:]
	}
	for i := range p.call.Params {
		q := &p.call.Params[i]
		if q.LargeOnly && !p.call.Large {
			continue
		}
		if q.HasIn() {
			out, ins = append(out, ins[0]...), ins[1:]
		}
		if q.HasOut() {
			out, outs = append(out, outs[0]...), outs[1:]
		}
	}
	return append(out, aux...), nil
}

// split cuts values into the parts that steps made.
// Statuses hold error codes if failures is set.
func split(steps []step, vals []int64, failures bool) (parts [][]int64, rest []int64, err error) {
	for i := range steps {
		n, err := width(&steps[i], steps[i].code, vals, failures)
		if err != nil || n > len(vals) {
			return nil, nil, errValues
		}
		parts = append(parts, vals[:n])
		vals = vals[n:]
	}
	return parts, vals, nil
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
		n, at := vals[0], 1
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
