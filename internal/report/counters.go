package report

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// An AttachedCounter is the sums of the values attached under a name, by row of the timeline and by tile, which is an
// equal part of the time.
type AttachedCounter struct {
	Name   string  `json:"name"`
	MinSum float64 `json:"least"` // least sum in a tile of a row, but at most 0
	MaxSum float64 `json:"most"`
	Tiles  int     `json:"tiles"`
	// A byte for each row and tile: 0 without values, else 1 + 250 × (sum − MinSum) ÷ (MaxSum − MinSum); packed.
	PackedSums string `json:"sums"`
}

// Largest number of counters, and of tiles of one counter.
const (
	maxCounters     = 8
	maxCounterTiles = 1 << 16 // over all rows
)

// counters sums the values attached to calls, for each of the first maxCounters names.
func (t *Timeline) counters(r *trace.Reader, rows [][]thread) ([]AttachedCounter, error) {
	names, err := r.AttachedNames()
	if err != nil || len(names) == 0 || t.folded {
		return nil, err
	}
	slices.SortFunc(names, cmp.Compare)
	names = names[:min(len(names), maxCounters)]
	tiles := max(16, min(t.Tiles, maxCounterTiles/len(rows)))
	width := float64(t.EndNs-t.StartNs) / float64(tiles)
	sums, any := make([][]float64, len(names)), make([][]bool, len(names))
	for i := range names {
		sums[i], any[i] = make([]float64, len(rows)*tiles), make([]bool, len(rows)*tiles)
	}
	for row, list := range rows {
		for _, x := range list {
			k, err := r.Rank(x.rank)
			if err != nil {
				return nil, err
			}
			line, err := k.AttachedValueCursor(x.stream)
			if err != nil {
				return nil, err
			}
			for c, err := range k.TimedTerminals(x.stream) {
				if err != nil {
					return nil, err
				}
				values, err := line.At(c.Index)
				if err != nil {
					return nil, err
				}
				at := row*tiles + max(0, min(tiles-1, int(float64(c.EndNs()-t.StartNs)/width)))
				for _, v := range values {
					if i, ok := slices.BinarySearch(names, v.Name); ok {
						sums[i][at] += v.Sum
						any[i][at] = true
					}
				}
			}
		}
	}
	list := []AttachedCounter{}
	for i, name := range names {
		c := AttachedCounter{Name: name, Tiles: tiles}
		first := true
		for at, is := range any[i] {
			if v := sums[i][at]; is {
				if first {
					c.MinSum, c.MaxSum, first = v, v, false
				}
				c.MinSum, c.MaxSum = min(c.MinSum, v), max(c.MaxSum, v)
			}
		}
		c.MinSum = min(c.MinSum, 0)
		b := make([]byte, len(sums[i]))
		for at, is := range any[i] {
			if is {
				b[at] = 1
				if c.MaxSum > c.MinSum {
					b[at] += byte(parts * (sums[i][at] - c.MinSum) / (c.MaxSum - c.MinSum))
				}
			}
		}
		c.PackedSums = packed(b)
		list = append(list, c)
	}
	return list, nil
}
