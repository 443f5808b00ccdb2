package sections

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// appendDistribution and decodeDistribution: what values were, before they were merged or given up.
//
//	distribution = least varint, rank uvarint, (most - least) uvarint, rank uvarint, bins uvarint, bin…
//	bin          = (low - high of the bin before, or least) uvarint, (high - low) uvarint, (value - low) uvarint, count uvarint
func appendDistribution(b []byte, d *model.Distribution) []byte {
	b = wire.AppendUvarint(wire.AppendVarint(b, d.Least.Value), uint64(d.Least.Rank))
	b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(d.Most.Value-d.Least.Value)), uint64(d.Most.Rank))
	return appendBins(b, d)
}

func appendBins(b []byte, d *model.Distribution) []byte {
	b = wire.AppendUvarint(b, uint64(len(d.Bins)))
	last := d.Least.Value
	for _, x := range d.Bins {
		b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(x.Low-last)), uint64(x.High-x.Low))
		b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(x.Value-x.Low)), x.Count)
		last = x.High
	}
	return b
}

func decodeDistribution(r *wire.Reader, ranks int) (d model.Distribution) {
	d.Least.Value, d.Least.Rank = r.Varint(), r.Int(ranks-1)
	d.Most.Value, d.Most.Rank = d.Least.Value+int64(r.Uvarint()), r.Int(ranks-1)
	decodeBins(r, &d, math.MaxInt)
	return d
}

// decodeBins reads bins of which no number is above most.
func decodeBins(r *wire.Reader, d *model.Distribution, most int) {
	if n := r.Count(4); n > 0 {
		d.Bins = make([]model.Bin, n)
	}
	last := d.Least.Value
	for i := range d.Bins {
		x := &d.Bins[i]
		x.Low = last + int64(r.Int(most))
		x.High = x.Low + int64(r.Int(most))
		x.Value, x.Count = x.Low+int64(r.Int(most)), uint64(r.Int(most))
		last = x.High
	}
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
