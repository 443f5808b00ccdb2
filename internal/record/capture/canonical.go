package capture

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// inOrder appends vals in the given order.
func inOrder(out, vals []int64, order []int) []int64 {
	for _, from := range order {
		out = append(out, vals[from])
	}
	return out
}

// An ordering is reusable memory for order.
type ordering struct {
	out   []int
	spans []signature.Span
}

// order returns, for each value of a signature, its index among the values as recorded.
func (p *program) order(o *ordering, vals []int64) ([]int, error) {
	spans, err := p.layout.KeySpans(o.spans[:0], vals)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.call.Name, err)
	}
	slices.SortStableFunc(spans, func(a, b signature.Span) int { return cmp.Compare(a.Param, b.Param) })
	out := append(o.out[:0], 0)
	for i := range spans {
		for at := spans[i].First; at < spans[i].End; at++ {
			out = append(out, at)
		}
	}
	o.out, o.spans = out, spans
	return out, nil
}
