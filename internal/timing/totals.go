// Totals are the times in MPI and outside of each rank of a class, overall and by call site. They are columns over
// the ranks, accurate to a percent, and take fewer bytes the more alike the ranks are. They cover the most
// expensive call sites, as far as the room suffices.

package timing

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// TotalColumns is the time that each rank of a class spent in MPI and outside, over all of its threads: in all, and
// by call site. Lists are by index of the rank in the class. It is empty if the times are unknown, or the class has
// one rank.
type TotalColumns struct {
	Gap, Duration []LogTime    // time outside MPI, and time in it
	Sites         []SiteTotals // in rising order of FirstTerminal
}

// SiteTotals is the time that each rank of a class spent in the calls of one function from one site, and in the gaps
// before them.
type SiteTotals struct {
	FirstTerminal int       // lowest terminal of that function and site
	Gap, Duration []LogTime // nil: unknown
}

// The kinds of time: gaps and durations.
const (
	GapKind      = 0
	DurationKind = 1
	kinds        = 2
)

func (c *TotalColumns) of(kind int) []LogTime {
	if kind == GapKind {
		return c.Gap
	}
	return c.Duration
}

func (s *SiteTotals) of(kind int) []LogTime {
	if kind == GapKind {
		return s.Gap
	}
	return s.Duration
}

// Check returns an error if the lists don't fit a class with this number of ranks and terminals.
func (c *TotalColumns) Check(ranks, terminals int) error {
	if c.Gap == nil && c.Duration == nil && len(c.Sites) == 0 {
		return nil
	}
	if len(c.Gap) != ranks || len(c.Duration) != ranks {
		return fmt.Errorf("totals of %d and %d ranks, %d expected", len(c.Gap), len(c.Duration), ranks)
	}
	last := -1
	for _, s := range c.Sites {
		if s.FirstTerminal <= last || s.FirstTerminal >= terminals {
			return fmt.Errorf("totals of terminal %d of %d after %d", s.FirstTerminal, terminals, last)
		}
		last = s.FirstTerminal
		for kind := range kinds {
			if list := s.of(kind); list != nil && len(list) != ranks {
				return fmt.Errorf("totals of %d ranks, %d expected", len(list), ranks)
			}
		}
	}
	return nil
}

// A ClassTotals is the totals of a class's ranks in coded form: a TotalColumns after rounding.
type ClassTotals struct {
	first  int // kind of the total that is coded first, GapKind or DurationKind
	totals [kinds]*col
	sites  []terminalTimes
}

type terminalTimes struct {
	terminal int
	cols     [kinds]*col // by kind; nil: unknown
}

// RankTotalNs returns the time of a kind that rank i of the class spent over all calls, and its largest error, in ns.
func (c *ClassTotals) RankTotalNs(kind, i int) (ns, within float64) { return c.totals[kind].time(i) }

// KnownSiteTerminals returns the first terminal of each call site whose totals are known.
func (c *ClassTotals) KnownSiteTerminals() []int {
	list := make([]int, len(c.sites))
	for i := range c.sites {
		list[i] = c.sites[i].terminal
	}
	return list
}

// RankSiteTotalNs returns the time of a kind that rank i of the class spent at site n of KnownSiteTerminals, and its
// largest error, in ns. ok is false if the time is unknown.
func (c *ClassTotals) RankSiteTotalNs(n, kind, i int) (ns, within float64, ok bool) {
	x := c.sites[n].cols[kind]
	if x == nil {
		return 0, 0, false
	}
	ns, within = x.time(i)
	return ns, within, true
}

// The forms in which a column of times is coded. A level is a LogTime divided by the column's unit.
const (
	formSame  = 0 // the same time for all ranks, up to one LogTime
	formSeq   = 1 // the levels as a column.Seq
	formAbout = 2 // one level for all ranks, and the difference of each rank's level to it
	formNext  = 3 // difference of each rank's level to that of the rank before
	formPart  = 4 // difference of each rank's level to its total of the same kind
	// Difference of each rank's level to what remains of a time that is the same for all ranks, less the rank's total
	// of the other kind.
	formRest = 5
	formBits = 3
)

const (
	maxUnit  = 16
	restUnit = 1000 // resolution in ns of the time that is the same for all ranks, for formRest
)

// A col is a time of each rank of a class, as a level: a LogTime divided by unit.
type col struct {
	form byte
	unit int64
	// For formSame: twice the LogTime of all ranks, or the sum of two adjacent ones. For formAbout: the level that
	// differences are added to. For formPart: the same, relative to the level of the rank's total. For formRest: the
	// time that is the same for all ranks, in restUnit.
	base int64
	off  []int64     // by rank: its level minus base or the predicted level; for formNext the level itself
	seq  *column.Seq // for formSeq: the levels, to read
	of   *col        // for formPart the total of the same kind, for formRest that of the other kind

	levels column.Column // for formSeq: the levels, to write
}

// level returns the level of rank i of the class.
func (c *col) level(i int) int64 {
	switch c.form {
	case formSeq:
		return c.seq.At(i, 0)
	case formAbout:
		return c.base + c.off[i]
	case formNext:
		return c.off[i]
	}
	return c.predicted(i) + c.off[i]
}

// predicted returns the level of rank i as predicted from column of.
func (c *col) predicted(i int) int64 {
	if c.form == formPart {
		return c.base + int64(c.of.step(i))/c.unit
	}
	rest := float64(c.base)*restUnit - LogTimeNs(c.of.step(i))
	return int64(LogTimeOf(uint64(max(0, rest)))) / c.unit
}

