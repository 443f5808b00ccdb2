// Command pass measures what it costs that a compiler has loops count their rounds: compile time and run time of the programs of test/apps,
// with and without the plugin of clang or flang, one after the other in turn, and the ns of a round and of a function.
//
//	make pass && go run ./bench/pass
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/test/mpis"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pass:", err)
		os.Exit(1)
	}
}

// programs are the measured programs of test/apps. With these arguments each runs for about a second on one rank.
var programs = []struct {
	name string
	args []string
}{
	{"cg.c", []string{"-n", "1024", "-i", "1000"}},
	{"heat2d.c", []string{"-n", "200", "-i", "10000"}},
	{"sort.c", []string{"-n", "400000", "-i", "15"}},
	{"ocean.c", []string{"-n", "64", "-i", "3000"}},
	{"master.c", []string{"-n", "4000", "-i", "1500"}},
}

func run() error {
	clang := flag.String("clang", "clang-19", "`compiler` of C")
	name := flag.String("mpi", "mpich", "`MPI` to compile for")
	builds := flag.Int("builds", 10, "compile each so often with and without")
	runs := flag.Int("runs", 10, "run each so often with and without")
	into := flag.String("into", "", "put the tables into this `page`")
	flag.Parse()
	m, err := mpis.Find(*name)
	if err != nil {
		return err
	}
	out, err := exec.Command("bin/spoor", "papers", "pass", "--flag", *clang).Output()
	if err != nil {
		return fmt.Errorf("bin/spoor papers pass --flag %s: %w", *clang, err)
	}
	dir, err := os.MkdirTemp("", "pass")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := bench{m: m, compiler: *clang, flag: strings.TrimSpace(string(out)), dir: dir}
	if b.mpi, err = shown(m.CC); err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s, processor time (of runs that in user space), median of %d and %d pairs in turn (first and third quartile); the least of all with the pass beside the least without: what it adds, in %%.\n\n", *clang, *builds, *runs)
	text.WriteString("| program | compiling | running |\n|---|---|---|\n")
	var all [2]measured
	for _, p := range programs {
		source := filepath.Join("test/apps", p.name)
		compiling, err := pairs(*builds, func(pass bool) (float64, error) { return b.compile(source, pass) })
		if err != nil {
			return err
		}
		running, err := pairs(*runs, func(pass bool) (float64, error) { return b.start(b.program(source, pass), p.args...) })
		if err != nil {
			return err
		}
		all[0].add(compiling)
		all[1].add(running)
		fmt.Fprintf(&text, "| %s | %v | %v |\n", p.name, compiling, running)
	}
	fmt.Fprintf(&text, "| all | %v | %v |\n\n", &all[0], &all[1])
	if err := b.least(&text); err != nil {
		return err
	}
	fmt.Print(text.String())
	if *into != "" {
		return insert(*into, "rounds", text.String())
	}
	return nil
}

type bench struct {
	m                   *mpis.MPI
	compiler, flag, dir string
	mpi                 []string
}

// shown returns the flags -I, -L and -l that an MPI's compiler wrapper (e.g. mpicc) passes to its compiler.
func shown(wrapper string) (flags []string, err error) {
	out, err := exec.Command(wrapper, "-show").Output()
	for _, word := range strings.Fields(string(out)) {
		if strings.HasPrefix(word, "-I") || strings.HasPrefix(word, "-L") || strings.HasPrefix(word, "-l") {
			flags = append(flags, word)
		}
	}
	return flags, err
}

func (b *bench) program(source string, pass bool) string {
	return filepath.Join(b.dir, fmt.Sprint(strings.TrimSuffix(filepath.Base(source), ".c"), pass))
}

// compile compiles and links a program. It returns the compiler's processor time in seconds, without that of linking.
func (b *bench) compile(source string, pass bool) (float64, error) {
	object := b.program(source, pass) + ".o"
	line := slices.Concat([]string{"-O2", "-g", "-w", "-c", "-o", object, source}, b.mpi)
	if pass {
		line = append(line, b.flag)
	}
	took, err := processor(exec.Command(b.compiler, line...))
	if err != nil {
		return 0, err
	}
	_, err = processor(exec.Command(b.compiler, slices.Concat([]string{"-o", b.program(source, pass), object}, b.mpi, []string{"-lm"})...))
	return took, err
}

// start runs a program, and returns its time in user space: time in the system is not due to loops.
func (b *bench) start(program string, args ...string) (float64, error) {
	c := exec.Command(program, args...)
	c.Dir, c.Env = b.dir, b.m.Environ("TMPDIR="+b.dir)
	_, err := processor(c)
	return c.ProcessState.UserTime().Seconds(), err
}

// processor runs a command and returns its processor time in seconds.
func processor(c *exec.Cmd) (float64, error) {
	if out, err := c.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, out)
	}
	return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), nil
}

