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
	// steadyForm has one value for neighbours that differ by no more than values are rounded by.
	// Where a launcher starts hosts one after the other, and each process takes its time, that is a
	// few values for thousands of ranks.
	steadyForm = 2
	// followsForm is of the time in MPI alone: of ranks that share a class it is what section totals says.
	followsForm = 3
)

// totalsWithin is how far the total of a rank may be from its time, as a part of it.
const totalsWithin = 0.0102

// AppendSection and DecodeProcessSection: the table in files, shorter and slower than in messages.
//
//	processes = names, per column but the calls: form uint8, payload
//	seq       = as there
//	levels    = least varint, unit uvarint, per rank how many units more uvarint
//	steady    = least varint, unit uvarint, per run of ranks in the order of hosts: ranks uvarint, how many units more uvarint
//	follows   = per rank of which section totals says nothing: ns uvarint
func (p *Processes) AppendSection(b []byte, totals Ranked) []byte {
	b = appendNumbered(b, p.hosts.list)
	b = wire.Append(b, func(c *wire.Coder) { c.Strings(&p.ends.list) })
	for i := range callsColumn {
		b = append(b, p.shortest(i, totals)...)
	}
	return b
}

// shortest returns a column in the form in which it takes least.
func (p *Processes) shortest(i int, totals Ranked) []byte {
	if i != untilColumn && i != spanColumn && i != mpiColumn {
		return exactly(&p.cols[i])
	}
	vals, units := p.cols[i].Values(), p.units(i)
	var rounded column.Column
	for rank, v := range vals {
		rounded.Append(round(v, units[rank]))
	}
	best := exactly(&rounded)
	try := func(b []byte) {
		if b != nil && wire.Quickly(b) < wire.Quickly(best) {
			best = b
		}
	}
	try(p.steady(vals, units))
	if i == mpiColumn && p.Len() > manyRanks {
		try(p.follows(vals, totals))
	}
	return best
}

// units returns what the values of a column of times are rounded to.
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

// exactly writes a column as it is.
func exactly(c *column.Column) []byte {
	b := column.EncodeSeq([]byte{seqForm}, c, nil)
	// What looks random is shortest as small numbers, for the entropy coder.
	if n := c.Len(); n > 0 && len(b) > n/2 {
		if levels := appendLevels([]byte{levelsForm}, c); len(levels) < len(b) {
			return levels
		}
	}
	return b
}

// appendLevels writes a column as multiples of a unit above its least value.
func appendLevels(b []byte, c *column.Column) []byte {
	b, levels := appendUnits(b, c.Values())
	for _, v := range levels {
		b = wire.AppendUvarint(b, v)
	}
	return b
}

// appendUnits writes the least of some values and the unit of which they are multiples above it.
func appendUnits(b []byte, vals []int64) ([]byte, []uint64) {
	least, unit := slices.Min(vals), uint64(0)
	levels := make([]uint64, len(vals))
	for i, v := range vals {
		levels[i] = uint64(v) - uint64(least)
		for a := levels[i]; a != 0; {
			unit, a = a, unit%a
		}
	}
	unit = max(unit, 1)
	for i := range levels {
		levels[i] /= unit
	}
	return wire.AppendUvarint(wire.AppendVarint(b, least), unit), levels
}

// steady writes a column of times in runs of ranks whose times are one, as far as they would be rounded.
// Of these it is about their mean, so that sums over ranks stay.
func (p *Processes) steady(vals, units []int64) []byte {
	type run struct {
		ranks       uint64
		least, most int64 // between which the time may be
		sum         float64
		unit        int64
	}
	var runs []run
	for _, rank := range p.byHost() {
		v, unit := vals[rank], units[rank]
		cut := unit >> extraDigits // by which the time may be more than v
		near := unit
		if v-unit/2 > 0 && unitOf(v-unit/2, digitsFor(len(vals))) < unit {
			near /= 2 // it would be told as one that is known better
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
	means := make([]int64, len(runs))
	for i, r := range runs {
		mean := round(int64(r.sum/float64(r.ranks)), r.unit)
		if means[i] = min(max(mean, roundUp(r.least, r.unit)), r.most-mod(r.most, r.unit)); means[i] < r.least {
			means[i] = r.least
		}
	}
	b, levels := appendUnits([]byte{steadyForm}, means)
	for i, r := range runs {
		b = wire.AppendUvarint(wire.AppendUvarint(b, r.ranks), levels[i])
	}
	return b
}

func roundUp(v, unit int64) int64 { return v + mod(-v, unit) }

// byHost returns the ranks, those of each host together.
func (p *Processes) byHost() []int32 {
	order := make([]int32, p.Len())
	for rank := range order {
		order[rank] = int32(rank)
	}
	hosts := p.cols[hostColumn].Values()
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(hosts[a], hosts[b]) })
	return order
}

