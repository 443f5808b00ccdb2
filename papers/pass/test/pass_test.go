// Package test compiles programs with the plugins of clang and flang that have loops count their rounds, and holds what traces
// say of rounds against what the programs counted themselves. Without spoor they must do what they do when compiled as usual.
package test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/trace"
)

// Compilers as Debian calls them; not every release has each.
var clangs, flangs = []string{"clang-14", "clang-16", "clang-19"}, []string{"flang-new-16", "flang-new-19"}

var plugins = sync.OnceValues(func() ([]byte, error) { return exec.Command("make", "-C", mpis.Root(), "pass").CombinedOutput() })

// flagOf is the flag that turns the pass on.
func flagOf(t *testing.T, compiler string) string {
	t.Helper()
	if version := compiler[strings.LastIndex(compiler, "-")+1:]; !there(compiler) || !there("llvm-config-"+version) {
		t.Skipf("not installed: %s or llvm-%s-dev", compiler, version)
	}
	if out, err := plugins(); err != nil {
		t.Fatalf("make pass: %v\n%s", err, out)
	}
	out, err := exec.Command(mpis.NeedSpoor(t), "papers", "pass", "--flag", compiler).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// reader is the plugin that reads the rounds.
func reader() string { return mpis.Root("bin", "libspoor-rounds.so") }

// needed ends a test for which no compiler is there.
func needed(t *testing.T, compilers []string) []string {
	t.Helper()
	if !slices.ContainsFunc(compilers, there) {
		need.Absent(t, "not installed: %s", strings.Join(compilers, " or "))
	}
	return compilers
}

func there(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// A build is a program made of the sources in testdata.
type build struct {
	t        *testing.T
	m        *mpis.MPI
	dir      string
	compiler string
	flags    []string // with which all is compiled
	link     []string
}

func (b *build) run(line ...string) {
	b.t.Helper()
	c := exec.Command(line[0], line[1:]...)
	c.Dir = b.dir
	if out, err := c.CombinedOutput(); err != nil {
		b.t.Fatalf("%s: %v\n%s", strings.Join(c.Args, " "), err, out)
	}
}

// shown are the flags that a wrapper would give to its compiler.
func shown(t *testing.T, wrapper string) (flags []string) {
	t.Helper()
	out, err := exec.Command(wrapper, "-show").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(out))[1:] {
		if strings.HasPrefix(word, "-I") || strings.HasPrefix(word, "-L") || strings.HasPrefix(word, "-l") {
			flags = append(flags, word)
		}
	}
	return flags
}

func source(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// make makes the program app, once with the pass and once without.
func (b *build) make(pass string) {
	b.t.Helper()
	mpi := shown(b.t, b.m.CC)
	compile := func(out, name string, more ...string) string {
		b.t.Helper()
		line := append([]string{b.compiler}, b.flags...)
		if filepath.Ext(name) == ".cc" {
			line = append(line, "-std=c++20", "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX")
		}
		if pass != "" && name != "counted.c" {
			line = append(line, pass)
		}
		b.run(slices.Concat(line, []string{"-w", "-DCXX", "-c", "-o", out, source(b.t, name)}, more, mpi)...)
		return out
	}
	line := slices.Concat([]string{b.compiler}, b.flags, b.link)
	shared := func(name string) {
		b.t.Helper()
		o := compile(name+".o", name+".c", "-fPIC")
		b.run(slices.Concat(line, []string{"-shared", "-o", "lib" + name + ".so", o}, mpi)...)
	}
	shared("library")
	shared("loaded")
	// counted is in the program: the libraries find it there.
	var objects []string
	for _, name := range []string{"main.c", "unit.c", "counted.c", "cxx.cc", "other.cc"} {
		objects = append(objects, compile(name+".o", name))
	}
	b.run(slices.Concat(line, []string{"-rdynamic", "-o", "app"}, objects, []string{"-L.", "-llibrary", "-Wl,-rpath," + b.dir}, mpi, []string{"-lstdc++", "-ldl", "-pthread"})...)
}

var rounds = regexp.MustCompile(`(?m)^rounds (\S+) (\d+)$`)

// sorted has the lines in order: which thread comes first is nobody's choice.
func sorted(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

// program runs app under spoor and without, and compares.
func (b *build) program(args ...string) (stdout string) {
	b.t.Helper()
	app := filepath.Join(b.dir, "app")
	command := b.m.Command(1, append([]string{app}, args...)...)
	job := mpis.Job{MPI: b.m, Dir: b.dir}
	alone := job.Baseline(b.t.Logf, command...)
	if alone.Err != nil || !strings.Contains(alone.Stdout, "done\n") {
		b.t.Fatalf("without spoor: %v", alone)
	}
	r := job.Run(slices.Concat([]string{mpis.NeedSpoor(b.t), "run", "-f", "-o", "app.spoor", "--plugin", reader()}, command)...)
	if r.Err != nil || sorted(r.Stdout) != sorted(alone.Stdout) {
		b.t.Fatalf("under spoor: %v\nwithout:\n%s", r, alone.Stdout)
	}
	return alone.Stdout
}

// counted are the rounds that the trace has, by file and line.
func (b *build) counted() map[string]int64 {
	b.t.Helper()
	r, err := trace.Open(filepath.Join(b.dir, "app.spoor"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Close()
	sums := make(map[string]int64)
	for class := range r.Classes() {
		values, err := r.AttachedStats(class)
		if err != nil {
			b.t.Fatal(err)
		}
		for name, list := range values {
			where, _, _ := strings.Cut(name, " ")
			for _, s := range list {
				sums[where] += s.Sum
			}
		}
	}
	return sums
}

// check holds the trace against the program.
func (b *build) check(stdout string, least int) {
	b.t.Helper()
	want := make(map[string]int64)
	for _, m := range rounds.FindAllStringSubmatch(stdout, -1) {
		n, err := strconv.ParseInt(m[2], 10, 64)
		if err != nil {
			b.t.Fatal(err)
		}
		want[m[1]] = n
	}
	if len(want) < least {
		b.t.Fatalf("the program counted %d loops only:\n%s", len(want), stdout)
	}
	got := b.counted()
	for _, where := range slices.Sorted(maps.Keys(want)) {
		if got[where] != want[where] {
			b.t.Errorf("%s: %d rounds, the program made %d", where, got[where], want[where])
		}
		delete(got, where)
	}
	for where, n := range got {
		b.t.Errorf("%s: %d rounds, of which the program doesn't know", where, n)
	}
}

// Whatever compiler, optimisation, and way to link: the rounds are those that the program made, and the program does the same.
func TestClang(t *testing.T) {
	ways := []struct {
		name        string
		flags, link []string
		strip, lld  bool
		compared    bool // with the program as it is without the pass
	}{
		{name: "O0", flags: []string{"-g", "-O0"}},
		{name: "O2", flags: []string{"-g", "-O2"}, strip: true, compared: true},
		{name: "O3 sections", flags: []string{"-gline-tables-only", "-O3", "-ffunction-sections", "-fdata-sections"}, link: []string{"-Wl,--gc-sections"}, strip: true},
		{name: "LTO", flags: []string{"-g", "-O2", "-flto"}, link: []string{"-fuse-ld=lld", "-Wl,--gc-sections"}, lld: true},
		{name: "ThinLTO", flags: []string{"-g", "-O2", "-flto=thin"}, link: []string{"-fuse-ld=lld"}, lld: true},
	}
	list := mpis.Need(t)
	for i, compiler := range needed(t, clangs) {
		t.Run(compiler, func(t *testing.T) {
			pass := flagOf(t, compiler)
			for j, way := range ways {
				t.Run(way.name, func(t *testing.T) {
					if way.lld && !there("ld."+strings.Replace(compiler, "clang", "lld", 1)) && !there(strings.Replace(compiler, "clang", "ld.lld", 1)) {
						t.Skip("not installed: lld of this version")
					}
					b := &build{t: t, m: list[(i+j)%len(list)], dir: t.TempDir(), compiler: compiler, flags: way.flags, link: way.link}
					var plain mpis.Result
					if way.compared {
						b.make("")
						plain = mpis.Job{MPI: b.m, Dir: b.dir}.Baseline(t.Logf, b.m.Command(1, "./app", "./libloaded.so")...)
					}
					b.make(pass)
					if way.strip {
						b.run("strip", "app", "liblibrary.so", "libloaded.so")
					}
					stdout := b.program("./libloaded.so")
					if way.compared && (plain.Err != nil || sorted(stdout) != sorted(plain.Stdout)) {
						t.Errorf("with the pass:\n%s\nwithout: %v", stdout, plain)
					}
					b.check(stdout, 20)
				})
			}
		})
	}
}

func TestFlang(t *testing.T) {
	list := mpis.Need(t)
	for _, compiler := range needed(t, flangs) {
		t.Run(compiler, func(t *testing.T) {
			pass := flagOf(t, compiler)
			for _, level := range []string{"-O0", "-O2"} {
				t.Run(level, func(t *testing.T) {
					b := &build{t: t, m: list[0], dir: t.TempDir(), compiler: compiler}
					mpi := shown(t, b.m.Fort)
					b.run(slices.Concat([]string{compiler, level, "-g", pass, "-c", "-o", "loops.o", source(t, "loops.f90")}, mpi)...)
					b.run(slices.Concat([]string{compiler, "-o", "app", "loops.o", "-L/usr/lib/llvm-" + compiler[len("flang-new-"):] + "/lib"}, mpi)...)
					stdout := b.program()
					if compiler == "flang-new-16" { // has neither lines nor the file's name
						for i, line := range []string{"10", "11", "19", "34", "40"} {
							stdout = strings.Replace(stdout, "rounds loops.f90:"+line+" ", fmt.Sprintf("rounds FIRModule#%d ", i+1), 1)
						}
					}
					b.check(stdout, 5)
				})
			}
		})
	}
}

// A program that counts nothing is told of, and recorded all the same.
func TestWithout(t *testing.T) {
	m := mpis.Need(t)[0]
	dir := t.TempDir()
	if err := m.Compile(filepath.Join(dir, "app"), source(t, "plain.c")); err != nil {
		t.Fatal(err)
	}
	r := mpis.Job{MPI: m, Dir: dir}.Run(slices.Concat([]string{mpis.NeedSpoor(t), "run", "--plugin", reader()}, m.Command(2, "./app"))...)
	if r.Err != nil || strings.Count(r.Stderr, "no loop of the program counts its rounds") != 1 {
		t.Errorf("%v", r)
	}
	if _, err := os.Stat(filepath.Join(dir, "app.spoor")); err != nil {
		t.Error(fmt.Errorf("no trace: %w", err))
	}
}

// A loop is a node of a profile, as far as loops go.
type loop struct {
	Kind, Place string
	AtLeast     bool `json:"at_least"`
	Unsure      bool
	Rounds      uint64
	Counted     *struct{ Sum float64 }
	Body        []loop
}

// loops are those of a rank's profile, by itself.
func (b *build) loops(rank int) (all []loop) {
	b.t.Helper()
	out, err := exec.Command(mpis.NeedSpoor(b.t), "calltree", "--json", "--rank", strconv.Itoa(rank), filepath.Join(b.dir, "app.spoor")).Output()
	if err != nil {
		b.t.Fatal(err)
	}
	var list []struct{ Threads []struct{ Body []loop } }
	if err := json.Unmarshal(out, &list); err != nil {
		b.t.Fatal(err)
	}
	var look func(body []loop)
	look = func(body []loop) {
		for _, x := range body {
			if x.Kind == "loop" {
				all = append(all, x)
			}
			look(x.Body)
		}
	}
	for _, thread := range list[0].Threads {
		look(thread.Body)
	}
	return all
}

// profile says of the program's own loops, where the calls don't tell, how many rounds were counted.
func TestProfile(t *testing.T) {
	m := mpis.Need(t)[0]
	compiler := needed(t, clangs)[slices.IndexFunc(clangs, there)]
	b := &build{t: t, m: m, dir: t.TempDir(), compiler: compiler}
	mpi := shown(t, m.CC)
	for name, flags := range map[string][]string{"unsure": {flagOf(t, compiler)}, "counted": nil} {
		b.run(slices.Concat([]string{compiler, "-O0", "-g", "-c", "-o", name + ".o", source(t, name+".c")}, flags, mpi)...)
	}
	b.run(slices.Concat([]string{compiler, "-o", "app", "unsure.o", "counted.o"}, mpi, []string{"-pthread"})...)
	r := mpis.Job{MPI: m, Dir: b.dir}.Run(slices.Concat([]string{mpis.NeedSpoor(t), "run", "-q", "--plugin", reader(), "--stack", "16"}, m.Command(1, "./app"))...)
	if r.Err != nil {
		t.Fatal(r)
	}
	// doctor's verdict on the machine is no matter here.
	if said, _ := exec.Command(mpis.NeedSpoor(t), "doctor", filepath.Join(b.dir, "app")).Output(); !strings.Contains(string(said), "iterations 5 loops count them: spoor run --plugin $(spoor papers pass --plugin)\n") {
		t.Errorf("doctor: %s", said)
	}
	got, marked := make(map[string]float64), 0
	for _, x := range b.loops(0) {
		if x.Counted != nil {
			got[x.Place] = x.Counted.Sum
			if x.AtLeast || x.Unsure {
				marked++
			}
		}
	}
	for _, m := range rounds.FindAllStringSubmatch(r.Stdout, -1) {
		if want, _ := strconv.ParseFloat(m[2], 64); got[m[1]] != want {
			t.Errorf("%s: %v rounds, the program made %v", m[1], got[m[1]], want)
		}
	}
	if len(got) != 5 || marked < 3 {
		t.Errorf("%d loops with counts, %d of which the calls don't tell all", len(got), marked)
	}
	for _, x := range []struct {
		want string
		args []string
	}{
		{"99 iterations of 5 loops, counted by the program; most, 75, at unsure.c:19 seldom", []string{"info"}},
		{`"y": "75"`, []string{"report", "--json"}},
		{"", []string{"proxy", "-o", filepath.Join(b.dir, "proxy")}},
	} {
		text, err := exec.Command(mpis.NeedSpoor(t), append(x.args, filepath.Join(b.dir, "app.spoor"))...).Output()
		if err != nil || !strings.Contains(string(text), x.want) {
			t.Errorf("%q: error %v, and nothing of %q", x.args, err, x.want)
		}
	}
	written := ""
	files, _ := filepath.Glob(filepath.Join(b.dir, "proxy", "*.c"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		written += string(text)
	}
	if !strings.Contains(written, "// loop unsure.c:28, the program counted 3 rounds on all ranks") {
		t.Error("the proxy doesn't say how many rounds the program counted")
	}
	text, err := exec.Command(mpis.NeedSpoor(t), "calltree", "--width", "120", filepath.Join(b.dir, "app.spoor")).Output()
	if err != nil || !strings.Contains(string(text), ", 75 counted") {
		t.Errorf("%v\n%s", err, text)
	}
	t.Logf("%s", text)
}

// What the machine code says of rounds is what programs count, unless it is marked; then there were no fewer.
func TestApps(t *testing.T) {
	compiler := needed(t, clangs)[slices.IndexFunc(clangs, there)]
	pass := flagOf(t, compiler)
	list := mpis.Need(t)
	for i, app := range []struct {
		name string
		args []string
	}{
		{"cg", []string{"-n", "32", "-i", "10"}}, {"heat2d", []string{"-n", "32", "-i", "10"}}, {"sort", []string{"-n", "1000", "-i", "5"}},
		{"ocean", nil}, {"master", []string{"-n", "32", "-i", "10"}}, {"checkpoint", []string{"-n", "32", "-i", "3"}},
	} {
		t.Run(app.name, func(t *testing.T) {
			b := &build{t: t, m: list[i%len(list)], dir: t.TempDir()}
			for _, level := range []string{"-O0", "-O2"} {
				b.run(slices.Concat([]string{compiler, level, "-g", "-w", pass, mpis.Root("test/apps/" + app.name + ".c"), "-o", "app"}, shown(t, b.m.CC), []string{"-lm"})...)
				r := mpis.Job{MPI: b.m, Dir: b.dir}.Run(slices.Concat([]string{mpis.NeedSpoor(t), "run", "-q", "-f", "--timing", "lossless", "--stack", "24", "--plugin", reader()},
					b.m.Command(4, append([]string{"./app"}, app.args...)...))...)
				if r.Err != nil {
					t.Fatal(r)
				}
				counted := 0
				for rank := range 4 {
					for _, x := range b.loops(rank) {
						if x.Counted == nil {
							continue
						}
						counted++
						if n := float64(x.Rounds); x.Counted.Sum < n || x.Counted.Sum > n && !x.AtLeast {
							t.Errorf("%s, rank %d: %s: %v rounds counted, the calls say %d, at least %v", level, rank, x.Place, x.Counted.Sum, x.Rounds, x.AtLeast)
						}
					}
				}
				if counted < 4 {
					t.Errorf("%s: %d loops of four ranks have counts", level, counted)
				}
			}
		})
	}
}
