package run

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// A trace of a program that makes a new datatype all the time can be read.
// SPOOR_TEST_DATATYPES=1000000 is what takes longer.
func TestManyDatatypes(t *testing.T) {
	t.Parallel()
	first(t, "testdata/datatypes.c", func(s *shell) {
		n := cmp.Or(os.Getenv("SPOOR_TEST_DATATYPES"), "100000")
		calls, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		s.limit = 2*time.Minute + time.Duration(calls)*time.Millisecond
		calls = 3*calls + 2
		if code, _, stderr := s.traced(s.scratch(), 1, n); code != 0 {
			s.t.Fatalf("code %d: %s", code, stderr)
		}
		s.spoor("check", "app.spoor")
		if o := s.info("app.spoor"); o.Calls != calls {
			s.t.Errorf("info %+v", o)
		}
		out, _ := s.spoor("dump", "app.spoor", "--rank", "0", "--range", fmt.Sprintf("%d:", calls-4))
		s.wants(out, fmt.Sprintf("stride=%d", calls/3+1))
		s.scratchIsEmpty()
	})
}