// follows writes the times in MPI that the totals don't have; nil if the totals are others.
func (p *Processes) follows(vals []int64, totals Ranked) []byte {
	if len(totals.Ns) != len(vals) {
		return nil
	}
	b := []byte{followsForm}
	for rank, v := range vals {
		unit := unitOf(v, digitsFor(len(vals)))
		if !totals.Known[rank] {
			b = wire.AppendUvarint(b, uint64(max(0, round(v, unit))))
			continue
		}
		if math.Abs(totals.Ns[rank]-float64(v)) > totalsWithin*float64(v)+float64(unit>>extraDigits) {
			return nil
		}
	}
	return b
}

// DecodeProcessSection reads the table of n ranks.
func DecodeProcessSection(r *wire.Reader, n int, calls column.Column, totals func() (Ranked, error)) Processes {
	var p Processes
	p.hosts.list = decodeNumbered(r, n+1)
	(&wire.Coder{R: r}).Strings(&p.ends.list)
	next := -1
	return p.decode(r, func() column.Column {
		switch next++; next {
		case callsColumn:
			return calls
		case folderColumn:
			return column.Constant(p.folders.number(""), n)
		}
		switch form := r.Byte(); {
		case form == seqForm:
			var c column.Column
			column.CodeSeq(&wire.Coder{R: r}, &c, n)
			return c
		case form == levelsForm:
			return decodeLevels(r, n)
		case form == steadyForm && next > hostColumn:
			return p.decodeSteady(r, n)
		case form == followsForm && next == mpiColumn:
			known, err := totals()
			if err != nil {
				r.Fail("time in MPI: %v", err)
			} else {
				return p.decodeFollowing(r, n, known)
			}
		default:
			r.Fail("process table: unknown form %d", form)
		}
		return column.Column{}
	})
}

func decodeLevels(r *wire.Reader, n int) (c column.Column) {
	least, unit := uint64(r.Varint()), r.Uvarint()
	if n > r.Rest() {
		r.Fail("%d processes in %d bytes", n, r.Rest())
		return c
	}
	for range n {
		c.Append(int64(least + unit*r.Uvarint()))
	}
	return c
}

func (p *Processes) decodeSteady(r *wire.Reader, n int) (c column.Column) {
	least, unit := uint64(r.Varint()), r.Uvarint()
	vals := make([]int64, n)
	order := p.byHost()
	for len(order) > 0 {
		ranks := r.Uvarint()
		v := int64(least + unit*r.Uvarint())
		if ranks == 0 || ranks > uint64(len(order)) {
			r.Fail("process table: a run of %d ranks, there are %d", ranks, len(order))
			return c
		}
		for _, rank := range order[:ranks] {
			vals[rank] = v
		}
		order = order[ranks:]
	}
	for _, v := range vals {
		c.Append(v)
	}
	return c
}

// decodeFollowing takes the times in MPI from the totals. They are known better than the span, which
// they don't exceed.
func (p *Processes) decodeFollowing(r *wire.Reader, n int, totals Ranked) (c column.Column) {
	if len(totals.Ns) != n {
		r.Fail("process table: totals of %d ranks, there are %d", len(totals.Ns), n)
		return c
	}
	spans, threads := p.cols[spanColumn].Reader(), p.cols[threadsColumn].Reader()
	for rank := range n {
		if !totals.Known[rank] {
			c.Append(int64(r.Uvarint()))
			continue
		}
		most := float64(spans.At(rank)) * float64(max(1, threads.At(rank)))
		c.Append(int64(min(totals.Ns[rank], most) + 0.5))
	}
	return c
}
