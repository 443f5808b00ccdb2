package profile

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	spoortrace "github.com/spoor-hpc/spoor/trace"
)

// TestFirstCalls: means alone have apart what comes before a first call, what that takes itself, and what comes before the first entry of a
// loop. The tree, what info says first, and the time line show it, with what iterations of the run took and without.
func TestFirstCalls(t *testing.T) {
	for _, m := range mpis.Need(t) {
		for _, args := range [][]string{{"--stack", "0", "--when", "never"}, {"--stack", "32"}} {
			t.Run(m.Name+" "+strings.Join(args, " "), func(t *testing.T) {
				mpis.Steady(t, func(complain func(string, ...any)) { firstCalls(t, m, args, complain) })
			})
		}
	}
}

func firstCalls(t *testing.T, m *mpis.MPI, args []string, complain func(string, ...any)) {
	const ranks = 2
	dir := t.TempDir()
	if err := m.Compile(filepath.Join(dir, "app"), "testdata/firsts.c", "-O1", "-g"); err != nil {
		t.Fatal(err)
	}
	said := spoor(t, dir, slices.Concat([]string{"run", "-q", "-o", "app.spoor"}, args, m.Command(ranks, "./app"))...)
	var want [7]float64 // ms, on average over ranks
	found := 0
	for line := range strings.Lines(said) {
		var ns [7]float64
		if n, _ := fmt.Sscanf(line, "computed %f %f %f %f %f %f %f", &ns[0], &ns[1], &ns[2], &ns[3], &ns[4], &ns[5], &ns[6]); n == len(ns) {
			found++
			for i := range ns {
				want[i] += ns[i] / ranks / 1e6
			}
		}
	}
	if found != ranks {
		t.Fatalf("%d of %d ranks say how long they computed:\n%s", found, ranks, said)
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 0.05*want+0.2 { // a rank may lose its processor between its look at the clock and the recorder's
			complain("%s: %.3g ms, want %.3g", what, got, want)
		}
	}
	ms := func(ns *float64) float64 {
		if ns == nil {
			return 0
		}
		return *ns / 1e6
	}
	var list []struct {
		Sites   []struct{ Function string }
		Threads []struct{ Body []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "app.spoor")), &list); err != nil {
		t.Fatal(err)
	}
	type node struct {
		Kind     string
		Site     int
		Entered  uint64
		Most     uint64
		Entry    *float64 `json:"entry_compute_ns"`
		First    *float64 `json:"first_compute_ns"`
		FirstMPI *float64 `json:"first_mpi_ns"`
		Body     []json.RawMessage
	}
	seen := 0
	var look func(body []json.RawMessage)
	look = func(body []json.RawMessage) {
		for _, raw := range body {
			var n node
			if err := json.Unmarshal(raw, &n); err != nil {
				t.Fatal(err)
			}
			switch {
			case n.Most == 20:
				near("the loop is first entered after", ms(n.First), want[2])
				near("the loop is entered later after", ms(n.Entry), want[3])
				seen++
			case n.Site > 0 && list[0].Sites[n.Site-1].Function == "MPI_Allreduce":
				near("before the first reduction", ms(n.First), want[0])
				seen++
			case n.Site > 0 && list[0].Sites[n.Site-1].Function == "MPI_Reduce_local":
				near("in the first operation", ms(n.FirstMPI), want[5])
				seen++
			case n.First != nil || n.FirstMPI != nil:
				complain("node %s", raw)
			}
			look(n.Body)
		}
	}
	if look(list[0].Threads[0].Body); seen != 3 {
		complain("%d of 3 places in the tree", seen)
	}
	text := spoor(t, dir, "calltree", "app.spoor")
	for _, x := range []string{"first entered after ", "first after ", "first takes "} {
		if strings.Count(text, x) != 1 {
			complain("not once %q:\n%s", x, text)
		}
	}
	if said := spoor(t, dir, "info", "app.spoor"); !strings.Contains(said, "before the first of 5 calls of MPI_Allreduce") {
		complain("info:\n%s", said)
	}
	f, err := spoortrace.Open(filepath.Join(dir, "app.spoor"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls, err := f.UnusualFirstCalls()
	if err != nil || len(calls) != 3 {
		complain("%d of 3 first calls: %+v, %v", len(calls), calls, err)
		return
	}
	for _, c := range calls {
		switch c.Function {
		case "MPI_Allreduce":
			near("the first", c.FirstAndLaterGapNs[0]/1e6, want[0])
			near("later ones", c.FirstAndLaterGapNs[1]/1e6, want[1])
		case "MPI_Bcast":
			near("the first entry", c.FirstAndLaterGapNs[0]/1e6, want[2])
			near("later entries", c.FirstAndLaterGapNs[1]/1e6, want[3])
		default:
			near("the first operation", c.FirstAndLaterDurationNs[0]/1e6, want[5])
			near("later operations", c.FirstAndLaterDurationNs[1]/1e6, want[6])
		}
	}
	k, err := f.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[string][]float64) // ms before and in the calls
	for c, err := range k.TimedCalls(0) {
		if err != nil {
			t.Fatal(err)
		}
		times[c.Func.Name] = append(times[c.Func.Name], float64(c.Timing.Gap.Ns)/1e6, float64(c.Timing.Duration.Ns)/1e6)
	}
	// The rank's own, while the program's are means of both.
	for _, x := range []struct {
		function    string
		at          int
		want, other float64
	}{
		{"MPI_Allreduce", 0, want[0], want[1]}, {"MPI_Allreduce", 2, want[1], want[0]}, {"MPI_Bcast", 0, want[2], want[3]}, {"MPI_Bcast", 40, want[3], want[2]},
		{"MPI_Reduce_local", 1, want[5], want[6]}, {"MPI_Reduce_local", 9, want[6], want[5]},
	} {
		if got := times[x.function][x.at]; math.Abs(got-x.want) > math.Abs(got-x.other)/2 {
			complain("time %d of %s on the line: %.3g ms, want about %.3g", x.at, x.function, got, x.want)
		}
	}
}
