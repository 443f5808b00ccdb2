package goal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogGOPSim compares with what LogGOPSim gave. testdata/README.md says what the schedules are.
func TestLogGOPSim(t *testing.T) {
	files, err := filepath.Glob("testdata/*.goal.gz")
	if err != nil || len(files) != 9 {
		t.Fatal("no schedules", err)
	}
	for _, file := range files {
		s, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, eager := range []uint64{4000, 65535} {
			p := DefaultParameters
			p.Eager = eager
			name := fmt.Sprintf("%s.S%d.txt", strings.TrimSuffix(file, ".goal.gz"), eager)
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Simulate(s, p)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			var got strings.Builder
			for rank, end := range r.End {
				fmt.Fprintf(&got, "Host %d: %d\n", rank, end)
			}
			if got.String() != string(want) {
				t.Errorf("%s: got\n%swant\n%s", name, &got, want)
			}
		}
	}
}
