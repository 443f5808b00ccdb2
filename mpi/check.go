package mpi

import "fmt"

// finishCall checks what can only be checked when all parameters are known.
func (p *callParser) finishCall() error {
	c := p.call
	if c == nil || c.Large {
		return nil
	}
	for i := range c.Params {
		q := &c.Params[i]
		if err := checkParam(c, q); err != nil {
			return fmt.Errorf("%s (line %d): %s: %w", c.Name, p.at[int(c.ID)], q.Name, err)
		}
	}
	return nil
}

func checkParam(c *Call, q *Param) error {
	if err := newContent(c, q); err != nil {
		return err
	}
	if q.If != "" {
		if i := c.Index(q.If); i < 0 || !c.Params[i].HasOut() {
			return fmt.Errorf("if(%s) names no output", q.If)
		}
	}
	if q.UnlessInPlace != "" {
		if i := c.Index(q.UnlessInPlace); i < 0 || c.Params[i].Kind != KindBuffer {
			return fmt.Errorf("unless-inplace(%s) names no buffer", q.UnlessInPlace)
		}
	}
	if q.Kind == KindString && q.Dir != In && q.Len == nil {
		return fmt.Errorf("an output string needs a capacity")
	}
	var bad error
	if q.Written != nil && (!q.Array || q.Dir != Out) {
		return fmt.Errorf("written(%s), but this is no array that comes out", q.Written)
	}
	check := func(e Expr) {
		name := ""
		switch e := e.(type) {
		case Ref:
			name = string(e)
		case *Of:
			name = e.Param
		default:
			return
		}
		i := c.Index(name)
		if i < 0 {
			bad = fmt.Errorf("length names no parameter %q", name)
			return
		}
		r := &c.Params[i]
		of, isOf := e.(*Of)
		switch {
		case !isOf && (r.Array || r.Kind.Form() != FormInt && r.Kind != KindArgc):
			bad = fmt.Errorf("length %s is no integer", name)
		case isOf && of.Property.OfArray() && !r.Array:
			bad = fmt.Errorf("length %s: %s is no array", e, name)
		case isOf && !of.Property.OfArray() && (r.Array || r.Kind != of.Property.of()):
			bad = fmt.Errorf("length %s: %s is no %s", e, name, of.Property.of())
		case isOf && of.Rank != "" && (c.Index(of.Rank) < 0 || c.Params[c.Index(of.Rank)].Kind != KindRank):
			bad = fmt.Errorf("length %s: %s is no rank", e, of.Rank)
		}
	}
	Walk(q.Len, check)
	Walk(q.Inner, check)
	Walk(q.Written, check)
	return bad
}

// splitLargeOnly takes the parameters that only the large form has out of the
// small one.
func splitLargeOnly(small *Call) error {
	keep := make([]Param, 0, len(small.Params))
	for _, q := range small.Params {
		switch {
		case !q.LargeOnly:
			keep = append(keep, q)
		case small.LargeForm == nil:
			return fmt.Errorf("%s: large-only, but there is no large form", q.Name)
		}
	}
	small.Params = keep
	return nil
}
