package model

import (
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/clock"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
)

// A ValueStat is a summary of the numbers that a plugin or a counter attached to
// calls under one name.
type ValueStat = timing.Signed

// A Clock says how a clock that ranks read relates to that of rank 0.
type Clock = clock.Line

// Times summarises the calls of one terminal over all ranks of its class.
type Times struct {
	Duration, Gap Stat

	// What each rank of the class has of the sums, for all calls of the function
	// from the same place together: the first of their terminals has them, those of
	// the others are of no ranks.
	DurationTotals, GapTotals Spread
}

// A Stat is a summary of samples in nanoseconds.
type Stat = timing.Stat

// A Spread tells how unequally ranks have their part in a sum.
type Spread = timing.Spread

// A Histogram is the times of the calls of some terminals of a class, of all its
// ranks, in nanoseconds: those of one terminal, or of all with its function and site
// that have no histogram of their own.
type Histogram struct {
	Terminal int
	// From tells from where calls came: the place of the call before, FromStart or
	// FromAnywhere. Places are pairs of function and site, numbered from 0 in the
	// order in which the class's terminals first have them; see Reader.Places.
	From          int
	Duration, Gap *Hist
}

// A Hist is a histogram whose bins follow the data.
type Hist = hist.Hist

// What a Histogram's From can be besides a place.
const (
	FromAnywhere = -2 // not told apart
	FromStart    = -1 // the first call of a thread
)
