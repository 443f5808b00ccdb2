package timing

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Which call sites a file has of each rank. Where ranks are alike a column takes a few bytes
// and is there; others are, those of most time first, as long as there is room for them.
const (
	leastPart   = 0.01 // of the time of some rank, to be worth a column; but for the site of most time
	negligible  = 8    // bytes
	roomFor     = 0.2  // of the rest of the file
	leastRoom   = 24   // bytes
	carefulUpTo = 1024 // ranks; above, totals that take more than the room have half as many levels
	// fewRuns is up to how many runs a column may have in any case to be looked at for what
	// repeats in it, which takes long.
	fewRuns = 64
)

// EncodeTotals writes what the ranks of each class spent; nil of a class of which that is
// not known, and nil if it is of none. rest tells how many bytes the file has besides; nobody asks where ranks are alone in their classes.
//
//	class  = order uint8, column of totals, column of totals, sites uvarint,
//	         (terminal, as a difference to the one before uvarint, kinds uint8, column…)…
//	column = (8·unit + form) uint8, payload
//
// Where order is 0 the total of gaps stands first, where it is 1 that of durations. Bit 0
// of kinds says that there is a column of gaps, bit 1 one of durations.
func EncodeTotals(classes []*TotalColumns, rest func() int64) [][]byte {
	list := make([]writing, len(classes))
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
	room := func(n float64) bool { // the rest takes long to estimate
		return n <= leastRoom-spent || n <= roomFor*float64(rest())-spent
	}
	for _, o := range options {
		if !room(negligible) && !alike(o.steps) {
			continue
		}
		w := &list[o.class]
		x := shortest(o.steps, o.unit, w.cols[o.kind], formPart)
		if x.cost > negligible && !room(x.cost) {
			continue
		}
		spent += x.cost
		w.sites[o.site][o.kind] = x.bytes
	}
	out := make([][]byte, len(classes))
	for i := range list {
		if list[i].totals != nil {
			out[i] = list[i].bytes(classes[i])
		}
	}
	return out
}

// An option is a column that a file may have.
type option struct {
	class, site, kind int
	ns                float64 // of all ranks
	unit              int64
	steps             []Step
}

// A writing is the columns of a class so far.
type writing struct {
	totals []byte
	cols   [kinds]*col
	sites  [][kinds][]byte
}

// begin writes the totals. The smaller ones stand first: the others are what these
// leave of the run, and follow from them better than the other way round.
func begin(c *TotalColumns, rest func() int64) writing {
	first := GapKind
	if sum(c.Duration) < sum(c.Gap) {
		first = DurationKind
	}
	w := writing{totals: []byte{byte(first)}, sites: make([][kinds][]byte, len(c.Sites))}
	var of *col
	for _, kind := range []int{first, 1 - first} {
		x := shortest(c.of(kind), 1, of, formRest)
		if len(c.Gap) > carefulUpTo && x.cost > roomFor*float64(rest()) {
			x = shortest(c.of(kind), 2, of, formRest)
		}
		w.cols[kind], of = x.col, x.col
		w.totals = append(w.totals, x.bytes...)
	}
	return w
}

func (w *writing) bytes(c *TotalColumns) []byte {
	b, n, last := []byte(nil), 0, 0
	for i, cols := range w.sites {
		have := byte(0)
		for kind, x := range cols {
			if x != nil {
				have |= 1 << kind
			}
		}
		if have == 0 {
			continue
		}
		b = wire.AppendUvarint(b, uint64(c.Sites[i].Terminal-last))
		last = c.Sites[i].Terminal
		b = append(append(append(b, have), cols[GapKind]...), cols[DurationKind]...)
		n++
	}
	return append(wire.AppendUvarint(w.totals, uint64(n)), b...)
}

// unitOf is how many steps a level of a column has: as many as keep each time within
// half a percent of itself or a thousandth of the rank's total, of which it is so large a part
// at most; see mostPart.
func unitOf(most float64) int64 {
	unit := int64(1)
	for unit < maxUnit && 0.005*float64(2*unit)*most <= 0.001 {
		unit *= 2
	}
	return unit
}

// largest is the call site that takes most time, such as MPI_Init in a short run; -1 for none.
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

// mostPart is the largest part that a rank's time has in its total, less what it spent at the site
// without, which must not make all others look small.
func (c *TotalColumns) mostPart(steps []Step, kind, without int) (most float64) {
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

// alike reports whether times are the same within what a column tells.
func alike(steps []Step) bool { return slices.Max(steps)-slices.Min(steps) <= 1 }

func sum(steps []Step) (ns float64) {
	for _, s := range steps {
		ns += s.Ns()
	}
	return ns
}

// A coded is a column as it would be written.
type coded struct {
	bytes []byte
	cost  float64 // bytes in the file, about
	col   *col
}

// shortest finds the shortest form of a column. of is a column that it may follow from, as
// form says.
func shortest(steps []Step, unit int64, of *col, form byte) coded {
	if alike(steps) {
		base := int64(slices.Min(steps)) + int64(slices.Max(steps))
		return coded{wire.AppendUvarint([]byte{formSame}, uint64(base)), 2, &col{form: formSame, unit: 1, base: base}}
	}
	n := len(steps)
	levels := make([]int64, n)
	var c column.Column
	for i, s := range steps {
		levels[i] = int64(s) / unit
		c.Append(levels[i])
	}
	head := func(form byte) []byte { return []byte{byte(unit)<<formBits | form} }
	best := coded{cost: math.Inf(1), col: &col{form: formAbout, unit: unit, off: levels}}
	if len(c.Runs()) <= max(fewRuns, n/8) {
		best.bytes = column.EncodeSeq(head(formSeq), &c, nil)
		best.cost = float64(len(best.bytes))
	}
	off := make([]int64, n)
	try := func(form byte, base []byte) {
		cost := float64(1+len(base)) + entropy(off)
		if cost >= best.cost {
			return
		}
		best.cost, best.bytes = cost, append(head(form), base...)
		for _, v := range off {
			best.bytes = wire.AppendVarint(best.bytes, v)
		}
	}
	base := middle(levels)
	for i, v := range levels {
		off[i] = v - base
	}
	try(formAbout, wire.AppendUvarint(nil, uint64(base)))
	last := int64(0)
	for i, v := range levels {
		off[i], last = v-last, v
	}
	try(formNext, nil)
	if of == nil {
		return best
	}
	x := col{form: form, unit: unit, of: of}
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
	if form == formRest {
		try(form, wire.AppendUvarint(nil, uint64(x.base)))
	} else {
		try(form, wire.AppendVarint(nil, x.base))
	}
	return best
}

// middle is the median.
func middle(list []int64) int64 {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

// entropy is about how many bytes numbers take in a compressed file: those of a coder
// that has to be told which numbers there are.
func entropy(list []int64) float64 {
	count := make(map[int64]int)
	bits := 0.0
	for _, v := range list {
		if count[v]++; count[v] == 1 {
			bits += 4 + math.Log2(1+math.Abs(float64(v)))
		}
	}
	n := float64(len(list))
	for _, k := range slices.Sorted(maps.Values(count)) { // the same sum each time
		bits -= float64(k) * math.Log2(float64(k)/n)
	}
	return bits / 8
}
