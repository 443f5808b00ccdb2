package hang_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/hang"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

const (
	world     = tracktest.World
	anySource = -1
	anyTag    = -2
	own       = int64(trace.FirstCreatedHandle) // the first communicator that a program makes
	hour      = 3600 * 1_000_000_000
)

// A rank of a program that hangs: what follows the calls that return is the open one.
type rank struct{ *tracktest.Recorder }

func (r rank) open(name string, site int, vals ...int64) {
	r.CallOn(0, name, site, append([]int64{trace.ReturnCodeNeverReturned}, vals...)...)
}

var buffer = []int64{1, 0}

func (r rank) recv(source, tag int64) { r.recvOn(world, source, tag) }
func (r rank) recvOn(comm, source, tag int64) {
	r.open("MPI_Recv", 20, append(buffer[:2:2], 4, tracktest.IntType, source, tag, comm)...)
}
func (r rank) send(name string, dest, tag int64) {
	r.open(name, 21, append(buffer[:2:2], 4, tracktest.IntType, dest, tag, world)...)
}
func (r rank) wait(name string, requests ...int64) {
	vals := []int64{int64(len(requests)), int64(len(requests))}
	for _, q := range requests {
		vals = append(vals, 2*q) // the so many newest
	}
	r.open(name, 22, vals...)
}
func (r rank) barrier(comm int64) { r.open("MPI_Barrier", 23, comm) }
func (r rank) bcast(root int64) {
	r.open("MPI_Bcast", 24, append(buffer[:2:2], 4, tracktest.IntType, root, world)...)
}
func (r rank) dup(ordinal int64) {
	r.Call("MPI_Comm_dup", 25, world, own+ordinal, ordinal, 0, int64(r.Rank), int64(r.Size), -1, 0, 0)
}
func (r rank) iprobe(source, tag int64, times int) {
	for range times {
		r.Call("MPI_Iprobe", 26, source, tag, world, 0, 0)
	}
}
func (r rank) test(times int) {
	for range times {
		r.Call("MPI_Test", 27, 2, 0, 0)
	}
}

// run makes a trace of ranks that were killed. Open calls have lasted for an hour, or no time to speak of.
func run(t *testing.T, ranks int, lasted uint64, program func(r rank)) *trace.Reader {
	t.Helper()
	tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		r.Begin()
		program(rank{r})
	})
	for _, tr := range tracks {
		end := track.EndCrashed
		for n := range tr.Signatures {
			if tr.Signatures[n].Values[0] == trace.ReturnCodeNeverReturned {
				tr.Times[n].Duration = model.Stat{}
				tr.Times[n].Duration.Add(lasted)
			}
			if c, _ := mpi.CallByID(tr.Signatures[n].FunctionID); c.Name == "MPI_Finalize" {
				end = track.EndFinished
			}
		}
		tr.Process.EndState = end
	}
	return mergetest.Open(t, tracks, nil)
}

