package sections

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A distribution is what values were, before they were merged or given up.
//
//	distribution = least varint, rank uvarint, (most - least) uvarint, rank uvarint, bins uvarint, bin…
//	bin          = (low - high of the bin before, or least) uvarint, (high - low) uvarint, (value - low) uvarint, count uvarint
func distribution(c *wire.Coder, d *model.Distribution, ranks int) {
	wire.From(c, &d.Least.Value, 0)
	wire.Int(c, &d.Least.Rank, ranks-1)
	wire.Above(c, &d.Most.Value, d.Least.Value, math.MaxInt)
	wire.Int(c, &d.Most.Rank, ranks-1)
	bins(c, d, math.MaxInt)
}

// bins are those of which no number is above most.
func bins(c *wire.Coder, d *model.Distribution, most int) {
	last := d.Least.Value
	wire.List(c, &d.Bins, 4, func(_ int, x *model.Bin) {
		wire.Above(c, &x.Low, last, most)
		wire.Above(c, &x.High, x.Low, most)
		wire.Above(c, &x.Value, x.Low, most)
		wire.Int(c, &x.Count, most)
		last = x.High
	})
}

// checkDistribution refuses bins that aren't in order or not between the extremes, and ranks that aren't there.
func checkDistribution(d *model.Distribution, ranks int) error {
	last := d.Least.Value
	for _, x := range d.Bins {
		if x.Low < last || x.High < x.Low || x.Value < x.Low || x.Value > x.High || x.High > d.Most.Value {
			return fmt.Errorf("bin of %d to %d, with %d for them, of %d to %d", x.Low, x.High, x.Value, last, d.Most.Value)
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
