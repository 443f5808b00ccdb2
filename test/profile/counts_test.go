package profile

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// A made is a program of loops around calls of MPI, with as many functions as nests. It counts the rounds of its loops, by line.
type made struct {
	rng      *rand.Rand
	fortran  bool
	cpp      bool
	text     []string
	spans    [][2]int // lines of each loop: first, last
	indexes  []string // of the loops around
	deferred []func() // functions that are called, to be written later
	heads    []string // declarations of them
}

func (g *made) line(format string, args ...any) {
	g.text = append(g.text, fmt.Sprintf(format, args...))
}

var selfCalls = []string{
	"MPI_Barrier(MPI_COMM_SELF)", "MPI_Bcast(b, 1, MPI_INT, 0, MPI_COMM_SELF)", "MPI_Allreduce(b, b + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF)",
	"MPI_Scan(b, b + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF)", "MPI_Iprobe(0, 1, MPI_COMM_SELF, b + 2, MPI_STATUS_IGNORE)",
}

var fortranCalls = []string{
	"call MPI_Barrier(MPI_COMM_SELF, e)", "call MPI_Bcast(b, 1, MPI_INTEGER, 0, MPI_COMM_SELF, e)",
	"call MPI_Allreduce(b, c, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, e)", "call MPI_Scan(b, c, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, e)",
}

func (g *made) call() {
	if g.fortran {
		g.line("%s", fortranCalls[g.rng.IntN(len(fortranCalls))])
	} else {
		g.line("%s;", selfCalls[g.rng.IntN(len(selfCalls))])
	}
}

// body writes some statements, one of them a call.
func (g *made) body(depth int) {
	n := 1 + g.rng.IntN(3)
	sure := g.rng.IntN(n)
	for i := range n {
		if i == sure && g.rng.IntN(4) > 0 || depth == 0 {
			g.call()
			continue
		}
		switch k := g.rng.IntN(8); {
		case k < 4:
			g.loop(depth - 1)
		case k < 6 && len(g.indexes) > 0:
			g.branch(depth - 1)
		case k == 6:
			g.function(depth - 1)
		default:
			g.call()
		}
	}
}

func (g *made) branch(depth int) {
	by, is := 2+g.rng.IntN(2), g.rng.IntN(2)
	index := g.indexes[len(g.indexes)-1]
	if g.fortran {
		g.line("if (mod(%s, %d) == %d) then", index, by, is)
	} else {
		g.line("if (%s %% %d == %d) {", index, by, is)
	}
	g.body(depth)
	if g.rng.IntN(2) == 0 {
		if g.fortran {
			g.line("else")
		} else {
			g.line("} else {")
		}
		g.body(depth)
	}
	g.close("if")
}

func (g *made) close(what string) {
	if g.fortran {
		g.line("end %s", what)
	} else {
		g.line("}")
	}
}

func (g *made) loop(depth int) {
	n := len(g.spans)
	i, rounds := fmt.Sprintf("i%d", n), fmt.Sprint(2+g.rng.IntN(6))
	g.spans = append(g.spans, [2]int{})
	if len(g.indexes) > 0 && g.rng.IntN(4) == 0 {
		rounds = g.indexes[len(g.indexes)-1] + " + 1" // a triangle
	} else if g.rng.IntN(2) == 0 {
		rounds = fmt.Sprintf("limit(%s)", rounds)
	}
	first := len(g.text) + 1
	end := "do"
	switch {
	case g.fortran && g.rng.IntN(4) == 0:
		g.line("%s = 0; do while (%s < %s)", i, i, rounds)
		g.line("%s = %s + 1", i, i)
	case g.fortran:
		g.line("do %s = 0, %s - 1", i, rounds)
	case g.rng.IntN(6) == 0:
		g.line("int %s = -1; while (++%s < %s) {", i, i, rounds)
	default:
		g.line("for (int %s = 0; %s < %s; %s++) {", i, i, rounds, i)
	}
	if g.fortran {
		g.line("rounds(%d) = rounds(%d) + 1", n, n)
	} else {
		g.line("rounds[%d]++;", n)
	}
	g.indexes = append(g.indexes, i)
	g.body(depth)
	g.indexes = g.indexes[:len(g.indexes)-1]
	g.close(end)
	g.spans[n] = [2]int{first, len(g.text)}
}