// A measured is what pairs of measurements without and with the plugin gave: by how many percent the time with the
// plugin is longer, for each pair, and the shortest time [0] without and [1] with it, in seconds.
type measured struct {
	more  []float64
	least [2]float64
}

// add adds another program's results. The least times of the two programs are summed.
func (m *measured) add(x *measured) {
	m.more = append(m.more, x.more...)
	for i := range m.least {
		m.least[i] += x.least[i]
	}
}

// pairs measures n times with and n times without the plugin, alternately. One measurement of each comes before and
// isn't part of the differences.
func pairs(n int, measure func(pass bool) (float64, error)) (*measured, error) {
	m := &measured{least: [2]float64{math.Inf(1), math.Inf(1)}}
	for i := -1; i < n; i++ {
		var took [2]float64
		for k := range took {
			which := (k + i + 2) % 2 // 1: with the plugin; it is first in every other pair
			var err error
			if took[which], err = measure(which == 1); err != nil {
				return nil, err
			}
			m.least[which] = min(m.least[which], took[which])
		}
		if i >= 0 {
			m.more = append(m.more, (took[1]/took[0]-1)*100)
		}
	}
	return m, nil
}

func (m *measured) String() string {
	list := slices.Sorted(slices.Values(m.more))
	at := func(q float64) float64 {
		x := q * float64(len(list)-1)
		i := int(x)
		return list[i] + (x-float64(i))*(list[min(i+1, len(list)-1)]-list[i])
	}
	return fmt.Sprintf("%+.1f (%+.1f to %+.1f); %+.1f", at(0.5), at(0.25), at(0.75), (m.least[1]/m.least[0]-1)*100)
}

// least measures what the plugin adds in bench/pass/programs/least.c: ns of one iteration of a loop around a call, and
// of one call of a function with a loop.
func (b *bench) least(text *strings.Builder) error {
	text.WriteString("| ns, least of all | without | with | with, in a shared library |\n|---|---|---|---|\n")
	ways := [][]string{nil, {b.flag}, {b.flag, "-fPIC"}}
	least := make([][2]float64, len(ways))
	for k := range 3 {
		for i, way := range ways {
			program := filepath.Join(b.dir, fmt.Sprint("least", i))
			line := slices.Concat([]string{"-O2", "-g"}, way)
			if k == 0 {
				if err := b.leastProgram(program, line, i == 2); err != nil {
					return err
				}
				least[i] = [2]float64{math.Inf(1), math.Inf(1)}
			}
			c := exec.Command(program)
			c.Env = b.m.Environ("TMPDIR=" + b.dir)
			out, err := c.Output()
			if err != nil {
				return fmt.Errorf("%s: %w", program, err)
			}
			var round, function float64
			if _, err := fmt.Sscan(string(out), &round, &function); err != nil {
				return err
			}
			least[i] = [2]float64{min(least[i][0], round), min(least[i][1], function)}
		}
	}
	for i, what := range []string{"a round of a loop around a call", "a function with a loop of one round"} {
		fmt.Fprintf(text, "| %s | %.1f | %.1f | %.1f |\n", what, least[0][i], least[1][i], least[2][i])
	}
	return nil
}

// leastProgram compiles and links bench/pass/programs/least.c. With shared, its loops are in a shared library.
func (b *bench) leastProgram(program string, flags []string, shared bool) error {
	opaque := program + ".o"
	for _, line := range [][]string{
		{"-O2", "-fPIC", "-c", "-o", opaque, "bench/pass/programs/opaque.c"},
		slices.Concat(flags, []string{"-c", "-o", program + ".main.o", "bench/pass/programs/least.c"}, b.mpi),
	} {
		if _, err := processor(exec.Command(b.compiler, line...)); err != nil {
			return err
		}
	}
	if !shared {
		_, err := processor(exec.Command(b.compiler, slices.Concat([]string{"-o", program, program + ".main.o", opaque}, b.mpi)...))
		return err
	}
	library := program + ".so"
	for _, line := range [][]string{
		slices.Concat([]string{"-shared", "-o", library, program + ".main.o", opaque}, b.mpi),
		slices.Concat([]string{"-o", program, library, "-Wl,-rpath," + b.dir}, b.mpi),
	} {
		if _, err := processor(exec.Command(b.compiler, line...)); err != nil {
			return err
		}
	}
	return nil
}

// insert replaces the text in a file between the comments <!-- table --> and <!-- end of table -->, each on its own
// line.
func insert(file, table, text string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+table+" -->\n", "<!-- end of "+table+" -->\n"
	before, rest, ok := strings.Cut(string(b), begin)
	_, after, found := strings.Cut(rest, end)
	if !ok || !found {
		return fmt.Errorf("%s has no place for %s", file, table)
	}
	return os.WriteFile(file, []byte(before+begin+text+end+after), 0o666)
}
