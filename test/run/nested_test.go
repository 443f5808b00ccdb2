package run

import (
	"encoding/json"
	"strings"
	"testing"
)

// A program that starts another job gets the name of the trace, though the other one ends first.
func TestNestedJob(t *testing.T) {
	t.Parallel()
	eachSource(t, "testdata/nested.c", func(s *shell) {
		// Launchers take a process with these for a rank of theirs.
		inner := `for v in $(env | sed -n 's/=.*//p'); do case $v in *ALLOW*) ;; PMI*|OMPI*|PRTE*|HYDRA*|MPIR*|MPICH*) unset $v;; esac; done; exec "$@"`
		line := append([]string{"sh", "-c", "'" + strings.ReplaceAll(inner, "'", `'\''`) + "'", "inner"}, s.mpi.Command(3, "./app")...)
		for _, name := range []string{"app.spoor", "given.spoor"} {
			_, stderr := s.spoor(append([]string{"run", "-o", name}, s.mpi.Command(2, "./app", strings.Join(line, " "))...)...)
			numbered := strings.Replace(name, ".", "-2.", 1)
			s.wants(stderr, name+" is for the program that started app, whose trace is ", numbered+": 3 ranks")
			for trace, ranks := range map[string]int{name: 2, numbered: 3} {
				var about struct{ Ranks int }
				out, _ := s.spoor("info", "--json", trace)
				if err := json.Unmarshal([]byte(out), &about); err != nil {
					s.t.Fatal(err)
				}
				if about.Ranks != ranks {
					s.t.Errorf("%s has %d ranks, want %d", trace, about.Ranks, ranks)
				}
			}
		}
	})
}