// step returns the LogTime in the middle of the level of rank i, which may be a fraction.
func (c *col) step(i int) float64 {
	if c.form == formSame {
		return float64(c.base) / 2
	}
	return float64(c.level(i)*c.unit) + float64(c.unit-1)/2
}

// time returns the time of rank i and its largest error, in ns.
func (c *col) time(i int) (ns, within float64) {
	ns = LogTimeNs(c.step(i))
	half := 0.5 * float64(c.unit) // half the width of a level, in LogTimes
	switch {
	case c.form == formSame && c.base%2 != 0:
		half = 1
	case c.unit == 1 && ns <= 100:
		return ns, 0
	}
	return ns, max(half, ns*(math.Pow(1.0101, half)-1))
}

// code codes the totals of a class, without the sites that have no column.
//
//	class  = order uint8, column of the first total, column of the second total, number of sites uvarint,
//	         per site: (terminal, as a difference to the one before) uvarint, kinds uint8, column…
//	column = (8·unit + form) uint8, payload
//
// With order 0 the total of gaps comes first, with 1 that of durations. Bit 0 of kinds is set if the site has a
// column of gaps, bit 1 if it has one of durations.
func (x *ClassTotals) code(c *wire.Coder, ranks, terminals int) {
	wire.CodeBounded(c, &x.first, 1)
	var of *col
	for _, kind := range []int{x.first, 1 - x.first} {
		codeCol(c, &x.totals[kind], ranks, of, formRest)
		of = x.totals[kind]
	}
	at := 0
	wire.CodeList(c, &x.sites, 4, func(i int, s *terminalTimes) {
		wire.CodeAbove(c, &s.terminal, at, max(0, terminals-1-at))
		have := byte(0)
		for kind, x := range s.cols {
			if x != nil {
				have |= 1 << kind
			}
		}
		wire.CodeByte(c, &have)
		c.RefuseIf(s.terminal >= terminals || i > 0 && s.terminal == at || have == 0 || have >= 1<<kinds,
			"terminal %d of %d after %d with times of kinds %d", s.terminal, terminals, at, have)
		at = s.terminal
		for kind := range kinds {
			if have>>kind&1 != 0 {
				codeCol(c, &s.cols[kind], ranks, x.totals[kind], formPart)
			}
		}
	})
}

// DecodeTotals reads the totals of a class as EncodeTotals wrote them. Its memory grows with the bytes read, whatever
// number of ranks the file claims.
func DecodeTotals(r *wire.Reader, ranks, terminals int) *ClassTotals {
	x := &ClassTotals{}
	if x.code(&wire.Coder{Reader: r}, ranks, terminals); r.Err() != nil {
		return nil
	}
	return x
}

// maxBase is the largest col.base for formRest, in restUnit.
const maxBase = 1 << 56

// codeCol codes a column. It may be predicted from column of if its form is follows, formPart or formRest.
func codeCol(c *wire.Coder, to **col, ranks int, of *col, follows byte) {
	if c.Failed() {
		return
	}
	if c.Reader != nil {
		*to = &col{of: of}
	}
	x := *to
	if x.codeHead(c); c.Failed() {
		return
	}
	c.RefuseIf(x.form >= formPart && (x.form != follows || of == nil), "form %d of times", x.form)
	switch x.form {
	case formSame:
	case formSeq:
		if column.CodeLazySeq(c, &x.seq, &x.levels, nil, ranks); c.Reader != nil && x.seq != nil {
			c.RefuseIf(!x.seq.IsBoundedBy(0, MaxLogTime), "times out of range")
		}
	default:
		if c.Reader != nil {
			c.RefuseIf(x.base < -MaxLogTime || x.form == formPart && x.base > MaxLogTime || ranks > c.Reader.RemainingLen(), "times of %d ranks in %d bytes, about %d", ranks, c.Reader.RemainingLen(), x.base)
			if c.Failed() {
				return
			}
			x.off = make([]int64, ranks)
		}
		x.codeOff(c)
	}
}

// codeHead codes form, unit and base of a column.
func (x *col) codeHead(c *wire.Coder) {
	head := x.form
	if x.form != formSame {
		head |= byte(x.unit) << formBits
	}
	if wire.CodeByte(c, &head); c.Reader != nil {
		x.form, x.unit = head&(1<<formBits-1), int64(head>>formBits)
	}
	if x.form == formSame {
		x.unit = 1
	}
	c.RefuseIf(x.unit < 1 || x.unit > maxUnit, "levels of %d steps", x.unit)
	switch x.form {
	case formSame:
		wire.CodeBounded(c, &x.base, 2*MaxLogTime)
	case formAbout:
		wire.CodeBounded(c, &x.base, MaxLogTime)
	case formPart:
		wire.CodeIntegers(c, &x.base)
	case formRest:
		wire.CodeBounded(c, &x.base, maxBase)
	}
}

// codeOff codes the differences of the ranks' levels.
func (x *col) codeOff(c *wire.Coder) {
	last := int64(0)
	for i := range x.off {
		wire.CodeRelative(c, &x.off[i], last)
		if c.Reader != nil {
			v := x.off[i] - last
			if c.RefuseIf(v < -2*MaxLogTime || v > 2*MaxLogTime, "rank %d: %d levels more", i, v); c.Failed() {
				return
			}
			n := x.level(i)
			if c.RefuseIf(n < 0 || n > MaxLogTime, "rank %d: time of level %d", i, n); c.Failed() {
				return
			}
		}
		if x.form == formNext {
			last = x.off[i]
		}
	}
}
