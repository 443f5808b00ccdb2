package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/inputs"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// names lists the programs that are recorded unless told otherwise.
var names = []string{"heat2d", "cg", "lu", "nbody", "master", "sort", "checkpoint", "lmp", "hpcc"}

// A recorder runs programs under spoor, with all times.
type recorder struct {
	dir     string
	ranks   int
	seconds float64
	limit   time.Duration
}

// record runs a program and returns its trace.
func (r *recorder) record(name string) (string, error) {
	installed := mpis.Installed()
	if len(installed) == 0 {
		return "", errors.New("no MPI is installed")
	}
	m := installed[0]
	work, err := os.MkdirTemp(r.dir, name+"-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	var line []string
	switch name {
	case "lmp":
		line = m.Command(r.ranks, "lmp", "-in", "/usr/share/lammps/examples/melt/in.melt", "-log", "none")
	case "hpcc":
		line = m.Command(r.ranks, "hpcc")
		if err := os.WriteFile(filepath.Join(work, "hpccinf.txt"), []byte(inputs.HPCCFor(r.ranks)), 0o644); err != nil {
			return "", err
		}
	default:
		app, ok := compile.ByName(name)
		if !ok {
			return "", fmt.Errorf("no program %s", name)
		}
		path, err := app.Build(m, work)
		if err != nil {
			return "", err
		}
		line = m.Command(r.ranks, path, "-t", fmt.Sprint(r.seconds))
	}
	spoor, err := filepath.Abs("bin/spoor")
	if err != nil {
		return "", err
	}
	out, err := filepath.Abs(filepath.Join(r.dir, name+".spoor"))
	if err != nil {
		return "", err
	}
	c := exec.Command(spoor, append([]string{"run", "-q", "--force", "--timing", "lossless", "-o", out}, line...)...)
	var text bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = work, m.Environ("OMP_NUM_THREADS=1"), &text, &text
	if err := mpis.RunWithin(r.limit, c); err != nil {
		return "", fmt.Errorf("%w\n%s", err, text.String())
	}
	return out, nil
}
