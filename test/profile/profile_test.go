// Package profile tests what `spoor dump --sites` and `spoor calltree` say of
// programs under an MPI: that call sites are the right lines, in C and in Fortran,
// with and without debug information. That counts and bytes are right is tested
// by package oracle, on all of its programs.
//
// It needs the tool built (make), an MPI and gfortran. Without them it skips; in
// CI it fails.
package profile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// spoor runs the tool in a folder and returns what it printed.
func spoor(t *testing.T, dir string, args ...string) string {
	t.Helper()
	r := mpis.Job{MPI: mpis.Need(t)[0], Dir: dir, Temp: t.TempDir()}.Run(append([]string{mpis.NeedSpoor(t)}, args...)...)
	if r.Err != nil {
		t.Fatalf("spoor %q: %v", args, r)
	}
	return r.Stdout
}

// trace compiles a program and traces it on two ranks.
func trace(t *testing.T, m *mpis.MPI, source string, flags ...string) (dir string) {
	t.Helper()
	return traceWith(t, m, source, nil, flags...)
}

func traceWith(t *testing.T, m *mpis.MPI, source string, options []string, flags ...string) (dir string) {
	t.Helper()
	mpis.NeedSpoor(t)
	dir = t.TempDir()
	if strings.HasSuffix(source, ".f90") {
		flags = append(flags, "-O0")
	}
	if err := m.Compile(filepath.Join(dir, "app"), filepath.Join("testdata", source), flags...); err != nil {
		t.Fatal(err)
	}
	runTimed(t, dir, options, m.Command(2, "./app"))
	return dir
}

// runTimed makes app.spoor with options of spoor run. Options of zfp are those of spoor papers codecs, which codes the times after the run.
func runTimed(t *testing.T, dir string, options, command []string) {
	t.Helper()
	i := slices.Index(options, "zfp")
	if i < 0 {
		spoor(t, dir, slices.Concat([]string{"run", "-q", "-o", "app.spoor"}, options, command)...)
		return
	}
	bound := options[i+1 : i+3]
	spoor(t, dir, slices.Concat([]string{"run", "-q", "-o", "exact.spoor"}, options[:i], []string{"lossless"}, options[i+3:], command)...)
	spoor(t, dir, slices.Concat([]string{"papers", "codecs", "--codec", "zfp", "-o", "app.spoor"}, bound, []string{"exact.spoor"})...)
}

// A line of a source that makes an MPI call.
type line struct {
	call, function, outer string
	number, instead       int
}

var callLine = regexp.MustCompile(`\b(MPI_\w+)\(.*(?://|!) in ([\w:]+)(?:, inlined in ([\w: ]+))?`)

func lines(t *testing.T, source string) (list []line) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	program := 0
	for i, s := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(s, "! PROGRAM") {
			program = i + 1
		}
		if m := callLine.FindStringSubmatch(s); m != nil {
			x := line{call: m[1], function: m[2], outer: m[3], number: i + 1}
			if x.call == "MPI_Init" || x.call == "MPI_Finalize" {
				x.instead = program
			}
			if x.outer == "" {
				x.outer = x.function
			}
			list = append(list, x)
		}
	}
	if len(list) < 6 {
		t.Fatalf("only %d calls in %s", len(list), source)
	}
	return list
}

// A call as dump --sites --json shows it.
type call struct {
	Call   string
	Frames []struct {
		Function, File string
		Line           int
		Inlined        bool
	}
}

