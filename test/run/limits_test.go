package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// limited runs the program in ranks that may have so many MB of addresses.
func (s *shell) limited(mb int, args string) (code int, stdout, stderr string) {
	s.t.Helper()
	line := fmt.Sprintf("ulimit -v %d; exec ./app %s", mb<<10, args)
	return s.run(slices.Concat([]string{tool, "run", "-f", "-o", "app.spoor"}, s.mpi.Command(2, "sh", "-c", line))...)
}

func spoorLines(stderr string) []string {
	return slices.DeleteFunc(strings.Split(stderr, "\n"), func(l string) bool { return !strings.HasPrefix(l, "spoor: ") })
}

// Where addresses are limited, the program runs as it would without spoor: traced
// if that leaves enough, else with one line that says why not.
func TestAddressLimit(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/cramped.c", func(s *shell) {
		for _, mb := range []int{400, 1000} {
			code, stdout, stderr := s.limited(mb, "")
			if said := spoorLines(stderr); code != 3 || strings.Count(stdout, "done") != 2 || len(said) != 1 || !strings.Contains(said[0], "(ulimit -v)") {
				s.t.Errorf("%d MB: code %d, %q, %s", mb, code, stdout, stderr)
			}
			if got := s.files(); got != "" {
				s.t.Errorf("%d MB: files %s", mb, got)
			}
		}
		code, stdout, stderr := s.limited(1500, "")
		if code != 3 || strings.Count(stdout, "done") != 2 {
			s.t.Errorf("code %d, %q, %s", code, stdout, stderr)
		}
		s.wants(stderr, "spoor: app.spoor: 2 ranks")
		s.spoor("check", "app.spoor")
	})
}

// A program that has filled its addresses is not ended by the merge.
func TestAddressesFilled(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/cramped.c", func(s *shell) {
		code, stdout, stderr := s.limited(1500, "fill")
		if code != 3 || strings.Count(stdout, "done") != 2 {
			s.t.Errorf("code %d, %q", code, stdout)
		}
		s.wants(stderr, "too little memory", "spoor recover app.spoor.partial")
		out, _ := s.spoor("recover", "app.spoor.partial")
		s.wants(out, "app.spoor: 2 ranks, 20")
	})
}

// So it is where a group of processes has a limit, of either version.
func TestGroupLimit(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/cramped.c", func(s *shell) {
		own, err := os.ReadFile("/proc/self/cgroup")
		if err != nil {
			s.t.Skip("no cgroups here")
		}
		root := s.t.TempDir()
		for name, text := range map[string]string{
			"memory.max": "104857600\n", "memory.limit_in_bytes": "104857600\n",
			"memory.stat": "anon 60000000\nfile 20000000\nshmem 20000000\nrss 60000000\n",
		} {
			for _, dir := range []string{root, filepath.Join(root, "memory")} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					s.t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					s.t.Fatal(err)
				}
			}
		}
		s.env = append(s.env, "SPOOR_CGROUPS="+root)
		code, stdout, stderr := s.traced(nil, 2)
		if said := spoorLines(stderr); code != 3 || strings.Count(stdout, "done") != 2 || len(said) != 1 || !strings.Contains(said[0], "cgroup leaves 23 MB") {
			s.t.Errorf("in %s: code %d, %q, %s", own, code, stdout, stderr)
		}
	})
}
