package grammar

import "slices"

// A progression is rounds of the same symbols in a row whose counts go up or down by
// the same step from round to round: what a loop leaves whose inner loops run once
// more, or once less, each time. As all rounds differ, there is no rule for them.
//
// Grammars in memory hold the rounds one by one; the binary form holds the first
// and the steps.

const (
	minRounds = 4  // fewer are as short one by one
	maxWidth  = 16 // symbols of a round
)

// Progression returns how many symbols a round has and how many rounds there are of
// the progression that body begins with; 0 of both if there is none.
func Progression(body []Symbol) (width, rounds int) {
	for w := 2; w <= maxWidth && w*minRounds <= len(body); w++ {
		if n := Rounds(body, w); n >= minRounds && !slices.Equal(body[:w], body[w:2*w]) {
			return w, n
		}
	}
	return 0, 0
}

// Rounds returns how many rounds of so many symbols the progression has that body begins with.
func Rounds(body []Symbol, width int) int {
	n := width
	for ; n < len(body); n++ {
		x, before := body[n], body[n-width]
		if x.ID != before.ID || n >= 2*width && x.Count-before.Count != before.Count-body[n-2*width].Count {
			break
		}
	}
	return n / width
}
