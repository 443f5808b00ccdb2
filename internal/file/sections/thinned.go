package sections

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// appendThinned and DecodeThinned: the section of sizes that were merged.
//
//	thinned = families uvarint, family…
//	family  = functions uvarint, (function uvarint, as a difference to the one before)…,
//	          if there are none: (tags + 1, or 0 for all) uvarint, (tag varint, as a difference to the one before)…,
//	          precision uvarint, kept uvarint, distribution
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
		b = appendDistribution(b, &t.Distribution)
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
		t.Distribution = decodeDistribution(r, ranks)
		if r.Err() != nil {
			return nil
		}
		if err := checkDistribution(&t.Distribution, ranks); err != nil {
			r.Fail("family %d: %v", i, err)
			return nil
		}
	}
	return list
}

// checkThinned says what makes the section impossible to write.
func (c *Content) checkThinned() error {
	for i := range c.Thinned {
		t := &c.Thinned[i]
		if err := checkDistribution(&t.Distribution, c.Ranks); err != nil {
			return fmt.Errorf("merged sizes %d: %w", i, err)
		}
	}
	return nil
}
