package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// loop traces a loop of cheap calls on each rank and returns the most memory that one of
// them took, in bytes.
func (s *shell) loop(ranks, calls int, flags ...string) (most int) {
	s.t.Helper()
	code, stdout, stderr := s.traced(flags, ranks, strconv.Itoa(calls))
	if code != 0 {
		s.t.Fatalf("code %d: %s", code, stderr)
	}
	for line := range strings.Lines(stdout) {
		kb, err := strconv.Atoi(strings.Fields(line)[1])
		if err != nil {
			s.t.Fatalf("%q: %v", line, err)
		}
		most = max(most, kb<<10)
	}
	return most
}

// However many calls there are, times of each of them take a bounded part of memory.
// SPOOR_TEST_CALLS=10000000 SPOOR_TEST_RANKS=64 tries what takes minutes.
func TestMemoryOfTimes(t *testing.T) {
	t.Parallel()
	first(t, "testdata/rankloop.c", func(s *shell) {
		calls, ranks := 1_000_000, 3
		if v, err := strconv.Atoi(os.Getenv("SPOOR_TEST_CALLS")); err == nil {
			calls = v
		}
		if v, err := strconv.Atoi(os.Getenv("SPOOR_TEST_RANKS")); err == nil {
			ranks = v
		}
		s.limit = 2*time.Minute + time.Duration(ranks*calls)*5*time.Microsecond
		scratch := s.scratch() // on disk, where so many times have room
		plain := s.loop(ranks, 10, append(scratch, "-o", "few.spoor")...)
		few := s.loop(ranks, 100_000, append(scratch, "--timing", "lossless", "--waits", "never", "-o", "some.spoor")...)
		many := s.loop(ranks, calls, append(scratch, "--timing", "lossless", "--waits", "never", "-o", "many.spoor")...)
		s.t.Logf("%d ranks: %.1f MB with 10 calls, %.1f MB with 100,000 and their times, %.1f MB with %d", ranks, mb(plain), mb(few), mb(many), calls)
		if many > few+8<<20 || many > plain+40<<20 {
			s.t.Errorf("too much")
		}
		if o := s.info("many.spoor"); o.Calls != int64(ranks*(calls+2)) {
			s.t.Errorf("info %+v", o)
		}
		if ranks == 3 {
			s.spoor("check", "many.spoor")
		}
	})
}

func mb(n int) float64 { return float64(n) / (1 << 20) }

// A rank that doesn't see the folder of the trace, as one on another host may not, sends its times.
func TestFolderNotShared(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/meanwhile.c", func(s *shell) {
		s.mount("out", "size=100m")
		script := fmt.Sprintf("#!/bin/sh\n[ ${PMI_RANK:-$OMPI_COMM_WORLD_RANK} = 2 ] && exec unshare -m sh -c 'mount -t tmpfs none %s/out && exec ./app 100'\nexec ./app 100\n", s.dir)
		if err := os.WriteFile(filepath.Join(s.dir, "somewhere"), []byte(script), 0o755); err != nil {
			s.t.Fatal(err)
		}
		line := append([]string{tool, "run", "--timing", "lossless", "-o", "out/a.spoor"}, s.mpi.Command(4, "./somewhere")...)
		if code, _, stderr := s.run(line...); code != 0 {
			s.t.Fatalf("code %d: %s", code, stderr)
		}
		s.spoor("check", "out/a.spoor")
		if o := s.info("out/a.spoor"); o.Ranks != 4 || o.Ends["finished"] != 4 {
			s.t.Errorf("info %+v", o)
		}
		for rank := range 4 {
			out, _ := s.spoor("dump", "out/a.spoor", "--times", "--rank", strconv.Itoa(rank), "--range", "100:101")
			if strings.Contains(out, "mean") {
				s.t.Errorf("rank %d has no times of its own: %s", rank, out)
			}
		}
	})
}
