package proxy

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// TestUnevenRanks: what each rank of a proxy lets pass between its calls is what the
// program measured that it computed, in sum and in each part, whatever the trace has of
// times.
func TestUnevenRanks(t *testing.T) {
	const ranks = 3
	m := installed(t)[0]
	binary := filepath.Join(t.TempDir(), "uneven")
	if err := m.Compile(binary, "testdata/uneven.c"); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"stats", "hist", "lossless", "place --error 0.01", "lossless, followed"} {
		mode, followed := strings.CutSuffix(mode, ", followed")
		o := proxy.Options{GapAction: "sleep"}
		if followed {
			o.GapModel = proxy.GapsRecorded
		}
		t.Run(fmt.Sprintf("%s %s", mode, o.GapModel), func(t *testing.T) {
			t.Setenv("PROXY_TIMES", "1")
			mpis.Steady(t, func(complain func(string, ...any)) {
				dir := t.TempDir()
				a := timed(t, m, dir, mode, ranks, binary)
				p, err := proxy.GenerateProgram(a, o)
				if err != nil {
					t.Fatal(err)
				}
				again := t.TempDir()
				if err := p.Write(again); err != nil {
					t.Fatal(err)
				}
				said := make(chan string, 1)
				b := timed(t, m, again, "lossless", ranks, compiled(t, m, again), said)
				if got, why := compare(t, a, b); got != equal {
					t.Fatalf("%s\n%s", got, why)
				}
				due := dues(t, <-said)
				own := !slices.Contains([]string{"stats", "hist"}, mode)
				var sums [2]map[string]float64 // over the ranks: what the trace has of a place is that of all
				sums[0], sums[1] = make(map[string]float64), make(map[string]float64)
				for rank := range ranks {
					truth, all := parts(t, filepath.Join(dir, fmt.Sprintf("truth.%d", rank)))
					if math.Abs(due[rank]/all-1) > 0.05 {
						complain("rank %d is to compute for %.4f s, the program did for %.4f", rank, due[rank], all)
					}
					for part, s := range between(t, b, rank) {
						sums[0][part] += s
						sums[1][part] += truth[part]
						if own {
							enough(complain, fmt.Sprintf("rank %d, %s", rank, part), s, truth[part], all)
						}
					}
				}
				all := sums[1]["warm-up"] + sums[1]["main"] + sums[1]["once"] + sums[1]["nested"]
				for part, s := range sums[0] {
					enough(complain, part, s, sums[1][part], all)
				}
			})
		})
	}
}

// enough allows for what a trace may have at a wrong place. How much longer ranks sleep than they
// should depends on what else the machine does.
func enough(complain func(string, ...any), what string, got, want, all float64) {
	if got < 0.95*want-0.003*all {
		complain("%s: %.4f s, the program's was %.4f", what, got, want)
	}
}

// timed runs a program under the recorder with times of a mode, and gives out what it said.
func timed(t *testing.T, m *mpis.MPI, dir, mode string, ranks int, binary string, said ...chan string) *trace.Reader {
	t.Helper()
	file := filepath.Join(dir, "app.spoor")
	out, err := run(t, m, dir, append([]string{mpis.NeedSpoor(t), "run", "-q", "-o", file, "--timing"}, append(strings.Fields(mode), m.Command(ranks, binary)...)...)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range said {
		c <- out
	}
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// dues is what ranks of a proxy say that they were to compute.
func dues(t *testing.T, out string) map[int]float64 {
	t.Helper()
	list := make(map[int]float64)
	for line := range strings.Lines(out) {
		var rank int
		var spent, due float64
		if _, at, ok := strings.Cut(line, "proxy: rank "); ok {
			if _, err := fmt.Sscanf(at, "%d: %f s between calls, by the trace %f s", &rank, &spent, &due); err == nil {
				list[rank] = due
			}
		}
	}
	return list
}

// parts is what a rank of uneven.c computed in each part and in all of them, in seconds.
func parts(t *testing.T, path string) (of map[string]float64, all float64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	of = make(map[string]float64)
	for line := range strings.Lines(string(text)) {
		var name string
		var n int
		var s float64
		if _, err := fmt.Sscan(line, &name, &n, &s); err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		if of[name] = s; name != "entry" { // which is in another
			all += s
		}
	}
	return of, all
}

// between is what a rank of a trace of uneven.c computed before its calls, by the parts
// of the program; the time before the first rounds of inner loops is also a part.
func between(t *testing.T, r *trace.Reader, rank int) map[string]float64 {
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"start", "warm-up", "main", "once", "nested", "end"}
	of := make(map[string]float64)
	before := ""
	for c, err := range k.TimedCalls(0) {
		if err != nil {
			t.Fatal(err)
		}
		s := float64(c.Timing.Gap.Ns) / 1e9
		switch c.Name() {
		case "MPI_Barrier":
			names = names[1:]
		case "MPI_Allreduce", "MPI_Sendrecv":
			of[names[0]] += s
			if names[0] == "nested" && before != "MPI_Sendrecv" {
				of["entry"] += s
			}
		}
		before = c.Name()
	}
	return of
}