func TestKinds(t *testing.T) {
	for name, x := range map[string]struct {
		ranks   int
		program func(r rank)
		verdict hang.Verdict
		cycles  string
		want    string // must be said somewhere
	}{
		"two receives":                   {2, func(r rank) { r.recv(int64(1-r.Rank), 7) }, hang.VerdictDeadlock, "[[0 1]]", "a message from rank 1, tag 7"},
		"a ring of receives":             {3, func(r rank) { r.recv(int64((r.Rank+2)%3), 7) }, hang.VerdictDeadlock, "[[0 2 1]]", "a message from rank 2, tag 7"},
		"a ring of sends":                {3, func(r rank) { r.send("MPI_Send", int64((r.Rank+1)%3), 3) }, hang.VerdictDeadlock, "[[0 1 2]]", "rank 1 to receive tag 3"},
		"synchronous sends":              {2, func(r rank) { r.send("MPI_Ssend", int64(1-r.Rank), 3) }, hang.VerdictDeadlock, "[[0 1]]", "rank 1 to receive tag 3"},
		"buffered sends are no deadlock": {2, func(r rank) { r.send("MPI_Bsend", int64(1-r.Rank), 3) }, hang.VerdictProgressing, "[]", ""},
		"waitall of receives, one has come": {3, func(r rank) {
			if r.Rank == 2 {
				r.Send(9, 4, 0, 5)
				r.Send(9, 4, 1, 5)
				return
			}
			r.Irecv(10, 4, 2, 5)
			r.Irecv(11, 4, int64(1-r.Rank), 6)
			r.wait("MPI_Waitall", 2, 1)
		}, hang.VerdictDeadlock, "[[0 1]]", "a message from rank 1, tag 6"},
		"waitany, no way out": {3, func(r rank) {
			if r.Rank == 0 {
				r.Irecv(10, 4, 1, 5)
				r.Irecv(11, 4, 2, 5)
				r.wait("MPI_Waitany", 2, 1)
				return
			}
			r.recv(0, 1)
		}, hang.VerdictDeadlock, "[[0 1]]", "a message from rank 1, tag 5 or a message from rank 2, tag 5"},
		"waitany, one way out": {3, func(r rank) {
			switch r.Rank {
			case 0:
				r.Irecv(10, 4, 1, 5)
				r.Irecv(11, 4, 2, 5)
				r.wait("MPI_Waitany", 2, 1)
			case 1:
				r.recv(0, 1)
			}
		}, hang.VerdictWaiting, "[]", ""},
		"a wildcard, nobody is left": {3, func(r rank) {
			if r.Rank == 0 {
				r.recv(anySource, anyTag)
				return
			}
			r.recv(0, 1)
		}, hang.VerdictDeadlock, "[[0 1]]", "a message from any rank, any tag"},
		"wildcards on all": {3, func(r rank) { r.recv(anySource, anyTag) }, hang.VerdictDeadlock, "[[0 1]]", "a message from any rank, any tag: [1 2]"},
		"a wildcard, somebody is left": {3, func(r rank) {
			switch r.Rank {
			case 0:
				r.recv(anySource, anyTag)
			case 1:
				r.recv(0, 1)
			}
		}, hang.VerdictWaiting, "[]", ""},
		"a barrier without one": {4, func(r rank) {
			if r.Rank == 3 {
				r.recv(0, 9)
				return
			}
			r.barrier(world)
		}, hang.VerdictDeadlock, "[[0 3]]", "rank 3 to call MPI_Barrier on MPI_COMM_WORLD"},
		"roots that differ": {2, func(r rank) { r.bcast(int64(1 - r.Rank)) }, hang.VerdictDeadlock, "[[0 1]]", "mismatch at 0"},
		"collectives that differ": {3, func(r rank) {
			r.Allreduce(8, 1)
			if r.Rank == 1 {
				r.barrier(world)
				return
			}
			r.bcast(1)
		}, hang.VerdictDeadlock, "[[0 1]]", "mismatch at 1"},
		"communicators in another order": {2, func(r rank) {
			r.dup(0)
			r.dup(1)
			r.barrier(own + int64(r.Rank))
		}, hang.VerdictDeadlock, "[[0 1]]", "rank 1 to call MPI_Barrier on communicator 1 of MPI_Comm_dup"},
		"a receive from one that has finished": {2, func(r rank) {
			if r.Rank == 1 {
				r.End()
				return
			}
			r.recv(1, 7)
		}, hang.VerdictStuck, "[]", "a message from rank 1, tag 7"},
		"a wrong tag": {2, func(r rank) {
			if r.Rank == 0 {
				r.Send(9, 4, 1, 8)
			}
			r.recv(int64(1-r.Rank), 7)
		}, hang.VerdictDeadlock, "[[0 1]]", "left over: 1 from 0 to 1, tag 8"},
		"a wrong communicator": {2, func(r rank) {
			r.dup(0)
			if r.Rank == 0 {
				r.Send(9, 4, 1, 8)
			}
			r.recvOn(own, int64(1-r.Rank), 8)
		}, hang.VerdictDeadlock, "[[0 1]]", "tag 8, communicator 1 of MPI_Comm_dup"},
		"a probe": {2, func(r rank) {
			if r.Rank == 0 {
				r.open("MPI_Probe", 20, 1, 4, world)
				return
			}
			r.recv(0, 1)
		}, hang.VerdictDeadlock, "[[0 1]]", "a message from rank 1, tag 4"},
		"a probe whose message has come": {2, func(r rank) {
			if r.Rank == 0 {
				r.open("MPI_Probe", 20, anySource, anyTag, world)
				return
			}
			r.Send(9, 4, 0, 3)
			r.recv(0, 1)
		}, hang.VerdictWaiting, "[]", ""},
		"sendrecv out of step": {3, func(r rank) {
			right := int64((r.Rank + 1) % 3)
			r.open("MPI_Sendrecv", 20, 1, 0, 4, tracktest.IntType, right, 1, 1, 0, 4, tracktest.IntType, right, 1, world)
		}, hang.VerdictDeadlock, "[[0 1 2]]", "rank 1 to receive tag 1 and a message from rank 1, tag 1"},
		"a collective begun by all but one": {3, func(r rank) {
			if r.Rank == 2 {
				r.recv(0, 5)
				return
			}
			r.Call("MPI_Ibarrier", 10, world, 2)
			r.wait("MPI_Waitall", 1)
		}, hang.VerdictDeadlock, "[[0 2]]", "rank 2 to call MPI_Ibarrier"},
		"a scan waits for lower ranks alone": {3, func(r rank) {
			if r.Rank == 2 {
				return
			}
			r.open("MPI_Scan", 20, 1, 0, 1, 8, 1, tracktest.IntType, 0x21, world)
		}, hang.VerdictProgressing, "[]", ""},
		"a fence without one": {3, func(r rank) {
			r.Call("MPI_Win_create", 30, 1, 0, 4096, 8, 0x130, world, own)
			r.Call("MPI_Win_fence", 31, 0, own)
			if r.Rank == 2 {
				r.barrier(world)
				return
			}
			r.open("MPI_Win_fence", 32, 0, own)
		}, hang.VerdictDeadlock, "[[0 2]]", "rank 2 to call MPI_Win_fence on window 1 of MPI_COMM_WORLD"},
		"a file that one does not close": {2, func(r rank) {
			r.Call("MPI_File_open", 30, world, r.String("out.dat"), 1, 0x130, own)
			if r.Rank == 0 {
				r.barrier(world)
				return
			}
			r.open("MPI_File_close", 32, own)
		}, hang.VerdictDeadlock, "[[0 1]]", "rank 0 to call MPI_File_close on file \"out.dat\""},
		"probing in vain": {2, func(r rank) { r.iprobe(int64(1-r.Rank), 7, 100_000) }, hang.VerdictLivelock, "[[0 1]]", "a message from rank 1, tag 7: [1], 100000 times"},
		"testing in vain": {2, func(r rank) {
			r.Irecv(10, 4, int64(1-r.Rank), 7)
			r.test(10_000)
		}, hang.VerdictLivelock, "[[0 1]]", "a message from rank 1, tag 7"},
		"testing now and then": {2, func(r rank) {
			r.Irecv(10, 4, int64(1-r.Rank), 7)
			r.test(10)
		}, hang.VerdictProgressing, "[]", ""},
		"two threads, one way out": {2, func(r rank) {
			r.recv(int64(1-r.Rank), 7)
			r.CallOn(1, "MPI_Send", 30, 0, 1, 0, 4, tracktest.IntType, int64(1-r.Rank), 8, world)
		}, hang.VerdictProgressing, "[]", ""},
		"two threads, no way out": {2, func(r rank) {
			r.recv(int64(1-r.Rank), 7)
			r.CallOn(1, "MPI_Recv", 30, trace.ReturnCodeNeverReturned, 1, 0, 4, tracktest.IntType, int64(1-r.Rank), 8, world)
		}, hang.VerdictDeadlock, "[[0 1]]", "a message from rank 1, tag 7"},
		"a persistent receive": {2, func(r rank) {
			r.Call("MPI_Recv_init", 30, 1, 0, 4, tracktest.IntType, int64(1-r.Rank), 7, world, 1)
			r.Call("MPI_Start", 31, 1)
			r.open("MPI_Wait", 32, 1)
		}, hang.VerdictDeadlock, "[[0 1]]", "a message from rank 1, tag 7"},
		"a receive that failed before": {2, func(r rank) {
			r.CallOn(0, "MPI_Recv", 30, 15, 1, 0, 4, tracktest.IntType, int64(1-r.Rank), 8, world, 0)
			r.recv(int64(1-r.Rank), 7)
		}, hang.VerdictProgressing, "[]", "not sure of [0 1]"},
		"slow: one computes": {4, func(r rank) {
			r.Allreduce(8, 1)
			switch r.Rank {
			case 0:
				r.recv(2, 7)
			case 1, 3:
				r.recv(0, 7)
			}
		}, hang.VerdictWaiting, "[]", "3 wait for 2"},
		"a message on its way": {2, func(r rank) {
			if r.Rank == 0 {
				r.Send(9, 4, 1, 7)
				return
			}
			r.recv(0, 7)
		}, hang.VerdictProgressing, "[]", ""},
		"all is well": {3, func(r rank) {
			r.Allreduce(8, 1)
			r.End()
		}, hang.VerdictEnded, "[]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			rep, err := hang.Analyse(run(t, x.ranks, hour, x.program), hang.Options{NameSite: func(s trace.Site) string { return fmt.Sprintf("+0x%x", s.Offset) }})
			if err != nil {
				t.Fatal(err)
			}
			var cycles [][]int
			for _, c := range rep.Cycles {
				cycles = append(cycles, c.Ranks)
			}
			if rep.Verdict != x.verdict || fmt.Sprint(cycles) != x.cycles {
				t.Errorf("%s with cycles %v, want %s with %s", rep.Verdict, cycles, x.verdict, x.cycles)
			}
			if said := said(rep); !strings.Contains(said, x.want) {
				t.Errorf("%q is not in:\n%s", x.want, said)
			}
		})
	}
}

