package shim

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// A process ends when the program's last thread does, whichever that is, and
// what is in its buffers is printed; the trace has all its calls.
func TestLastThread(t *testing.T) {
	shim := library(t)
	for _, m := range mpis.Need(t) {
		program := compile(t, m.CC, "leader.c", "leader")
		for _, how := range []string{"thread", "early", "late", "code", "exec", "child"} {
			if how == "early" && !strings.HasPrefix(m.Name, "openmpi") {
				continue // MPICH's UCX can't start once main has gone: it looks for it in /proc
			}
			t.Run(m.Name+"/"+how, func(t *testing.T) {
				ranks := 2
				if how == "child" || how == "code" { // else the launcher ends one for the other's code
					ranks = 1
				}
				dir := t.TempDir()
				file := filepath.Join(dir, "t.spoor")
				lines := func(env ...string) []string {
					command := m.Command(ranks, append(append([]string{"env"}, env...), program, how)...)
					r := mpis.Job{MPI: m, Dir: dir, Temp: t.TempDir()}.Run(command...)
					if want := map[bool]int{true: 3}[how == "code"]; r.Code != want {
						t.Fatalf("ends with code %d, want %d: %v", r.Code, want, r)
					}
					if said := spoorLines(r); len(said) > 0 {
						t.Errorf("says %q", said)
					}
					list := regexp.MustCompile("<[a-z]+>").FindAllString(r.Stdout, -1)
					slices.Sort(list)
					return list
				}
				want := map[string][]string{"exec": {"<another>"}, "child": {"<atexit>"}}[how]
				if want == nil {
					want = []string{"<atexit>", "<main>", "<thread>"}
				}
				want = slices.Repeat(want, ranks)
				slices.Sort(want)
				if got := lines("LD_PRELOAD="+shim, "SPOOR_OUT="+file, "SPOOR_SCRATCH="+t.TempDir()); !slices.Equal(got, want) {
					t.Errorf("prints %q, want %q", got, want)
				}
				r, err := trace.Open(file)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				for i := range ranks {
					k, err := r.Rank(i)
					if err != nil {
						t.Fatal(err)
					}
					p, err := k.Process()
					if err != nil || p.Calls != 4 {
						t.Errorf("rank %d has %d calls, %v, want 4", i, p.Calls, err)
					}
				}
			})
		}
	}
}
