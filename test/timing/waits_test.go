package timing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// A spell is a time that a rank of waits.c was in an operation.
type spell struct{ from, to, starved float64 }

// spells returns what the ranks of waits.c measured, by operation, rank and round.
func (a *app) spells() map[string]map[int][]spell {
	a.t.Helper()
	all := make(map[string]map[int][]spell)
	for rank := range a.ranks {
		text, err := os.ReadFile(filepath.Join(a.job.Dir, fmt.Sprintf("truth.%d", rank)))
		if err != nil {
			a.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			n := len(words) - 3
			var s spell
			if _, err := fmt.Sscan(strings.Join(words[n:], " "), &s.from, &s.to, &s.starved); err != nil {
				a.t.Fatalf("%q: %v", line, err)
			}
			name := strings.Join(words[:n], " ")
			if all[name] == nil {
				all[name] = make(map[int][]spell)
			}
			all[name][rank] = append(all[name][rank], s)
		}
	}
	return all
}

// An expected wait is of one kind in one function: who waited, from when, until who came.
type expected struct {
	kind     waits.Kind
	function string
	ranks    []int
	waits    string // the operation in which they did
	late     int    // anyOf: the last of them in each round
	comes    string // the operation that this one came to
	may      bool   // who returned before that did not wait
}

const (
	anyOf    = -1
	besideIt = -2 // the last of the ranks beside it
)

var everyone = []int{0, 1, 2, 3}

// Where the cores are shared, who was to be early may be the last one, and who wasn't to wait may.
var expectations = map[string][]expected{"waits.c": {
	{waits.LateSender, "MPI_Recv", []int{0}, "recv", 1, "send", false},
	{waits.LateReceiver, "MPI_Ssend", []int{2}, "ssend", 3, "posted", false},
	{waits.LateSender, "MPI_Waitall", []int{0}, "waitall", 2, "isend2", false},
	{waits.WrongOrder, "MPI_Recv", []int{0}, "wrong", 1, "second", false},
	{waits.LateReceiver, "MPI_Wait", []int{3}, "wait", 0, "sendrecv", false},
	{waits.WaitAtNxN, "MPI_Allreduce", everyone, "allreduce", anyOf, "allreduce", false},
	{waits.LateRoot, "MPI_Bcast", []int{0, 2, 3}, "bcast", 1, "bcast", false},
	{waits.EarlyRoot, "MPI_Reduce", []int{0}, "reduce", 3, "reduce", false},
	{waits.EarlyScan, "MPI_Scan", []int{2, 3}, "scan", 1, "scan", false},
	{waits.WaitAtBarrier, "MPI_Wait", everyone, "wait for ibarrier", anyOf, "ibarrier", false},
	{waits.WaitAtNxN, "MPI_Comm_split", everyone, "split", anyOf, "split", false},
	{waits.WaitAtNxN, "MPI_Allgather", []int{0, 2}, "allgather of half", anyOf, "allgather of half", false},
	{waits.WaitAtNxN, "MPI_Allgather", []int{1, 3}, "allgather of half", anyOf, "allgather of half", false},
}, "filewaits.c": {
	{waits.WaitAtNxN, "MPI_File_open", everyone, "open", anyOf, "open", true},
	{waits.WaitAtNxN, "MPI_File_set_size", everyone, "set size", anyOf, "set size", true},
	{waits.WaitAtNxN, "MPI_File_set_view", everyone, "set view", anyOf, "set view", true},
	{waits.WaitAtNxN, "MPI_File_write_all", everyone, "write all", anyOf, "write all", true},
	{waits.WaitAtNxN, "MPI_File_read_at_all", everyone, "read at all", anyOf, "read at all", true},
	{waits.WaitAtNxN, "MPI_File_write_at_all_begin", everyone, "write at all begin", anyOf, "write at all begin", true},
	{waits.WaitAtNxN, "MPI_File_write_at_all_end", everyone, "write at all end", anyOf, "write at all begin", true},
	{waits.WaitAtNxN, "MPI_Wait", everyone, "wait for iwrite all", anyOf, "iwrite all", true},
	{waits.WaitAtNxN, "MPI_File_sync", everyone, "sync", anyOf, "sync", true},
	{waits.WaitAtNxN, "MPI_File_close", everyone, "close", anyOf, "close", true},
	{waits.LateSender, "MPI_Neighbor_allgather", []int{0, 2}, "neighbours", besideIt, "neighbours", false},
	{waits.LateSender, "MPI_Wait", []int{1, 3}, "wait for ineighbours", besideIt, "ineighbours", false},
}, "probewaits.c": {
	{waits.LateSender, "MPI_Probe", []int{0}, "probe", 1, "send", false},
	{waits.LateSender, "MPI_Probe", []int{3}, "probe second", 2, "second", false},
	{waits.LateSender, "MPI_Mprobe", []int{1}, "mprobe", 3, "matched", false},
	{waits.WrongOrder, "MPI_Recv", []int{1}, "recv later", 3, "later", false},
}, "windowwaits.c": {
	{waits.LatePost, "MPI_Win_start", []int{1, 2, 3}, "start", 0, "post", true},
	{waits.LatePost, "MPI_Win_complete", []int{1, 2, 3}, "complete", 0, "post", true},
	{waits.LateComplete, "MPI_Win_wait", []int{0}, "win wait", 2, "complete", false},
	{waits.WaitAtNxN, "MPI_Win_fence", everyone, "fence", anyOf, "fence", true},
	{waits.WaitForLock, "MPI_Win_lock", []int{2}, "lock", 1, "unlock", true},
	{waits.WaitForLock, "MPI_Win_lock_all", []int{2, 3}, "lock all", 1, "unlock all", true},
	{waits.WaitForProgress, "MPI_Win_lock", []int{2}, "lock busy", 0, "barrier", true},
}, "interwaits.c": {
	{waits.WaitAtNxN, "MPI_Intercomm_create", everyone, "create", anyOf, "create", true},
	{waits.WaitAtBarrier, "MPI_Barrier", everyone, "barrier", anyOf, "barrier", true},
	{waits.WaitAtNxN, "MPI_Allreduce", everyone, "allreduce", anyOf, "allreduce", true},
	{waits.LateRoot, "MPI_Bcast", []int{2, 3}, "bcast", 0, "bcast", false},
	{waits.EarlyRoot, "MPI_Reduce", []int{3}, "reduce", 1, "reduce", false},
	{waits.WaitAtNxN, "MPI_Wait", everyone, "wait", anyOf, "iallgather", true},
	{waits.WaitAtNxN, "MPI_Intercomm_merge", everyone, "merge", anyOf, "merge", true},
}}

