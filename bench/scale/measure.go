package main

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spoor-hpc/spoor/bench/scale/pilgrim"
	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// A Result is the measurements of one program on one number of ranks.
type Result struct {
	Program  skeleton.Program
	Ranks    int
	Events   uint64
	File     int // bytes of the whole file
	Sections []trace.Section
	Classes  int
	Calls    int // bytes of the record of calls; see sizes
	Content  int // bytes of the part of Calls that Pilgrim stores, too: without names and headers
	Times    int // bytes of the statistics of durations, both those by call site and those by rank
	Process  int // bytes of the table of processes

	Merge    time.Duration // sum of the ranks' processor times in the merge
	Path     time.Duration // the merge's time with a processor per rank: the longest chain of ranks that wait
	Encode   time.Duration // processor time in which rank 0 makes the file from the merged tracks
	Message  int           // largest message of the merge to rank 0, in bytes
	Largest  int           // largest message of the merge to any rank, in bytes
	Held     int           // bytes of the merged tracks at rank 0, as merge.MergedBlock.HeldBytes counts
	Peak     uint64        // bytes of heap, all ranks' pending messages included
	Verified int           // number of ranks whose calls were read back and compared
	Pilgrim  pilgrim.Size
}

// Limits of the merged tracks' bytes at rank 0, for a program with a Limit; the sum of the three may not be exceeded.
const (
	maxHeld        = 16 << 20
	maxHeldPerRank = 216 // for the table of processes
	maxHeldPerCall = 600 // per distinct call
)

// measure runs a program on virtual ranks, merges their tracks, writes the
// file and reads it back.
func measure(p skeleton.Program, ranks int, baseline bool, keep string) (*Result, error) {
	res := &Result{Program: p, Ranks: ranks}
	runtime.GC()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tree := newTree(ranks)
	var root *merge.MergedBlock
	// Ranks are processed from the last to the first, so that the messages of a rank's children are there: only one
	// track is in memory at a time.
	for rank := ranks - 1; rank >= 0; rank-- {
		v := vmpi.Run(p.Name, rank, ranks, p.Run)
		res.Events += v.Calls()
		t := v.Track()
		s, err := tree.merge(rank, t)
		if err != nil {
			return nil, err
		}
		if rank%512 == 0 {
			res.sample()
		}
		root = s
	}
	res.Merge, res.Path, res.Message, res.Largest = tree.work, tree.done[0], tree.toRoot, tree.largest
	if len(root.Problems) > 0 {
		return nil, fmt.Errorf("problem of rank %d: %s", root.Problems[0].FirstRank, root.Problems[0].Text)
	}
	res.Classes, res.Held = root.Classes(), root.HeldBytes()
	if limit := maxHeld + maxHeldPerRank*ranks + maxHeldPerCall*root.DistinctCalls(); p.Limit > 0 && res.Held > limit {
		return nil, fmt.Errorf("rank 0 holds %d bytes, at most %d were expected", res.Held, limit)
	}
	start := spent()
	c, err := root.Content(map[string]string{trace.MetaCommand: "./" + p.Name, trace.MetaMPIFlavour: "mpich"})
	if err != nil {
		return nil, err
	}
	file, err := sections.EncodeFile(c)
	if err != nil {
		return nil, err
	}
	res.Encode = spent() - start
	res.sample()
	root, c = nil, nil
	r, err := trace.ReadBytes(file, p.Name)
	if err != nil {
		return nil, err
	}
	if keep != "" {
		if err := os.MkdirAll(keep, 0o755); err != nil {
			return nil, err
		}
		name := filepath.Join(keep, fmt.Sprintf("%s-%d.spoor", p.Name, ranks))
		if err := os.WriteFile(name, file, 0o644); err != nil {
			return nil, err
		}
	}
	res.sizes(file, r)
	if err := res.verify(r); err != nil {
		return nil, err
	}
	if baseline {
		res.Pilgrim = compare(p, ranks)
	}
	return res, nil
}