// said is all that a report says of why ranks wait.
func said(r *hang.Report) string {
	var b strings.Builder
	for _, s := range r.States {
		for _, x := range s.Ranks {
			fmt.Fprintf(&b, "rank %d %s in %s, for %s: %v, %d times\n", x.Rank, s.Kind, s.Function, x.WaitsForText, x.WaitsFor, x.Polls)
		}
	}
	for _, m := range r.Mismatches {
		fmt.Fprintf(&b, "mismatch at %d: %v\n", m.CollectiveIndex, m.Calls)
	}
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "left over: %d from %d to %d, tag %d\n", m.Count, m.From, m.To, m.Tag)
	}
	fmt.Fprintf(&b, "not sure of %v\n", r.RanksWithUnknownCalls)
	for _, a := range r.WaitChainEnds {
		fmt.Fprintf(&b, "%d wait for %d\n", len(a.WaitingRanks), a.Rank)
	}
	return b.String()
}

// TestBrief: sends that have just begun may need no receiver.
func TestBrief(t *testing.T) {
	sends := func(r rank) { r.send("MPI_Send", int64(1-r.Rank), 3) }
	for lasted, want := range map[uint64]hang.Verdict{1000: hang.VerdictProgressing, 0: hang.VerdictDeadlock, hour: hang.VerdictDeadlock} {
		rep, err := hang.Analyse(run(t, 2, lasted, sends), hang.Options{})
		if err != nil || rep.Verdict != want {
			t.Errorf("open for %d ns: %v, %v", lasted, rep.Verdict, err)
		}
	}
}

