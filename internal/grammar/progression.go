package grammar

import "slices"

// A progression is consecutive rounds of the same symbols whose counts change by the same steps from round to
// round. It is the result of a loop whose inner loops run once more, or once less, each time. As all rounds differ,
// no rule covers them. Terminals may change, too: a call that waits for one request more each time is a new
// terminal each time. But not all symbols may be terminals that change: that is a row.
//
// Grammars in memory contain all rounds; the binary form has the first one and the steps.

const (
	MinProgressionRounds = 4  // least number of rounds of a progression: fewer are as short without being one
	maxWidth             = 16 // largest number of symbols in a round
)

// FindProgression returns the progression that body begins with: how many symbols a round has, and how many rounds
// there are; 0 and 0 if there is no progression.
func FindProgression(body []Symbol) (width, rounds int) {
	for w := 2; w <= maxWidth && w*MinProgressionRounds <= len(body); w++ {
		a, b, c, d := &body[0], &body[w], &body[2*w], &body[3*w]
		if c.TerminalOrRule-b.TerminalOrRule != b.TerminalOrRule-a.TerminalOrRule || !goesOn(*a, *b, *c) || !goesOn(*b, *c, *d) {
			continue // tested first, as few bodies begin with a progression
		}
		if slices.Equal(body[:w], body[w:2*w]) || isRow(body[:w], body[w:]) {
			// Tested before rounds are counted: else a row as long as the body would be counted from each of its
			// symbols.
			continue
		}
		if n := CountProgressionRounds(body, w); n >= MinProgressionRounds {
			return w, n
		}
	}
	return 0, 0
}

// goesOn reports whether c follows b with the same steps as b follows a.
func goesOn(a, b, c Symbol) bool {
	return c.TerminalOrRule-b.TerminalOrRule == b.TerminalOrRule-a.TerminalOrRule && c.Count-b.Count == b.Count-a.Count && (a.TerminalOrRule == b.TerminalOrRule || a.TerminalOrRule >= 0 && b.TerminalOrRule >= 0 && c.TerminalOrRule >= 0)
}

// isRow reports whether each symbol of a round has another terminal or rule than the symbol at its position in next.
func isRow(round, next []Symbol) bool {
	for i, x := range round {
		if x.TerminalOrRule == next[i].TerminalOrRule {
			return false
		}
	}
	return true
}

// CountProgressionRounds returns how many rounds of width symbols at the beginning of body continue as the first two do.
func CountProgressionRounds(body []Symbol, width int) int {
	n := 2 * width
	for n < len(body) && goesOn(body[n-2*width], body[n-width], body[n]) {
		n++
	}
	return min(n, len(body)) / width
}
