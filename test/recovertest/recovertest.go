// Package recovertest makes process directories as a dead process leaves them,
// without an MPI. Tests of what reads such directories use it; nothing else
// imports it.
package recovertest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/mpi"
)

// Raw values of MPICH.
const (
	world = 0x44000000
	char  = 0x4c000101
)

// A Process says what a process did.
type Process struct {
	Rank, Ranks int
	PID         int    // 0: 100 + Rank
	Host        string // "": node
	StartNs     int64
	Spawned     bool
	Alone       bool
	Loops       int    // rounds of Send and Barrier
	End         string // crashed, inside, finished, marked
}

// The ends of a process.
const (
	Crashed  = "crashed"  // between two calls
	Inside   = "inside"   // in an MPI_Recv
	Finished = "finished" // after MPI_Finalize
	Marked   = "marked"   // sessions only, all closed
)

// Write makes the process's directory below parent and returns its name.
func Write(parent string, p Process) (string, error) {
	p.PID = cmp.Or(p.PID, 100+p.Rank)
	p.StartNs = cmp.Or(p.StartNs, 1_700_000_000_000_000_000)
	dir := filepath.Join(parent, fmt.Sprintf("node-%d", p.PID))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	ring, err := p.ring()
	if err != nil {
		return "", err
	}
	files := map[string][]byte{
		"context": []byte(p.context()),
		"maps":    []byte("00400000-00500000 r-xp 00000000 08:01 1 /opt/app/bin/solver\n"),
		"ring.0":  ring,
	}
	if p.End == Marked {
		files["finished"] = nil
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func (p *Process) context() string {
	flag := map[bool]int{true: 1}
	return fmt.Sprintf(`spoor-context 1
flavour mpich
library MPICH Version: 4.0.2
rank %d
ranks %d
spawned %d
alone %d
host %s
pid %d
exe /opt/app/bin/solver
cwd /home/me
clock tsc
ticks-per-ns 1
start 1000 %d
arg ./solver
arg in put
`, p.Rank, p.Ranks, flag[p.Spawned], flag[p.Alone], cmp.Or(p.Host, "node"), p.PID, p.StartNs)
}

// ring is the bytes of the only thread's ring.
func (p *Process) ring() ([]byte, error) {
	w, err := event.NewWriter(0, 1<<16)
	if err != nil {
		return nil, err
	}
	w.NextTicks, w.TicksPerRecord = 1000, 250
	r := recorder{w: w}
	next := uint64((p.Rank + 1) % max(1, p.Ranks))
	if !p.Alone {
		r.call("MPI_Init", nil)
	}
	for range p.Loops {
		r.call("MPI_Send", []uint64{0, 0, 64, char, next, 5, world})
		r.call("MPI_Barrier", []uint64{world})
	}
	switch p.End {
	case Inside:
		r.enter("MPI_Recv", 0, 0, 64, char, next, 9, world)
	case Finished:
		r.call("MPI_Finalize", nil)
	}
	return w.Bytes(), r.err
}

type recorder struct {
	w   *event.Writer
	err error
}

func (r *recorder) enter(name string, in ...uint64) uint16 {
	c, ok := mpi.CallNamed(name)
	if !ok {
		r.err = fmt.Errorf("no call %s", name)
		return 0
	}
	if err := r.w.Enter(c.ID, 0, 0x401000+uint64(c.ID), in...); err != nil {
		r.err = err
	}
	return c.ID
}

func (r *recorder) call(name string, in []uint64) {
	if err := r.w.Leave(r.enter(name, in...), 0); err != nil {
		r.err = err
	}
}
