package compile

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// Every program runs under both MPIs as it does without spoor, and leaves a
// trace that passes verify.
func TestTraced(t *testing.T) {
	tool, err := filepath.Abs("../../../bin/spoor")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tool); err != nil {
		skip(t, "bin/spoor is not built: run make")
	}
	if len(Installed()) == 0 {
		skip(t, "no MPI is installed")
	}
	for _, m := range Installed() {
		ranks := 4
		if m.Name == "mpich" {
			ranks = 2 // they spin while they wait
		}
		for _, a := range All {
			t.Run(m.Name+"/"+a.Name, func(t *testing.T) {
				dir := t.TempDir()
				path, err := m.Build(a, dir)
				if err != nil {
					t.Fatal(err)
				}
				plain := run(t, m, dir, m.Command(ranks, append([]string{path}, a.Quick...)...))
				line := append([]string{tool, "run", "-o", "t.spoor"}, m.Command(ranks, append([]string{path}, a.Quick...)...)...)
				if got := run(t, m, dir, line); got != plain || got == "" {
					t.Errorf("traced %q, plain %q", got, plain)
				}
				run(t, m, dir, []string{tool, "verify", "t.spoor"})
				info, err := os.Stat(filepath.Join(dir, "t.spoor"))
				if err != nil {
					t.Fatal(err)
				}
				if info.Size() > 16<<10 {
					t.Errorf("a trace of %d bytes", info.Size())
				}
			})
		}
	}
}

// run runs a command that has to succeed and returns what it printed.
func run(t *testing.T, m MPI, dir string, line []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	var out, errs bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, m.Environ(), &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%q: %v\n%s%s", line, err, out.Bytes(), errs.Bytes())
	}
	return out.String()
}
