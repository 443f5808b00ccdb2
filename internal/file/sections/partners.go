package sections

import (
	"errors"
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// appendPartners and DecodePartners: the section of messages that are drawn.
//
//	partners     = families uvarint, family…
//	family       = seed uvarint, intervals uvarint, rounds uvarint, exchanges uvarint, ring uint8, segments uvarint uvarint,
//	               distributions of relative ranks, sizes, tags and numbers
func appendPartners(b []byte, list []model.Partners) []byte {
	b = wire.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		p := &list[i]
		b = wire.AppendUvarint(wire.AppendUvarint(b, p.Seed), p.Intervals)
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

// DecodePartners reads it, of a world of so many ranks.
func DecodePartners(r *wire.Reader, ranks int) []model.Partners {
	list := make([]model.Partners, r.Count(27))
	for i := range list {
		p := &list[i]
		p.Seed, p.Intervals, p.Rounds, p.Exchanges = r.Uvarint(), r.Uvarint(), r.Uvarint(), r.Int(math.MaxInt32)
		p.Ring = r.Int(1) == 1
		p.Sent, p.Received = int64(r.Int(math.MaxInt32)), int64(r.Int(math.MaxInt32))
		for _, d := range distributions(p) {
			*d = decodeDistribution(r, ranks)
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

var errNoPartners = errors.New("a family of drawn messages without any")

// checkPartners says what makes a family impossible.
func checkPartners(p *model.Partners, ranks int) error {
	if p.Sent < 0 || p.Received < 0 || p.Exchanges < 1 || p.Rounds < uint64(p.Exchanges) {
		return errNoPartners
	}
	for _, d := range distributions(p) {
		if d.Least.Value < -mostDrawnValue || d.Most.Value > mostDrawnValue || len(d.Bins) == 0 {
			return errNoPartners
		}
		if err := checkDistribution(d, ranks); err != nil {
			return fmt.Errorf("drawn messages: %w", err)
		}
		for _, x := range d.Bins {
			if x.Count == 0 {
				return errNoPartners
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
