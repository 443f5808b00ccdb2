// Package extrapolate compares extrapolated traces, and programs made for any number of ranks, with real runs.
package extrapolate

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// A bench records a program.
type bench struct {
	t          *testing.T
	m          *mpis.MPI
	spoor, dir string
	name       string
	program    []string
}

func newBench(t *testing.T, m *mpis.MPI, name string, arguments ...string) *bench {
	t.Helper()
	b := &bench{t: t, m: m, spoor: mpis.NeedSpoor(t), dir: t.TempDir(), name: name}
	app, ok := compile.ByName(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	binary, err := app.Build(m, b.dir)
	if err != nil {
		t.Fatal(err)
	}
	b.program = append([]string{binary}, arguments...)
	return b
}

// job is where commands run; many ranks share few cores.
func (b *bench) job(limit time.Duration) mpis.Job {
	return mpis.Job{MPI: b.m, Dir: b.dir, Limit: limit}
}

// run runs a command that succeeds, and returns what it prints.
func (b *bench) run(line ...string) string {
	b.t.Helper()
	r := b.job(5 * time.Minute).Run(line...)
	if r.Err != nil {
		b.t.Fatalf("%v: %v", line, r)
	}
	return r.Stdout + r.Stderr
}

// traced runs a program and names its trace; without one, the bench's.
func (b *bench) traced(ranks int, program ...string) string {
	b.t.Helper()
	name := fmt.Sprintf("%s-%d.spoor", b.name, ranks)
	if program == nil {
		program = b.program
	} else {
		name = fmt.Sprintf("again-%d.spoor", ranks)
	}
	b.run(append([]string{b.spoor, "run", "-o", name}, b.m.Command(ranks, program...)...)...)
	return name
}

// proxy writes and compiles a proxy.
func (b *bench) proxy(arguments ...string) (binary string) {
	b.t.Helper()
	folder := filepath.Join(b.dir, "proxy")
	b.run(append([]string{b.spoor, "proxy", "--force", "-o", folder}, arguments...)...)
	b.run("make", "-j2", "-C", folder, "CC="+b.m.CC, "CFLAGS=-std=gnu11 -O0 -Wall -Wextra -Werror")
	return filepath.Join(folder, "proxy")
}

// Pipelined wavefronts on a Cartesian grid, in Fortran: the extrapolated trace on 20 ranks is equal to that of a run, and a replay of it makes the same calls.
// (bench/scale has it on up to 256 virtual ranks.)
// The program for any number of ranks makes those of a run on numbers that were traced, and on that one.
func TestWavefronts(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			b := newBench(t, m, "lu", "-n", "40", "-i", "1")
			var known []string
			for _, n := range []int{4, 6, 8, 9, 12, 16} {
				known = append(known, b.traced(n))
			}
			b.run(append([]string{b.spoor, "extrapolate", "--ranks", "20", "-o", "told.spoor"}, known...)...)
			b.run(b.spoor, "diff", "told.spoor", b.traced(20))
			b.run(b.spoor, "replay", "-o", "again.spoor", "told.spoor")
			b.run(b.spoor, "diff", "--any-address", "told.spoor", "again.spoor")
			binary := b.proxy(append([]string{"--scalable"}, known...)...)
			for _, n := range []int{9, 20} {
				b.run(b.spoor, "diff", "--any-address", fmt.Sprintf("lu-%d.spoor", n), b.traced(n, binary))
			}
		})
	}
}

// Neighbours on a ring: replay and proxy of the extrapolated trace on 16 ranks make its calls.
func TestRing(t *testing.T) {
	m := mpis.Need(t)[0]
	b := newBench(t, m, "nbody", "-n", "64", "-i", "2")
	line := []string{b.spoor, "extrapolate", "--ranks", "16", "-o", "told.spoor"}
	for _, n := range []int{4, 6, 8, 9} {
		line = append(line, b.traced(n))
	}
	b.run(line...)
	b.run(b.spoor, "diff", "told.spoor", b.traced(16))
	b.run(b.spoor, "replay", "-o", "again.spoor", "told.spoor")
	b.run(b.spoor, "diff", "--any-address", "told.spoor", "again.spoor")
	b.run(b.spoor, "diff", "--any-address", "told.spoor", b.traced(16, b.proxy("told.spoor")))
}

// Loops are those of the machine code: the first call of one may be made in its last iteration alone.
func TestLoopsOfTheCode(t *testing.T) {
	m := mpis.Need(t)[0]
	b := &bench{t: t, m: m, spoor: mpis.NeedSpoor(t), dir: t.TempDir(), name: "last"}
	b.run(m.CC, "-g", "-O1", "-o", "last", mpis.Root("test/extrapolate/testdata/last.c"))
	b.program = []string{"./last"}
	line := []string{b.spoor, "extrapolate", "--ranks", "12", "-o", "told.spoor", "--explain"}
	for _, n := range []int{3, 4, 5, 6, 8} {
		line = append(line, b.traced(n))
	}
	text := b.run(line...)
	for _, want := range []string{"iterations of the loop from MPI_Bcast at main last.c:14: ranks\n", "whether MPI_Bcast at main last.c:14 is reached: i == n - 1\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("it doesn't say %s\n%s", want, text)
		}
	}
	b.run(b.spoor, "diff", "told.spoor", b.traced(12))
}

