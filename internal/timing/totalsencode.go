package timing

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Limits for the columns by rank that a file has for call sites. If all ranks have nearly the same time, a column
// takes a few bytes and is always stored. Other columns are stored in the order of their time, the longest first,
// while there is room.
const (
	// A site may get a column if its time is at least this share of some rank's total. The total excludes the most
	// expensive site.
	leastPart = 0.01
	// Size in bytes up to which a column is stored without room, too, if ranks have nearly the same time.
	negligible = 8
	roomFor    = 0.2 // room for all such columns, as a share of the size of the rest of the file
	leastRoom  = 24  // least room for all such columns, in bytes
	// Number of ranks up to which totals over all sites keep full resolution even if they exceed the room; with more
	// ranks it is halved.
	carefulUpTo = 1024
	// fewRuns is the number of runs of equal values up to which a column is always searched for repetitions, which
	// takes long.
	fewRuns = 64
)

// EncodeTotals returns the coded totals of each class; nil for a class whose times are unknown, and nil if all are.
// rest returns the size of the rest of the file in bytes. It is not called if each class has one rank.
func EncodeTotals(classes []*TotalColumns, rest func() int64) [][]byte {
	list := make([]*ClassTotals, len(classes))
	var options []option
	known := false
	for i, c := range classes {
		if len(c.Gap) < 2 {
			continue
		}
		known = true
		list[i] = begin(c, rest)
		for kind := range kinds {
			largest := c.largest(kind)
			for k := range c.Sites {
				steps := c.Sites[k].of(kind)
				if steps == nil {
					continue
				}
				without := largest
				if k == largest {
					without = -1
				}
				if most := c.mostPart(steps, kind, without); most >= leastPart {
					options = append(options, option{i, k, kind, sum(steps), unitOf(most), steps})
				}
			}
		}
	}
	if !known {
		return nil
	}
	slices.SortStableFunc(options, func(a, b option) int { return cmp.Compare(b.ns, a.ns) })
	spent := 0.0
	room := func(n float64) bool { // a function, as estimating the size of the rest of the file takes long
		return n <= leastRoom-spent || n <= roomFor*float64(rest())-spent
	}
	for _, o := range options {
		if !room(negligible) && !alike(o.steps) {
			continue
		}
		w := list[o.class]
		x := shortest(o.steps, o.unit, w.totals[o.kind], formPart)
		if x.cost > negligible && !room(x.cost) {
			continue
		}
		spent += x.cost
		w.sites[o.site].cols[o.kind] = x.col
	}
	out := make([][]byte, len(classes))
	for i := range list {
		if x := list[i]; x != nil {
			x.sites = slices.DeleteFunc(x.sites, func(s terminalTimes) bool { return s.cols == [kinds]*col{} })
			out[i] = wire.AppendEncoded(nil, func(c *wire.Coder) { x.code(c, 0, 0) })
		}
	}
	return out
}

// An option is a column for a call site that the file may have.
type option struct {
	class, site, kind int
	ns                float64 // sum of the column's times over all ranks, in ns
	unit              int64
	steps             []LogTime
}

// begin encodes the totals over all sites of gaps and of durations. The kind with the smaller sum comes first: the
// other is most of the run, and so better predicted from it than the reverse.
func begin(c *TotalColumns, rest func() int64) *ClassTotals {
	w := &ClassTotals{first: GapKind}
	if sum(c.Duration) < sum(c.Gap) {
		w.first = DurationKind
	}
	for i := range c.Sites {
		w.sites = append(w.sites, terminalTimes{terminal: c.Sites[i].FirstTerminal})
	}
	var of *col
	for _, kind := range []int{w.first, 1 - w.first} {
		x := shortest(c.of(kind), 1, of, formRest)
		if len(c.Gap) > carefulUpTo && x.cost > roomFor*float64(rest()) {
			x = shortest(c.of(kind), 2, of, formRest)
		}
		w.totals[kind], of = x.col, x.col
	}
	return w
}

// unitOf returns the unit of a site's column: the number of LogTimes in a level. It is the largest for which each
// time's error is at most half a percent of it, or a thousandth of the rank's total. most is the largest share that a
// time has of that total; see mostPart.
func unitOf(most float64) int64 {
	unit := int64(1)
	for unit < maxUnit && 0.005*float64(2*unit)*most <= 0.001 {
		unit *= 2
	}
	return unit
}

