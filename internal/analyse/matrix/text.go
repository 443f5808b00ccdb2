package matrix

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spoor-hpc/spoor/internal/show"
)

// A Measure says which number of a cell is shown: bytes or messages.
type Measure uint8

// The values of Measure.
const (
	MeasureBytes Measure = iota
	MeasureMessages
)

func (u Measure) String() string {
	if u == MeasureMessages {
		return "messages"
	}
	return "bytes"
}

// Value returns the number of a cell that the measure selects.
func (u Measure) Value(c Cell) uint64 {
	if u == MeasureMessages {
		return c.Messages
	}
	return c.Bytes
}

// Text formats a number with three digits and a unit: 1.23 MB for bytes, 1.23 M for messages.
func (u Measure) Text(n uint64) string {
	units := []string{"", "k", "M", "G", "T", "P", "E"}
	if u == MeasureBytes {
		units = []string{"B", "KB", "MB", "GB", "TB", "PB", "EB"}
	}
	v := float64(n)
	i := 0
	for ; v >= 999.5 && i < len(units)-1; i++ {
		v /= 1000
	}
	if i == 0 {
		return strings.TrimSpace(fmt.Sprintf("%d %s", n, units[0]))
	}
	return fmt.Sprintf("%.3g %s", v, units[i])
}

// label names the ranks that share row or column i: 4, or 4-7.
func (m *Matrix) label(i int) string {
	first, end := m.RankRange(i)
	if end == first+1 {
		return strconv.Itoa(first)
	}
	return fmt.Sprintf("%d-%d", first, end-1)
}

// FitTextWidth returns the matrix with so large a RanksPerRow that its text is at most width characters wide, or that two
// rows are left.
func (m *Matrix) FitTextWidth(u Measure, width int) *Matrix {
	for m.RowCount() > 2 {
		var b strings.Builder
		m.WriteText(&b, u)
		first, _, _ := strings.Cut(b.String(), "\n")
		if utf8.RuneCountInString(strings.TrimRight(first, " ")) <= width {
			break
		}
		m = m.WithRanksPerRow(2 * m.RanksPerRow)
	}
	return m
}

// across names the ranks of column i in a short form: 4, or 4… for several.
func (m *Matrix) across(i int) string {
	first, end := m.RankRange(i)
	if end > first+1 {
		return strconv.Itoa(first) + "…"
	}
	return strconv.Itoa(first)
}

// WriteText writes the matrix as a text table: senders down, receivers across, and sums in the last row and
// column.
func (m *Matrix) WriteText(w io.Writer, u Measure) {
	type line struct {
		label string
		cells []uint64
		sum   uint64
	}
	sums := line{"sum", make([]uint64, m.RowCount()), 0}
	var lines []line
	for i, row := range m.Dense() {
		x := line{label: m.label(i)}
		for to, c := range row {
			v := u.Value(c)
			x.cells = append(x.cells, v)
			x.sum += v
			sums.cells[to] += v
		}
		sums.sum += x.sum
		lines = append(lines, x)
	}
	show.WriteText(w, append(lines, sums), 0, func(c *show.Row, x line) {
		c.Value("from\\to", x.label)
		for i, v := range x.cells {
			c.Value(m.across(i), u.cell(v))
		}
		c.Value("sum", u.cell(x.sum))
	})
}

func (u Measure) cell(v uint64) string {
	if v == 0 {
		return "·"
	}
	return u.Text(v)
}

// WriteCSV writes a CSV row for each cell that isn't zero.
func (m *Matrix) WriteCSV(w io.Writer) {
	type pair struct {
		from, to int
		Cell
	}
	show.WriteCSV(w, func(add func(pair)) {
		for i, row := range m.Rows() {
			for _, e := range row {
				add(pair{i, e.Column, e.Cell})
			}
		}
	}, func(c *show.Row, p pair) {
		ranks := func(name string, i int) {
			if first, end := m.RankRange(i); m.RanksPerRow > 1 {
				c.Value(name+"_first", first).Value(name+"_last", end-1)
			} else {
				c.Value(name, first)
			}
		}
		ranks("from", p.from)
		ranks("to", p.to)
		c.Value("messages", p.Messages).Value("bytes", p.Bytes)
	})
}

// A scale maps numbers to shades by their logarithm: least, the least number above zero, to 0, and most to 1.
type scale struct{ least, most uint64 }

// NonzeroMinMax returns the least number above zero, and the largest number, that measure u has in any cell.
func (m *Matrix) NonzeroMinMax(u Measure) (least, most uint64) {
	for _, row := range m.Rows() {
		for _, e := range row {
			v := u.Value(e.Cell)
			if v > 0 && (least == 0 || v < least) {
				least = v
			}
			most = max(most, v)
		}
	}
	return least, most
}

func (s scale) of(v uint64) float64 {
	if s.most <= s.least {
		return 1
	}
	lo, hi := math.Log(float64(s.least)), math.Log(float64(s.most))
	return max(0, min(1, (math.Log(float64(v))-lo)/(hi-lo)))
}

// ticks returns up to three numbers at which the colour scale has labels.
func (s scale) ticks() []uint64 {
	switch {
	case s.most == 0:
		return nil
	case s.most == s.least:
		return []uint64{s.most}
	}
	middle := uint64(math.Round(math.Sqrt(float64(s.least) * float64(s.most))))
	if middle <= s.least || middle >= s.most {
		return []uint64{s.least, s.most}
	}
	return []uint64{s.least, middle, s.most}
}
