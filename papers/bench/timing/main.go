// Command timing records real programs with all their times, and compares what
// the timing codecs and the balanced histograms make of them. It writes the tables that
// papers/codecs.md speaks of.
//
//	go run ./papers/bench/timing [-ranks 16] [-seconds 6] [-programs heat2d,lmp] [-within 9m] [-o FILE] [-cache FILE]
//	go run ./papers/bench/timing [-error 0.1] TRACE…
//	go run ./papers/bench/timing -sizes 64,1024 [-programs lu,mg]
//
// A program that fails or takes too long is named and left out. What was measured
// is kept in the cache, so that a second call goes on where the first one ended;
// programs measured in another way before are measured again. With -sizes it counts
// bytes of the modes that keep no single times, on virtual ranks.
//
// Speed is in processor time, which the load of the machine changes less than
// time on the wall.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/internal/timing"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "timing:", err)
		os.Exit(1)
	}
}

func run() error {
	r := recorder{}
	flag.IntVar(&r.ranks, "ranks", 16, "ranks of each program")
	flag.Float64Var(&r.seconds, "seconds", 6, "how long the mini-apps run")
	flag.DurationVar(&r.limit, "limit", 90*time.Second, "how long recording a program may take")
	programs := flag.String("programs", strings.Join(names, ","), "which programs")
	bound := flag.String("error", strconv.FormatFloat(timing.DefaultRelativeError, 'g', -1, 64), "error bound: a share, or a time like 10us")
	calls := flag.Int("calls", 2*32768, "measure so many calls of each rank")
	within := flag.Duration("within", 9*time.Minute, "begin with no program after that time")
	cached := flag.String("cache", "build/bench-timing.json", "`file` of what was measured already")
	out := flag.String("o", "", "write the tables to this `file`, too")
	flag.StringVar(&r.dir, "keep", "", "leave the traces in this `folder`")
	sizes := flag.String("sizes", "", "comma-separated `numbers` of virtual ranks: bytes of stats and hist")
	flag.Parse()
	if *sizes != "" {
		list := sizePrograms
		if *programs != strings.Join(names, ",") {
			list = strings.Split(*programs, ",")
		}
		return printSizes(os.Stdout, *sizes, list)
	}
	o := &timing.Options{}
	if err := o.AddErrorBound(*bound); err != nil {
		return err
	}
	var all []*program
	if flag.NArg() > 0 {
		for _, path := range flag.Args() {
			p, err := measured(path, o, *calls)
			if err != nil {
				return err
			}
			all = append(all, p)
		}
		printAll(os.Stdout, all, *bound, nil)
		return nil
	}
	if r.dir == "" {
		dir, err := os.MkdirTemp("", "spoor-timing-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		r.dir = dir
	}
	c := openCache(*cached, fmt.Sprintf("%d ranks, %g s, %d calls, error %s", r.ranks, r.seconds, *calls, *bound))
	begin := time.Now()
	var missing []string
	for _, name := range strings.Split(*programs, ",") {
		p, err := c.program(name), error(nil)
		switch {
		case p != nil:
			fmt.Fprintf(os.Stderr, "%s: measured before\n", name)
		case time.Since(begin) > *within:
			err = fmt.Errorf("no time left")
		default:
			p, err = r.measured(name, o, *calls)
			if err == nil {
				err = c.add(p)
			}
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			missing = append(missing, name)
			continue
		}
		all = append(all, p)
		if *out != "" {
			if err := writeAll(*out, all, *bound, missing); err != nil {
				return err
			}
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("nothing was measured")
	}
	printAll(os.Stdout, all, *bound, missing)
	if *out != "" {
		return writeAll(*out, all, *bound, missing)
	}
	return nil
}

// measured records a program, and measures it.
func (r *recorder) measured(name string, o *timing.Options, calls int) (*program, error) {
	start := time.Now()
	path, err := r.record(name)
	if err != nil {
		return nil, err
	}
	middle := time.Now()
	p, err := measured(path, o, calls)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "%s: recorded in %.1f s, measured in %.1f s: %d calls of %d\n",
		name, middle.Sub(start).Seconds(), time.Since(middle).Seconds(), p.Calls, p.All)
	return p, nil
}

func writeAll(path string, all []*program, bound string, missing []string) error {
	var text bytes.Buffer
	printAll(&text, all, bound, missing)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

func printAll(w io.Writer, all []*program, bound string, missing []string) {
	fmt.Fprintf(w, "Error bound %s; ratios against 8 bytes a time.\n", bound)
	if len(missing) > 0 {
		fmt.Fprintf(w, "Not measured: %s.\n", strings.Join(missing, ", "))
	}
	fmt.Fprintln(w)
	printRatios(w, all)
	fmt.Fprintln(w)
	printCodecs(w, all)
	fmt.Fprintln(w)
	printDetails(w, all)
	fmt.Fprintln(w)
	printHistograms(w, all)
}
