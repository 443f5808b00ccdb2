package sections

import (
	"cmp"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Forms of columns in the table of processes of a file.
const (
	seqForm    = 0
	levelsForm = 1
	// steadyForm has one value for neighbouring ranks that differ by no more than the rounding error. If a launcher
	// starts hosts one after the other, that is a few values for thousands of ranks.
	steadyForm = 2
	// followsForm is only for the column of time in MPI: it has what section totals lacks, as that has this time for each
	// rank of a class with several ranks.
	followsForm = 3
)

// totalsWithin is the largest relative difference between a rank's time in MPI and what section totals has for it.
const totalsWithin = 0.0102

// AppendSection appends the table as in files, which DecodeProcessSection reads. It is shorter than in messages, and
// takes longer.
//
//	processes = names, per column but the calls: form uint8, payload
//	seq       = see column.Seq
//	levels    = units, per rank how many units more uvarint
//	steady    = units, per run of ranks in the order of hosts: ranks uvarint, how many units more uvarint
//	units     = least varint, unit uvarint
//	follows   = per rank of which section totals says nothing: ns uvarint
func (p *Processes) AppendSection(b []byte, totals RankMPITimes) []byte {
	b = wire.AppendEncoded(b, func(c *wire.Coder) { p.codeNames(c, p.Len()) })
	for i := range callsColumn {
		b = append(b, p.shortest(i, totals)...)
	}
	return b
}

func (p *Processes) codeNames(c *wire.Coder, ranks int) {
	codeNames(c, &p.hosts.list, ranks+1)
	c.Strings(&p.ends.list)
}

// shortest returns column i in its shortest form.
func (p *Processes) shortest(i int, totals RankMPITimes) []byte {
	if i != untilColumn && i != spanColumn && i != mpiColumn {
		return exactly(&p.cols[i])
	}
	vals, units := p.cols[i].Values(), p.units(i)
	var rounded column.Column
	for rank, v := range vals {
		rounded.Append(round(v, units[rank]))
	}
	best := exactly(&rounded)
	try := func(form byte, code func(c *wire.Coder)) {
		if b := wire.AppendEncoded([]byte{form}, code); wire.QuickEstimatePackedSize(b) < wire.QuickEstimatePackedSize(best) {
			best = b
		}
	}
	if runs := p.steady(vals, units); runs != nil {
		try(steadyForm, func(c *wire.Coder) { codeSteady(c, &runs, len(vals)) })
	}
	if i == mpiColumn && p.Len() > manyRanks && follow(vals, totals) {
		try(followsForm, func(c *wire.Coder) { codeFollowing(c, vals, totals) })
	}
	return best
}

// units returns, by rank, the unit to which the time in column i is rounded, in ns.
func (p *Processes) units(i int) []int64 {
	units := p.cols[i].Values()
	spans := p.cols[spanColumn].Reader()
	for rank, v := range units {
		if i == untilColumn {
			units[rank] = endUnit(spans.At(rank), p.Len())
		} else {
			units[rank] = unitOf(v, digitsFor(p.Len()))
		}
	}
	return units
}

// exactly encodes the values of a column without rounding.
func exactly(x *column.Column) []byte {
	n := x.Len()
	b := wire.AppendEncoded([]byte{seqForm}, func(c *wire.Coder) { column.CodeSeq(c, x, n) })
	// Random-looking values are shortest as small numbers, for the entropy coder.
	if n > 0 && len(b) > n/2 {
		vals := x.Values()
		if levels := wire.AppendEncoded([]byte{levelsForm}, func(c *wire.Coder) { codeLevels(c, vals) }); len(levels) < len(b) {
			return levels
		}
	}
	return b
}

// A units is a least value, and a unit of which the other values are multiples above it.
type units struct {
	least int64
	unit  uint64
}

// unitsOf returns the least of the values, and the largest possible unit.
func unitsOf(vals []int64) units {
	x := units{least: slices.Min(vals)}
	for _, v := range vals {
		for a := x.above(v); a != 0; {
			x.unit, a = a, x.unit%a
		}
	}
	x.unit = max(x.unit, 1)
	return x
}

func (x *units) above(v int64) uint64 { return uint64(v) - uint64(x.least) }

func (x *units) code(c *wire.Coder) {
	wire.CodeIntegers(c, &x.least)
	wire.CodeUints(c, &x.unit)
}

// value writes or reads one value.
func (x *units) value(c *wire.Coder, v *int64) {
	n := uint64(0)
	if c.Reader == nil {
		n = x.above(*v) / x.unit
	}
	if wire.CodeUints(c, &n); c.Reader != nil {
		*v = int64(uint64(x.least) + x.unit*n)
	}
}

// codeLevels writes or reads values as multiples of a unit above the least one.
func codeLevels(c *wire.Coder, vals []int64) {
	var x units
	if c.Reader == nil {
		x = unitsOf(vals)
	}
	x.code(c)
	for i := range vals {
		x.value(c, &vals[i])
	}
}

// A steadyRun is consecutive ranks, in the order of hosts, with one value.
type steadyRun struct {
	ranks uint64
	ns    int64
}

// codeSteady writes or reads runs that have n ranks together.
func codeSteady(c *wire.Coder, runs *[]steadyRun, n int) {
	var x units
	if c.Reader == nil {
		means := make([]int64, len(*runs))
		for i, r := range *runs {
			means[i] = r.ns
		}
		x = unitsOf(means)
	}
	x.code(c)
	for i, left := 0, uint64(n); left > 0 && !c.Failed(); i++ {
		if c.Reader != nil {
			*runs = append(*runs, steadyRun{})
		}
		r := &(*runs)[i]
		wire.CodeUints(c, &r.ranks)
		x.value(c, &r.ns)
		c.RefuseIf(r.ranks == 0 || r.ranks > left, "process table: a run of %d ranks, there are %d", r.ranks, left)
		left -= r.ranks
	}
}

// codeFollowing writes or reads the times in MPI of the ranks that the totals lack.
func codeFollowing(c *wire.Coder, vals []int64, totals RankMPITimes) {
	for rank := range vals {
		if totals.Known[rank] {
			continue
		}
		ns := uint64(max(0, round(vals[rank], unitOf(vals[rank], digitsFor(len(vals))))))
		if wire.CodeUints(c, &ns); c.Reader != nil {
			vals[rank] = int64(ns)
		}
	}
}

// steady divides a column of times into runs of ranks whose times are equal within rounding. A run's value is about
// the mean of its times, so that sums over ranks stay accurate. It returns nil if there are too many runs.
func (p *Processes) steady(vals, units []int64) []steadyRun {
	type run struct {
		ranks       uint64
		least, most int64 // range in which the run's value must be
		sum         float64
		unit        int64
	}
	var runs []run
	for _, rank := range p.byHost() {
		v, unit := vals[rank], units[rank]
		// By how much the original time may exceed v, which was truncated.
		cut := unit >> extraDigits
		near := unit
		if v-unit/2 > 0 && unitOf(v-unit/2, digitsFor(len(vals))) < unit {
			// A value below v would look more accurate than it is.
			near /= 2
		}
		x := run{1, v + cut - near/2, v + near/2, float64(v) + float64(cut)/2, max(1, near>>extraDigits)}
		if unit == 1 {
			x.least, x.most = v, v
		}
		if n := len(runs) - 1; n >= 0 {
			r := &runs[n]
			y := run{r.ranks + 1, max(r.least, x.least), min(r.most, x.most), r.sum + x.sum, min(r.unit, x.unit)}
			if roundUp(y.least, y.unit) <= y.most {
				*r = y
				continue
			}
		}
		runs = append(runs, x)
	}
	if len(runs) == 0 || len(runs) > len(vals)/4 {
		return nil
	}
	list := make([]steadyRun, len(runs))
	for i, r := range runs {
		mean := round(int64(r.sum/float64(r.ranks)), r.unit)
		ns := min(max(mean, roundUp(r.least, r.unit)), r.most-mod(r.most, r.unit))
		if ns < r.least {
			ns = r.least
		}
		list[i] = steadyRun{r.ranks, ns}
	}
	return list
}

func roundUp(v, unit int64) int64 { return v + mod(-v, unit) }

// byHost returns the ranks grouped by host.
func (p *Processes) byHost() []int32 {
	order := make([]int32, p.Len())
	for rank := range order {
		order[rank] = int32(rank)
	}
	hosts := p.cols[hostColumn].Values()
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(hosts[a], hosts[b]) })
	return order
}

