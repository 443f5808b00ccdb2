package timing

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Limits for the call sites that a file has by rank. If ranks are alike, a column takes a few bytes and is always
// stored. Other columns are stored in the order of their time, as long as there is room.
const (
	leastPart   = 0.01 // of the time of some rank, less the most expensive site's, for a site to get a column if there is room
	negligible  = 8    // bytes: a column up to this size is stored without room, too, if ranks are alike
	roomFor     = 0.2  // room for columns as a share of the rest of the file
	leastRoom   = 24   // bytes: minimal room
	carefulUpTo = 1024 // ranks; with more, totals that exceed the room get half as many levels
	// fewRuns is the number of runs up to which a column is always searched for repetitions, which takes long.
	fewRuns = 64
)

// EncodeTotals encodes the times of the ranks of each class; nil for an unknown class, and nil if all classes are
// unknown. rest returns the size of the rest of the file in bytes; it is not called if each class has one rank.
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
	room := func(n float64) bool { // lazy, as estimating the rest takes long
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
			out[i] = wire.AppendCoded(nil, func(c *wire.Coder) { x.code(c, 0, 0) })
		}
	}
	return out
}

// An option is a column that a file may store.
type option struct {
	class, site, kind int
	ns                float64 // total time in the column over all ranks
	unit              int64
	steps             []LogStep
}

// begin encodes the totals of gaps and durations. The smaller one comes first: the other one is the rest of the
// run, and so better predicted from it than the reverse.
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

// unitOf returns the number of LogSteps in a level of a column. It is the largest that keeps each time within half a
// percent of itself, or within a thousandth of the rank's total. A time is at most a fraction most of that total;
// see mostPart.
func unitOf(most float64) int64 {
	unit := int64(1)
	for unit < maxUnit && 0.005*float64(2*unit)*most <= 0.001 {
		unit *= 2
	}
	return unit
}

// largest returns the most expensive call site, such as MPI_Init in a short run; -1 for none.
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

// mostPart returns the largest share that a time has of its rank's total. The total excludes the site without,
// whose large time must not make all others negligible.
func (c *TotalColumns) mostPart(steps []LogStep, kind, without int) (most float64) {
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

// alike reports whether times are the same within a column's resolution.
func alike(steps []LogStep) bool { return slices.Max(steps)-slices.Min(steps) <= 1 }

func sum(steps []LogStep) (ns float64) {
	for _, s := range steps {
		ns += s.Ns()
	}
	return ns
}

// A coded is a column with its estimated size in bytes.
type coded struct {
	col  *col
	cost float64
}

// shortest returns the shortest form of a column. It may be predicted from of, in the given form.
func shortest(steps []LogStep, unit int64, of *col, form byte) coded {
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
		best = coded{x, float64(len(wire.AppendCoded(nil, func(c *wire.Coder) { codeCol(c, &x, n, nil, 0) })))}
	}
	off := make([]int64, n)
	try := func(x col, off []int64) {
		cost := float64(len(wire.AppendCoded(nil, x.codeHead))) + entropy(off)
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

// middle is the median.
func middle(list []int64) int64 {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

// entropy estimates the bytes that numbers take in a compressed file, with the coder's table.
func entropy(list []int64) float64 {
	count := make(map[int64]int)
	bits := 0.0
	for _, v := range list {
		if count[v]++; count[v] == 1 {
			bits += 4 + math.Log2(1+math.Abs(float64(v)))
		}
	}
	n := float64(len(list))
	for _, k := range slices.Sorted(maps.Values(count)) { // sorted, as the order affects the rounding of the sum
		bits -= float64(k) * math.Log2(float64(k)/n)
	}
	return bits / 8
}
