package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/recovertest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

var update = flag.Bool("update", false, "write what the commands print into the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"spoor": main,
		// Commands that make files for the scripts.
		"mkwaits":    helper(mkwaits),
		"mkwhen":     helper(mkwhen),
		"mktrace":    helper(func(args []string) error { return mktrace(args, false) }),
		"mktimeless": helper(func(args []string) error { return mktrace(args, true) }),
		"mktimes":    helper(mktimes),
		"leave":      helper(leave),
		"flip":       helper(flip),
		"cut":        helper(truncate),
	})
}

// TestScripts runs the command lines in testdata/script. go test -update
// rewrites the outputs that they are compared with.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("SPOOR_LIB", env.WorkDir)
			return errors.Join(os.WriteFile(filepath.Join(env.WorkDir, "libspoor.so"), nil, 0o644),
				os.WriteFile(filepath.Join(env.WorkDir, "libspoor-io.so"), nil, 0o644))
		},
	})
}

func helper(f func(args []string) error) func() {
	return func() {
		if err := f(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// mktrace FILE PROGRAM RANKS [SITES] writes the trace of virtual ranks, mktimeless one of the
// same calls without times.
func mktrace(args []string, timeless bool) error {
	ranks, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	program, ok := programs[args[1]]
	if !ok {
		return fmt.Errorf("no program %s", args[1])
	}
	shift := 0
	if len(args) > 3 {
		if shift, err = strconv.Atoi(args[3]); err != nil {
			return err
		}
	}
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) { program(r, shift) })
	s, err := merge.MergeAll(tracks, ranks)
	if err != nil {
		return err
	}
	c, err := s.Content(map[string]string{
		trace.MetaCommand: "./solver 'in put'", trace.MetaMPIFlavour: "mpich", trace.MetaMPILibraryVersion: "MPICH Version:\t4.0.2",
		trace.MetaStart: "1700000000000000000", trace.MetaProducer: "0.0.0",
	})
	if err != nil {
		return err
	}
	c.NoTimes = timeless
	return sections.WriteFile(args[0], c, true)
}

// mkwaits FILE SHARE adds to a trace that ranks 0 to 2 waited SHARE of the run in MPI_Allreduce for rank 3, which computed 90 % of that;
// without SHARE, that finding it out would have taken three seconds.
func mkwaits(args []string) error {
	if len(args) == 1 {
		return trace.AddWaits(args[0], &trace.Waits{Status: trace.WaitsAnalysisTooLong, EstimatedAnalysisNs: 3e9})
	}
	share, err := strconv.ParseFloat(args[1], 64)
	if err != nil {
		return err
	}
	r, err := trace.Open(args[0])
	if err != nil {
		return err
	}
	defer r.Close()
	k, err := r.Rank(0)
	if err != nil {
		return err
	}
	sites, err := r.Sites()
	if err != nil {
		return err
	}
	w := &trace.Waits{MaxThreads: 1, ThreadRunNs: 1e6, MPINs: 8e5}
	for t := range k.Terminals() {
		c := k.CallWithoutParams(t)
		if c.Name() == "MPI_Allreduce" && w.Sites == nil {
			at := trace.FunctionSiteNumbers{FunctionIndex: slices.Index(r.Schema(), c.Func), SiteNumber: slices.Index(sites, c.Site) + 1}
			w.Sites = []trace.WaitSite{{
				FunctionSiteNumbers: at, Kind: int(waits.WaitAtNxN), Count: 9, WaitedNs: int64(1e6 * share), WaitingRanks: 3, AwaitedRanks: 1,
				Ranks: []trace.WaitRankNs{{Rank: 0, Ns: int64(5e5 * share)}, {Rank: 1, Ns: int64(25e4 * share)}, {Rank: 2, Ns: int64(25e4 * share)}}, LateRanks: []trace.WaitRankNs{{Rank: 3, Ns: int64(1e6 * share)}},
				Causes: []trace.WaitCause{{FunctionSiteNumbers: at, WaitShare: 1, ComputeShare: 0.9}},
			}}
		}
	}
	return trace.AddWaits(args[0], w)
}

// mkwhen FILE ITERATION adds to a trace of 4 ranks that one of ten iterations takes 50 ms instead of 10, as rank 2 computes longer.
func mkwhen(args []string) error {
	slow, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	none := trace.FunctionSiteNumbers{FunctionIndex: -1}
	w := &trace.When{Loop: &trace.WhenLoop{BeginsAt: none, Iterations: 10}, ColumnsPerIteration: 1, IterationsPerColumn: 1, LevelNs: 1e6}
	w.Findings = []trace.WhenFinding{{
		Kind: int(when.KindSlow), FirstIteration: uint64(slow), Ranks: []int{2}, RankCount: 1, BeforeNs: 10e6, AfterNs: 50e6, LongerNs: 40e6, CostNs: 40e6, EndingCall: none,
	}}
	for i := range 10 {
		w.ColumnWidthNs = append(w.ColumnWidthNs, 10e6)
		if i == slow {
			w.ColumnWidthNs[i] = 50e6
		}
	}
	for rank := range 4 {
		row := trace.WhenRow{FirstRank: rank, RankCount: 1}
		for state, usual := range [trace.WhenStateCount]int64{8, 1, 0, 0, 0} {
			levels := make([]int64, 10)
			if rank == 2 && state == trace.WhenStateComputing || rank != 2 && state == trace.WhenStateWaiting {
				levels[slow] = 40
			}
			row.StateTimes[state] = trace.WhenStateTimes{LoopBaseUnits: usual * trace.WhenBaseUnitsPerLevel, LevelCounts: levels}
		}
		w.Rows = append(w.Rows, row)
	}
	return trace.AddWhen(args[0], w)
}

// programs are what virtual ranks do; sites are numbered from shift.
var programs = map[string]func(r *tracktest.Recorder, shift int){
	"stencil": func(r *tracktest.Recorder, _ int) { tracktest.Stencil(10)(r) },
	"barriers": func(r *tracktest.Recorder, _ int) {
		r.Begin()
		for range 600_000 {
			r.Call("MPI_Barrier", 3, tracktest.World)
		}
		r.End()
	},
	"workers": func(r *tracktest.Recorder, _ int) { tracktest.Workers(12)(r) },
	"ring":    func(r *tracktest.Recorder, shift int) { ring(r, shift, 0x1) },
	// As ring, but rank 2 sends one message with another tag.
	"ring-tag": func(r *tracktest.Recorder, shift int) { ring(r, shift, 2) },
	// Ranks that run the same loop another number of times.
	// guess sends something to itself whose size nobody can guess.
	"guess": func(r *tracktest.Recorder, _ int) {
		r.Begin()
		r.Send(3, int64(r.Rank*r.Rank*7919%(r.Size+13)), int64(r.Rank), 1)
		r.Allreduce(4, 1)
		r.End()
	},
	"uneven": func(r *tracktest.Recorder, _ int) {
		r.Begin()
		for range 3 * (r.Rank + 1) {
			r.Send(1, 4, 0, 1)
			r.Allreduce(2, 1)
		}
		r.End()
	},
	// Sizes that depend on rank and step.
	"sizes": func(r *tracktest.Recorder, _ int) {
		r.Begin()
		for step := range 10 {
			r.Send(3, 100+int64(r.Rank*3+step*7)%10, int64((r.Rank+1)%r.Size), 1)
			left := (r.Rank + r.Size - 1) % r.Size
			r.Recv(4, 100+int64(left*3+step*7)%10, int64(left), 1)
		}
		r.Allreduce(5, 1)
		r.Allreduce(5, 1)
		r.End()
	},
	// Messages to other ranks in each step, from any source.
	"scattered": func(r *tracktest.Recorder, _ int) {
		r.Begin()
		for step := range 20 {
			to := func(rank, k int) int { return (rank*rank*7 + step*step*(k+3) + rank*step*k + k) % r.Size }
			come := int64(0)
			for from := range r.Size {
				for k := range 3 {
					if to(from, k) == r.Rank {
						r.Irecv(3, 100, int64(from), 1)
						come++
					}
				}
			}
			for k := range 3 {
				r.Isend(4, int64(10+(r.Rank*5+step*k)%90), int64(to(r.Rank, k)), 1)
			}
			r.Waitall(5, come+3)
			r.Allreduce(6, 1)
		}
		r.End()
	},
	// Loops with other numbers of rounds in each step, of all ranks together and of two each; and one whose requests outlive its rounds.
	"converging": func(r *tracktest.Recorder, _ int) {
		r.Begin()
		for step := range 20 {
			for range 20 + step*step%17 {
				r.Allreduce(3, 1)
			}
			other := int64(r.Rank ^ 1)
			for range 5 + (step*step+int(min(other, int64(r.Rank)))*step)%7 {
				r.Irecv(4, 10, other, 1)
				r.Isend(5, 10, other, 1)
				r.Waitall(6, 2)
			}
			n := 3 + step*step%5
			for range n {
				r.Irecv(7, 10, other, 2)
				r.Isend(8, 10, other, 2)
			}
			r.Waitall(9, int64(2*n))
		}
		r.End()
	},
	// Rank 1 receives what nobody sends in the trace, rank 2 comes to fewer collective calls.
	"lacking": func(r *tracktest.Recorder, _ int) {
		r.Begin()
		if r.Rank == 1 {
			r.Recv(4, 10, 0, 3)
		}
		for range 3 - r.Rank/2 {
			r.Call("MPI_Barrier", 5, tracktest.World)
		}
		r.End()
	},
	// Two requests that each rank finishes in an order of its own.
	"polling": func(r *tracktest.Recorder, _ int) {
		r.Begin()
		for step := range 20 {
			for tag := range int64(2) {
				r.Irecv(3, 10, int64(r.Rank^1), tag)
				r.Send(4, 10, int64(r.Rank^1), tag)
			}
			left := []int64{4, 2}
			for _, i := range rand.New(rand.NewPCG(uint64(r.Rank), uint64(step))).Perm(2) {
				r.Call("MPI_Waitany", 5, 2, 2, left[0], left[1], int64(i), 1, int64(r.Rank^1), int64(i), 40, 0)
				left[i] = 0
			}
		}
		r.End()
	},
	// A call with a handle that nobody made.
	"unknown": func(r *tracktest.Recorder, _ int) {
		r.Begin()
		r.Call("MPI_Barrier", 1, trace.UnknownHandle)
		r.End()
	},
	"threads": threads,
	// A file for each rank, written in strides, and one that isn't there.
	"files": func(r *tracktest.Recorder, _ int) {
		path := []byte(fmt.Sprintf("out.%03d", r.Rank))
		r.Begin()
		r.Call("open", 20, 1024, r.String(string(signature.FileTemplate(path, r.Rank))), 0x241, 0o644)
		for i := range int64(5) {
			r.LaneOn(0, "pwrite", 21, []int{4}, 0, 4096, 1024, 4096, i*8192)
		}
		r.Call("close", 22, 0, 1024)
		r.CallOn(0, "fopen", 23, 2, 1, r.String("missing"), r.String("r"))
		r.End()
	},
	// 10^15 calls.
	"endless": func(r *tracktest.Recorder, _ int) { tracktest.Endless(r) },
	// The same with one more barrier near the end.
	"endless-but": func(r *tracktest.Recorder, _ int) { tracktest.EndlessBut(r) },
	"makers":      func(r *tracktest.Recorder, _ int) { tracktest.Makers(r) },
	"own":         own,
}

func ring(r *tracktest.Recorder, shift, odd int) {
	r.Call("MPI_Init", shift)
	for i := range 5 {
		tag := int64(3)
		if i == 3 && odd == 2 && r.Rank == 2 {
			tag = 4
		}
		r.Send(shift+1, 10, int64((r.Rank+1)%r.Size), tag)
		r.Recv(shift+2, 10, int64((r.Rank+r.Size-1)%r.Size), 3)
	}
	r.Call("MPI_Finalize", shift+3)
}

// threads has a second thread that waits for what it sends.
func threads(r *tracktest.Recorder, _ int) {
	r.Begin()
	for range 3 {
		r.Allreduce(5, 1)
		r.CallOn(1, "MPI_Isend", 6, 0, 1, 0, 4, tracktest.IntType, 0, 9, tracktest.World, 2)
		r.CallOn(1, "MPI_Wait", 7, 0, 2, 4, 0)
	}
	r.End()
}

// own makes a communicator of its own and names it.
func own(r *tracktest.Recorder, _ int) {
	r.Begin()
	comm := int64(trace.FirstCreatedHandle)
	r.Call("MPI_Comm_dup", 3, tracktest.World, comm, 0, 0, int64(r.Rank), int64(r.Size), -1, 0, 0)
	r.Call("MPI_Comm_set_name", 4, comm, r.String("my \"own\""))
	r.Call("MPI_Barrier", 5, comm)
	r.Call("MPI_Barrier", 5, tracktest.World)
	r.End()
}

// leave DIR RANK RANKS END [spawned] makes a process directory in DIR.
func leave(args []string) error {
	p := recovertest.Process{Loops: 3, End: args[3], Spawned: len(args) > 4, Alone: args[3] == recovertest.Marked}
	var err error
	if p.Rank, err = strconv.Atoi(args[1]); err != nil {
		return err
	}
	if p.Ranks, err = strconv.Atoi(args[2]); err != nil {
		return err
	}
	if p.Spawned {
		p.PID = 200 + p.Rank
	}
	_, err = recovertest.Write(args[0], p)
	return err
}

// flip FILE OFFSET changes a byte; a negative offset counts from the end.
func flip(args []string) error {
	b, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	at, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 0x10
	return os.WriteFile(args[0], b, 0o644)
}

// cut FILE BYTES takes bytes off the end.
func truncate(args []string) error {
	n, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	st, err := os.Stat(args[0])
	if err != nil {
		return err
	}
	return os.Truncate(args[0], st.Size()-n)
}

// mktimes FILE MODE writes the trace of three virtual ranks whose calls take known times, as
// they are kept in a timing mode: 20 rounds of a send, 100 ns after whatever comes before, and an all-reduce
// of 1 µs on rank 0, 2 µs on rank 1, 3 µs on rank 2, and 100 µs more in the last round.
func mktimes(args []string) error {
	const rounds = 20
	tracks := tracktest.RunAll(3, func(r *tracktest.Recorder) {
		r.Begin()
		for range rounds {
			r.Send(3, 4, 0, 1)
			r.Allreduce(4, 1)
		}
		r.End()
	})
	for rank, t := range tracks {
		tracktest.Timed(t, timing.Mode(args[1]), func(i int) (gap, duration uint64) {
			switch {
			case i == 0 || i > 2*rounds: // MPI_Init and MPI_Finalize
				return 50, 500
			case i%2 == 1:
				return 100, 200 + uint64(i)
			case i == 2*rounds:
				return 10, 101_000 + 1000*uint64(rank)
			}
			return 10, 1000 + 1000*uint64(rank)
		})
	}
	return os.WriteFile(args[0], mergetest.File(stop{}, tracks, nil), 0o644)
}

// stop ends a command in place of a test.
type stop struct{}

func (stop) Helper() {}

func (stop) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(1)
}
