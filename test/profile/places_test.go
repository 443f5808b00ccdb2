package profile

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// A placed is a node of a profile with what places.c measures.
type placed struct {
	Kind    string
	Site    int
	Rounds  uint64
	Entry   float64 `json:"entry_compute_ns"`
	Entered uint64
	Total   struct {
		Calls   uint64
		Compute float64 `json:"compute_ns"`
		Values  []struct {
			Name       string
			Count, Sum float64
		}
	}
	Body []*placed
}

type placedProfile struct {
	Sites   []struct{ Function string }
	Threads []struct{ Body []*placed }
}

// inMain returns what is in main, where that is known.
func inMain(body []*placed) []*placed {
	if len(body) == 1 && body[0].Kind == "function" {
		return body[0].Body
	}
	return body
}

// parts returns the nodes between the barriers of a thread.
func (p *placedProfile) parts() (list [][]*placed) {
	var part []*placed
	for _, n := range inMain(p.Threads[0].Body) {
		if p.barrier(n) {
			list = append(list, part)
			part = nil
			continue
		}
		part = append(part, n)
	}
	return append(list, part)
}

// barrier reports whether a node is an MPI_Barrier, or a function with nothing else.
func (p *placedProfile) barrier(n *placed) bool {
	if n.Kind == "function" && len(n.Body) == 1 {
		n = n.Body[0]
	}
	return n.Site > 0 && p.Sites[n.Site-1].Function == "MPI_Barrier"
}

// compute sums up a function's calls below some nodes, and before them.
func (p *placedProfile) compute(list []*placed, functions ...string) (calls uint64, ns float64) {
	for _, n := range list {
		for _, f := range functions {
			if n.Site > 0 && p.Sites[n.Site-1].Function == f {
				calls += n.Total.Calls
				ns += n.Total.Compute
			}
		}
		c, x := p.compute(n.Body, functions...)
		calls, ns = calls+c, ns+x
	}
	return calls, ns
}

// Times belong to places: what the program measured between its calls at each place is
// what the profile says was computed there.
func TestPlaces(t *testing.T) {
	m := mpis.Need(t)[0]
	for _, options := range [][]string{
		{"--timing", "stats"},
		{"--timing", "hist"},
		{"--timing", "lossless"},
		{"--timing", "place", "--error", "0.01"},
		{"--timing", "zfp", "--error", "5us"},
	} {
		t.Run(strings.Join(options, " "), func(t *testing.T) {
			mpis.Steady(t, func(complain func(string, ...any)) {
				dir := traceWith(t, m, "places.c", options, "-O0")
				own := !slices.Contains([]string{"stats", "hist"}, options[1])
				for rank := range 2 {
					var list []placedProfile
					text := spoor(t, dir, "calltree", "--json", "--rank", fmt.Sprint(rank), "app.spoor")
					if err := json.Unmarshal([]byte(text), &list); err != nil {
						t.Fatal(err)
					}
					p := &list[0]
					parts := p.parts()
					var folded []placedProfile
					text = spoor(t, dir, "calltree", "--json", "--loops-from", "order", "--rank", fmt.Sprint(rank), "app.spoor")
					if err := json.Unmarshal([]byte(text), &folded); err != nil {
						t.Fatal(err)
					}
					if len(parts) != 7 {
						t.Fatalf("%d parts between barriers:\n%s", len(parts), spoor(t, dir, "calltree", "--rank", fmt.Sprint(rank), "app.spoor"))
					}
					truth := truthOf(t, filepath.Join(dir, fmt.Sprintf("truth.%d", rank)))
					if !own { // means are over the ranks of the class
						for name, other := range truthOf(t, filepath.Join(dir, fmt.Sprintf("truth.%d", 1-rank))) {
							truth[name] = measured{other.times, (truth[name].ns + other.ns) / 2}
						}
					}
					for i, name := range []string{"first", "loop", "last", "warm-up", "main", "nested"} {
						calls, ns := p.compute(parts[1+i], "MPI_Allreduce", "MPI_Sendrecv")
						if want := truth[name]; calls != want.times || !near(ns, want.ns, calls) {
							complain("rank %d, %s: %.3f ms before %d calls; %.3f before %d", rank, name, ns/1e6, calls, want.ns/1e6, want.times)
						}
					}
					for _, x := range []*placedProfile{&folded[0], p} {
						if entry := entryOf(x.parts()[6], "MPI_Sendrecv", x); entry < 25e6 || entry > 60e6 {
							complain("rank %d: the inner loop is entered after %.3f ms, want about %.3f", rank, entry/1e6, truth["entry"].ns/1e6)
						}
					}
				}
			})
		})
	}
}

// Where a call comes after more call sites than the recorder tells apart, its places have the mean of all of them, and the profile
// says at how many; those of a call that comes after fewer have their own times. (With call stacks all of these would have their own.)
func TestManyPlaces(t *testing.T) {
	mpis.Steady(t, func(complain func(string, ...any)) {
		dir := traceWith(t, mpis.Need(t)[0], "many.c", []string{"--timing", "stats", "--stack", "0"})
		var list []struct {
			placedProfile
			Threads []struct {
				Shared int `json:"shared_times"`
				Body   []*placed
			}
		}
		if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "--rank", "0", "app.spoor")), &list); err != nil {
			t.Fatal(err)
		}
		truth, other := truthOf(t, filepath.Join(dir, "truth.0")), truthOf(t, filepath.Join(dir, "truth.1"))
		p := &list[0]
		seen, mean := 0, 0.0
		for i := range 20 {
			mean += (truth[fmt.Sprintf("1.%d", i)].ns + other[fmt.Sprintf("1.%d", i)].ns) / 40
		}
		for _, n := range inMain(p.Threads[0].Body) {
			if n.Site == 0 {
				continue
			}
			switch f := p.Sites[n.Site-1].Function; f {
			case "MPI_Allreduce":
				name := fmt.Sprintf("0.%d", seen)
				if want := (truth[name].ns + other[name].ns) / 2; !near(n.Total.Compute, want, 100) { // 8 ms or 1: a page fault is neither
					complain("%s: %.3f ms before the call, want %.3f", name, n.Total.Compute/1e6, want/1e6)
				}
				seen++
			case "MPI_Reduce":
				if !near(n.Total.Compute, mean, 100) {
					complain("%.3f ms before a reduction, want the mean of all, %.3f", n.Total.Compute/1e6, mean/1e6)
				}
				seen++
			}
		}
		if seen != 32 || p.Threads[0].Shared != 20 {
			t.Errorf("%d places, %d of them with times in common", seen, p.Threads[0].Shared)
		}
	})
}

// near allows 2 %, and for each call what clocks and wrappers take.
func near(got, want float64, calls uint64) bool {
	return math.Abs(got-want) <= 0.02*want+3e3*float64(calls)
}

func entryOf(list []*placed, function string, p *placedProfile) float64 {
	for _, n := range list {
		if n.Site > 0 && p.Sites[n.Site-1].Function == function {
			return n.Entry
		}
		if e := entryOf(n.Body, function, p); e != 0 {
			return e
		}
		if calls, _ := p.compute(n.Body, function); calls > 0 && n.Kind == "loop" && n.Entry != 0 {
			return n.Entry // of the innermost loop around it
		}
	}
	return 0
}

type measured struct {
	times uint64
	ns    float64
}

func truthOf(t *testing.T, path string) map[string]measured {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]measured)
	for line := range strings.Lines(string(text)) {
		var name string
		var times uint64
		var s float64
		if _, err := fmt.Sscan(line, &name, &times, &s); err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		out[name] = measured{times, s * 1e9}
	}
	return out
}
