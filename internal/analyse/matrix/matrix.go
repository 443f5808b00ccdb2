// Package matrix counts who sends how much to whom: messages and bytes between
// the ranks of the world, whatever communicator they were sent on. It works on
// the compressed form of a trace: what a call sends is found once per distinct
// call and rank, and multiplied by how often the rank made it.
//
// A message counts at its sender. Receives add no information, and a rank without a track is missing only as a
// sender.
//
// Invariants:
//
//  1. Compute MUST give what Expand gives, which looks at every call of every
//     rank; tests compare the two for every program there is.
//  2. Memory MUST follow the pairs that talk to each other, not ranks squared;
//     collectives in which all talk to all are kept as one number per member.
//
// The package does not say when a message was sent, nor how an MPI library
// carries out a collective: that is the library's choice and not in a trace.
package matrix

import (
	"iter"
	"maps"
	"slices"
)

// A Cell is the number of messages, and of bytes in them, that one rank or row of ranks sent to another.
type Cell struct {
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
}

func (c *Cell) add(d Cell) {
	c.Messages += d.Messages
	c.Bytes += d.Bytes
}

func (c Cell) times(n uint64) Cell { return Cell{c.Messages * n, c.Bytes * n} }

func (c Cell) zero() bool { return c == Cell{} }

// A RowEntry is a cell of a row, with its column: the receivers.
type RowEntry struct {
	Column int
	Cell
}

// Options say which kinds of traffic are counted.
type Options struct {
	PointToPoint bool
	Collectives  bool
	RMA          bool
	RanksPerRow  int                   // how many ranks share a row and a column; 0 is 1
	Progress     func(done, ranks int) // called after each rank, by several goroutines; may be nil
}

// A Matrix is the messages that each rank of a run sent to each other rank. Rows are senders, columns are receivers.
type Matrix struct {
	Ranks       int // number of ranks of MPI_COMM_WORLD
	RanksPerRow int // number of consecutive ranks that share a row, and a column

	Total               Cell   // sum of all cells
	ToElsewhere         Cell   // messages to ranks that are not in this world, or not known; in no cell
	UnsizedMessages     uint64 // number of messages whose size isn't known, which count with 0 bytes
	UnknownPartnerCalls uint64 // number of calls that are left out, as their partners aren't known

	SizeHistogram [NumSizeBins]Cell // histogram of message sizes; see SizeBinRange

	rows [][]RowEntry // by row: cells that aren't zero, in the order of columns, without those of fans
	fans []*fan       // traffic from all members of communicators to all others
}

// NumSizeBins is the number of bins of the histogram of message sizes.
const NumSizeBins = 65

// SizeBinRange returns the least and the largest message size, in bytes, of bin i of Matrix.SizeHistogram.
func SizeBinRange(i int) (least, most uint64) {
	if i == 0 {
		return 0, 0
	}
	return 1 << (i - 1), 1<<i - 1
}

// RowCount returns the number of rows and columns.
func (m *Matrix) RowCount() int { return (m.Ranks + m.RanksPerRow - 1) / m.RanksPerRow }

// RankRange returns the ranks that share row or column i: from first up to, but without, end.
func (m *Matrix) RankRange(i int) (first, end int) {
	return i * m.RanksPerRow, min((i+1)*m.RanksPerRow, m.Ranks)
}

// A fan is traffic from each member of a communicator to each other member, e.g. of MPI_Alltoall. It takes memory for
// each member, not for each pair. Member i of from sends out[i] + in[j] to member j of to.
type fan struct {
	from, to []int  // world ranks of the senders and receivers; -1: not known
	same     bool   // from and to are one group, not the two sides of an intercommunicator
	out, in  []Cell // by rank in from and to; nil: all are zero
}

// Row returns the cells of a row that aren't zero, in the order of columns.
func (m *Matrix) Row(i int) []RowEntry {
	if len(m.fans) == 0 {
		return m.rows[i]
	}
	first, end := m.RankRange(i)
	sum := make(map[int]Cell)
	for _, e := range m.rows[i] {
		sum[e.Column] = e.Cell
	}
	for _, f := range m.fans {
		f.row(m, first, end, sum)
	}
	return entries(sum)
}

