package sections

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/trace/model"
)

// AppendSyntheticLoops appends the section of loops with synthetic trip counts, which DecodeSyntheticLoops reads.
//
//	drawn  = seed uvarint, families uvarint, family…, per class: loops uvarint, loop…
//	family = precision uvarint, least uvarint, rank uvarint, (most - least) uvarint, rank uvarint, bins uvarint, bin…
//	bin    = (low - high of the bin before, or least) uvarint, (high - low) uvarint, (value - low) uvarint, count uvarint
//	loop   = (repeated symbol, as a difference to the one before) uvarint, family uvarint, key of each rank seq
func (c *Content) AppendSyntheticLoops(b []byte) []byte {
	d := c.SyntheticLoops
	coder := wire.Coder{Buf: b}
	codeFamilies(&coder, d, c.Ranks)
	b = coder.Buf
	for i := range c.Classes {
		b = wire.AppendUvarint(b, uint64(len(d.Loops[i])))
		last := 0
		for _, l := range d.Loops[i] {
			b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(l.RepeatedSymbol-last)), uint64(l.Family))
			keys := column.ColumnOf(l.DrawKeyOfRank...)
			b = column.EncodeSeq(b, &keys, &c.Classes[i].Ranks)
			last = l.RepeatedSymbol
		}
	}
	return b
}

// mostKeys is the largest number of keys (SyntheticLoop.DrawKeyOfRank) in a trace, as few bytes may represent many.
const mostKeys = 1 << 24

// DecodeSyntheticLoops reads the section of loops with synthetic trip counts.
func DecodeSyntheticLoops(r *wire.Reader, ranks int, classes [][]int) *grammar.SyntheticTripCounts {
	d := &grammar.SyntheticTripCounts{Loops: make([][]grammar.SyntheticLoop, len(classes))}
	if codeFamilies(&wire.Coder{Reader: r}, d, ranks); r.Err() != nil {
		return nil
	}
	keys := 0
	for n, members := range classes {
		list := make([]grammar.SyntheticLoop, r.Count(3))
		last := -1
		for i := range list {
			l := &list[i]
			delta := r.Int(math.MaxInt32)
			if last < 0 {
				last = 0
			} else if delta == 0 {
				r.Fail("a loop twice")
			}
			l.RepeatedSymbol, l.Family = last+delta, r.Int(len(d.Families)-1)
			last = l.RepeatedSymbol
			seq := column.DecodeSeq(r, len(members))
			if keys += len(members); seq == nil || keys > mostKeys || last > math.MaxInt32 {
				r.Fail("keys of %d ranks", keys)
				return nil
			}
			for at, rank := range members {
				l.DrawKeyOfRank = append(l.DrawKeyOfRank, seq.At(at, int64(rank)))
			}
		}
		d.Loops[n] = list
	}
	return d
}

func codeFamilies(c *wire.Coder, d *grammar.SyntheticTripCounts, ranks int) {
	wire.CodeUints(c, &d.Seed)
	wire.CodeList(c, &d.Families, 7, func(_ int, x *model.SyntheticLoops) {
		wire.CodeBounded(c, &x.PrecisionPercent, 100)
		wire.CodeBounded(c, &x.Least.Value, math.MaxInt32)
		wire.CodeBounded(c, &x.Least.Rank, ranks-1)
		wire.CodeAbove(c, &x.Most.Value, x.Least.Value, math.MaxInt32)
		wire.CodeBounded(c, &x.Most.Rank, ranks-1)
		if bins(c, &x.Distribution, math.MaxInt32); c.Reader != nil && !c.Failed() {
			x.LoopRuns = x.Count()
			c.RecordError(checkFamily(x, ranks))
		}
	})
}

var errLanes = errors.New("numbers of rounds are drawn, and values go from call to call")

var errFamily = errors.New("a family of loops without rounds")

// checkFamily refuses a family from which no trip counts can be drawn.
func checkFamily(x *model.SyntheticLoops, ranks int) error {
	if err := checkDistribution(&x.Distribution, ranks); err != nil {
		return fmt.Errorf("rounds of loops: %w", err)
	}
	if slices.ContainsFunc(x.Bins, func(b model.Bin) bool { return b.Low < 1 || b.Count == 0 }) || x.LoopRuns == 0 || x.LoopRuns != x.Count() {
		return errFamily
	}
	return nil
}

// checkDrawn returns an error if the synthetic loops cannot be written.
func (c *Content) checkDrawn() error {
	if len(c.SyntheticLoops.Loops) != len(c.Classes) {
		return fmt.Errorf("drawn loops of %d classes, there are %d", len(c.SyntheticLoops.Loops), len(c.Classes))
	}
	for i := range c.SyntheticLoops.Families {
		if err := checkFamily(&c.SyntheticLoops.Families[i], c.Ranks); err != nil {
			return err
		}
	}
	return nil
}

// calls returns how often all ranks of class i together call each terminal.
func (c *Content) calls(i int, s *column.CountedStreams, terminals int) ([]uint64, error) {
	members := c.Classes[i].Ranks.Len()
	if c.SyntheticLoops == nil || len(c.SyntheticLoops.Loops[i]) == 0 {
		return s.CountCalls(terminals, members)
	}
	u, err := c.SyntheticLoops.UnrollStreams(s.Grammars, s.VaryingSymbols, c.SyntheticLoops.Loops[i], c.Classes[i].Ranks.Len())
	if err != nil {
		return nil, err
	}
	vals := make([][]int64, len(s.VaryingCounts))
	for k := range s.VaryingCounts {
		vals[k] = s.VaryingCounts[k].Values()
	}
	return column.CountStreamCalls(u.Streams, u.VaryingSymbols, terminals, members, func(k, member int) int64 {
		if from := u.OriginalSymbols[k]; from >= 0 {
			return vals[from][member]
		}
		return u.DrawnCounts[k][member]
	})
}

// DrawTripCounts replaces the trip counts of a class's loops by synthetic ones.
func (c *DecodedClass) DrawTripCounts(d *grammar.SyntheticTripCounts, class int) error {
	loops := d.Loops[class]
	if len(loops) == 0 {
		return nil
	}
	if c.Lanes != nil { // the lanes would still have the original number of values
		return errLanes
	}
	c.LoopFamilyOfTerminal = grammar.LoopFamiliesOfTerminals(c.Streams, loops, len(c.Terminals))
	u, err := d.UnrollStreams(c.Streams, c.VaryingSymbols, loops, c.Ranks)
	if err != nil {
		return err
	}
	before := c.RepetitionCounts
	c.Streams, c.VaryingSymbols, c.RepetitionCounts = u.Streams, u.VaryingSymbols, nil
	for k, from := range u.OriginalSymbols {
		if from >= 0 {
			c.RepetitionCounts = append(c.RepetitionCounts, before[from])
		} else {
			c.RepetitionCounts = append(c.RepetitionCounts, column.SeqOf(column.ColumnOf(u.DrawnCounts[k]...)))
		}
	}
	return nil
}
