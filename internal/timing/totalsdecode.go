package timing

import (
	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// DecodeTotals reads what EncodeTotals wrote of a class. It takes memory like the bytes that are there,
// not like the ranks.
func DecodeTotals(r *wire.Reader, ranks, terminals int) *ClassTotals {
	c := &ClassTotals{}
	first := r.Int(1)
	c.totals[first] = decode(r, ranks, nil, 0)
	c.totals[1-first] = decode(r, ranks, c.totals[first], formRest)
	at := 0
	for i := range r.Count(4) {
		d := r.Int(max(0, terminals-1-at))
		at += d
		have := r.Byte()
		if at >= terminals || i > 0 && d == 0 || have == 0 || have >= 1<<kinds {
			r.Fail("terminal %d of %d after %d with times of kinds %d", at, terminals, at-d, have)
			return nil
		}
		s := site{terminal: at}
		for kind := range kinds {
			if have>>kind&1 != 0 {
				s.cols[kind] = decode(r, ranks, c.totals[kind], formPart)
			}
		}
		if r.Err() != nil {
			return nil
		}
		c.sites = append(c.sites, s)
	}
	if r.Err() != nil {
		return nil
	}
	return c
}

// maxBase bounds the time that two totals share, in restUnit.
const maxBase = 1 << 56

// decode reads a column. of is what it may follow from, in the form follows.
func decode(r *wire.Reader, ranks int, of *col, follows byte) *col {
	head := r.Byte()
	if r.Err() != nil {
		return nil
	}
	c := &col{form: head & (1<<formBits - 1), unit: int64(head >> formBits)}
	if c.form == formSame {
		c.unit, c.base = 1, int64(r.Int(2*MaxStep))
		return c
	}
	if c.unit < 1 || c.unit > maxUnit {
		r.Fail("levels of %d steps", c.unit)
		return nil
	}
	switch c.form {
	case formSeq:
		if c.seq = column.DecodeSeq(r, ranks); c.seq != nil && !c.seq.Bounds(0, MaxStep) {
			r.Fail("times out of range")
		}
		return c
	case formAbout:
		c.base = int64(r.Int(MaxStep))
	case formNext:
	case formPart:
		c.base = r.Varint()
	case formRest:
		c.base = int64(r.Int(maxBase))
	}
	if c.form >= formPart && (c.form != follows || of == nil) {
		r.Fail("form %d of times", c.form)
		return nil
	}
	c.of = of
	if c.base < -MaxStep || c.form == formPart && c.base > MaxStep || ranks > r.Rest() {
		r.Fail("times of %d ranks in %d bytes, about %d", ranks, r.Rest(), c.base)
		return nil
	}
	c.off = make([]int64, ranks)
	last := int64(0)
	for i := range c.off {
		v := r.Varint()
		if v < -2*MaxStep || v > 2*MaxStep {
			r.Fail("rank %d: %d levels more", i, v)
			return nil
		}
		if c.off[i] = v; c.form == formNext {
			c.off[i] += last
			last = c.off[i]
		}
		if n := c.level(i); n < 0 || n > MaxStep {
			r.Fail("rank %d: time of level %d", i, n)
			return nil
		}
	}
	return c
}
