package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// What a program prints counts if its standard output is a file, and so does what it reads.
func TestRedirected(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	onEach(t, func(t *testing.T, m *mpis.MPI, dir string) {
		program := filepath.Join(dir, "prints")
		if err := m.Compile(program, "testdata/prints.c"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "in.txt"), []byte("41 and more\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string]struct{ command, want string }{
			"pipes": {"echo 41 | exec ./prints | cat", ""},
			"files": {"exec ./prints <in.txt >out.txt", "fscanf(stream=stdin) = 1, fprintf(stream=stdout) = 10, puts(stream=stdout, text=4) = 5"},
		} {
			job := mpis.Job{MPI: m, Dir: dir}
			line := append([]string{tool, "run", "-q", "-f", "--io", "-o", name + ".spoor"}, m.Command(1, "sh", "-c", x.command)...)
			if r := job.Run(line...); r.Err != nil {
				t.Fatal(r)
			}
			r, err := trace.Open(filepath.Join(dir, name+".spoor"))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			k, err := r.Rank(0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for c, err := range k.Calls(0) {
				if err != nil {
					t.Fatal(err)
				}
				if c.Func.Has(trace.AttrPosix) {
					got = append(got, c.Text())
				}
			}
			if s := strings.Join(got, ", "); s != x.want {
				t.Errorf("%s: recorded is %q, not %q", name, s, x.want)
			}
		}
		if text, err := os.ReadFile(filepath.Join(dir, "out.txt")); err != nil || string(text) != "answer 42\nline\n" {
			t.Errorf("printed is %q: %v", text, err)
		}
		sameAgain(t, m, dir, "files.spoor", 1)
	})
}
