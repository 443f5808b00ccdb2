package when

import (
	"math"

	"github.com/spoor-hpc/spoor/trace"
)

// States of a thread. Time in none of them is in MPI without waiting.
const (
	computing = iota
	waiting
	inFiles
	other // the recorder runs, or tracing is switched off
	ready // able to compute, but without a processor
	states
)

// Largest number of columns of the finest picture, of its parts before and after the loop, and of cells in an
// iteration.
const (
	mostColumns = 256
	mostEdge    = mostColumns / 8
	mostParts   = 8
)

// A grid divides the run into cells in which times are added up. Before and after the loop, cells have equal lengths.
// In the loop, a slot is one or several iterations, of one or several cells each. Without a loop there are only equal
// cells.
type grid struct {
	before, slots, parts, after int
	each                        uint64 // iterations per slot
}

// newGrid divides a run. before, loop and after are the mean times, in ns, of its parts before, in and after the loop.
func newGrid(l *Loop, before, loop, after float64) grid {
	if l == nil {
		return grid{before: mostColumns}
	}
	g := grid{each: (l.Iterations + mostSlots - 1) / mostSlots}
	g.slots = int((l.Iterations + g.each - 1) / g.each)
	part := func(ns float64) int {
		n := int(math.Ceil(mostColumns*ns/max(1, before+loop+after)/4)) * 4 // a multiple of 4, so that pictures with half as many columns are possible
		return min(n, mostEdge)
	}
	g.before, g.after, g.parts = part(before), part(after), 1
	for g.parts < mostParts && 2*g.parts*g.slots <= mostColumns-g.before-g.after {
		g.parts *= 2
	}
	return g
}

func (g *grid) cells() int { return g.before + g.slots*g.parts + g.after }

// columns are the columns of the finest picture. cells has the number of the cell at which each begins, and at last the
// number of all cells.
type columns struct {
	parts int    // columns per iteration
	each  uint64 // iterations per column, if a column covers whole iterations
	cells []int
}

func (g *grid) columns() columns {
	c, at := columns{parts: g.parts, each: g.each}, 0
	add := func(n, cells int) {
		for range n {
			c.cells = append(c.cells, at)
			at += cells
		}
	}
	add(g.before, 1)
	if room := mostColumns - g.before - g.after; g.slots > room {
		slots := (g.slots + room - 1) / room
		c.each *= uint64(slots)
		for i := 0; i < g.slots; i += slots {
			add(1, min(slots, g.slots-i))
		}
	} else {
		add(g.slots*g.parts, 1)
	}
	add(g.after, 1)
	c.cells = append(c.cells, at)
	return c
}

// coarser returns the columns of a picture that has at most `most` columns. begins has the number of the finest column
// at which each begins, and at last the number of all finest columns.
func (g *grid) coarser(c columns, most int) (w trace.When, begins []int) {
	f, n := mostColumns/most, len(c.cells)-1
	w = trace.When{ColumnsBeforeLoop: g.before / f, ColumnsAfterLoop: g.after / f, ColumnsPerIteration: 1}
	inside, room := n-g.before-g.after, most-w.ColumnsBeforeLoop-w.ColumnsAfterLoop
	together := 1
	for together < c.parts && inside > together*room {
		together *= 2
	}
	if inside > together*room {
		iterations := inside / c.parts
		together = c.parts * ((iterations + room - 1) / room)
	}
	if g.slots > 0 {
		w.ColumnsPerIteration, w.IterationsPerColumn = max(1, c.parts/together), c.each*uint64(max(1, together/c.parts))
	}
	for i := 0; i < n; {
		begins = append(begins, i)
		switch {
		case i < g.before || i >= n-g.after:
			i += f
		default:
			i = min(i+together, n-g.after)
		}
	}
	return w, append(begins, n)
}

// sums adds up cells by column.
func (c *columns) sums(cells []int64) []int64 {
	out := make([]int64, len(c.cells)-1)
	for i := range out {
		for _, v := range cells[c.cells[i]:c.cells[i+1]] {
			out[i] += v
		}
	}
	return out
}

// edges returns the times, in ns, at which a rank's cells begin, and at last the end of the run. start is the beginning
// of the run; slots are the beginnings of the slots, and the end of the last one.
func (g *grid) edges(start int64, slots []int64, end int64) []int64 {
	out := make([]int64, 0, g.cells()+1)
	divide := func(from, to int64, n int) {
		for i := range n {
			out = append(out, from+int64(float64(to-from)*float64(i)/float64(n)))
		}
	}
	if g.slots == 0 {
		divide(start, end, g.before)
		return append(out, end)
	}
	divide(start, slots[0], g.before)
	for i := range g.slots {
		divide(slots[i], slots[i+1], g.parts)
	}
	divide(slots[g.slots], end, g.after)
	return append(out, end)
}

// A canvas is the times of one rank, in ns, by state and cell of the grid.
type canvas struct {
	grid
	at     []int64 // times at which the cells begin, and the end of the last cell
	states [states][]int64
	cell   int // cell of the latest call
}

func newCanvas(g grid, at []int64) *canvas {
	c := &canvas{grid: g, at: at}
	for i := range c.states {
		c.states[i] = make([]int64, g.cells())
	}
	return c
}

// find returns the number of the cell that a time falls into. The search starts at the latest call's cell.
func (c *canvas) find(ns int64) int {
	i := c.cell
	if ns < c.at[i] { // earlier than the latest call: waits become known later, and calls within calls began before
		low, high := 0, i
		for low < high {
			if m := (low + high + 1) / 2; c.at[m] <= ns {
				low = m
			} else {
				high = m - 1
			}
		}
		return low
	}
	for last := len(c.at) - 2; i < last && c.at[i+1] <= ns; {
		i++
	}
	return i
}

// paint adds a time in a state to the cells that it covers. Time before the first cell or after the last goes to that
// cell.
func (c *canvas) paint(state int, from, to int64) {
	if from >= to {
		return
	}
	list := c.states[state]
	last := len(list) - 1
	for i := c.find(from); ; i++ {
		end := to
		if i < last {
			end = min(to, c.at[i+1])
		}
		list[i] += end - from
		if from = end; from == to {
			return
		}
	}
}

// goes states that all later calls begin at or after a time.
func (c *canvas) goes(ns int64) { c.cell = max(c.cell, c.find(ns)) }

// slot returns the slot of a time, -1 outside of the loop.
func (c *canvas) slot(ns int64) int {
	i := c.find(ns) - c.before
	if i < 0 || i >= c.slots*c.parts {
		return -1
	}
	return i / c.parts
}

// series returns, for each slot, the sum of its cells.
func (c *canvas) series(cells []int64) []int64 {
	out := make([]int64, c.slots)
	for i := range out {
		for _, v := range cells[c.before+i*c.parts:][:c.parts] {
			out[i] += v
		}
	}
	return out
}
