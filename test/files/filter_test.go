package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// A user says which files count; pipes, devices, /proc and /sys only if asked for.
func TestFilter(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	m := mpis.Need(t)[0]
	dir := t.TempDir()
	program := filepath.Join(dir, "filter")
	if err := m.Compile(program, "testdata/filter.c"); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name    string
		options []string
		want    string // what was opened, and bytes written or read
	}{
		{"default", nil, "in/data 1, in/x.log 1, out/data 1"},
		{"include", []string{"--io-include", "*/in/*"}, "in/data 1, in/x.log 1"},
		{"folder", []string{"--io-include", "$WORK/out/"}, "out/data 1"},
		{"exclude", []string{"--io-exclude", "*.log", "--io-exclude", "*/out/*"}, "in/data 1"},
		{"both", []string{"--io-include", "*/in/*", "--io-exclude", "*.log"}, "in/data 1"},
		{"special", []string{"--io-special", "--io-exclude", "*/in/*"}, "out/data 1, /dev/null 1, /proc/self/stat 1, pipe 4"},
	} {
		t.Run(x.name, func(t *testing.T) {
			work, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			line := []string{tool, "run", "-q", "--io", "-o", filepath.Join(dir, x.name+".spoor")}
			for _, o := range x.options {
				line = append(line, strings.ReplaceAll(o, "$WORK", work))
			}
			if r := (mpis.Job{MPI: m, Dir: work, Temp: dir}).Run(append(line, m.Command(1, program)...)...); r.Err != nil {
				t.Fatal(r)
			}
			if _, err := os.Stat(filepath.Join(work, "in", "x.log")); err != nil {
				t.Error(err)
			}
			r, err := trace.Open(filepath.Join(dir, x.name+".spoor"))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			k, err := r.Rank(0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			file := "pipe" // what is open
			for c, err := range k.Calls(0) {
				if err != nil {
					t.Fatal(err)
				}
				switch c.Name() {
				case "open":
					file = c.Param("path").In.Text
				case "close":
					file = "pipe"
				case "read", "write":
					got = append(got, file+" "+value(&c.Result))
				}
			}
			if want := strings.Split(x.want, ", "); !slices.Equal(got, want) {
				t.Errorf("recorded is %q, wanted %q", got, want)
			}
		})
	}
}
