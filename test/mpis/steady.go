package mpis

import (
	"fmt"
	"testing"
)

// Steady calls check until that complains of nothing, five times at most, and reports what it complained of at last.
// It is for programs that measure themselves: a process that loses its core between its own look at the clock and the
// recorder's has measured something else. On a busy machine that happens once in some hundred runs, not in each.
func Steady(t testing.TB, check func(complain func(format string, args ...any))) {
	t.Helper()
	var wrong []string
	for try := 0; try == 0 || try < 5 && wrong != nil; try++ {
		wrong = nil
		check(func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) })
	}
	for _, w := range wrong {
		t.Error(w)
	}
}
