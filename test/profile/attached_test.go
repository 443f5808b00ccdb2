package profile

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// An attachedCall is a line of what the plugin known.c wrote.
type attachedCall struct {
	place, function string
	values          map[string][]int64
}

func attachedOf(t *testing.T, path string) (list []attachedCall) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		c := attachedCall{words[0], words[1], make(map[string][]int64)}
		for _, w := range words[2:] {
			name, value, _ := strings.Cut(w, "=")
			v, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				t.Fatalf("%s: %q", path, line)
			}
			c.values[name] = append(c.values[name], v)
		}
		list = append(list, c)
	}
	if len(list) < 400 {
		t.Fatalf("%s: only %d calls", path, len(list))
	}
	return list
}

// runAttached records attached.c with known.c on two ranks.
func runAttached(t *testing.T, m *mpis.MPI, options ...string) (dir string, truth [2][]attachedCall) {
	t.Helper()
	mpis.NeedSpoor(t)
	dir = t.TempDir()
	header, err := filepath.Abs("../../shim/spoor_plugin.h")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(header, filepath.Join(dir, "spoor.h")); err != nil {
		t.Fatal(err)
	}
	if err := m.Compile(filepath.Join(dir, "known.so"), "testdata/known.c", "-shared", "-fPIC", "-I", dir); err != nil {
		t.Fatal(err)
	}
	if err := m.Compile(filepath.Join(dir, "app"), "testdata/attached.c", "-fno-inline", "-rdynamic"); err != nil {
		t.Fatal(err)
	}
	runTimed(t, dir, append(slices.Clone(options), "--plugin", "./known.so"), m.Command(2, "./app"))
	for rank := range truth {
		truth[rank] = attachedOf(t, filepath.Join(dir, fmt.Sprintf("attached.%d", rank)))
	}
	return dir, truth
}

// A sum is what was attached to calls of a function at a place, under a name, and how far that is known; nothing but an estimate is if
// guess is set.
type sum struct {
	count, sum, within float64
	guess              bool
}

type sumKey struct{ place, function, name string }

func sumsOf(list []attachedCall) map[sumKey]sum {
	m := make(map[sumKey]sum)
	for _, c := range list {
		for name, values := range c.values {
			for _, v := range values {
				for _, place := range []string{c.place, "all"} {
					x := m[sumKey{place, c.function, name}]
					m[sumKey{place, c.function, name}] = sum{count: x.count + 1, sum: x.sum + float64(v)}
				}
			}
		}
	}
	return m
}

// attached sums up what was attached below some nodes of a profile.
func (p *placedProfile) attached(list []*placed, place string, m map[sumKey]sum) {
	for _, n := range list {
		if n.Site > 0 {
			for _, v := range n.Total.Values {
				key := sumKey{place, p.Sites[n.Site-1].Function, v.Name}
				x := m[key]
				x.count += v.Count
				x.sum += v.Sum
				m[key] = x
			}
		}
		p.attached(n.Body, place, m)
	}
}

var attachedPlaces = []string{"else", "first", "warm-up", "main", "random", "nested", "last"}

var attachedModes = [][]string{
	{"--timing", "stats"}, {"--timing", "hist"}, {"--timing", "none"},
	{"--timing", "lossless"}, {"--timing", "place", "--error", "0.1"}, {"--timing", "zfp", "--error", "5us"},
}

// own tells whether calls have their own numbers.
func own(options []string) bool {
	return !slices.Contains([]string{"stats", "hist", "none"}, options[1])
}

// What a plugin attaches is where it belongs, under every MPI: by place and by call.
func TestAttached(t *testing.T) {
	for _, m := range mpis.Need(t) {
		for _, options := range attachedModes {
			t.Run(m.Name+" "+strings.Join(options, " "), func(t *testing.T) {
				dir, truth := runAttached(t, m, options...)
				t.Run("places", func(t *testing.T) { checkAttachedPlaces(t, dir, truth, options) })
				t.Run("calls", func(t *testing.T) { checkAttachedCalls(t, dir, truth, options) })
			})
		}
	}
}

// checkAttachedPlaces: the profile has the sums of each place.
func checkAttachedPlaces(t *testing.T, dir string, truth [2][]attachedCall, options []string) {
	want := make(map[sumKey]sum)
	for rank := range truth {
		for key, x := range sumsOf(truth[rank]) {
			want[key] = sum{count: want[key].count + x.count/2, sum: want[key].sum + x.sum/2}
		}
	}
	var list []placedProfile
	text := spoor(t, dir, "calltree", "--json", "app.spoor")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	got := make(map[sumKey]sum)
	parts := list[0].parts()
	if len(parts) != len(attachedPlaces) {
		t.Fatalf("%d parts between barriers:\n%s", len(parts), spoor(t, dir, "calltree", "app.spoor"))
	}
	for i, place := range attachedPlaces {
		list[0].attached(parts[i], place, got)
	}
	list[0].attached(list[0].Threads[0].Body, "all", got)
	for key, w := range want {
		if x := got[key]; key.place == "barrier" || !own(options) && key.name != "number" && key.place != "all" {
			continue // some calls, too many changes
		} else if math.Abs(x.count-w.count) > 1e-3*w.count || math.Abs(x.sum-w.sum) > 1e-3*math.Abs(w.sum)+1 {
			t.Errorf("%v: %v, want %v", key, got[key], w)
		}
	}
}

