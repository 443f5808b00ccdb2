package files

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// Calls that return where a file is are one call of a loop, as those that say where to go.
func TestSeeks(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	onEach(t, func(t *testing.T, m *mpis.MPI, dir string) {
		if err := m.Compile(filepath.Join(dir, "seeks"), "testdata/seeks.c", "-Wno-unused-result"); err != nil {
			t.Fatal(err)
		}
		r := mpis.Job{MPI: m, Dir: dir}.Run(append([]string{tool, "run", "-q", "--io", "-o", "seeks.spoor"}, m.Command(1, "./seeks")...)...)
		if want := fmt.Sprintln(2*3000*512 + 3000*2999/2*1024 + 3000*2999/2*1024 + 3000*512); r.Err != nil || r.Stdout != want {
			t.Fatal(r, want)
		}
		file, err := trace.Open(filepath.Join(dir, "seeks.spoor"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		k, err := file.Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		distinct := make(map[string]int)
		for n := range k.Terminals() {
			c, err := k.Terminal(n)
			if err != nil {
				t.Fatal(err)
			}
			distinct[c.Name()]++
		}
		if len(distinct) != 11 || distinct["lseek"] > 20 || distinct["ftell"] > 20 || distinct["fseek"] > 20 {
			t.Errorf("distinct calls: %v", distinct)
		}
		made := make(map[string]int64)
		for c, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			n := made[c.Name()]
			made[c.Name()]++
			want := map[string]int64{"lseek": n * 1024, "ftell": n*1024 + 512}
			if at, ok := want[c.Name()]; ok && c.Result.Num != at {
				t.Fatalf("call %d, %s: not %d", n, c.Text(), at)
			}
		}
		if made["lseek"] != 3000 || made["ftell"] != 3000 {
			t.Errorf("calls: %v", made)
		}
		sameAgain(t, m, dir, "seeks.spoor", 1)
	})
}
