package grammar

import "slices"

// A progression is rounds of the same symbols in a row whose counts go up or down by
// the same step from round to round: what a loop leaves whose inner loops run once
// more, or once less, each time. As all rounds differ, there is no rule for them.
// Terminals may go up or down, too, for a call that waits for one request more each
// time is another each time; but not all of them: that is a row.
//
// Grammars in memory hold the rounds one by one; the binary form holds the first
// and the steps.

const (
	MinProgressionRounds = 4  // of a progression; fewer are as short one by one
	maxWidth             = 16 // symbols of a round
)

// FindProgression returns how many symbols a round has and how many rounds there are of the progression that body begins
// with; 0 and 0 if none.
func FindProgression(body []Symbol) (width, rounds int) {
	for w := 2; w <= maxWidth && w*MinProgressionRounds <= len(body); w++ {
		a, b, c, d := &body[0], &body[w], &body[2*w], &body[3*w]
		if c.TerminalOrRule-b.TerminalOrRule != b.TerminalOrRule-a.TerminalOrRule || !goesOn(*a, *b, *c) || !goesOn(*b, *c, *d) {
			continue // as nearly everywhere
		}
		if slices.Equal(body[:w], body[w:2*w]) || isRow(body[:w], body[w:]) {
			continue // before rounds are counted: a row may be as long as the body, and begins at each of its symbols
		}
		if n := CountEqualRounds(body, w); n >= MinProgressionRounds {
			return w, n
		}
	}
	return 0, 0
}

// goesOn reports whether c comes after b as b after a.
func goesOn(a, b, c Symbol) bool {
	return c.TerminalOrRule-b.TerminalOrRule == b.TerminalOrRule-a.TerminalOrRule && c.Count-b.Count == b.Count-a.Count && (a.TerminalOrRule == b.TerminalOrRule || a.TerminalOrRule >= 0 && b.TerminalOrRule >= 0 && c.TerminalOrRule >= 0)
}

// isRow reports whether no symbol of a round is the same in the next.
func isRow(round, next []Symbol) bool {
	for i, x := range round {
		if x.TerminalOrRule == next[i].TerminalOrRule {
			return false
		}
	}
	return true
}

// CountEqualRounds returns how many rounds of width symbols at the beginning of body continue as its first two do.
func CountEqualRounds(body []Symbol, width int) int {
	n := 2 * width
	for n < len(body) && goesOn(body[n-2*width], body[n-width], body[n]) {
		n++
	}
	return min(n, len(body)) / width
}