// last is the one of several ranks that came to an operation last in a round.
func last(came map[int][]spell, ranks []int, round int) int {
	return slices.MaxFunc(ranks, func(a, b int) int { return cmp.Compare(came[a][round].from, came[b][round].from) })
}

// noise is what processes that share cores may lose of them between a stamp and a call, as a share and in ns. Ranks of MPICH don't give up
// their cores while they wait. Neither do others' processes: after three tries on a crowded machine as much is allowed for them.
func noise(mpi string, try int) (share, ns float64) {
	if mpi == "mpich" || try > 3 && crowded() {
		return 0.25, 60e6
	}
	return 0.03, 10e6
}

// crowded reports whether over the last minute at least four times as many threads wanted to run as there are processors.
func crowded() bool {
	var load float64
	text, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		_, err = fmt.Sscan(string(text), &load)
	}
	return err == nil && load >= float64(4*runtime.NumCPU())
}

// Why ranks waited, for whom and how long is what the ranks measured themselves, and those who were late computed.
func TestWaits(t *testing.T) {
	for _, source := range slices.Sorted(maps.Keys(expectations)) {
		t.Run(source, func(t *testing.T) {
			onEach(t, source, 4, func(t *testing.T, a *app) {
				for _, mode := range [][]string{{"stats", "--waits", "always"}, {"lossless"}, {"place", "--error", "10us"}} {
					try := 0
					mpis.Steady(t, func(complain func(string, ...any)) {
						try++
						waitStates(a, expectations[source], try, mode[0], complain, mode[1:]...)
					})
				}
			})
		})
	}
}