// follow reports whether the times in MPI equal the totals, within rounding, on all ranks that have totals.
func follow(vals []int64, totals RankMPITimes) bool {
	if len(totals.Ns) != len(vals) {
		return false
	}
	for rank, v := range vals {
		by := float64(unitOf(v, digitsFor(len(vals))) >> extraDigits)
		if totals.Known[rank] && math.Abs(totals.Ns[rank]-float64(v)) > totalsWithin*float64(v)+by {
			return false
		}
	}
	return true
}

// DecodeProcessSection reads the table of n ranks.
func DecodeProcessSection(r *wire.Reader, n int, calls column.Column, totals func() (RankMPITimes, error)) Processes {
	var p Processes
	c := &wire.Coder{Reader: r}
	p.codeNames(c, n)
	next := -1
	return p.decode(r, func() column.Column {
		switch next++; next {
		case callsColumn:
			return calls
		case folderColumn:
			return column.Constant(p.folders.number(""), n)
		}
		return p.decodeForm(c, next, n, totals)
	})
}

// decodeForm reads column col of n ranks. Earlier columns must have been read.
func (p *Processes) decodeForm(c *wire.Coder, col, n int, totals func() (RankMPITimes, error)) (x column.Column) {
	switch form := c.Reader.Byte(); {
	case form == seqForm:
		column.CodeSeq(c, &x, n)
		return x
	case form == levelsForm:
		if n > c.Reader.RemainingLen() {
			c.Reader.Fail("%d processes in %d bytes", n, c.Reader.RemainingLen())
			return x
		}
		vals := make([]int64, n)
		codeLevels(c, vals)
		return column.ColumnOf(vals...)
	case form == steadyForm && col > hostColumn:
		var runs []steadyRun
		if codeSteady(c, &runs, n); c.Failed() {
			return x
		}
		vals, order := make([]int64, n), p.byHost()
		for _, run := range runs {
			for _, rank := range order[:run.ranks] {
				vals[rank] = run.ns
			}
			order = order[run.ranks:]
		}
		return column.ColumnOf(vals...)
	case form == followsForm && col == mpiColumn:
		if known, err := totals(); err != nil {
			c.Reader.Fail("time in MPI: %v", err)
		} else if len(known.Ns) != n {
			c.Reader.Fail("process table: totals of %d ranks, there are %d", len(known.Ns), n)
		} else {
			vals := p.following(known)
			codeFollowing(c, vals, known)
			return column.ColumnOf(vals...)
		}
	default:
		c.Reader.Fail("process table: unknown form %d", form)
	}
	return x
}

// following returns the times in MPI from the totals, limited to the span, which is less accurate.
func (p *Processes) following(totals RankMPITimes) []int64 {
	vals := make([]int64, len(totals.Ns))
	spans, threads := p.cols[spanColumn].Reader(), p.cols[threadsColumn].Reader()
	for rank := range vals {
		if most := float64(spans.At(rank)) * float64(max(1, threads.At(rank))); totals.Known[rank] {
			vals[rank] = int64(min(totals.Ns[rank], most) + 0.5)
		}
	}
	return vals
}
