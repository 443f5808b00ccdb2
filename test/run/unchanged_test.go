package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The recorder leaves limits, signals and what else a process has as they are, whatever
// the runtime that it brings along does to them.
func TestProcessUnchanged(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/unchanged.c", func(s *shell) {
		_, alone, _ := s.plain(1)
		code, stdout, stderr := s.traced(nil, 1)
		if code != 0 || alone == "" {
			s.t.Errorf("code %d, %s", code, stderr)
		}
		if diff := cmp.Diff(alone, stdout); diff != "" {
			s.t.Errorf("without spoor and with it:\n%s", diff)
		}
	})
}
