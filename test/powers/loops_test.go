package powers

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// A part is a node of spoor calltree.
type part struct {
	Kind, Place, Function string
	Site                  int
	Body                  []part
}

// TestSameLoops: whatever verb names a loop of a trace names one that spoor calltree has.
func TestSameLoops(t *testing.T) {
	spoor := mpis.NeedSpoor(t)
	verbs := [][]string{{"waits", "--path", "--json"}, {"simulate", "--machine", "infiniband", "--path", "--json"}}
	named := make([]int, len(verbs))
	for _, r := range corpus {
		path := filepath.Join("testdata", r.name+".spoor")
		loops, sites := shown(t, spoor, "calltree", "--all-ranks", "--json", path)
		db := filepath.Join(t.TempDir(), "runs.db")
		if out, err := exec.Command(spoor, "db", "add", "--database", db, path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if kept, _ := shown(t, spoor, "db", "calltree", "--database", db, "--all-ranks", "--json", "1"); !maps.Equal(kept, loops) {
			t.Errorf("%s: loops %v, and in a database %v", r.name, slices.Sorted(maps.Keys(loops)), slices.Sorted(maps.Keys(kept)))
		}
		for i, verb := range verbs {
			out, err := exec.Command(spoor, append(verb, path)...).Output()
			if err != nil {
				continue // without times of single calls, or of a machine
			}
			type critical struct {
				Loops []struct{ Function, Place, First string }
			}
			var a struct {
				Path      critical
				Predicted critical `json:"critical_path"`
			}
			if err := json.Unmarshal(out, &a); err != nil {
				t.Fatal(err)
			}
			for _, l := range append(a.Path.Loops, a.Predicted.Loops...) {
				if l.First == "" {
					continue // no loop
				}
				if key := strings.TrimSpace(l.Function + " " + l.Place); l.Place != "" && !loops[key] || l.Place == "" && !loops[known(l.First)] {
					t.Errorf("%s: spoor %s has a loop %q from %s, spoor calltree has none", r.name, verb[0], key, l.First)
				}
				named[i]++
			}
		}
		// The rounds of the main loop begin with a call in a loop.
		out, err := exec.Command(spoor, "cut", "--iteration", "0:1", "-o", filepath.Join(t.TempDir(), "round.spoor"), path).CombinedOutput()
		if _, call, ok := strings.Cut(string(out), "an iteration begins with "); ok && err == nil {
			call, _, _ = strings.Cut(call, ";")
			function, place, _ := strings.Cut(call, " at ")
			if !sites[known(function+" "+place)] {
				t.Errorf("%s: rounds begin with %s, which spoor calltree has in no loop", r.name, call)
			}
		}
	}
	for i, n := range named {
		if n == 0 {
			t.Errorf("no trace has a loop in spoor %s", verbs[i][0])
		}
	}
}

// known is a call as far as both profiles say of it.
func known(call string) string {
	if function, place, _ := strings.Cut(call, " "); !strings.Contains(place, "+0x") {
		return function
	}
	return call
}

// shown returns the loops that a profile shows, by function and place or by their first call, and the calls in loops.
func shown(t *testing.T, spoor string, args ...string) (loops, sites map[string]bool) {
	out, err := exec.Command(spoor, args...).Output()
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	var list []struct {
		Sites []struct {
			Function, Module string
			Offset           uint64
			Frames           []struct{ Function, File string }
		}
		Threads []struct{ Body []part }
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	loops, sites = make(map[string]bool), make(map[string]bool)
	for _, p := range list {
		var walk func(body []part, function string, in []string) string
		walk = func(body []part, function string, in []string) (first string) {
			for _, n := range body {
				within, around := function, in
				switch {
				case n.Kind == "function":
					within = n.Function
				case n.Kind == "loop" && n.Place != "":
					loops[strings.TrimSpace(function+" "+n.Place)] = true
				}
				if n.Kind == "loop" {
					around = append(around, n.Kind)
				}
				call := walk(n.Body, within, around)
				if n.Site > 0 {
					x := &p.Sites[n.Site-1]
					call = fmt.Sprintf("%s %s+%#x", x.Function, filepath.Base(x.Module), x.Offset)
					if len(x.Frames) > 0 || x.Module == "" {
						call = x.Function // of an import, whose places are names alone
					}
					sites[call] = sites[call] || len(in) > 0
				}
				if n.Kind == "loop" && n.Place == "" {
					loops[call] = true
				}
				if first == "" {
					first = call
				}
			}
			return first
		}
		for _, t := range p.Threads {
			walk(t.Body, "", nil)
		}
	}
	return loops, sites
}
