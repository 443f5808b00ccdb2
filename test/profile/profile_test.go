// Package profile tests what `spoor dump --sites` and `spoor profile` say of
// programs under an MPI: that call sites are the right lines, in C and in Fortran,
// with and without debug information. That counts and bytes are right is tested
// by package oracle, on all of its programs.
//
// It needs the tool built (make), an MPI and gfortran. Without them it skips; in
// CI it fails.
package profile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// mpis are those of the machine, the one whose ranks don't spin first.
func mpis(t *testing.T) (list []string) {
	for _, name := range []string{"openmpi", "mpich"} {
		if _, err := exec.LookPath("mpifort." + name); err == nil {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		skip(t, "no MPI with Fortran is installed")
	}
	return list
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, errs.Bytes())
	}
	return string(out)
}

func spoor(t *testing.T) string {
	path, err := filepath.Abs("../../bin/spoor")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		skip(t, "the tool is not built: %v", err)
	}
	return path
}

// trace compiles a program and traces it on two ranks.
func trace(t *testing.T, mpi, source string, flags ...string) (dir string) {
	t.Helper()
	return traceWith(t, mpi, source, nil, flags...)
}

func traceWith(t *testing.T, mpi, source string, options []string, flags ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	path, err := filepath.Abs(filepath.Join("testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	compiler, level := "mpicc.", "-O1"
	if strings.HasSuffix(source, ".f90") {
		compiler, level = "mpifort.", "-O0"
	}
	run(t, dir, compiler+mpi, append(flags, level, "-o", "app", path)...)
	args := slices.Concat([]string{"run", "-q", "-o", "app.spoor"}, options, []string{"mpiexec." + mpi, "-n", "2"})
	if mpi == "openmpi" {
		args = append(args, "--oversubscribe")
	}
	run(t, dir, spoor(t), append(args, "./app")...)
	return dir
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
	s := bufio.NewScanner(strings.NewReader(run(t, dir, spoor(t), "dump", "--sites", "--json", "--rank", "1", "app.spoor")))
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
	for i, mpi := range mpis(t) {
		for _, source := range []string{"lines.c", "lines.f90"} {
			t.Run(mpi+"/"+source, func(t *testing.T) {
				want := lines(t, source)
				dir := trace(t, mpi, source, "-g")
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
				out := run(t, dir, spoor(t), "profile", "--width", "160", "app.spoor")
				if !strings.Contains(out, "3 times") || !strings.Contains(out, source+":") {
					t.Errorf("profile:\n%s", out)
				}
				for _, c := range calls(t, trace(t, mpi, source, "-g0")) {
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
	mpi := mpis(t)[0]
	const source = "callers.c"
	for _, debug := range []string{"-g", "-g0"} {
		dir := traceWith(t, mpi, source, []string{"--stack", "8"}, debug, "-fno-optimize-sibling-calls")
		var list []struct {
			Sites   []struct{ Function string }
			Threads []struct{ Body []*shapeNode }
		}
		if err := json.Unmarshal([]byte(run(t, dir, spoor(t), "profile", "--json", "app.spoor")), &list); err != nil {
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
			"main()", "  1 MPI_Init", "  1 MPI_Comm_rank", "  solve()", "    10 times", "      exchange()", "        3 MPI_Sendrecv",
			"        1 MPI_Barrier", "      norm()", "        1 MPI_Allreduce", "  norm()", "    1 MPI_Allreduce", "  1 MPI_Finalize",
		}
		if !slices.Equal(shape, want) {
			t.Errorf("%s: shape\n%s", debug, strings.Join(shape, "\n"))
		}
		var paths []string
		for line := range strings.Lines(run(t, dir, spoor(t), "profile", "--callers", "--csv", "app.spoor")) {
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
	mpi := mpis(t)[0]
	dir := traceWith(t, mpi, "callers.c", []string{"--timing", "lossless"})
	var flat struct {
		PerRank []struct {
			MPI float64 `json:"mpi_ns"`
		} `json:"per_rank"`
	}
	if err := json.Unmarshal([]byte(run(t, dir, spoor(t), "profile", "--flat", "--json", "app.spoor")), &flat); err != nil {
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
		if err := json.Unmarshal([]byte(run(t, dir, spoor(t), "profile", "--json", "--rank", fmt.Sprint(rank), "app.spoor")), &list); err != nil {
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