func calls(t *testing.T, dir string) (list []call) {
	t.Helper()
	s := bufio.NewScanner(strings.NewReader(spoor(t, dir, "dump", "--sites", "--json", "--rank", "1", "app.spoor")))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var c call
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

func TestLines(t *testing.T) {
	for i, m := range mpis.Need(t) {
		for _, source := range []string{"lines.c", "lines.f90"} {
			t.Run(m.Name+"/"+source, func(t *testing.T) {
				want := lines(t, source)
				dir := trace(t, m, source, "-g")
				seen := make(map[int]bool)
				for _, c := range calls(t, dir) {
					found := false
					for _, x := range want {
						if len(c.Frames) == 0 || !strings.EqualFold(x.call, c.Call) ||
							c.Frames[0].Line != x.number && c.Frames[0].Line != x.instead {
							continue
						}
						f, outer := c.Frames[0], c.Frames[len(c.Frames)-1]
						found = filepath.Base(f.File) == source && f.Function == x.function &&
							(source == "lines.f90" || outer.Function == x.outer)
						seen[x.number] = seen[x.number] || found
					}
					if !found {
						t.Errorf("%s is at %+v", c.Call, c.Frames)
					}
				}
				if len(seen) != len(want) {
					t.Errorf("%d of %d lines seen: %v", len(seen), len(want), seen)
				}
				if i > 0 {
					return // the rest does not depend on the MPI
				}
				// The shape has the loop, and the places have lines.
				out := spoor(t, dir, "calltree", "--width", "160", "app.spoor")
				if !strings.Contains(out, "3 times") || !strings.Contains(out, source+":") {
					t.Errorf("profile:\n%s", out)
				}
				for _, c := range calls(t, trace(t, m, source, "-g0")) {
					found := false
					for _, x := range want {
						found = found || len(c.Frames) == 1 && strings.EqualFold(x.call, c.Call) && c.Frames[0].Function == x.outer
					}
					if !found || c.Frames[0].Line != 0 {
						t.Errorf("without debug information %s is at %+v", c.Call, c.Frames)
					}
				}
			})
		}
	}
}

// With stacks, functions stand around the loops in them and in the loops around
// them, and the tree of callers has each path once.
func TestCallers(t *testing.T) {
	m := mpis.Need(t)[0]
	const source = "callers.c"
	for _, debug := range []string{"-g", "-g0"} {
		dir := traceWith(t, m, source, []string{"--stack", "8"}, debug, "-fno-optimize-sibling-calls")
		var list []struct {
			Sites   []struct{ Function string }
			Threads []struct{ Body []*shapeNode }
		}
		if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "app.spoor")), &list); err != nil {
			t.Fatal(err)
		}
		var shape []string
		var walk func(body []*shapeNode, indent string)
		walk = func(body []*shapeNode, indent string) {
			for _, n := range body {
				switch n.Kind {
				case "function":
					shape = append(shape, indent+n.Function+"()")
				case "loop":
					shape = append(shape, fmt.Sprintf("%s%d times", indent, n.Most))
				default:
					shape = append(shape, fmt.Sprintf("%s%d %s", indent, n.Most, list[0].Sites[n.Site-1].Function))
				}
				walk(n.Body, indent+"  ")
			}
		}
		walk(list[0].Threads[0].Body, "")
		want := []string{
			"main()", "  1 MPI_Init", "  1 MPI_Comm_rank", "  solve()", "    10 times", "      exchange()", "        3 times", "          1 MPI_Sendrecv",
			"        1 MPI_Barrier", "      norm()", "        1 MPI_Allreduce", "  norm()", "    1 MPI_Allreduce", "  1 MPI_Finalize",
		}
		if !slices.Equal(shape, want) {
			t.Errorf("%s: shape\n%s", debug, strings.Join(shape, "\n"))
		}
		var paths []string
		for line := range strings.Lines(spoor(t, dir, "calltree", "--functions", "--csv", "app.spoor")) {
			fields := strings.Split(line, ",")
			path, at, _ := strings.Cut(fields[0], " ")
			paths = append(paths, path+" "+fields[4])
			if debug == "-g" && len(paths) > 1 && !strings.HasPrefix(at, source+":") {
				t.Errorf("%s is at %q", path, at)
			}
		}
		slices.Sort(paths)
		if d := cmp.Diff([]string{
			"main;MPI_Comm_rank 2", "main;MPI_Finalize 2", "main;MPI_Init 2", "main;norm;MPI_Allreduce 2",
			"main;solve;exchange;MPI_Barrier 20", "main;solve;exchange;MPI_Sendrecv 60", "main;solve;norm;MPI_Allreduce 20", "path calls",
		}, paths); d != "" {
			t.Errorf("%s: paths (-want +got):\n%s", debug, d)
		}
	}
}

type shapeNode struct {
	Kind, Function string
	Site           int
	Most           uint64
	Body           []*shapeNode
}

// With the time of each call, --rank shows the rank's own times, not its class's.
func TestOwnTimes(t *testing.T) {
	m := mpis.Need(t)[0]
	dir := traceWith(t, m, "callers.c", []string{"--timing", "lossless"})
	var flat struct {
		PerRank []struct {
			MPI float64 `json:"mpi_ns"`
		} `json:"per_rank"`
	}
	if err := json.Unmarshal([]byte(spoor(t, dir, "profile", "--json", "app.spoor")), &flat); err != nil {
		t.Fatal(err)
	}
	var totals []float64
	for rank, want := range flat.PerRank {
		var list []struct {
			Ranks   []int
			Times   string
			Threads []struct {
				Total struct {
					MPI float64 `json:"mpi_ns"`
				}
			}
		}
		if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "--rank", fmt.Sprint(rank), "app.spoor")), &list); err != nil {
			t.Fatal(err)
		}
		p := list[0]
		if len(p.Ranks) != 2 || p.Times != "exact" {
			t.Errorf("times of ranks %v are %q", p.Ranks, p.Times)
		}
		// The table of processes keeps ten bits.
		got := p.Threads[0].Total.MPI
		if got < 0.999*want.MPI || got > 1.001*want.MPI {
			t.Errorf("rank %d was in MPI for %v ns, its calls take %v", rank, want.MPI, got)
		}
		totals = append(totals, got)
	}
	if totals[0] == totals[1] {
		t.Errorf("two ranks took the same time, %v", totals)
	}
}
