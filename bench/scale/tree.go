package main

import (
	"syscall"
	"time"

	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/track"
)

// A tree merges the tracks of virtual ranks one after the other on one processor. It computes the times that the merge
// would take if each rank had its own processor.
type tree struct {
	links   []merge.Transport
	done    []time.Duration // by rank: when its merge ended, as if all ranks had begun at 0
	work    time.Duration   // sum of the processor times of all ranks in the merge
	toRoot  int
	largest int
}

func newTree(ranks int) *tree {
	return &tree{links: merge.LocalTransports(ranks), done: make([]time.Duration, ranks)}
}

func (t *tree) merge(rank int, tr *track.Track) (*merge.MergedBlock, error) {
	m := &meter{Transport: t.links[rank], tree: t, last: spent()}
	s, err := merge.Merge(m, tr)
	m.lap()
	t.done[rank] = m.clock
	t.links[rank] = nil
	return s, err
}

// A meter is a rank's transport. It measures the sizes of messages and the rank's time in the merge, as if messages
// took no time.
type meter struct {
	merge.Transport
	tree  *tree
	clock time.Duration
	last  time.Duration
}

func (m *meter) lap() {
	now := spent()
	d := now - m.last
	m.last = now
	m.clock += d
	m.tree.work += d
}

func (m *meter) Send(to int, msg []byte) error {
	if to == 0 {
		m.tree.toRoot = max(m.tree.toRoot, len(msg))
	}
	m.tree.largest = max(m.tree.largest, len(msg))
	return m.Transport.Send(to, msg)
}

func (m *meter) Recv(from int) ([]byte, error) {
	m.lap()
	m.clock = max(m.clock, m.tree.done[from])
	return m.Transport.Recv(from)
}

// spent returns the processor time of the thread, to which the goroutine must be locked. Unlike wall time, it excludes
// other work on the machine.
func spent() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err) // can't fail: the arguments are valid
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
