package sections

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// appendThinned and DecodeThinned: the section of sizes that were merged.
//
//	thinned = families uvarint, family…
//	family  = functions uvarint, (function uvarint, as a difference to the one before)…,
//	          if there are none: (tags + 1, or 0 for all) uvarint, (tag varint, as a difference to the one before)…,
//	          precision uvarint, kept uvarint, least varint, rank uvarint, (most - least) uvarint, rank uvarint, bins uvarint, bin…
//	bin     = (low - high of the bin before, or least) uvarint, (high - low) uvarint, (value - low) uvarint, count uvarint
func appendThinned(b []byte, list []model.Thinned) []byte {
	b = wire.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		t := &list[i]
		b = wire.AppendUvarint(b, uint64(len(t.Functions)))
		last := int64(0)
		for _, f := range t.Functions {
			b, last = wire.AppendUvarint(b, uint64(int64(f)-last)), int64(f)
		}
		if len(t.Functions) == 0 && t.Tags == nil {
			b = wire.AppendUvarint(b, 0)
		} else if len(t.Functions) == 0 {
			b, last = wire.AppendUvarint(b, uint64(len(t.Tags)+1)), 0
			for _, tag := range t.Tags {
				b, last = wire.AppendVarint(b, tag-last), tag
			}
		}
		b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(t.Precision)), t.Kept)
		b = wire.AppendUvarint(wire.AppendVarint(b, t.Least.Value), uint64(t.Least.Rank))
		b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(t.Most.Value-t.Least.Value)), uint64(t.Most.Rank))
		b = wire.AppendUvarint(b, uint64(len(t.Bins)))
		last = t.Least.Value
		for _, x := range t.Bins {
			b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(x.Low-last)), uint64(x.High-x.Low))
			b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(x.Value-x.Low)), x.Count)
			last = x.High
		}
	}
	return b
}

// DecodeThinned reads it, of a world of so many ranks.
func DecodeThinned(r *wire.Reader, ranks int) []model.Thinned {
	list := make([]model.Thinned, r.Count(8))
	for i := range list {
		t := &list[i]
		last := int64(0)
		for range r.Count(1) {
			last += int64(r.Int(1<<16 - 1))
			if last > 1<<16-1 {
				r.Fail("function %d", last)
				return nil
			}
			t.Functions = append(t.Functions, uint16(last))
		}
		if t.Functions == nil {
			if n := r.Count(1); n > 0 {
				t.Tags, last = make([]int64, n-1), 0
				for j := range t.Tags {
					last += r.Varint()
					t.Tags[j] = last
				}
			}
		}
		t.Precision, t.Kept = r.Int(100), r.Uvarint()
		t.Least.Value, t.Least.Rank = r.Varint(), r.Int(ranks-1)
		t.Most.Value, t.Most.Rank = t.Least.Value+int64(r.Uvarint()), r.Int(ranks-1)
		bins := r.Count(4)
		if bins > 0 {
			t.Bins = make([]model.Bin, bins)
		}
		last = t.Least.Value
		for j := range t.Bins {
			x := &t.Bins[j]
			x.Low = last + int64(r.Uvarint())
			x.High = x.Low + int64(r.Uvarint())
			x.Value, x.Count = x.Low+int64(r.Uvarint()), r.Uvarint()
			if x.Low < last || x.High < x.Low || x.Value < x.Low || x.Value > x.High || x.High > t.Most.Value {
				r.Fail("family %d: bin %d is %d to %d, with %d for them, of %d to %d", i, j, x.Low, x.High, x.Value, last, t.Most.Value)
				return nil
			}
			last = x.High
		}
	}
	return list
}

// checkThinned says what makes the section impossible to write.
func (c *Content) checkThinned() error {
	for i := range c.Thinned {
		t := &c.Thinned[i]
		last := t.Least.Value
		for _, x := range t.Bins {
			if x.Low < last || x.High < x.Low || x.Value < x.Low || x.Value > x.High || x.High > t.Most.Value {
				return fmt.Errorf("merged sizes %d: %d to %d", i, x.Low, x.High)
			}
			last = x.High
		}
		for _, rank := range []int{t.Least.Rank, t.Most.Rank} {
			if rank < 0 || rank >= c.Ranks {
				return fmt.Errorf("merged sizes %d: rank %d of %d", i, rank, c.Ranks)
			}
		}
	}
	return nil
}
