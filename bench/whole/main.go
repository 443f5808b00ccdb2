// Command whole measures what spoor adds to whole runs of programs: those of
// test/apps, hpcc and LAMMPS. Each runs without and with spoor in turn, and the
// difference is split into what comes before MPI_Init, MPI_Init, the time up to
// MPI_Finalize, that itself, and what comes after, with the processor time that a
// process spends in MPI_Init and MPI_Finalize. Figures are medians.
//
//	go run ./bench/whole [-mpi openmpi,mpich] [-programs cg,lu] [-ranks 2] [-runs 5] [-short] [-off]
//
// With -predict it measures instead how well spoor simulate predicts them, and ping-pongs, on the machine
// that spoor machine measure has measured before:
//
//	go run ./bench/whole -predict -runs 11
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/test/mpis"
)

func main() {
	which := flag.String("mpi", "", "which MPIs; default: those installed")
	programs := flag.String("programs", "", "which programs; default: "+strings.Join(names(), ","))
	ranks := flag.String("ranks", "2", "world sizes")
	runs := flag.Int("runs", 5, "runs of each kind, in turn")
	short := flag.Bool("short", false, "small problems: what is added at the start and the end shows all the same")
	off := flag.Bool("off", false, "also with tracing switched off from the start")
	predict := flag.Bool("predict", false, "hold what simulate predicts against what the programs take")
	noisy := flag.Bool("noisy", false, "with -predict: on a machine that is busy")
	flag.Parse()
	if err := measure(*which, *programs, *ranks, *runs, *short, *off, *predict, *noisy); err != nil {
		fmt.Fprintln(os.Stderr, "whole:", err)
		os.Exit(1)
	}
}

func measure(which, programs, ranks string, runs int, short, off, predict, noisy bool) error {
	list := mpis.Installed()
	if which != "" {
		list = nil
		for _, name := range strings.Split(which, ",") {
			m, err := mpis.Find(name)
			if err != nil {
				return err
			}
			list = append(list, m)
		}
	}
	chosen := names()
	if programs != "" {
		chosen = strings.Split(programs, ",")
	}
	b, err := newBench(runs, short, off)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	for _, m := range list {
		for _, n := range strings.Split(ranks, ",") {
			p, err := strconv.Atoi(n)
			if err != nil || p < 1 {
				return fmt.Errorf("-ranks: %q", n)
			}
			if predict {
				if err := b.predict(m, chosen, p, noisy); err != nil {
					return err
				}
				continue
			}
			fmt.Printf("%s, %d ranks, medians of %d runs in turn; ms\n", m.Name, p, runs)
			fmt.Printf("  %-11s %9s %7s %5s  = %7s + %6s + %6s + %6s + %6s   %s\n", "", "without", "added", "%",
				"launch", "start", "calls", "end", "after", "processor time of MPI_Init, MPI_Finalize: without, added")
			for _, name := range chosen {
				if err := b.program(m, name, p); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	return nil
}

// program runs a program in turn without spoor, with spoor and, if b.off is set, with spoor's tracing switched off. It
// prints a line for each way of running with spoor.
func (b *bench) program(m *mpis.MPI, name string, ranks int) error {
	line, err := b.line(m, name, ranks)
	if err != nil || line == nil {
		return err
	}
	kinds := []string{"", name}
	if b.off {
		kinds = append(kinds, " off")
	}
	samples := make([][]phases, len(kinds))
	for i := range b.runs {
		for k := range kinds {
			k = (i + k) % len(kinds)
			p, err := b.once(m, ranks, line, k)
			if err != nil {
				return err
			}
			samples[k] = append(samples[k], *p)
		}
	}
	for k := 1; k < len(kinds); k++ {
		value := func(of func(*phases) float64) (without, added float64) {
			var plain, more []float64
			for i := range samples[k] {
				without := of(&samples[0][i])
				plain, more = append(plain, without), append(more, of(&samples[k][i])-without)
			}
			return stats.Median(plain), stats.Median(more)
		}
		added := func(of func(*phases) float64) float64 { _, a := value(of); return a }
		whole, more := value(func(p *phases) float64 { return p.whole })
		init, initMore := value(func(p *phases) float64 { return p.initCPU })
		end, endMore := value(func(p *phases) float64 { return p.endCPU })
		fmt.Printf("  %-11s %9.1f %7.1f %5.1f  = %7.1f + %6.1f + %6.1f + %6.1f + %6.1f   %.1f %+.1f, %.1f %+.1f\n",
			kinds[k], whole, more, more/whole*100,
			added(func(p *phases) float64 { return p.launch }), added(func(p *phases) float64 { return p.start }),
			added(func(p *phases) float64 { return p.calls }), added(func(p *phases) float64 { return p.end }),
			added(func(p *phases) float64 { return p.after }),
			init, initMore, end, endMore)
	}
	return nil
}
