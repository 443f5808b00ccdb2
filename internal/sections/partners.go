package sections

import (
	"errors"
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// appendPartners and DecodePartners: the section of messages that are drawn.
//
//	partners     = families uvarint, family…
//	family       = seed uvarint, legs uvarint, rounds uvarint, exchanges uvarint, ring uint8, segments uvarint uvarint,
//	               distributions of relative ranks, sizes, tags and numbers
//	distribution = least varint, rank uvarint, (most - least) uvarint, rank uvarint, bins uvarint, bin…
//	bin          = (low - high of the bin before, or least) uvarint, (high - low) uvarint, (value - low) uvarint, count uvarint
func appendPartners(b []byte, list []model.Partners) []byte {
	b = wire.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		p := &list[i]
		b = wire.AppendUvarint(wire.AppendUvarint(b, p.Seed), p.Legs)
		b = wire.AppendUvarint(wire.AppendUvarint(b, p.Rounds), uint64(p.Exchanges))
		ring := byte(0)
		if p.Ring {
			ring = 1
		}
		b = wire.AppendUvarint(wire.AppendUvarint(append(b, ring), uint64(p.Sent)), uint64(p.Received))
		for _, d := range distributions(p) {
			b = appendDistribution(b, d)
		}
	}
	return b
}

func distributions(p *model.Partners) [4]*model.Distribution {
	return [4]*model.Distribution{&p.Relative, &p.Sizes, &p.Tags, &p.Numbers}
}

func appendDistribution(b []byte, d *model.Distribution) []byte {
	b = wire.AppendUvarint(wire.AppendVarint(b, d.Least.Value), uint64(d.Least.Rank))
	b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(d.Most.Value-d.Least.Value)), uint64(d.Most.Rank))
	b = wire.AppendUvarint(b, uint64(len(d.Bins)))
	last := d.Least.Value
	for _, x := range d.Bins {
		b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(x.Low-last)), uint64(x.High-x.Low))
		b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(x.Value-x.Low)), x.Count)
		last = x.High
	}
	return b
}

// DecodePartners reads it, of a world of so many ranks.
func DecodePartners(r *wire.Reader, ranks int) []model.Partners {
	list := make([]model.Partners, r.Count(27))
	for i := range list {
		p := &list[i]
		p.Seed, p.Legs, p.Rounds, p.Exchanges = r.Uvarint(), r.Uvarint(), r.Uvarint(), r.Int(math.MaxInt32)
		p.Ring = r.Int(1) == 1
		p.Sent, p.Received = int64(r.Int(math.MaxInt32)), int64(r.Int(math.MaxInt32))
		for _, d := range distributions(p) {
			decodeDistribution(r, d, ranks)
		}
		if r.Err() != nil {
			return nil
		}
		if err := checkPartners(p, ranks); err != nil {
			r.Check(err)
			return nil
		}
	}
	return list
}

// mostDrawnValue bounds what a distribution is of, so that no difference is too large.
const mostDrawnValue = 1 << 60

func decodeDistribution(r *wire.Reader, d *model.Distribution, ranks int) {
	d.Least.Value, d.Least.Rank = r.Varint(), r.Int(ranks-1)
	d.Most.Value, d.Most.Rank = d.Least.Value+int64(r.Uvarint()), r.Int(ranks-1)
	d.Bins = make([]model.Bin, r.Count(4))
	last := d.Least.Value
	for j := range d.Bins {
		x := &d.Bins[j]
		x.Low = last + int64(r.Uvarint())
		x.High = x.Low + int64(r.Uvarint())
		x.Value, x.Count = x.Low+int64(r.Uvarint()), r.Uvarint()
		last = x.High
	}
}

var errNoPartners = errors.New("a family of drawn messages without any")

// checkPartners says what makes a family impossible.
func checkPartners(p *model.Partners, ranks int) error {
	if p.Sent < 0 || p.Received < 0 || p.Exchanges < 1 || p.Rounds < uint64(p.Exchanges) {
		return errNoPartners
	}
	for _, d := range distributions(p) {
		last := d.Least.Value
		if last < -mostDrawnValue || d.Most.Value > mostDrawnValue || len(d.Bins) == 0 {
			return errNoPartners
		}
		for _, x := range d.Bins {
			if x.Low < last || x.High < x.Low || x.Value < x.Low || x.Value > x.High || x.High > d.Most.Value || x.Count == 0 {
				return fmt.Errorf("bin of %d to %d, with %d for them, of %d to %d", x.Low, x.High, x.Value, last, d.Most.Value)
			}
			last = x.High
		}
		for _, rank := range []int{d.Least.Rank, d.Most.Rank} {
			if rank < 0 || rank >= ranks {
				return fmt.Errorf("drawn messages: rank %d of %d", rank, ranks)
			}
		}
	}
	return nil
}

// checkPartners says what makes the section impossible to write.
func (c *Content) checkPartners() error {
	for i := range c.Partners {
		if err := checkPartners(&c.Partners[i], c.Ranks); err != nil {
			return err
		}
	}
	return nil
}
