package mpis

import (
	"fmt"
	"testing"
)

// Steady calls check until it has no complaint, at most five times, and then reports the last complaints. It is for
// programs that measure themselves: a process that is preempted between its own clock reading and the recorder's
// measures a different time. On a busy machine that happens in one of some hundred runs.
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