// Conjugate gradients on the ranks of the largest square: trace and program for any number of ranks are those of a run on 20.
//
// From traces on fewer numbers of ranks, what the program does by its data has no form: its program for any number of ranks has tables, is
// exact on the numbers that were traced, and ends on another.
func TestSquare(t *testing.T) {
	m := mpis.Need(t)[0]
	b := newBench(t, m, "cg", "-n", "32")
	var known []string
	for _, n := range []int{4, 6, 8, 9, 12, 16} {
		known = append(known, b.traced(n))
	}
	b.run(append([]string{b.spoor, "extrapolate", "--ranks", "20", "-o", "told.spoor"}, known...)...)
	b.run(b.spoor, "diff", "told.spoor", b.traced(20))
	binary := b.proxy(append([]string{"--scalable"}, known...)...)
	b.run(b.spoor, "diff", "--any-address", "told.spoor", b.traced(20, binary))

	binary = b.proxy(append([]string{"--scalable"}, known[:3]...)...)
	b.run(b.spoor, "diff", "--any-address", "cg-6.spoor", b.traced(6, binary))
	if r := b.job(time.Minute).Run(m.Command(9, binary)...); r.Err == nil {
		t.Error("a program runs on 9 ranks although the traces don't say what it does there")
	}
}

// What MPI determines needs no form: communicators, groups, grids and datatypes of several kinds; displacements are sums of counts.
func TestObjects(t *testing.T) { whole(t, "objects", 4, 6, 8, 9, 12, 16) }

// Blocks and lists of blocks have forms, however totals are shared out.
func TestShares(t *testing.T) { whole(t, "shares", 5, 6, 7, 9, 12, 16) }

// Trees with roots that are not rank 0, and shares of which the last are larger.
func TestTrees(t *testing.T) { whole(t, "trees", 4, 6, 8, 9, 12, 16) }

// Loops that skip iterations get back their bound and condition, and two of them their own iterations.
func TestSkips(t *testing.T) { whole(t, "skips", 4, 6, 8, 9, 12, 16) }

// whole checks a program of testdata: the extrapolated trace on 20 ranks, a replay of it, and the program for any number of ranks. What is
// known is recorded with the first MPI: with others the program makes the same calls.
func whole(t *testing.T, name string, ranks ...int) {
	compiled := func(m *mpis.MPI) *bench {
		b := &bench{t: t, m: m, spoor: mpis.NeedSpoor(t), dir: t.TempDir(), name: name}
		b.run(m.CC, "-g", "-O1", "-o", name, mpis.Root("test/extrapolate/testdata/"+name+".c"))
		b.program = []string{"./" + name}
		return b
	}
	first := compiled(mpis.Need(t)[0])
	var known []string
	of9 := ""
	for _, n := range ranks {
		path := filepath.Join(first.dir, first.traced(n))
		if known = append(known, path); n == 9 {
			of9 = path
		}
	}
	for i, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			b, diff := first, []string{first.spoor, "diff"}
			if i > 0 {
				b, diff = compiled(m), append(diff, "--any-address")
			}
			b.t = t
			b.run(append([]string{b.spoor, "extrapolate", "--ranks", "20", "-o", "told.spoor"}, known...)...)
			b.run(append(diff, "told.spoor", b.traced(20))...)
			b.run(b.spoor, "replay", "-o", "again.spoor", "told.spoor")
			b.run(b.spoor, "diff", "--any-address", "told.spoor", "again.spoor")
			binary := b.proxy(append([]string{"--scalable"}, known...)...)
			b.run(b.spoor, "diff", "--any-address", of9, b.traced(9, binary))
			b.run(b.spoor, "diff", "--any-address", "told.spoor", b.traced(20, binary))
		})
	}
}

// Programs that are built for a number of ranks are one program: their call sites have the same names.
func TestBuilds(t *testing.T) {
	m := mpis.Need(t)[0]
	b := &bench{t: t, m: m, spoor: mpis.NeedSpoor(t), dir: t.TempDir(), name: "last"}
	traced := func(ranks int) string {
		program := fmt.Sprintf("./last%d", ranks)
		b.run(m.CC, "-g", "-O1", fmt.Sprintf("-DRANKS=%d", ranks), "-o", program, mpis.Root("test/extrapolate/testdata/last.c"))
		b.program = []string{program}
		return b.traced(ranks)
	}
	line := []string{b.spoor, "extrapolate", "--ranks", "12", "-o", "told.spoor"}
	for _, n := range []int{3, 4, 5, 6, 8} {
		line = append(line, traced(n))
	}
	b.run(line...)
	b.run(b.spoor, "diff", "told.spoor", traced(12))
}
