package run

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// said is what spoor info says was merged and drawn.
func (s *shell) thinned(trace string) map[string]any {
	s.t.Helper()
	out, _ := s.spoor("info", "--json", trace)
	var all map[string]any
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		s.t.Fatal(err)
	}
	return map[string]any{"merged": all["merged"], "drawn": all["drawn"]}
}

// A run with --model loops leaves what a run and `spoor reduce` do, in one file, and says so; before the launcher and behind it.
func TestModelLoops(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		app   string
		ranks int
		args  []string
		flags []string
		said  string
	}{
		{"sort", 4, []string{"-i", "3"}, []string{"--tolerance", "20%"}, "sizes became "},
	} {
		t.Run(tc.app, func(t *testing.T) {
			eachSource(t, filepath.Join("../apps", tc.app+".c"), func(s *shell) {
				program := append([]string{"./app"}, tc.args...)
				s.traced([]string{"-q", "-o", "whole.spoor"}, tc.ranks, tc.args...)
				s.spoor(append(append([]string{"reduce"}, tc.flags...), "whole.spoor", "-o", "want.spoor")...)
				want := s.thinned("want.spoor")
				same := func(name string) {
					s.t.Helper()
					s.spoor("check", name)
					if got := s.thinned(name); !reflect.DeepEqual(got, want) {
						s.t.Errorf("%s: %v, want %v", name, got, want)
					}
					s.spoor("diff", "--any-address", "want.spoor", name)
				}
				flags := append([]string{"--scratch", "scratch"}, tc.flags...)
				s.scratch()
				code, _, stderr := s.traced(append(flags, "-o", "front.spoor"), tc.ranks, tc.args...)
				said := spoorLines(stderr)
				if code != 0 || len(said) != 2 || !strings.Contains(said[0], fmt.Sprintf("front.spoor: %d ranks, ", tc.ranks)) || !strings.Contains(said[1], tc.said) {
					s.t.Fatalf("code %d: %s", code, stderr)
				}
				same("front.spoor")
				line := append([]string{tool, "run"}, append(flags, "-o", "behind.spoor")...)
				code, _, stderr = s.run(s.mpi.Command(tc.ranks, append(line, program...)...)...)
				behind := spoorLines(stderr)
				if code != 0 || len(behind) != 2 || !strings.Contains(behind[0], fmt.Sprintf("behind.spoor: %d ranks, ", tc.ranks)) || !strings.Contains(behind[1], tc.said) {
					s.t.Fatalf("code %d: %s", code, stderr)
				}
				same("behind.spoor")
				if got := s.files(); got != "behind.spoor front.spoor want.spoor whole.spoor" {
					s.t.Errorf("files %s", got)
				}
				s.scratchIsEmpty()
			})
		})
	}
}

// A budget that can't be kept costs nothing but the thinning: the trace is lossless, and the exit code the program's.
func TestModelBudget(t *testing.T) {
	t.Parallel()
	each(t, "stencil", func(s *shell) {
		s.scratch()
		s.traced([]string{"-q", "-o", "whole.spoor"}, 3)
		flags := []string{"--scratch", "scratch", "--budget", "100"}
		code, _, stderr := s.traced(append(flags, "-o", "front.spoor"), 3)
		if code != 0 {
			s.t.Errorf("code %d", code)
		}
		s.wants(stderr, "front.spoor: lossless, as it could not be reduced: too large: ", "spoor: front.spoor: 3 ranks, ")
		s.spoor("diff", "whole.spoor", "front.spoor")
		// Behind the launcher; and one that exists is kept.
		line := append([]string{tool, "run", "-q", "-o", "front.spoor"}, flags...)
		code, _, stderr = s.run(s.mpi.Command(3, append(line, "./app")...)...)
		if said := spoorLines(stderr); code != 0 || len(said) != 2 || !strings.Contains(said[0], "front.spoor exists, the trace is ") ||
			!strings.Contains(said[1], "front-2.spoor: lossless, as it could not be reduced: too large: ") {
			s.t.Errorf("code %d: %s", code, stderr)
		}
		s.spoor("diff", "whole.spoor", "front-2.spoor")
		if got := s.files(); got != "front-2.spoor front.spoor whole.spoor" {
			s.t.Errorf("files %s", got)
		}
		s.scratchIsEmpty()
	})
}

// Programs that are one world have one trace, whichever they are; those that one makes have their own.
func TestModelOfSeveral(t *testing.T) {
	t.Parallel()
	each(t, "stencil", func(s *shell) {
		line := append([]string{tool, "run", "--tolerance", "100%"}, s.mpi.Command(1, "./app")...)
		code, _, stderr := s.run(append(line, ":", "-n", "2", "./app")...)
		if code != 0 {
			s.t.Fatalf("code %d: %s", code, stderr)
		}
		s.wants(stderr, "app.spoor: 3 ranks, ")
		if got := s.files(); got != "app.spoor" {
			s.t.Errorf("files %s", got)
		}
	})
	each(t, "spawn", func(s *shell) {
		code, _, stderr := s.traced([]string{"--tolerance", "100%"}, 1)
		if code != 0 {
			s.t.Fatalf("code %d: %s", code, stderr)
		}
		s.wants(stderr, "app.spoor: ", "app-2.spoor: ")
		s.spoor("check", "app.spoor")
		s.spoor("check", "app-2.spoor")
		if got := s.files(); got != "app-2.spoor app.spoor" {
			s.t.Errorf("files %s", got)
		}
	})
}

// Where there is room for the small trace alone, it is where it should be, and nothing is left of the other.
func TestModelFull(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/sizes.c", func(s *shell) {
		dir := s.mount("full", "size=80k")
		args := []string{"5000", "dd if=/dev/zero of=full/filler bs=1k count=72 2>/dev/null"}
		flags := append(s.scratch(), "--tolerance", "100%")
		code, _, stderr := s.traced(append(flags, "-o", filepath.Join(dir, "a.spoor")), 2, args...)
		if code != 0 {
			s.t.Errorf("code %d", code)
		}
		s.wants(stderr, "no space left on device; the trace is ", "spoor: full/a.spoor: 2 ranks, ", "sizes became ", "a.lossless.spoor is gone")
		s.spoor("check", "full/a.spoor")
		for _, name := range []string{"a.spoor", "filler"} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				s.t.Fatal(err)
			}
		}
		code, stderr = s.behind(append(flags, "-o", filepath.Join(dir, "a.spoor")), 2, args...)
		if code != 0 || len(spoorLines(stderr)) != 2 {
			s.t.Errorf("code %d: %s", code, stderr)
		}
		s.wants(stderr, "spoor: full/a.spoor: 2 ranks, ", "sizes became ", "a.lossless.spoor is gone")
		s.spoor("check", "full/a.spoor")
		if got, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(got) != 2 {
			s.t.Errorf("%v, %v", got, err)
		}
		s.scratchIsEmpty()
	})
}
