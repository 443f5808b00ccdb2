package sections

import (
	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A Content is a whole trace in memory, as the merge of ranks makes it and WriteFile writes it.
type Content struct {
	Meta        map[string]string
	Ranks       int              // number of ranks of the world, including those without a track
	Schema      []model.Function // the functions that occur; nil: take package mpi's
	Strings     map[uint64]string
	Sites       map[uint64]model.Site // by hash; Caller is ignored
	CallerSites map[uint64]uint64     // hash of a site → hash of the one its function was called from
	Classes     []Class
	Processes   Processes
	MergeNs     int64         // see trace.Reader.MergeNs
	Series      *Series       // nil: no times of single calls
	Clocks      *Clocks       // nil: one clock, or clocks were not compared
	Allocs      []AllocEvents // each of a set of ranks; ranks that use no segments are in no set
	// objects that threads hand to others, in the same form as Allocs; see track.PackHandover
	Handovers         []AllocEvents
	MergedSizes       []model.MergedSizes          // sizes that were merged to make the trace smaller
	SyntheticLoops    *grammar.SyntheticTripCounts // loops with synthetic trip counts; nil: none
	SyntheticMessages []model.SyntheticMessages    // messages with synthetic partners, sizes and tags
	NoTimes           bool                         // no times were recorded: those in Content are not written
}

// A Class is a set of ranks that did the same calls in the same order, up to
// the values of parameters and to how often loops ran.
type Class struct {
	Ranks   column.Column // world ranks, ascending
	Streams []*grammar.Grammar

	// RepetitionCounts is how often each rank repeats the symbols of Streams that have a count above 1, in order of streams,
	// rules and symbols. Nil: all ranks have the counts in Streams.
	RepetitionCounts []column.Column
	Terminals        Terminals
	// Lanes, if any, are in rising order of Terminal. LaneRepetitionCounts has the repetition counts of their Steps, as
	// Counts has those of Streams.
	Lanes                []signature.LaneColumns
	LaneRepetitionCounts []column.Column
	// Histograms, if any, are in rising order of Terminal and PreviousPlace.
	Histograms []Histogram
	// RankTotals is the times of each rank if the class has several. The times of a single rank are in Terminals.
	RankTotals timing.TotalColumns
	// RankAttachedTotals is the sums of the values attached on each of several ranks, by name. Negative values are
	// summed up in place of gaps, without the sign, positive ones in place of durations.
	RankAttachedTotals map[string]timing.TotalColumns
	// LeafMeanTimes, if any, is in rising order of Leaf.
	LeafMeanTimes []LeafMeanTimes
	// FirstCallMeanTimes, if any, is in rising order of Leaf.
	FirstCallMeanTimes []FirstCallMeanTimes
	// TerminalsWithoutLeafTimes lists, in rising order, the terminals whose times at single leaves of the first stream are not known.
	TerminalsWithoutLeafTimes []int
	// AttachedStats is the values attached to calls, by name, parallel to Terminals; see trace.Reader.AttachedStats.
	AttachedStats map[string][]model.AttachedStat
	// LeafAttachedSums, by name, are in rising order of Leaf.
	LeafAttachedSums map[string][]LeafAttachedSum
}

// A Terminal is one distinct call of a class: two calls are one terminal if they
// are equal on all of its ranks. Terminals are numbered by first
// occurrence over the streams in order.
type Terminal struct {
	FunctionID uint16
	Site       uint64
	Values     []column.Column // by value of the signature: the value on each rank
	Times      model.Times
}

// Terminals are the terminals of a class. There may be millions, so they need not all be in memory; TerminalList is
// the implementation that is.
type Terminals interface {
	Len() int
	// Describe sets t to terminal n without its times. It reuses t.Values, which are valid until the next call.
	Describe(n int, t *Terminal)
	// Times returns the times of terminal n.
	Times(n int) model.Times
}

// A TerminalList is Terminals in memory.
type TerminalList []Terminal

// Len returns the number of terminals.
func (l TerminalList) Len() int { return len(l) }

// Describe implements Terminals.
func (l TerminalList) Describe(n int, t *Terminal) {
	*t = Terminal{FunctionID: l[n].FunctionID, Site: l[n].Site, Values: append(t.Values[:0], l[n].Values...)}
}

// Times implements Terminals.
func (l TerminalList) Times(n int) model.Times { return l[n].Times }

// Limits of a file besides model.MaxRanks, for writers and readers: a writer refuses what a reader would, or
// chooses another coding. Everything else is limited by the bytes in the file.
const (
	// maxSignatures bounds the number of signatures.
	maxSignatures = 1 << 31
	// maxStacked bounds the distinct calls of a trace with stacks.
	maxStacked = 1<<31 - 2

	// A call may have MaxCallValues values, and valuesPerByte more for each byte of the table
	// of signatures: one that has more is coded value by value. A reader of the call
	// takes memory for all of them.
	MaxCallValues = 1 << 22
	valuesPerByte = 1 << 12
)