// A trace without wait states says how to have them.
func TestNoWaits(t *testing.T) {
	onEach(t, "waits.c", 4, func(t *testing.T, a *app) {
		a.trace("--waits", "never")
		out := a.job.Run(mpis.Root("bin", "spoor"), "waits", "t.spoor")
		if out.Err == nil || !strings.Contains(out.Stderr, "--timing lossless") {
			t.Errorf("a trace with means: %v", out)
		}
	})
}

func waitStates(a *app, list []expected, try int, mode string, complain func(string, ...any), flags ...string) {
	a.t.Helper()
	a.trace(append(flags, "--timing", mode)...)
	var rep waits.Report
	if err := json.Unmarshal([]byte(a.spoor("waits", "--json", "--top", "0", "t.spoor")), &rep); err != nil {
		a.t.Fatal(err)
	}
	for _, u := range rep.UnanalysedFunctions {
		if u.CallNs*100 >= rep.MPINs {
			complain("%s: %s is not looked at, which takes %d ns of %d", mode, u.Function, u.CallNs, rep.MPINs)
		}
	}
	measured := a.spells()
	share, ns := noise(a.job.MPI.Name, try)
	type sum struct {
		ns, slept float64         // that was waited; of that, while who came last slept
		starved   float64         // what who came last may have lost behind its look at the clock, before it came
		late      map[int]float64 // what was waited for a rank
	}
	known := make(map[[2]string]*sum) // by kind and function, and operation
	for _, e := range list {
		key := [2]string{e.kind.String() + " " + e.function, e.waits}
		if known[key] == nil {
			known[key] = &sum{late: make(map[int]float64)}
		}
		want := known[key]
		for _, rank := range e.ranks {
			for round, s := range measured[e.waits][rank] {
				late := e.late
				switch late {
				case anyOf:
					late = last(measured[e.comes], e.ranks, round)
				case besideIt: // on a busy machine the other one may come later than the one that slept
					late = last(measured[e.comes], slices.DeleteFunc([]int{rank - 1, rank + 1}, func(r int) bool { return r < 0 || r > 3 }), round)
				}
				if rank == late {
					continue
				}
				comes := measured[e.comes][late][round]
				until := math.Min(comes.from, s.to)
				waited := math.Max(0, until-s.from)
				if e.may && comes.from > s.to {
					waited = 0
				}
				want.ns += waited
				want.late[late] += waited
				want.starved += comes.starved
				for _, z := range measured["sleep"][late] {
					want.slept += math.Max(0, math.Min(z.to, until)-math.Max(z.from, s.from))
				}
			}
		}
	}
	off := func(s *waits.Site, want float64) float64 { return math.Abs(float64(s.WaitedNs) - want) }
	for key, want := range known {
		var best *waits.Site // a function has several call sites
		for i := range rep.Sites {
			if s := &rep.Sites[i]; s.Kind.String()+" "+s.Function == key[0] && (best == nil || off(s, want.ns) < off(best, want.ns)) {
				best = s
			}
		}
		if best == nil && want.ns <= ns+want.starved {
			continue
		}
		if best == nil {
			complain("%s: no %s of %.0f ns", mode, key, want.ns)
			continue
		}
		ns := ns + want.starved
		if off(best, want.ns) > share*want.ns+ns {
			complain("%s: %s: %d ns, measured %.0f", mode, key, best.WaitedNs, want.ns)
		}
		for rank, waited := range want.late {
			if first := best.LateRanks[0].Rank; waited > want.late[first]+share*want.ns+ns {
				complain("%s: %s: rank %d came last, want %d, that others waited for for %.0f ns", mode, key, first, rank, waited)
			}
		}
		if len(best.Causes) == 0 {
			complain("%s: %s: no cause", mode, key)
		} else if c := best.Causes[0]; float64(c.LateComputeNs) < (1-share)*want.slept-ns || c.LateComputeNs > c.WaitedNs {
			complain("%s: %s: those who were late computed %d ns of %d, and slept for %.0f", mode, key, c.LateComputeNs, c.WaitedNs, want.slept)
		}
	}
}
