package sections

import (
	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Content is a whole trace in memory, in the form that the merge of ranks
// makes and WriteFile puts into a file.
type Content struct {
	Meta              map[string]string
	Ranks             int              // of the world, those without a track included
	Schema            []model.Function // of every function that occurs; nil: take package mpi's
	Strings           map[uint64]string
	Sites             map[uint64]model.Site // by hash; Outer is not looked at
	CallerSites       map[uint64]uint64     // hash of a site → hash of the one its function was called from
	Classes           []Class
	Processes         Processes
	MergeNs           int64                     // see Reader.MergeNs
	Series            *Series                   // nil: no times of single calls
	Clocks            *Clocks                   // nil: one clock, or not compared
	Allocs            []AllocEvents             // sets of ranks; those without segments are in none
	Handovers         []AllocEvents             // the same, see track.PackHandover
	MergedSizes       []model.MergedSizes       // values that were merged to make the trace smaller
	SyntheticLoops    *grammar.SyntheticCounts  // loops whose numbers of rounds are drawn; nil: none
	SyntheticMessages []model.SyntheticMessages // messages whose partners, sizes and tags are drawn
	NoTimes           bool                      // nothing was kept of times: what Content says of them is not written
}

// A Class is a set of ranks that did the same calls in the same order, up to
// the values of parameters and to how often loops ran.
type Class struct {
	Ranks   column.Column // world ranks, ascending
	Streams []*grammar.Grammar

	// Counts is how often each rank repeats the symbols of Streams that have a
	// count above 1, in order of streams, rules and symbols. Nil: all ranks do
	// as Streams says.
	Counts    []column.Column
	Terminals Terminals
	// Lanes, if any, are in rising order of Terminal. LaneCounts has the repetition counts of their Steps, as Counts
	// has those of Streams.
	Lanes          []signature.LaneColumns
	LaneStepCounts []column.Column
	// Histograms, if any, are in rising order of Terminal and From.
	Histograms []Histogram
	// RankTotals is what each of several ranks spent; of one rank its Times say it.
	RankTotals timing.TotalColumns
	// RankAttachedTotals is the sums of what was attached on each of several ranks, by name: what
	// is below zero in place of gaps, what is above in place of durations.
	RankAttachedTotals map[string]timing.TotalColumns
	// LeafTimes, if any, is in rising order of Leaf.
	LeafTimes []LeafTimes
	// FirstTimes, if any, is in rising order of Leaf.
	FirstTimes []FirstTimes
	// SharedTimes lists, in rising order, the terminals without times of single leaves in the first stream.
	SharedTimes []int
	// Values is what was attached to calls, by name, parallel to Terminals; see
	// Reader.AttachedStats.
	Values map[string][]model.ValueStat
	// LeafValues, by name, are in rising order of Leaf.
	LeafValues map[string][]LeafValue
}

// A Terminal is one distinct call of a class: two calls are one terminal if they
// are equal on all of its ranks. Terminals are numbered by first
// occurrence over the streams in order.
type Terminal struct {
	Call   uint16
	Site   uint64
	Values []column.Column // per value of the signature: one for each rank
	Times  model.Times
}

// Terminals are those of a class. There may be millions, so they need not be in memory
// all at once: List is where they are.
type Terminals interface {
	Len() int
	// Describe fills in terminal n but for its times. Its Vals are room to be used again, and hold until the next At.
	Describe(n int, t *Terminal)
	// Times returns those of terminal n.
	Times(n int) model.Times
}

// A TerminalList is Terminals in memory.
type TerminalList []Terminal

// Len, At and Times are what Terminals asks for.
func (l TerminalList) Len() int { return len(l) }

// Describe is described with Terminals.
func (l TerminalList) Describe(n int, t *Terminal) {
	*t = Terminal{Call: l[n].Call, Site: l[n].Site, Values: append(t.Values[:0], l[n].Values...)}
}

// Times is described with Terminals.
func (l TerminalList) Times(n int) model.Times { return l[n].Times }

// What a file can hold besides model.MaxRanks. Writer and reader both look here: the one refuses, or chooses
// another coding, where the other would refuse. All else is bounded by the bytes that are
// really there.
const (
	// maxSignatures bounds the numbers of signatures.
	maxSignatures = 1 << 31
	// maxStacked bounds the distinct calls of a trace with stacks.
	maxStacked = 1<<31 - 2

	// A call may have MaxValues values, and valuesPerByte more for each byte of the table
	// of signatures: one that has more is coded value by value. A reader of the call
	// takes memory for all of them.
	MaxValues     = 1 << 22
	valuesPerByte = 1 << 12
)
