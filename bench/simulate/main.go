// Command simulate measures how fast traces are simulated: the communication of well-known
// programs (bench/scale makes the traces) on a machine that comes with spoor, first with every
// round of every rank gone through, then with the short cuts. Times are processor time; each
// trace is measured in a process of its own, whose largest memory is shown.
//
//	go run ./bench/simulate [-programs st2d,bfly] [-ranks 64,16384] [-messages]
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/trace"
)

func main() {
	programs := flag.String("programs", "st2d,st2dp,cg,lu,mg,bfly,ft", "which `programs` of bench/scale")
	ranks := flag.String("ranks", "64,1024,16384", "comma-separated `numbers` of ranks")
	on := flag.String("machine", "infiniband", "the `machine`")
	messages := flag.Bool("messages", false, "have messages in place of formulas in all collectives")
	one := flag.String("one", "", "measure this `trace` alone")
	flag.Parse()
	err := func() error {
		if *one != "" {
			return measure(*one, *on, *messages)
		}
		return all(*programs, *ranks, *on, *messages)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

func all(programs, ranks, on string, messages bool) error {
	dir, err := os.MkdirTemp("", "simulate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	scale := exec.Command("go", "run", "./bench/scale", "-baseline=false", "-programs", programs, "-ranks", ranks, "-keep", dir)
	scale.Stderr = os.Stderr
	if err := scale.Run(); err != nil {
		return fmt.Errorf("bench/scale: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Println("trace         calls    operations   load s  simulate s  M ops/s  MB  with short cuts s  ranks  rounds")
	for _, n := range strings.Split(ranks, ",") {
		for _, p := range strings.Split(programs, ",") {
			file := filepath.Join(dir, p+"-"+n+".spoor")
			if _, err := os.Stat(file); err != nil {
				continue // bench/scale wrote no trace, as the program can't run on that number of ranks
			}
			out, err := exec.Command(self, "-machine", on, "-messages="+strconv.FormatBool(messages), "-one", file).CombinedOutput()
			os.Stdout.Write(out)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return nil
}

// spent returns the processor time of this process so far, and the largest amount of memory that it had, in bytes.
func spent() (time.Duration, int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are constants
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Maxrss << 10
}

// enough is how long the simulation of a trace is repeated at least, so that the time of one is measured accurately.
const enough = time.Second

func measure(file, on string, messages bool) error {
	r, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	m, err := machine.LoadMachine(on)
	if err != nil {
		return err
	}
	var calls uint64
	run := func(o dataflow.Options, least time.Duration) (load, took time.Duration, last *dataflow.Result, err error) {
		times := time.Duration(0)
		for times == 0 || took < least && load < 2*least {
			start, _ := spent()
			s, err := traced.NewProgramSource(r, traced.Options{Machine: m, CollectivesAsMessages: messages})
			if err != nil {
				return 0, 0, nil, err
			}
			programs, err := s.Programs()
			if err != nil {
				return 0, 0, nil, err
			}
			loaded, _ := spent()
			if last, err = dataflow.Simulate(programs, s.Placement, o); err != nil {
				return 0, 0, nil, err
			}
			ended, _ := spent()
			load, took, times = load+loaded-start, took+ended-loaded, times+1
			if calls, err = s.Calls(); err != nil {
				return 0, 0, nil, err
			}
			s.Close()
		}
		return load / times, took / times, last, nil
	}
	load, took, all, err := run(dataflow.Options{SimulateEachRank: true, SimulateEachRound: true}, enough)
	if err != nil {
		return err
	}
	_, memory := spent()
	_, short, some, err := run(dataflow.Options{}, 0)
	if err != nil {
		return err
	}
	if all.EndPs() != some.EndPs() {
		return fmt.Errorf("short cuts change the end from %d to %d ps", all.EndPs(), some.EndPs())
	}
	name := strings.TrimSuffix(filepath.Base(file), ".spoor")
	fmt.Printf("%-12s %8d %12d %8.3f %11.4f %8.1f %4d %17.4f %7d %7d\n", name, calls, all.Ops, load.Seconds(), took.Seconds(),
		float64(all.Ops)/1e6/took.Seconds(), memory>>20, short.Seconds(), some.ShortCuts.SimulatedRanks, some.ShortCuts.SkippedRounds)
	return nil
}
