package column

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/stats"
)

// AppendRuns appends the column in the form that is sent up the merge tree: number of runs, then for each run its
// count, its start and, with a count above 1, its stride. The start is the difference to the value that would have
// continued the run before.
func (c *Column) AppendRuns(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(len(c.runs)))
	var next int64
	for _, r := range c.runs {
		b = r.append(b, next)
		next = r.At(r.Count)
	}
	return b
}

// append writes a run, next being the value that would have continued the run before it.
func (r Run) append(b []byte, next int64) []byte {
	b = wire.AppendUvarint(b, r.Count)
	b = wire.AppendVarint(b, int64(uint64(r.Start)-uint64(next)))
	if r.Count > 1 {
		b = wire.AppendVarint(b, r.Stride)
	}
	return b
}

// DecodeRuns reads what AppendRuns wrote: a column of n values.
func DecodeRuns(r *wire.Reader, n int) Column {
	var c Column
	var next int64
	count := r.Count(2)
	if r.Err() == nil && count > n {
		r.Fail("%d runs of %d values", count, n)
	}
	if r.Err() == nil {
		c.runs = make([]Run, 0, count)
	}
	for range count {
		var run Run
		run.Count = r.Uvarint()
		run.Start = int64(uint64(next) + uint64(r.Varint()))
		if run.Count > 1 {
			run.Stride = r.Varint()
		}
		if r.Err() != nil {
			return Column{}
		}
		if run.Count == 0 || run.Count > uint64(n)-c.n {
			r.Fail("run of %d values, %d expected", run.Count, uint64(n)-c.n)
			return Column{}
		}
		next = run.At(run.Count)
		c.push(run)
	}
	if r.Err() == nil && c.n != uint64(n) {
		r.Fail("%d values, %d expected", c.n, n)
		return Column{}
	}
	return c
}

// CodeRuns writes or reads a column of n values by its runs.
func CodeRuns(c *wire.Coder, x *Column, n int) {
	if c.Reader == nil {
		c.Buf = x.AppendRuns(c.Buf)
	} else {
		*x = DecodeRuns(c.Reader, n)
	}
}

// CodeSeq writes a column of n values in the form in which it is shortest, or reads it.
func CodeSeq(c *wire.Coder, x *Column, n int) {
	if c.Reader == nil {
		c.Buf = EncodeSeq(c.Buf, x, nil)
		return
	}
	s := DecodeSeq(c.Reader, n)
	switch {
	case s == nil:
		*x = Column{}
	case s.plain == nil && s.sums == nil:
		*x = Column{runs: s.runs, n: uint64(n)}
	default:
		*x = Column{}
		for i := range n {
			x.Append(s.At(i, 0))
		}
	}
}

// CodeLazySeq is CodeSeq for a reader that decodes values on demand, without memory for each. ranks is as in
// EncodeSeq.
func CodeLazySeq(c *wire.Coder, s **Seq, x, ranks *Column, n int) {
	if c.Reader == nil {
		c.Buf = EncodeSeq(c.Buf, x, ranks)
	} else {
		*s = DecodeSeq(c.Reader, n)
	}
}

// CodeValues is CodeSeq for a slice of values. When reading, it fills vals, whose length is the number of values.
func CodeValues(c *wire.Coder, vals []int64) {
	if c.Reader == nil {
		c.Buf = EncodeValues(c.Buf, vals)
	} else if s := DecodeSeq(c.Reader, len(vals)); s != nil {
		for i := range vals {
			vals[i] = s.At(i, 0)
		}
	}
}

// An AffinePattern is the common part of columns whose values differ by an offset and a factor, such as the size of a
// message in elements and in bytes.
type AffinePattern struct {
	offset, factor int64
	runs           []Run
}

// AffinePatternOf takes a column apart into pattern, offset and factor. ok is false if that says nothing: it is constant, or
// its values lie too far apart.
func AffinePatternOf(c *Column) (p AffinePattern, ok bool) {
	if len(c.runs) < 2 {
		return p, false
	}
	p.offset = c.runs[0].Start
	g := uint64(0)
	negative := false
	for _, r := range c.runs {
		for _, v := range [...]int64{int64(uint64(r.Start) - uint64(p.offset)), r.Stride} {
			if v == math.MinInt64 {
				return p, false
			}
			if v != 0 && g == 0 {
				negative = v < 0
			}
			g = stats.GCD(g, uint64(max(v, -v)))
		}
	}
	p.factor = int64(g)
	if negative {
		p.factor = -p.factor
	}
	p.runs = make([]Run, len(c.runs))
	for i, r := range c.runs {
		p.runs[i] = Run{int64(uint64(r.Start)-uint64(p.offset)) / p.factor, r.Stride / p.factor, r.Count}
	}
	return p, true
}

// Key returns the same string for equal patterns and no others.
func (p *AffinePattern) Key() string {
	c := Column{runs: p.runs}
	return string(c.AppendRuns(nil))
}

// AppendScale appends the offset and factor by which a column follows from another with the same pattern. DecodeScaled
// makes the column of them.
func (p *AffinePattern) AppendScale(b []byte) []byte {
	return wire.AppendVarint(wire.AppendVarint(b, p.offset), p.factor)
}

// DecodeScaled reads the scale of a column with the pattern of c.
func DecodeScaled(r *wire.Reader, c *Column) Column {
	offset, factor := r.Varint(), r.Varint()
	p, ok := AffinePatternOf(c)
	if !ok || factor == 0 {
		r.Fail("column like one without a pattern")
		return Column{}
	}
	d := Column{runs: make([]Run, 0, len(p.runs))}
	for _, run := range p.runs {
		run.Start = int64(uint64(run.Start)*uint64(factor) + uint64(offset))
		run.Stride = int64(uint64(run.Stride) * uint64(factor))
		d.push(run)
	}
	return d
}