// checkAttachedCalls: what a plugin attached to each call is what dump --values has of it, in modes that keep the time of each call; in others
// it has the mean of the rank's place. What each rank has in all is known in each mode.
func checkAttachedCalls(t *testing.T, dir string, truth [2][]attachedCall, options []string) {
	spoor(t, dir, "check", "app.spoor")
	if options[1] != "none" {
		checkAttachedRanks(t, dir, truth)
	}
	var means [2]map[sumKey]sum
	for rank := range truth {
		text := spoor(t, dir, "dump", "--json", "--values", "--rank", fmt.Sprint(rank), "app.spoor")
		i := 0
		sums := make(map[sumKey]sum)
		for line := range strings.Lines(text) {
			var c struct {
				Call   string
				Values map[string]struct {
					Own, Estimate bool
					Count, Sum    int64
					Mean, Within  float64
				}
			}
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if i == len(truth[rank]) || c.Call != truth[rank][i].function {
				t.Fatalf("rank %d: call %d is %s: %v", rank, i, c.Call, truth[rank][min(i, len(truth[rank])-1)])
			}
			want := truth[rank][i]
			i++
			if !own(options) {
				for name, v := range c.Values {
					key := sumKey{want.place, want.function, name}
					x := sums[key]
					sums[key] = sum{x.count + 1, x.sum + v.Mean, x.within + v.Within, x.guess || v.Estimate}
				}
				continue
			}
			if len(c.Values) != len(want.values) {
				t.Fatalf("rank %d: call %d: %v, want %v", rank, i, c.Values, want.values)
			}
			for name, list := range want.values {
				sum := int64(0)
				for _, v := range list {
					sum += v
				}
				if v := c.Values[name]; !v.Own || v.Count != int64(len(list)) || v.Sum != sum {
					t.Fatalf("rank %d: call %d: %s %+v, want %v", rank, i, name, v, list)
				}
			}
		}
		if i != len(truth[rank]) {
			t.Fatalf("rank %d: %d calls, want %d", rank, i, len(truth[rank]))
		}
		means[rank] = sums
	}
	if !own(options) {
		checkAttachedMeans(t, dir, truth, means, options[1] != "none")
	}
}

// checkAttachedMeans looks at the means of places, summed up over the calls of each rank: those of a call site are what is known of
// the rank, where that is asked for, and those of a place what both ranks together had there, and each of them.
func checkAttachedMeans(t *testing.T, dir string, truth [2][]attachedCall, means [2]map[sumKey]sum, ranks bool) {
	t.Helper()
	var known map[int][]rankValue
	other, apart, placed := sumsOf(truth[1]), 0, 0
	if ranks {
		known = rankValues(t, dir)
	}
	for rank, list := range known {
		for _, v := range list {
			if v.Name != "number" || !v.Known || v.Function != "MPI_Allreduce" && v.Function != "MPI_Sendrecv" && v.Function != "MPI_Bcast" {
				continue
			}
			got, want := 0.0, sumsOf(truth[rank])[sumKey{"all", v.Function, v.Name}].sum
			for key, x := range means[rank] {
				if key.function == v.Function && key.name == v.Name {
					got += x.sum
				}
			}
			if apart++; math.Abs(got-want) > v.Within+1e-9*math.Abs(want)+1 {
				t.Errorf("rank %d: %s at all places: %.0f, want %.0f within %.0f", rank, v.Function, got, want, v.Within)
			}
		}
	}
	if ranks && apart < 2 {
		t.Errorf("%d call sites of ranks are known", apart)
	}
	for key, w := range sumsOf(truth[0]) {
		if key.name != "number" || key.place == "all" || key.place == "barrier" {
			continue
		}
		a, b, want := means[0][key], means[1][key], w.sum+other[key].sum
		if a.count != w.count || b.count != w.count || math.Abs(a.sum+b.sum-want) > 0.02*(math.Abs(a.sum)+math.Abs(b.sum)) {
			t.Errorf("%v: %v and %v, want %.0f together", key, a, b, want)
		}
		for rank, x := range [2]sum{a, b} {
			want := sumsOf(truth[rank])[key].sum
			if x.guess {
				continue
			}
			if placed++; math.Abs(x.sum-want) > x.within+1e-9*math.Abs(want)+1 {
				t.Errorf("rank %d, %v: %+v, want %.0f", rank, key, x, want)
			}
		}
	}
	if placed < 8 {
		t.Errorf("%d places of ranks are known", placed)
	}
}

// A rankValue is a row of `imbalance --ranks --json`: what was attached on a rank, to all calls or those of a call site.
type rankValue struct {
	Name, Function string
	Sum, Within    float64
	Known          bool
}

func rankValues(t *testing.T, dir string) map[int][]rankValue {
	t.Helper()
	var ranks []struct {
		Rank   int
		Values []rankValue
	}
	if err := json.Unmarshal([]byte(spoor(t, dir, "efficiency", "--by-rank", "--json", "app.spoor")), &ranks); err != nil {
		t.Fatal(err)
	}
	m := make(map[int][]rankValue)
	for _, r := range ranks {
		m[r.Rank] = r.Values
	}
	return m
}

// checkAttachedRanks compares the sums of ranks that imbalance --ranks gives.
func checkAttachedRanks(t *testing.T, dir string, truth [2][]attachedCall) {
	t.Helper()
	for rank, list := range rankValues(t, dir) {
		want, known := make(map[string]float64), 0
		for key, w := range sumsOf(truth[rank]) {
			if key.place == "all" {
				want[key.name] += w.sum
			}
		}
		for _, v := range list {
			if v.Function != "" {
				continue
			}
			known++
			if w := want[v.Name]; !v.Known || math.Abs(v.Sum-w) > v.Within+1e-9*math.Abs(w) || v.Within > 0.02*math.Abs(w) {
				t.Errorf("rank %d: %s %.0f within %.0f, want %.0f", rank, v.Name, v.Sum, v.Within, w)
			}
		}
		if known != len(want) {
			t.Errorf("rank %d: sums under %d names, want %d", rank, known, len(want))
		}
	}
}
