package column

import "spoor/internal/wire"

// AppendRuns appends the column as it travels up the merge tree: number of
// runs, then per run its count, its start as a difference to the value that
// would have continued the run before it, and its stride if it has one.
//
//	runs | count, Δstart, [stride if count > 1] | …
func (c *Column) AppendRuns(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(len(c.runs)))
	var next int64
	for _, r := range c.runs {
		b = wire.AppendUvarint(b, r.Count)
		b = wire.AppendVarint(b, int64(uint64(r.Start)-uint64(next)))
		if r.Count > 1 {
			b = wire.AppendVarint(b, r.Stride)
		}
		next = r.At(r.Count)
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
