package run

import (
	"strings"
	"testing"
	"time"
)

// A rank that dies or stands still while the ranks find out who waited for whom leaves a whole trace behind, and the others wait no longer
// for it than they are told to.
func TestDeadWaits(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/deadwaits.c", func(s *shell) {
		flags := []string{"-o", "dead.spoor", "-f", "--waits", "always"}
		s.env = append(s.env, "SPOOR_PATIENCE=2")
		code, _, stderr := s.traced(flags, 2, "kill", "dead.spoor")
		if code == 0 {
			s.t.Errorf("killed: code 0: %s", stderr)
		}
		out, _ := s.spoor("check", "dead.spoor")
		s.wants(out, "2 ranks, 240,0")
		// Of ranks that died before the end, recover finds out what was waited until then.
		s.traced([]string{"-o", "early.spoor", "-f"}, 2, "kill", "app")
		s.spoor("recover", "-o", "recovered.spoor", "early.spoor.partial")
		out, _ = s.spoor("waits", "recovered.spoor")
		s.wants(out, "2 ranks: ", "times: within 1 %")
		began := time.Now()
		code, _, stderr = s.traced([]string{"-o", "stopped.spoor", "-f", "--waits", "always"}, 2, "stop", "stopped.spoor")
		if code != 0 || !strings.Contains(stderr, "no wait states") {
			s.t.Errorf("stopped: code %d after %v: %s", code, time.Since(began), stderr)
		}
		out, _ = s.spoor("check", "stopped.spoor")
		s.wants(out, "2 ranks, 240,0")
	})
}
