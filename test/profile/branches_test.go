package profile

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// A branched is a node of a profile, or of the outline of a binary.
type branched struct {
	Kind     string
	Place    string
	Line     int
	Rounds   uint64
	Body     []branched
	Branches []code.Branch
}

// lines are those of all calls of MPI in a node.
func (n *branched) lines() (list []int) {
	line := n.Line
	fmt.Sscanf(n.Place, "branches.c:%d", &line)
	if n.Kind == "call" || n.Kind == "mpi" {
		list = append(list, line)
	}
	for i := range n.Body {
		list = append(list, n.Body[i].lines()...)
	}
	return list
}

// ways lists the branches in a node: the lines of each way, and how often it was taken of how many iterations.
func (n *branched) ways() (list []string) {
	var look func(b code.Branch)
	look = func(b code.Branch) {
		var ways []string
		for _, w := range b.Arms {
			var lines []int
			for _, x := range n.Body[w.FirstItem:w.EndItem] {
				lines = append(lines, x.lines()...)
			}
			slices.Sort(lines)
			text := fmt.Sprint(lines)
			if w.TakenCount > 0 {
				text += fmt.Sprintf(" %d of %d", w.TakenCount, n.Rounds)
			}
			ways = append(ways, text)
			for _, inner := range w.Branches {
				look(inner)
			}
		}
		slices.Sort(ways)
		list = append(list, strings.Join(ways, ", "))
	}
	for _, b := range n.Branches {
		if len(b.Arms) > 1 {
			look(b)
		}
	}
	for i := range n.Body {
		list = append(list, n.Body[i].ways()...)
	}
	slices.Sort(list)
	return list
}

// pageData is what a page shows.
func pageData(t *testing.T, path string) string {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	packed := regexp.MustCompile(` id="data">([^<]*)`).FindSubmatch(page)
	if packed == nil {
		t.Fatal("the page has no data")
	}
	data, err := io.ReadAll(flate.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(packed[1]))))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestBranches: alternatives are those of the source, and so is how often each was taken, whatever compiled the program. Nothing is said
// of ways into another one, and no number where an iteration may pass without a call.
func TestBranches(t *testing.T) {
	list := mpis.Need(t)
	runs := 0
	for _, compiler := range []string{"gcc", "clang-19", "clang-16", "clang-14", "clang"} {
		if _, err := exec.LookPath(compiler); err != nil {
			continue
		}
		for _, level := range []string{"-O0", "-O2"} {
			m := list[runs%len(list)]
			runs++
			t.Run(compiler+level+"/"+m.Name, func(t *testing.T) {
				dir := t.TempDir()
				source, err := filepath.Abs("testdata/branches.c")
				if err != nil {
					t.Fatal(err)
				}
				c := exec.Command(m.CC, level, "-g", "-o", filepath.Join(dir, "app"), source)
				c.Env = append(os.Environ(), "MPICH_CC="+compiler, "OMPI_CC="+compiler)
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				spoor(t, dir, append([]string{"run", "-q", "-o", "app.spoor"}, m.Command(2, "./app")...)...)
				var profiles []struct{ Threads []branched }
				if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "app.spoor")), &profiles); err != nil {
					t.Fatal(err)
				}
				want := []string{
					"[12], [17]", "[25] 20 of 40, [27] 20 of 40", "[32] 21 of 61, [35] 20 of 61, [38 39] 20 of 61",
					"[44 46 48] 5 of 30, [50] 25 of 30", "[46] 3 of 30, [48] 2 of 30", "[70], [73]",
				}
				if got := profiles[0].Threads[0].ways(); !slices.Equal(got, want) {
					t.Errorf("the profile has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				text := spoor(t, dir, "calltree", "--min-time", "0", "app.spoor")
				for _, want := range []string{"either (20 of 40 iterations: ", " (25 of 30 iterations: 5–29)\n", " or\n", "either, or, if: alternatives in the code"} {
					if !strings.Contains(text, want) {
						t.Errorf("the profile has no %q:\n%s", want, text)
					}
				}
				spoor(t, dir, "db", "add", "--database", "runs.db", "app.spoor")
				spoor(t, dir, "report", "-o", "page.html", "app.spoor")
				stored := spoor(t, dir, "db", "calltree", "--database", "runs.db", "--min-time", "0", "1")
				page := pageData(t, filepath.Join(dir, "page.html"))
				tree, _, _ := strings.Cut(text, "\niterations of ") // which the trace alone has
				for line := range strings.Lines(tree) {
					way := regexp.MustCompile(`(either|or|if)( \(\d+ of \d+ iterations.*\))?$`).FindString(strings.TrimSpace(line))
					if !strings.Contains(stored, line) {
						t.Errorf("the database's profile has no %q:\n%s", line, stored)
					}
					if !strings.Contains(page, `"f":"`+way+`"`) && way != "" {
						t.Errorf("the page has no %q", way)
					}
				}
				var outline struct{ Functions []branched }
				if err := json.Unmarshal([]byte(spoor(t, dir, "doctor", "--json", "--code", "app")), &outline); err != nil {
					t.Fatal(err)
				}
				want = []string{"[25], [27]", "[32], [35], [38 39]", "[44 46 48], [50]", "[46], [48]", "[56], [58]", "[70], [73]"}
				var got []string
				for _, f := range outline.Functions {
					got = append(got, f.ways()...)
				}
				if !slices.Equal(got, want) {
					t.Errorf("the binary has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if text := spoor(t, dir, "doctor", "--code", "app"); strings.Count(text, "    either\n") < 5 || strings.Count(text, "    or\n") < 6 {
					t.Errorf("the outline is\n%s", text)
				}
			})
		}
	}
}
