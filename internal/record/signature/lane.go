package signature

// Lanes keep values that differ from call to call: a tag that counts, an offset that
// moves on. Each would make every call a signature of its own. Calls that differ in such
// values only are one terminal instead, and the values go into its lane: those of the first
// call, and a grammar over numbered steps, each of which adds something to all of them.
//
// A LaneTable makes lanes while calls are recorded. In the end a Promotion puts calls from before a lane existed into
// it. LaneColumns are a lane over the ranks of a class, as a file has it. A LaneReader is the lane of a single rank.
// docs/notes/008-lanes.md says why.

import (
	"errors"
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/grammar"
)

// A Lane is how some values of a terminal change from call to call, on one rank. All of the terminal's calls are in
// one stream. The signature has the values of the first call. Each step adds to them, so there is one step less
// than calls.
type Lane struct {
	Terminal     int
	ValueIndices []int            // indices of the signature's values that are in the lane, rising
	Steps        *grammar.Grammar // sequence of step numbers, which are assigned by first occurrence
	StepValues   [][]int64        // by step number: what the step adds to each of Values
}

var (
	errTerminal = errors.New("lane that does not fit its terminal")
	errSteps    = errors.New("steps are not numbered by first occurrence")
)

// CheckLane checks the values and steps of a lane against the number of its terminal's values, and the number of
// different steps.
func CheckLane(values []int, width int, steps *grammar.Grammar, kinds int) error {
	last := -1
	for _, p := range values {
		if p <= last || p >= width {
			return errTerminal
		}
		last = p
	}
	if len(values) == 0 {
		return errTerminal
	}
	if n, ok := grammar.CountTerminals([]*grammar.Grammar{steps}); !ok || n != kinds {
		return errSteps
	}
	return nil
}

// TerminalUsage is how often the streams of a rank have each terminal, and whether several streams have it.
type TerminalUsage struct {
	Calls            []uint64
	InSeveralStreams []bool
}

// TerminalUsageOf counts how often streams have each terminal.
func TerminalUsageOf(streams []*grammar.Grammar, terminals int) (u TerminalUsage, err error) {
	u = TerminalUsage{make([]uint64, terminals), make([]bool, terminals)}
	for _, g := range streams {
		for i, n := range g.TerminalCounts(terminals) {
			u.InSeveralStreams[i] = u.InSeveralStreams[i] || u.Calls[i] > 0 && n > 0
			var carry uint64
			if u.Calls[i], carry = bits.Add64(u.Calls[i], n, 0); carry != 0 {
				return u, errTerminal
			}
		}
	}
	return u, nil
}

// CheckLane returns an error unless there is one step less than calls of the terminal, and only one stream has these
// calls.
func (u *TerminalUsage) CheckLane(terminal int, steps *grammar.Grammar) error {
	if u.InSeveralStreams[terminal] || u.Calls[terminal] == 0 || steps.Len() != u.Calls[terminal]-1 {
		return errTerminal
	}
	return nil
}
