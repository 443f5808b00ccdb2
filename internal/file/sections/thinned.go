package sections

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// appendThinned and DecodeMergedSizes: the section of sizes that were merged.
//
//	thinned = families uvarint, family…
//	family  = functions uvarint, (function uvarint, as a difference to the one before)…,
//	          if there are none: (tags + 1, or 0 for all) uvarint, (tag varint, as a difference to the one before)…,
//	          precision uvarint, kept uvarint, distribution
//
// A family is a model.MergedSizes, and kept its UnmergedCalls.
func (c *Content) appendThinned(b []byte) []byte {
	return wire.AppendEncoded(b, func(x *wire.Coder) { codeThinned(x, &c.MergedSizes, 0) })
}

// DecodeMergedSizes reads the section of merged sizes.
func DecodeMergedSizes(r *wire.Reader, ranks int) (list []model.MergedSizes) {
	codeThinned(&wire.Coder{Reader: r}, &list, ranks)
	return list
}

func codeThinned(c *wire.Coder, list *[]model.MergedSizes, ranks int) {
	wire.CodeList(c, list, 8, func(i int, t *model.MergedSizes) {
		last := uint16(0)
		wire.CodeList(c, &t.Functions, 1, func(_ int, f *uint16) {
			wire.CodeAbove(c, f, last, math.MaxUint16-int(last))
			last = *f
		})
		if len(t.Functions) == 0 {
			n := 0
			if t.Tags != nil {
				n = len(t.Tags) + 1
			}
			if c.Count(&n, 1); c.Reader != nil && n > 0 {
				t.Tags = make([]int64, n-1)
			}
			before := int64(0)
			for j := range t.Tags {
				wire.CodeRelative(c, &t.Tags[j], before)
				before = t.Tags[j]
			}
		}
		wire.CodeBounded(c, &t.PrecisionPercent, 100)
		wire.CodeUints(c, &t.UnmergedCalls)
		distribution(c, &t.Distribution, ranks)
		if c.Reader != nil && !c.Failed() {
			err := checkDistribution(&t.Distribution, ranks)
			c.RefuseIf(err != nil, "family %d: %v", i, err)
		}
	})
}

// checkThinned returns an error if merged sizes of c have a distribution that a reader would refuse.
func (c *Content) checkThinned() error {
	for i := range c.MergedSizes {
		t := &c.MergedSizes[i]
		if err := checkDistribution(&t.Distribution, c.Ranks); err != nil {
			return fmt.Errorf("merged sizes %d: %w", i, err)
		}
	}
	return nil
}

// A distribution is that of the original values, before they were merged or became synthetic.
//
//	distribution = least varint, rank uvarint, (most - least) uvarint, rank uvarint, bins uvarint, bin…
//	bin          = (low - high of the bin before, or least) uvarint, (high - low) uvarint, (value - low) uvarint, count uvarint
func distribution(c *wire.Coder, d *model.Distribution, ranks int) {
	wire.CodeRelative(c, &d.Least.Value, 0)
	wire.CodeBounded(c, &d.Least.Rank, ranks-1)
	wire.CodeAbove(c, &d.Most.Value, d.Least.Value, math.MaxInt)
	wire.CodeBounded(c, &d.Most.Rank, ranks-1)
	bins(c, d, math.MaxInt)
}

// bins codes the bins of d. It refuses numbers above most: counts, and the differences by which bounds and values are
// coded.
func bins(c *wire.Coder, d *model.Distribution, most int) {
	last := d.Least.Value
	wire.CodeList(c, &d.Bins, 4, func(_ int, x *model.Bin) {
		wire.CodeAbove(c, &x.Low, last, most)
		wire.CodeAbove(c, &x.High, x.Low, most)
		wire.CodeAbove(c, &x.ReplacingValue, x.Low, most)
		wire.CodeBounded(c, &x.Count, most)
		last = x.High
	})
}

// checkDistribution refuses bins that aren't in order or not between the extremes, and ranks that aren't there.
func checkDistribution(d *model.Distribution, ranks int) error {
	last := d.Least.Value
	for _, x := range d.Bins {
		if x.Low < last || x.High < x.Low || x.ReplacingValue < x.Low || x.ReplacingValue > x.High || x.High > d.Most.Value {
			return fmt.Errorf("bin of %d to %d, with %d for them, of %d to %d", x.Low, x.High, x.ReplacingValue, last, d.Most.Value)
		}
		last = x.High
	}
	for _, rank := range []int{d.Least.Rank, d.Most.Rank} {
		if rank < 0 || rank >= ranks {
			return fmt.Errorf("rank %d of %d", rank, ranks)
		}
	}
	return nil
}
