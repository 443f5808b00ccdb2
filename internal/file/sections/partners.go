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
func (c *Content) appendPartners(b []byte) []byte {
	return wire.Append(b, func(x *wire.Coder) { codePartners(x, &c.Partners, 0) })
}

// DecodePartners reads it.
func DecodePartners(r *wire.Reader, ranks int) (list []model.Partners) {
	codePartners(&wire.Coder{Reader: r}, &list, ranks)
	return list
}

func codePartners(c *wire.Coder, list *[]model.Partners, ranks int) {
	wire.List(c, list, 27, func(_ int, p *model.Partners) {
		wire.Uints(c, &p.Seed, &p.Intervals, &p.Rounds)
		wire.Bounded(c, &p.Exchanges, math.MaxInt32)
		c.Bool(&p.Ring)
		wire.Bounded(c, &p.Sent, math.MaxInt32)
		wire.Bounded(c, &p.Received, math.MaxInt32)
		for _, d := range distributions(p) {
			distribution(c, d, ranks)
		}
		if c.Reader != nil && !c.Failed() {
			c.Check(checkPartners(p, ranks))
		}
	})
}

func distributions(p *model.Partners) [4]*model.Distribution {
	return [4]*model.Distribution{&p.Relative, &p.Sizes, &p.Tags, &p.Numbers}
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