// function writes a call of a function that nobody else calls.
func (g *made) function(depth int) {
	name := fmt.Sprintf("f%d", len(g.heads))
	if g.fortran {
		g.heads = append(g.heads, name)
		g.line("call %s()", name)
	} else {
		prefix := "static"
		if g.rng.IntN(2) == 0 {
			prefix = "static __attribute__((noinline))"
		}
		g.heads = append(g.heads, prefix+" void "+name+"(void);")
		switch g.rng.IntN(3) {
		case 0:
			g.line("{ void (*volatile p)(void) = %s; p(); }", name)
		case 1:
			if g.cpp {
				g.line("[] { %s(); }();", name)
				break
			}
			fallthrough
		default:
			g.line("%s();", name)
		}
	}
	g.deferred = append(g.deferred, func() {
		indexes := g.indexes
		g.indexes = nil
		if g.fortran {
			g.line("subroutine %s()", name)
			g.declare()
		} else {
			g.line("static void %s(void) {", name)
		}
		g.body(depth)
		g.indexes = indexes
		g.close("subroutine")
	})
}

const mostLoops = 400

func (g *made) declare() {
	for n := range mostLoops / 8 {
		g.line("integer :: %s", func() (list string) {
			for i := range 8 {
				list += fmt.Sprintf(", i%d", 8*n+i)
			}
			return list[2:]
		}())
	}
}

// program is all of it.
func (g *made) program(nests int) string {
	for range nests {
		g.function(3)
	}
	calls := g.text
	g.text = nil
	if g.fortran {
		g.line("module made\nuse mpi\nimplicit none\ninteger :: b(8), c(8), e, rounds(0:%d)\ncontains", mostLoops)
		g.text = strings.Split(strings.Join(g.text, "\n"), "\n")
		g.line("integer function limit(n)\ninteger, intent(in) :: n\ninteger, volatile :: v\nv = n\nlimit = v\nend function")
	} else {
		g.line("#include <mpi.h>\n#include <stdio.h>\nstatic int b[8];\nstatic long rounds[%d];\nstatic __attribute__((noinline)) int limit(int n) { volatile int v = n; return v; }", mostLoops)
	}
	at := len(g.text)
	g.line("") // for declarations, in one line
	g.text = strings.Split(strings.Join(g.text, "\n"), "\n")
	at = len(g.text) - 1
	for len(g.deferred) > 0 {
		next := g.deferred[0]
		g.deferred = g.deferred[1:]
		next()
	}
	if g.fortran {
		g.line("end module\nprogram p\nuse made\ninteger :: i\ncall MPI_Init(e)")
		g.text = append(g.text, calls...)
		g.line("call MPI_Finalize(e)\ndo i = 0, %d\nprint '(A,I0,A,I0)', 'rounds ', i, ' ', rounds(i)\nend do\nend program", len(g.spans)-1)
	} else {
		g.text[at] = strings.Join(g.heads, " ")
		g.line("int main(int c, char **v) {\nMPI_Init(&c, &v);")
		g.text = append(g.text, calls...)
		g.line("MPI_Finalize();\nfor (int i = 0; i < %d; i++) printf(\"rounds %%d %%ld\\n\", i, rounds[i]);\nreturn 0;\n}", len(g.spans))
	}
	return strings.Join(g.text, "\n") + "\n"
}

// loopOf is the innermost loop that has a line.
func (g *made) loopOf(line int) int {
	best := -1
	for n, s := range g.spans {
		if s[0] <= line && line <= s[1] && (best < 0 || s[0] > g.spans[best][0]) {
			best = n
		}
	}
	return best
}

var madeLine = regexp.MustCompile(`\bmade\.\w+:(\d+)`)

var innermostLine = regexp.MustCompile(`^[^<]*\bmade\.\w+:(\d+)`)

// TestCountsOfMade: of made programs no loop has another number of rounds than the program counted, unless it is marked.
func TestCountsOfMade(t *testing.T) {
	m := mpis.Need(t)[0]
	seeds := 1
	if n, err := strconv.Atoi(os.Getenv("SPOOR_MADE")); err == nil {
		seeds = n
	}
	for seed := range seeds {
		for _, language := range []struct {
			ext, wrapper string
			compilers    []string
		}{{".c", m.CC, []string{"gcc", "clang-19"}}, {".cc", m.CC, []string{"g++", "clang++-19"}}, {".f90", m.Fort, []string{"gfortran"}}} {
			shown, err := exec.Command(language.wrapper, "-show").Output()
			if err != nil {
				t.Fatal(err)
			}
			flags := slices.DeleteFunc(strings.Fields(string(shown))[1:], func(word string) bool {
				return !regexp.MustCompile("^-(I|L|l|Wl,-rpath)").MatchString(word)
			})
			g := &made{rng: rand.New(rand.NewPCG(uint64(seed), 7)), fortran: language.ext == ".f90", cpp: language.ext == ".cc"}
			dir := t.TempDir()
			source := filepath.Join(dir, "made"+language.ext)
			if err := os.WriteFile(source, []byte(g.program(12)), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, compiler := range language.compilers {
				if _, err := exec.LookPath(compiler); err != nil {
					continue
				}
				for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
					t.Run(fmt.Sprintf("%d/%s/%s", seed, compiler, level), func(t *testing.T) {
						c := exec.Command(compiler, slices.Concat([]string{level, "-g", "-w", "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", "-o", filepath.Join(dir, "app"), source}, flags)...)
						c.Dir = dir
						if out, err := c.CombinedOutput(); err != nil {
							t.Fatalf("%v\n%s", err, out)
						}
						g.compare(t, m, dir, g.fortran && level > "-O1")
					})
				}
			}
		}
	}
}

