package profile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/treetest"
	spoortrace "github.com/spoor-hpc/spoor/trace"
)

// A loop is what the profile says of one of the program's.
type loop struct {
	Kind                         string
	Place, Function              string
	Entered, Rounds, Least, Most uint64
	Entry                        *float64 `json:"entry_compute_ns"`
	Further                      *float64 `json:"further_compute_ns"`
	AtLeast                      bool     `json:"at_least"`
	Unsure                       bool
	Body                         []loop
}

// loopLines are the lines of a program with the names of the loops that are there.
func loopLines(t *testing.T, path string) map[string]string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := make(map[string]string)
	for i, line := range strings.Split(string(text), "\n") {
		if _, rest, ok := strings.Cut(line, "/* loop "); ok {
			lines[strings.TrimSuffix(rest, " */")] = fmt.Sprintf("%s:%d", filepath.Base(path), i+1)
		}
	}
	return lines
}

func each(list []loop, do func(loop)) {
	for _, x := range list {
		do(x)
		each(x.Body, do)
	}
}

// The loops of nests.c are found in its machine code with the rounds that they had, whatever the compiler did to them;
// those of which the calls don't tell how often they went round are marked.
func TestLoopsOfTheProgram(t *testing.T) {
	m := mpis.Need(t)[0]
	mpis.NeedSpoor(t)
	lines := loopLines(t, "testdata/nests.c")
	exact := map[string][4]uint64{ // entered, rounds, least, most
		"triangle": {1, 7, 7, 7}, "side": {7, 28, 1, 7}, "pointers": {1, 5, 5, 5}, "odd": {2, 6, 3, 3}, "calls": {1, 3, 3, 3}, "down": {9, 18, 2, 2}, "tails": {1, 4, 4, 4},
	}
	for _, flags := range [][]string{{"-O0", "-g"}, {"-O2", "-g"}} {
		t.Run(flags[0], func(t *testing.T) {
			dir := t.TempDir()
			if err := m.Compile(filepath.Join(dir, "app"), "testdata/nests.c", flags...); err != nil {
				t.Fatal(err)
			}
			spoor(t, dir, append([]string{"run", "-q", "-o", "app.spoor", "--stack", "16"}, m.Command(1, "./app")...)...)
			var list []struct {
				Code    bool
				Threads []struct {
					Lost uint64 `json:"lost_steps"`
					Body []loop
				}
			}
			text := spoor(t, dir, "calltree", "--json", "app.spoor")
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				t.Fatal(err)
			}
			if page := spoor(t, dir, "report", "--json", "app.spoor"); !strings.Contains(page, `"q": "`+lines["triangle"]+`"`) {
				t.Errorf("the report has no loop at %s", lines["triangle"])
			}
			if !list[0].Code || list[0].Threads[0].Lost > 0 {
				t.Fatalf("%+v", list[0])
			}
			found := make(map[string][]loop)
			var recursion, elsewhere int
			each(list[0].Threads[0].Body, func(x loop) {
				switch x.Kind {
				case "loop":
					found[x.Place] = append(found[x.Place], x)
				case "recursion":
					if x.Rounds == 9 && x.Entered == 3 && x.Least == 2 && x.Most == 4 {
						recursion++
					}
				case "elsewhere":
					elsewhere++
				}
			})
			if recursion != 1 || elsewhere > 0 {
				t.Errorf("%d recursions like that of down, %d elsewhere", recursion, elsewhere)
			}
			// An optimised loop's line may be that of its body.
			at := func(name string) []loop {
				if x := found[lines[name]]; x != nil || flags[0] == "-O0" {
					return x
				}
				var n int
				fmt.Sscanf(lines[name], "nests.c:%d", &n)
				return found[fmt.Sprintf("nests.c:%d", n+1)]
			}
			for name, want := range exact {
				x := at(name)
				if len(x) != 1 {
					t.Errorf("loop %s: %d of it", name, len(x))
					continue
				}
				if got := [4]uint64{x[0].Entered, x[0].Rounds, x[0].Least, x[0].Most}; got != want || x[0].AtLeast || x[0].Unsure {
					t.Errorf("loop %s: %+v, want %v", name, x[0], want)
				}
			}
			if x := at("silent"); len(x) != 1 || !x[0].AtLeast || x[0].Rounds != 4 {
				t.Errorf("loop silent: %+v", x)
			}
			rounds := uint64(1)
			for _, name := range []string{"first", "second", "third"} {
				x := at(name)
				if len(x) != 1 || name != "third" && !x[0].AtLeast || name == "third" && !x[0].Unsure {
					t.Errorf("loop %s: %+v", name, x)
					continue
				}
				rounds = x[0].Rounds
			}
			if rounds != 4 {
				t.Errorf("loop third: %d rounds", rounds)
			}
			if info := spoor(t, dir, "info", "app.spoor"); !strings.Contains(info, "structure  100 % of calls lie in ") {
				t.Errorf("info says nothing of the structure:\n%s", info)
			}
			keepsCode(t, dir)
			marksUnsearched(t, dir)
			placed, all, err := treetest.Check(filepath.Join(dir, "app.spoor"))
			if err != nil || placed != all {
				t.Errorf("%d of %d calls placed, error %v", placed, all, err)
			}
		})
	}
}

// marksUnsearched: where the code may not be searched, the tree is the same, and all of the program's loops are marked, as ways without a call
// may lead anywhere.
func marksUnsearched(t *testing.T, dir string) {
	t.Helper()
	r, err := spoortrace.Open(filepath.Join(dir, "app.spoor"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	known, err := r.Code()
	if err != nil || known == nil {
		t.Fatalf("%v, error %v", known, err)
	}
	s := symbolise.New(symbolise.Options{})
	got, err := tree.Build(t.Context(), r, s, tree.NewTailCalls(s), tree.Options{MaxSearchedBlocks: -1})
	if err != nil || got == nil || len(got.Vertices) != len(known.Vertices) {
		t.Fatalf("%+v, error %v", got, err)
	}
	sure := 0
	for i := range known.Vertices {
		v, w := known.Vertices[i], got.Vertices[i]
		if v.Kind != spoortrace.LoopVertex || filepath.Base(v.File) != "nests.c" {
			continue // a loop of qsort's is left after one call: nothing lies between calls in it
		}
		if !v.RoundsAreLowerBound && !v.EntriesAreLowerBound {
			sure++
		}
		if !w.RoundsAreLowerBound || !w.EntriesAreLowerBound {
			t.Errorf("loop at %s is not marked", w.SourceLocationText())
		}
	}
	if sure == 0 {
		t.Error("no loop is sure after a search")
	}
}

// keepsCode: with the binary gone, or another one in its place, the trace says the same.
func keepsCode(t *testing.T, dir string) {
	t.Helper()
	before := spoor(t, dir, "calltree", "--width", "100", "app.spoor")
	app := filepath.Join(dir, "app")
	if err := os.Rename(app, app+".old"); err != nil {
		t.Fatal(err)
	}
	if after := spoor(t, dir, "calltree", "--width", "100", "app.spoor"); after != before {
		t.Errorf("without the binary:\n%s\nwith it:\n%s", after, before)
	}
	other, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(app, other, 0o755); err != nil {
		t.Fatal(err)
	}
	if after := spoor(t, dir, "calltree", "--width", "100", "app.spoor"); after != before {
		t.Errorf("with another binary:\n%s\nwith its own:\n%s", after, before)
	}
	if err := os.Rename(app+".old", app); err != nil {
		t.Fatal(err)
	}
}
