package sections

import (
	"errors"
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// appendPartners appends the section of synthetic messages, which DecodeSyntheticMessages reads.
//
//	partners     = families uvarint, family…
//	family       = seed uvarint, intervals uvarint, rounds uvarint, exchanges uvarint, ring uint8, segments uvarint uvarint,
//	               distributions of relative ranks, sizes, tags and numbers
func (c *Content) appendPartners(b []byte) []byte {
	return wire.AppendEncoded(b, func(x *wire.Coder) { codePartners(x, &c.SyntheticMessages, 0) })
}

// DecodeSyntheticMessages reads the section of synthetic messages.
func DecodeSyntheticMessages(r *wire.Reader, ranks int) (list []model.SyntheticMessages) {
	codePartners(&wire.Coder{Reader: r}, &list, ranks)
	return list
}

func codePartners(c *wire.Coder, list *[]model.SyntheticMessages, ranks int) {
	wire.CodeList(c, list, 27, func(_ int, p *model.SyntheticMessages) {
		wire.CodeUints(c, &p.Seed, &p.Intervals, &p.ExchangeCount)
		wire.CodeBounded(c, &p.DistinctExchanges, math.MaxInt32)
		c.Bool(&p.WrapsAround)
		wire.CodeBounded(c, &p.SendSegment, math.MaxInt32)
		wire.CodeBounded(c, &p.ReceiveSegment, math.MaxInt32)
		for _, d := range distributions(p) {
			distribution(c, d, ranks)
		}
		if c.Reader != nil && !c.Failed() {
			c.RecordError(checkPartners(p, ranks))
		}
	})
}

func distributions(p *model.SyntheticMessages) [4]*model.Distribution {
	return [4]*model.Distribution{&p.RankDistances, &p.Sizes, &p.Tags, &p.MessagesPerInterval}
}

// mostDrawnValue limits the values of a distribution, so that differences do not overflow.
const mostDrawnValue = 1 << 60

var errNoPartners = errors.New("a family of drawn messages without any")

// checkPartners refuses synthetic messages that are impossible.
func checkPartners(p *model.SyntheticMessages, ranks int) error {
	if p.SendSegment < 0 || p.ReceiveSegment < 0 || p.DistinctExchanges < 1 || p.ExchangeCount < uint64(p.DistinctExchanges) {
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

// checkPartners returns an error if the synthetic messages cannot be written.
func (c *Content) checkPartners() error {
	for i := range c.SyntheticMessages {
		if err := checkPartners(&c.SyntheticMessages[i], c.Ranks); err != nil {
			return err
		}
	}
	return nil
}