// compare returns the size of a program's trace if it is compressed as Pilgrim does.
func compare(p skeleton.Program, ranks int) pilgrim.Size {
	w := pilgrim.New(ranks)
	for rank := range ranks {
		if !w.Add(vmpi.Run(p.Name, rank, ranks, p.Run).Track()) {
			break
		}
	}
	return w.Size()
}

func (r *Result) sample() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.Peak = max(r.Peak, m.HeapAlloc)
}

// sizes splits the file's size into Times, Process and Calls. Times and Process always grow with the number of ranks;
// Calls need not.
func (r *Result) sizes(file []byte, t *trace.Reader) {
	r.File, r.Sections = len(file), t.Sections()
	r.Calls = r.File
	for _, s := range r.Sections {
		switch s.Name {
		case "times", "places", "totals", "rank-values", "value-places":
			r.Times += int(s.StoredBytes)
			r.Calls -= int(s.StoredBytes)
		case "process":
			r.Process = int(s.StoredBytes)
			r.Calls -= r.Process
		case "ranks", "signatures", "classes", "columns", "lanes":
			r.Content += int(s.StoredBytes)
		}
	}
}

// verify executes ranks again and compares each of their calls with the trace.
func (r *Result) verify(t *trace.Reader) error {
	if t.Ranks() != r.Ranks {
		return fmt.Errorf("%d ranks in the trace of %d", t.Ranks(), r.Ranks)
	}
	step := 1
	if r.Ranks > 1024 {
		// For powers of two the step is odd, so that ranks of all rows and columns of a grid are met.
		step = r.Ranks/128 - 1
	}
	for rank := 0; rank < r.Ranks; rank += step {
		if err := same(t, rank, vmpi.Run(r.Program.Name, rank, r.Ranks, r.Program.Run)); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
		r.Verified++
	}
	return nil
}

// same compares a rank of a trace with v, the same rank executed again: the sequence of calls, and all their values.
func same(t *trace.Reader, rank int, v *vmpi.Rank) error {
	k, err := t.Rank(rank)
	if err != nil {
		return err
	}
	own := v.Track()
	if k.Streams() != 1 || k.CallCount(0) != v.Calls() {
		return fmt.Errorf("%d streams, %d calls, %d were made", k.Streams(), k.CallCount(0), v.Calls())
	}
	// The trace numbers the terminals of a whole class, the track those of one rank. of[terminal of the trace] is the
	// track's terminal for the same call.
	const unknown = ^uint32(0)
	of := slices.Repeat([]uint32{unknown}, k.Terminals())
	next, stop := iter.Pull(own.Streams[0].Grammar.All())
	defer stop()
	sum, at := uint64(0), uint64(0)
	for terminal, vals := range k.Signatures(0) {
		want, _ := next()
		switch of[terminal] {
		case want:
		case unknown:
			of[terminal] = want
			c, err := k.Terminal(terminal)
			if err != nil {
				return err
			}
			if s := own.Signatures[want]; c.Func.ID != s.FunctionID || !samePlace(c.Site, own.Sites[s.Site]) {
				return fmt.Errorf("call %d is %s at %v", at, c.Name(), c.Site)
			}
		default:
			// A lane's first calls have a terminal of their own in the track, so two of its terminals may belong to one
			// of the trace.
			if a, b := &own.Signatures[of[terminal]], &own.Signatures[want]; a.FunctionID != b.FunctionID || a.Site != b.Site {
				return fmt.Errorf("call %d is another one", at)
			}
		}
		sum = vmpi.Mix(sum, own.Signatures[want].FunctionID, vals)
		at++
	}
	if sum != v.Sum() {
		return errors.New("calls have other values than those that were made")
	}
	return nil
}

func samePlace(s trace.Site, t track.Site) bool {
	return s == trace.Site{Module: t.Module, BuildID: t.BuildID, Offset: t.Offset}
}
