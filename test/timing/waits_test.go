package timing

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/waits"
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
	rank     int
	waits    string // the operation in which it did
	late     int
	comes    string // the operation that the other came to
}

var expectations = []expected{
	{waits.LateSender, "MPI_Recv", 0, "recv", 1, "send"},
	{waits.LateReceiver, "MPI_Ssend", 2, "ssend", 3, "posted"},
	{waits.LateSender, "MPI_Waitall", 0, "waitall", 2, "isend2"},
	{waits.WrongOrder, "MPI_Recv", 0, "wrong", 1, "second"},
	{waits.LateReceiver, "MPI_Wait", 3, "wait", 0, "sendrecv"},
	{waits.AtAll, "MPI_Allreduce", -1, "allreduce", 2, "allreduce"},
	{waits.LateRoot, "MPI_Bcast", -1, "bcast", 1, "bcast"},
	{waits.EarlyRoot, "MPI_Reduce", 0, "reduce", 3, "reduce"},
	{waits.EarlyScan, "MPI_Scan", 2, "scan", 1, "scan"},
	{waits.EarlyScan, "MPI_Scan", 3, "scan", 1, "scan"},
	{waits.AtBarrier, "MPI_Wait", -1, "wait for ibarrier", 0, "ibarrier"},
	{waits.AtAll, "MPI_Comm_split", -1, "split", 3, "split"},
	{waits.AtAll, "MPI_Allgather", 0, "allgather of half", 2, "allgather of half"},
}

// noise is what processes that share cores may lose of them between a stamp and a call, as a share and in ns: ranks
// of MPICH don't give up their cores while they wait.
func noise(mpi string) (share, ns float64) {
	if mpi == "mpich" {
		return 0.25, 60e6
	}
	return 0.03, 10e6
}

// Why ranks waited, for whom and how long is what the ranks measured themselves, and those who were late computed.
func TestWaits(t *testing.T) {
	onEach(t, "waits.c", 4, func(t *testing.T, a *app) {
		for _, mode := range [][]string{{"lossless"}, {"place", "--error", "10us"}} {
			mpis.Steady(t, func(complain func(string, ...any)) { waitStates(a, mode[0], complain, mode[1:]...) })
		}
		a.trace()
		out := a.job.Run(mpis.Root("bin", "spoor"), "waits", "t.spoor")
		if out.Err == nil || !strings.Contains(out.Stderr, "--timing lossless") {
			t.Errorf("a trace with means: %v", out)
		}
	})
}

func waitStates(a *app, mode string, complain func(string, ...any), flags ...string) {
	a.t.Helper()
	a.trace(append(flags, "--timing", mode)...)
	var rep waits.Report
	if err := json.Unmarshal([]byte(a.spoor("waits", "--json", "--top", "0", "t.spoor")), &rep); err != nil {
		a.t.Fatal(err)
	}
	measured := a.spells()
	share, ns := noise(a.job.MPI.Name)
	type sum struct {
		ns, slept float64 // that was waited; of that, while who came last slept
		starved   float64 // what who came last may have lost behind its look at the clock, before it came
	}
	known := make(map[string]*sum) // by kind and function
	culprits := make(map[string]int)
	for _, e := range expectations {
		key := e.kind.String() + " " + e.function
		if known[key] == nil {
			known[key] = &sum{}
		}
		culprits[key] = e.late
		ranks := []int{e.rank}
		if e.rank < 0 {
			ranks = []int{0, 1, 2, 3}
		}
		for _, rank := range ranks {
			if rank == e.late {
				continue
			}
			for round, s := range measured[e.waits][rank] {
				until := math.Min(measured[e.comes][e.late][round].from, s.to)
				known[key].ns += math.Max(0, until-s.from)
				known[key].starved += measured[e.comes][e.late][round].starved
				for _, z := range measured["sleep"][e.late] {
					known[key].slept += math.Max(0, math.Min(z.to, until)-math.Max(z.from, s.from))
				}
			}
		}
	}
	off := func(s *waits.Site, want float64) float64 { return math.Abs(float64(s.WaitedNs) - want) }
	for key, want := range known {
		var best *waits.Site // a function has several call sites
		for i := range rep.Sites {
			if s := &rep.Sites[i]; s.Kind.String()+" "+s.Function == key && (best == nil || off(s, want.ns) < off(best, want.ns)) {
				best = s
			}
		}
		if best == nil {
			complain("%s: no %s of %.0f ns", mode, key, want.ns)
			continue
		}
		ns := ns + want.starved
		if off(best, want.ns) > share*want.ns+ns {
			complain("%s: %s: %d ns, measured %.0f", mode, key, best.WaitedNs, want.ns)
		}
		if best.Late[0].Rank != culprits[key] {
			complain("%s: %s: rank %d came last, want %d", mode, key, best.Late[0].Rank, culprits[key])
		}
		if c := best.Causes[0]; float64(c.ComputeNs) < (1-share)*want.slept-ns || c.ComputeNs > c.WaitedNs {
			complain("%s: %s: those who were late computed %d ns of %d, and slept for %.0f", mode, key, c.ComputeNs, c.WaitedNs, want.slept)
		}
	}
}