// largest returns the index of the call site with the largest sum of a kind, such as that of MPI_Init in a short run;
// -1 without sites.
func (c *TotalColumns) largest(kind int) int {
	at, most := -1, 0.0
	for k := range c.Sites {
		if steps := c.Sites[k].of(kind); steps != nil {
			if ns := sum(steps); at < 0 || ns > most {
				at, most = k, ns
			}
		}
	}
	return at
}

// mostPart returns the largest share that a time of the column has of its rank's total. The total excludes site
// without, unless that is -1, whose large time must not make all other sites negligible.
func (c *TotalColumns) mostPart(steps []LogTime, kind, without int) (most float64) {
	totals := c.of(kind)
	for i, v := range steps {
		if v == 0 {
			continue
		}
		all := totals[i].Ns()
		if without >= 0 {
			all -= c.Sites[without].of(kind)[i].Ns()
		}
		most = max(most, min(1, v.Ns()/max(all, 1)))
	}
	return most
}

// alike reports whether all times of a column are equal up to one LogTime.
func alike(steps []LogTime) bool { return slices.Max(steps)-slices.Min(steps) <= 1 }

func sum(steps []LogTime) (ns float64) {
	for _, s := range steps {
		ns += s.Ns()
	}
	return ns
}

// A coded is a column and the estimated size of its code in bytes.
type coded struct {
	col  *col
	cost float64
}

// shortest returns the column in the form that takes the fewest bytes. One of the forms tried is form, which predicts
// from column of.
func shortest(steps []LogTime, unit int64, of *col, form byte) coded {
	if alike(steps) {
		base := int64(slices.Min(steps)) + int64(slices.Max(steps))
		return coded{&col{form: formSame, unit: 1, base: base}, 2}
	}
	n := len(steps)
	levels := make([]int64, n)
	var c column.Column
	for i, s := range steps {
		levels[i] = int64(s) / unit
		c.Append(levels[i])
	}
	best := coded{cost: math.Inf(1)}
	if len(c.Runs()) <= max(fewRuns, n/8) {
		x := &col{form: formSeq, unit: unit, seq: column.SeqOf(c), levels: c}
		best = coded{x, float64(len(wire.AppendEncoded(nil, func(c *wire.Coder) { codeCol(c, &x, n, nil, 0) })))}
	}
	off := make([]int64, n)
	try := func(x col, off []int64) {
		cost := float64(len(wire.AppendEncoded(nil, x.codeHead))) + entropy(off)
		if cost < best.cost {
			x.off = slices.Clone(x.off)
			best = coded{&x, cost}
		}
	}
	base := middle(levels)
	for i, v := range levels {
		off[i] = v - base
	}
	try(col{form: formAbout, unit: unit, base: base, off: off}, off)
	last := int64(0)
	for i, v := range levels {
		off[i], last = v-last, v
	}
	try(col{form: formNext, unit: unit, off: levels}, off)
	if of == nil {
		return best
	}
	x := col{form: form, unit: unit, of: of, off: off}
	for i, s := range steps {
		if form == formRest {
			ns, _ := of.time(i)
			off[i] = int64((s.Ns() + ns) / restUnit)
		} else {
			off[i] = levels[i] - x.predicted(i)
		}
	}
	x.base = middle(off)
	for i, v := range levels {
		off[i] = v - x.predicted(i)
	}
	try(x, off)
	return best
}

// middle returns the median.
func middle(list []int64) int64 {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

// entropy estimates the bytes that the numbers take in a compressed file, including the table of the entropy coder.
func entropy(list []int64) float64 {
	count := make(map[int64]int)
	bits := 0.0
	for _, v := range list {
		if count[v]++; count[v] == 1 {
			bits += 4 + math.Log2(1+math.Abs(float64(v)))
		}
	}
	n := float64(len(list))
	for _, k := range slices.Sorted(maps.Values(count)) { // sorted, as the rounding of the sum depends on the order
		bits -= float64(k) * math.Log2(float64(k)/n)
	}
	return bits / 8
}