// TestProcesses: what is known of processes counts: one that moves does not wait, one that is gone
// does nothing for others.
func TestProcesses(t *testing.T) {
	program := func(r rank) {
		if r.Rank == 0 {
			r.recv(1, 7)
		}
	}
	receives := func(r rank) { r.recv(int64(1-r.Rank), 7) }
	for name, x := range map[string]struct {
		program func(r rank)
		process hang.Process
		want    hang.Verdict
	}{
		"computes": {program, hang.Process{Alive: true}, hang.VerdictWaiting},
		"is gone":  {program, hang.Process{Ended: true}, hang.VerdictStuck},
		"waits":    {receives, hang.Process{Alive: true}, hang.VerdictDeadlock},
		"is torn":  {receives, hang.Process{HasUnreadableRecords: true}, hang.VerdictWaiting},
		"moves":    {receives, hang.Process{Alive: true, MadeCalls: true}, hang.VerdictWaiting},
	} {
		rep, err := hang.Analyse(run(t, 2, hour, x.program), hang.Options{ProcessOfRank: func(rank int) hang.Process {
			if rank == 1 {
				return x.process
			}
			return hang.Process{Alive: true}
		}})
		if err != nil || rep.Verdict != x.want {
			t.Errorf("rank 1 %s: %v, %v", name, rep.Verdict, err)
		}
	}
}

// TestHeld: ranks that are all in one collective wait for the one whose process doesn't run.
func TestHeld(t *testing.T) {
	barriers := func(r rank) { r.barrier(world) }
	for held, want := range map[string]struct {
		verdict hang.Verdict
		awaited []hang.WaitChainEnd
	}{"": {hang.VerdictProgressing, []hang.WaitChainEnd{}}, hang.HeldByStopSignal: {hang.VerdictWaiting, []hang.WaitChainEnd{{Rank: 2, WaitingRanks: []int{0, 1}}}}} {
		rep, err := hang.Analyse(run(t, 3, hour, barriers), hang.Options{ProcessOfRank: func(rank int) (p hang.Process) {
			if p.Alive = true; rank == 2 {
				p.HeldBy = held
			}
			return p
		}})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Verdict != want.verdict || !reflect.DeepEqual(rep.WaitChainEnds, want.awaited) {
			t.Errorf("held %q: %s, awaited %v, want %v", held, rep.Verdict, rep.WaitChainEnds, want)
		}
		if s := rep.States[0]; s.CollectiveNumber != 1 || s.Comm != "MPI_COMM_WORLD" || (s.WaitsForText == "rank 2 to go on in MPI_Barrier on MPI_COMM_WORLD") != (held != "") {
			t.Errorf("held %q: %+v", held, s)
		}
	}
}

// TestWhole: traces of programs that came to their end have nothing left over.
func TestWhole(t *testing.T) {
	for name, program := range map[string]func(r *tracktest.Recorder){
		"stencil": tracktest.Stencil(10), "workers": tracktest.Workers(12), "butterfly": tracktest.Butterfly(3), "transpose": tracktest.Transpose(3),
	} {
		rep, err := hang.Analyse(mergetest.Run(t, 16, program), hang.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Verdict != hang.VerdictEnded || len(rep.Messages)+len(rep.Receives)+len(rep.Mismatches) > 0 {
			t.Errorf("%s: %s: %v, %v, %v", name, rep.Verdict, rep.Messages, rep.Receives, rep.Mismatches)
		}
	}
}