// around reports whether a loop that ran so often has all calls in a body that are in no function below.
func (g *made) around(body []loop, rounds uint64, want []uint64) bool {
	var calls [][]int // lines: of the call, and of those of functions around that were inlined
	var look func(list []loop)
	look = func(list []loop) {
		for _, x := range list {
			if x.Kind == "call" {
				var lines []int
				for _, at := range madeLine.FindAllStringSubmatch(x.Place, -1) {
					line, _ := strconv.Atoi(at[1])
					lines = append(lines, line)
				}
				calls = append(calls, lines)
			} else if x.Kind == "loop" {
				look(x.Body)
			}
		}
	}
	look(body)
	for n, s := range g.spans {
		if want[n] == rounds && !slices.ContainsFunc(calls, func(lines []int) bool {
			return !slices.ContainsFunc(lines, func(line int) bool { return s[0] <= line && line <= s[1] })
		}) {
			return true
		}
	}
	return false
}

// compare compares the rounds of loops by their lines; where compilers give loops the lines of others, by those of the calls in them.
func (g *made) compare(t *testing.T, m *mpis.MPI, dir string, astray bool) {
	out := spoor(t, dir, append([]string{"run", "-q", "--force", "--waits", "never", "-o", "app.spoor"}, m.Command(1, "./app")...)...)
	want := make([]uint64, len(g.spans))
	for line := range strings.Lines(out) {
		var n int
		var rounds uint64
		if _, err := fmt.Sscanf(line, "rounds %d %d", &n, &rounds); err == nil {
			want[n] = rounds
		}
	}
	var list []struct{ Threads []struct{ Body []loop } }
	if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "app.spoor")), &list); err != nil {
		t.Fatal(err)
	}
	got, marked := make([]uint64, len(g.spans)), make([]bool, len(g.spans))
	exact := 0
	places := make(map[string]loop)
	each(list[0].Threads[0].Body, func(x loop) {
		at := innermostLine.FindStringSubmatch(x.Place)
		if x.Kind != "loop" || at == nil {
			return
		}
		line, _ := strconv.Atoi(at[1])
		if astray {
			all := places[x.Place] // copies, where the compiler made such of the call around
			all.Body, all.Rounds = append(all.Body, x.Body...), all.Rounds+x.Rounds
			all.Unsure = all.Unsure || x.Unsure || x.AtLeast
			places[x.Place] = all
			return
		}
		n := g.loopOf(line)
		if n < 0 {
			t.Errorf("a loop at %s", x.Place)
			return
		}
		got[n] += x.Rounds
		marked[n] = marked[n] || x.AtLeast || x.Unsure
	})
	for place, x := range places {
		if !x.Unsure {
			if exact++; !g.around(x.Body, x.Rounds, want) {
				t.Errorf("a loop at %s: %d rounds", place, x.Rounds)
			}
		}
	}
	for n := range want {
		if got[n] > 0 && !marked[n] {
			if exact++; got[n] != want[n] {
				t.Errorf("loop at line %d: %d rounds, not %d", g.spans[n][0], got[n], want[n])
			}
		}
	}
	if exact < 5 {
		t.Errorf("only %d loops are not marked", exact)
	}
}

// TestThreaded: of a loop that optimisers made several of, which go on with one counter, no number stands unmarked but the true one.
func TestThreaded(t *testing.T) {
	for _, m := range mpis.Need(t) {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
			t.Run(m.Name+level, func(t *testing.T) {
				dir := traceWith(t, m, "threaded.c", []string{"--stack", "16"}, "-g", level)
				var list []struct{ Threads []struct{ Body []loop } }
				if err := json.Unmarshal([]byte(spoor(t, dir, "calltree", "--json", "app.spoor")), &list); err != nil {
					t.Fatal(err)
				}
				loops := 0
				each(list[0].Threads[0].Body, func(x loop) {
					if x.Kind == "loop" {
						if loops++; !x.Unsure && (x.Least != 20 || x.Most != 20) {
							t.Errorf("a loop of %d to %d rounds at %s, unmarked; the program has one of 20", x.Least, x.Most, x.Place)
						}
					}
				})
				if loops == 0 {
					t.Error("no loop")
				}
			})
		}
	}
}
