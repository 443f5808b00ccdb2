package profile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// TestRecursion: functions that call themselves far deeper than the stacks that are kept have all of their calls in one line each.
func TestRecursion(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) { recursion(t, m) })
	}
}

func recursion(t *testing.T, m *mpis.MPI) {
	dir := t.TempDir()
	if err := m.Compile(filepath.Join(dir, "app"), "testdata/recursion.c", "-O0", "-g"); err != nil {
		t.Fatal(err)
	}
	spoor(t, dir, append([]string{"run", "-q", "--waits", "never", "-o", "app.spoor"}, m.Command(4, "./app")...)...)
	var list []struct {
		Threads []struct {
			Lost uint64 `json:"lost_steps"`
			Body []loop
		}
	}
	if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "app.spoor")), &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	each(list[0].Threads[0].Body, func(x loop) {
		switch x.Kind {
		case "function":
			got = append(got, x.Function)
		case "recursion":
			if x.AtLeast {
				got = append(got, "at least")
				return
			}
			got = append(got, fmt.Sprintf("%d entered, %d calls, %d to %d", x.Entered, x.Rounds, x.Least, x.Most))
		case "elsewhere":
			got = append(got, x.Kind)
		}
	})
	want := []string{
		"main", "down", "10 entered, 600 calls, 60 to 60", "figure", "1 entered, 100 calls, 100 to 100", "twice", "1 entered, 127 calls, 127 to 127",
		"down", "1 entered, 1000 calls, 1000 to 1000",
		"ping", "at least", "pong", "elsewhere",
	}
	if !slices.Equal(got, want) || list[0].Threads[0].Lost > 0 {
		t.Errorf("%q, %d steps lost, want %q", got, list[0].Threads[0].Lost, want)
	}
	if st, err := os.Stat(filepath.Join(dir, "app.spoor")); err != nil || st.Size() > 1500 {
		t.Errorf("%v, error %v", st.Size(), err)
	}
}
