// Command cost measures what spoor adds to a program: nanoseconds per call,
// memory, start-up, and time in MPI_Finalize. Each figure comes from runs with
// and without spoor in turn, and is a median. With -cpu, loops are timed by the
// processor time of the process, which other work on the machine changes less; with
// -least, the quickest of 25 parts of each loop counts, and the least of all runs.
//
//	go run ./bench/cost [-mpi openmpi,mpich] [-runs 5] [-ranks 2,16,64] [-memory distinct:1000000]
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/internal/stats"
)

func main() {
	mpis := flag.String("mpi", "openmpi,mpich", "which MPIs")
	runs := flag.Int("runs", 5, "runs of each kind, in turn")
	calls := flag.Int("n", 300000, "iterations of each loop; 0: skip")
	ranks := flag.String("ranks", "2,16,64", "world sizes for MPI_Finalize; none: skip")
	options := flag.String("options", "", "of spoor run, separated by spaces: --stack 8")
	programs := flag.String("programs", "loops,makers", "with loops; files has some that work on files, for -options --io")
	baseline := flag.String("baseline", "", "compare with these options of spoor run, not with runs without spoor; - for none")
	depth := flag.Int("depth", 0, "call the loops from so many functions below main")
	memory := flag.String("memory", "loop:100000,random:1000000,distinct:100000", "what programs whose memory is measured call, and how often (see programs/memory.c); none: skip")
	byCPU := flag.Bool("cpu", false, "time loops by processor time")
	least := flag.Bool("least", false, "the quickest of 25 parts of each loop, and the least of all runs")
	flag.Parse()
	for _, mpi := range strings.Split(*mpis, ",") {
		b := bench{mpi: mpi, runs: *runs, memory: *memory, programs: strings.Split(*programs, ","), depth: *depth, plain: *baseline != "", clock: "wall"}
		if *byCPU {
			b.clock = "cpu"
		}
		b.tell = "median"
		if *least {
			b.tell = "least"
		}
		b.options[1] = strings.Fields(*options)
		if *baseline != "-" {
			b.options[0] = strings.Fields(*baseline)
		}
		if err := b.run(*calls, *ranks); err != nil {
			fmt.Fprintln(os.Stderr, "cost:", err)
			os.Exit(1)
		}
	}
}

type bench struct {
	mpi  string
	runs int
	dir  string

	memory   string
	programs []string // names of the programs whose loops are timed

	plain   bool        // the plain run of a pair uses spoor, too, with options[0]
	options [2][]string // flags of spoor run: [0] for the plain run of a pair, [1] for its traced run
	depth   int
	clock   string
	tell    string // statistic that a program prints over the 25 parts of its loop: "median" or "least"
}

func (b *bench) run(calls int, ranks string) error {
	dir, err := os.MkdirTemp("", "spoor-cost-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.dir = dir
	for _, name := range append(b.programs, "ring", "memory") {
		cmd := exec.Command("mpicc."+b.mpi, "-O2", "-o", filepath.Join(dir, name), filepath.Join("bench", "cost", "programs", name+".c"))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
		}
	}
	for _, name := range b.programs {
		if calls == 0 {
			break
		}
		fmt.Printf("%s: %s on one rank, %d iterations, %s time, %s of %d runs in turn\n", b.mpi, name, calls, b.clock, b.tell, b.runs)
		if err := b.compare(1, name, strconv.Itoa(calls), strconv.Itoa(b.depth), b.clock, b.tell); err != nil {
			return err
		}
	}
	for _, m := range strings.Split(b.memory, ",") {
		what, n, ok := strings.Cut(m, ":")
		if !ok {
			continue
		}
		fmt.Printf("%s: memory of one rank, %s calls: %s, medians of %d runs in turn\n", b.mpi, n, what, b.runs)
		if err := b.compare(1, "memory", what, n); err != nil {
			return err
		}
	}
	for _, n := range strings.Split(ranks, ",") {
		p, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		// More than two ranks may share cores, and then wait for each other in every round: run fewer rounds.
		rounds := "1000"
		if p > 2 {
			rounds = "20"
		}
		fmt.Printf("%s: ring of %s rounds, %d ranks, medians of %d runs in turn\n", b.mpi, rounds, p, b.runs)
		if err := b.compare(p, "ring", rounds); err != nil {
			return err
		}
	}
	return nil
}

// compare runs a program plain and traced alternately; in every other pair the traced run is first. It prints the
// median over the runs, or with -least the least, of each number that the program prints, and of the wall time. The
// added time is the median of the pairs' differences, with quartiles: a machine that gets slower for a while affects
// both runs of a pair.
func (b *bench) compare(ranks int, program string, args ...string) error {
	samples := [2]map[string][]float64{{}, {}}
	var order []string
	for i := range b.runs {
		for k := range 2 {
			traced := (i + k) % 2
			lines, err := b.once(traced, ranks, program, args)
			if err != nil {
				return err
			}
			for _, l := range lines {
				if samples[0][l.name] == nil && samples[1][l.name] == nil {
					order = append(order, l.name)
				}
				samples[traced][l.name] = append(samples[traced][l.name], l.value)
			}
		}
	}
	fmt.Printf("  %-26s %12s %12s %12s\n", "", "without", "with", "added")
	for _, name := range order {
		plain, traced := samples[0][name], samples[1][name]
		added := make([]float64, min(len(plain), len(traced)))
		for i := range added {
			added[i] = traced[i] - plain[i]
		}
		slices.Sort(added)
		if b.tell == "least" {
			without, with := slices.Min(plain), slices.Min(traced)
			fmt.Printf("  %-26s %12.1f %12.1f %12.1f\n", name, without, with, with-without)
			continue
		}
		fmt.Printf("  %-26s %12.1f %12.1f %12.1f  (%.1f to %.1f)\n", name, stats.Median(plain), stats.Median(traced),
			stats.Median(added), added[len(added)/4], added[len(added)-1-len(added)/4])
	}
	return nil
}

type line struct {
	name  string
	value float64
}

func (b *bench) once(traced, ranks int, program string, programArgs []string) ([]line, error) {
	args := []string{"-n", strconv.Itoa(ranks)}
	if b.mpi == "openmpi" {
		args = append(args, "--oversubscribe")
	}
	args = append(append(args, filepath.Join(b.dir, program)), programArgs...)
	name := "mpiexec." + b.mpi
	if traced == 1 || b.plain {
		run := append([]string{"run", "-q", "-f", "-o", filepath.Join(b.dir, "t.spoor")}, b.options[traced]...)
		args = append(append(run, name), args...)
		name = filepath.Join("bin", "spoor")
	}
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	start := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	wall := time.Since(start)
	var lines []line
	text := bufio.NewScanner(strings.NewReader(string(out)))
	for text.Scan() {
		name, value, _ := strings.Cut(text.Text(), " ")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("unexpected output %q", text.Text())
		}
		lines = append(lines, line{name, v})
	}
	return append(lines, line{"whole_run_ms", float64(wall.Microseconds()) / 1e3}), nil
}