// row adds to sum, by column, what the ranks from first up to, but without, end send through the fan.
func (f *fan) row(m *Matrix, first, end int, sum map[int]Cell) {
	var out Cell // sum of out over the senders among these ranks
	senders := 0
	self := make(map[int]Cell) // by rank: out[i] + in[i], which no message has; it is subtracted
	for i, world := range f.from {
		if world < first || world >= end {
			continue
		}
		senders++
		var c Cell
		if f.out != nil {
			c = f.out[i]
			out.add(c)
		}
		if f.same {
			if f.in != nil {
				c.add(f.in[i])
			}
			self[world] = c
		}
	}
	if senders == 0 || out.zero() && f.in == nil {
		return
	}
	for j, world := range f.to {
		if world < 0 {
			continue
		}
		c := out
		if f.in != nil {
			c.add(f.in[j].times(uint64(senders)))
		}
		s := self[world]
		c.Messages -= s.Messages
		c.Bytes -= s.Bytes
		if c.zero() {
			continue
		}
		to := sum[world/m.RanksPerRow]
		to.add(c)
		sum[world/m.RanksPerRow] = to
	}
}

// total returns the sums of the fan's traffic: to known ranks (all), and to unknown ones (elsewhere).
func (f *fan) total() (all, elsewhere Cell) {
	known := 0
	for _, world := range f.to {
		if world >= 0 {
			known++
		}
	}
	unknown := len(f.to) - known
	var in Cell
	for j, world := range f.to {
		if f.in != nil && world >= 0 {
			in.add(f.in[j])
		}
	}
	for i, world := range f.from {
		if world < 0 {
			continue
		}
		var out Cell
		if f.out != nil {
			out = f.out[i]
		}
		others := uint64(known)
		sum := in
		if f.same {
			others--
			if f.in != nil {
				sum.Messages -= f.in[i].Messages
				sum.Bytes -= f.in[i].Bytes
			}
		}
		sum.add(out.times(others))
		all.add(sum)
		elsewhere.add(out.times(uint64(unknown)))
	}
	return all, elsewhere
}

// Rows yields the number and the cells of each row in which not all cells are zero.
func (m *Matrix) Rows() iter.Seq2[int, []RowEntry] {
	return func(yield func(int, []RowEntry) bool) {
		for i := range m.RowCount() {
			if row := m.Row(i); len(row) > 0 && !yield(i, row) {
				return
			}
		}
	}
}

func entries(sum map[int]Cell) []RowEntry {
	list := make([]RowEntry, 0, len(sum))
	for _, to := range slices.Sorted(maps.Keys(sum)) {
		if c := sum[to]; !c.zero() {
			list = append(list, RowEntry{to, c})
		}
	}
	return list
}

// Dense returns the matrix as rows of all cells, zero ones included.
func (m *Matrix) Dense() [][]Cell {
	n := m.RowCount()
	all := make([]Cell, n*n)
	rows := make([][]Cell, n)
	for i := range rows {
		rows[i] = all[i*n : (i+1)*n]
		for _, e := range m.Row(i) {
			rows[i][e.Column] = e.Cell
		}
	}
	return rows
}

// WithRanksPerRow returns a matrix of the same traffic in which bin ranks share a row and a column. bin must be a
// multiple of m.RanksPerRow.
func (m *Matrix) WithRanksPerRow(bin int) *Matrix {
	n := *m
	n.RanksPerRow = bin
	each := bin / m.RanksPerRow
	n.rows = make([][]RowEntry, n.RowCount())
	for i := range n.rows {
		sum := make(map[int]Cell)
		for k := i * each; k < min((i+1)*each, len(m.rows)); k++ {
			for _, e := range m.rows[k] {
				c := sum[e.Column/each]
				c.add(e.Cell)
				sum[e.Column/each] = c
			}
		}
		n.rows[i] = entries(sum)
	}
	return &n
}
