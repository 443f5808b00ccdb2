package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"spoor/test/apps/compile"
)

// names lists the programs that are recorded unless told otherwise.
var names = []string{"heat2d", "cg", "lu", "nbody", "sort", "lmp", "hpcc"}

// A recorder runs programs under spoor, with all times.
type recorder struct {
	dir     string
	ranks   int
	seconds float64
}

// record runs a program and returns its trace.
func (r *recorder) record(name string) (string, error) {
	installed := compile.Installed()
	if len(installed) == 0 {
		return "", errors.New("no MPI is installed")
	}
	m := installed[len(installed)-1] // Open MPI waits politely where ranks share cores
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
		line = m.Command(4, "hpcc")
		if err := os.WriteFile(filepath.Join(work, "hpccinf.txt"), []byte(hpccInput), 0o644); err != nil {
			return "", err
		}
	default:
		app, ok := compile.ByName(name)
		if !ok {
			return "", fmt.Errorf("no program %s", name)
		}
		path, err := m.Build(app, work)
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
	c.Dir, c.Env = work, m.Environ()
	if text, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", name, err, text)
	}
	return out, nil
}

const hpccInput = `HPLinpack benchmark input file
a small run
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
120          Ns
1            # of NBs
24           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
2            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
`
