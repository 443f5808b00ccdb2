package profile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	spoortrace "github.com/spoor-hpc/spoor/trace"
)

// Behind the launcher, too, traces get what the binaries say, and the program doesn't notice how. Where it can't be done, the
// trace has none of it, and nobody hears of it.
func TestCodeBehindTheLauncher(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := t.TempDir()
			if err := m.Compile(filepath.Join(dir, "app"), "testdata/behind.c", "-O1", "-g"); err != nil {
				t.Fatal(err)
			}
			bin := filepath.Join(dir, "bin")
			if err := os.CopyFS(bin, os.DirFS(filepath.Dir(mpis.NeedSpoor(t)))); err != nil {
				t.Fatal(err)
			}
			tool := filepath.Join(bin, "spoor")
			run := func(name string, args ...string) *spoortrace.Code {
				t.Helper()
				line := append([]string{tool, "run", "-o", name, "--stack", "16"}, args...)
				r := mpis.Job{MPI: m, Dir: dir}.Run(m.Command(3, line...)...)
				if r.Err != nil {
					t.Fatal(r)
				}
				if r.Stdout != "noticed: 0, 0\n" || strings.Count("\n"+r.Stderr, "\nspoor: ") != 1 {
					t.Errorf("%s: %v", name, r)
				}
				x, err := spoortrace.Open(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				defer x.Close()
				c, err := x.Code()
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			if run("without.spoor", "--no-code", "./app") != nil {
				t.Error("--no-code has no effect")
			}
			if run("app.spoor", "./app") == nil {
				t.Fatal("nothing of the binaries")
			}
			if run("gone.spoor", "./app", tool) != nil {
				t.Error("a tool that is gone added to the trace")
			}
			if err := os.Remove(filepath.Join(dir, "app")); err != nil {
				t.Fatal(err)
			}
			var list []struct{ Threads []struct{ Body []loop } }
			if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "app.spoor")), &list); err != nil {
				t.Fatal(err)
			}
			place := loopLines(t, "testdata/behind.c")["steps"]
			found := 0
			each(list[0].Threads[0].Body, func(x loop) {
				if x.Kind == "loop" && x.Rounds == 10 && x.Place == place {
					found++
				}
			})
			if found != 1 {
				t.Errorf("%d loops of ten rounds at %s", found, place)
			}
		})
	}
}
