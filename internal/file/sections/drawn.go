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

// AppendDrawn and DecodeDrawn: the section of loops whose numbers of rounds are drawn.
//
//	drawn  = seed uvarint, families uvarint, family…, per class: loops uvarint, loop…
//	family = precision uvarint, least uvarint, rank uvarint, (most - least) uvarint, rank uvarint, bins uvarint, bin…
//	bin    = (low - high of the bin before, or least) uvarint, (high - low) uvarint, (value - low) uvarint, count uvarint
//	loop   = (repeated symbol, as a difference to the one before) uvarint, family uvarint, key of each rank seq
func (c *Content) AppendDrawn(b []byte) []byte {
	d := c.Drawn
	coder := wire.Coder{B: b}
	codeFamilies(&coder, d, c.Ranks)
	b = coder.B
	for i := range c.Classes {
		b = wire.AppendUvarint(b, uint64(len(d.Loops[i])))
		last := 0
		for _, l := range d.Loops[i] {
			b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(l.Symbol-last)), uint64(l.Family))
			keys := column.FromValues(l.Keys...)
			b = column.EncodeSeq(b, &keys, &c.Classes[i].Ranks)
			last = l.Symbol
		}
	}
	return b
}

// mostKeys bounds the keys of a trace, which few bytes may say.
const mostKeys = 1 << 24

// DecodeDrawn reads it.
func DecodeDrawn(r *wire.Reader, ranks int, classes [][]int) *grammar.Drawing {
	d := &grammar.Drawing{Loops: make([][]grammar.DrawnLoop, len(classes))}
	if codeFamilies(&wire.Coder{Reader: r}, d, ranks); r.Err() != nil {
		return nil
	}
	keys := 0
	for n, members := range classes {
		list := make([]grammar.DrawnLoop, r.Count(3))
		last := -1
		for i := range list {
			l := &list[i]
			delta := r.Int(math.MaxInt32)
			if last < 0 {
				last = 0
			} else if delta == 0 {
				r.Fail("a loop twice")
			}
			l.Symbol, l.Family = last+delta, r.Int(len(d.Families)-1)
			last = l.Symbol
			seq := column.DecodeSeq(r, len(members))
			if keys += len(members); seq == nil || keys > mostKeys || last > math.MaxInt32 {
				r.Fail("keys of %d ranks", keys)
				return nil
			}
			for at, rank := range members {
				l.Keys = append(l.Keys, seq.At(at, int64(rank)))
			}
		}
		d.Loops[n] = list
	}
	return d
}

func codeFamilies(c *wire.Coder, d *grammar.Drawing, ranks int) {
	wire.Uints(c, &d.Seed)
	wire.List(c, &d.Families, 7, func(_ int, x *model.Drawn) {
		wire.Bounded(c, &x.Precision, 100)
		wire.Bounded(c, &x.Least.Value, math.MaxInt32)
		wire.Bounded(c, &x.Least.Rank, ranks-1)
		wire.Above(c, &x.Most.Value, x.Least.Value, math.MaxInt32)
		wire.Bounded(c, &x.Most.Rank, ranks-1)
		if bins(c, &x.Distribution, math.MaxInt32); c.Reader != nil && !c.Failed() {
			x.Runs = x.Count()
			c.Check(checkFamily(x, ranks))
		}
	})
}

var errLanes = errors.New("numbers of rounds are drawn, and values go from call to call")

var errFamily = errors.New("a family of loops without rounds")

// checkFamily says what makes a family impossible to draw from.
func checkFamily(x *model.Drawn, ranks int) error {
	if err := checkDistribution(&x.Distribution, ranks); err != nil {
		return fmt.Errorf("rounds of loops: %w", err)
	}
	if slices.ContainsFunc(x.Bins, func(b model.Bin) bool { return b.Low < 1 || b.Count == 0 }) || x.Runs == 0 || x.Runs != x.Count() {
		return errFamily
	}
	return nil
}

// checkDrawn says what makes the section impossible to write.
func (c *Content) checkDrawn() error {
	if len(c.Drawn.Loops) != len(c.Classes) {
		return fmt.Errorf("drawn loops of %d classes, there are %d", len(c.Drawn.Loops), len(c.Classes))
	}
	for i := range c.Drawn.Families {
		if err := checkFamily(&c.Drawn.Families[i], c.Ranks); err != nil {
			return err
		}
	}
	return nil
}

// calls returns how often the ranks of a class call each terminal, in all.
func (c *Content) calls(i int, s *column.Streams, terminals int) ([]uint64, error) {
	members := c.Classes[i].Ranks.Len()
	if c.Drawn == nil || len(c.Drawn.Loops[i]) == 0 {
		return s.Calls(terminals, members)
	}
	u, err := c.Drawn.Unroll(s.List, s.Varying, c.Drawn.Loops[i], c.Classes[i].Ranks.Len())
	if err != nil {
		return nil, err
	}
	vals := make([][]int64, len(s.Columns))
	for k := range s.Columns {
		vals[k] = s.Columns[k].Values()
	}
	return column.StreamCalls(u.Streams, u.Varying, terminals, members, func(k, member int) int64 {
		if from := u.From[k]; from >= 0 {
			return vals[from][member]
		}
		return u.Drawn[k][member]
	})
}

// DrawTripCounts has the loops of a class run as often as is drawn.
func (c *DecodedClass) DrawTripCounts(d *grammar.Drawing, class int) error {
	loops := d.Loops[class]
	if len(loops) == 0 {
		return nil
	}
	if c.Lanes != nil { // which would have as many values as before
		return errLanes
	}
	c.Family = grammar.DrawnFamilies(c.Streams, loops, len(c.Terminals))
	u, err := d.Unroll(c.Streams, c.Varying, loops, c.Ranks)
	if err != nil {
		return err
	}
	before := c.Counts
	c.Streams, c.Varying, c.Counts = u.Streams, u.Varying, nil
	for k, from := range u.From {
		if from >= 0 {
			c.Counts = append(c.Counts, before[from])
		} else {
			c.Counts = append(c.Counts, column.SeqOf(column.FromValues(u.Drawn[k]...)))
		}
	}
	return nil
}
