// Command timing records real programs with all their times, and compares what
// the timing codecs and the balanced histograms make of them. It prints the
// tables of docs/time-codecs.md.
//
//	go run ./bench/timing [-ranks 16] [-seconds 4] [-programs heat2d,lmp] [-error 0.1] [-keep DIR]
//	go run ./bench/timing [-error 0.1] TRACE…
//
// Speed is in processor time, which the load of the machine changes less than
// time on the wall.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"spoor/internal/timing"
	"spoor/internal/timing/codec"
	"spoor/internal/timing/measure"
	"spoor/trace"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "timing:", err)
		os.Exit(1)
	}
}

func run() error {
	r := recorder{}
	flag.IntVar(&r.ranks, "ranks", 16, "ranks of each program; hpcc has 4")
	flag.Float64Var(&r.seconds, "seconds", 4, "how long the mini-apps run")
	programs := flag.String("programs", strings.Join(names, ","), "which programs")
	bound := flag.Float64("error", timing.DefaultError, "relative error bound")
	flag.StringVar(&r.dir, "keep", "", "leave the traces in this `folder`")
	flag.Parse()
	paths := flag.Args()
	if len(paths) == 0 {
		if r.dir == "" {
			dir, err := os.MkdirTemp("", "spoor-timing-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			r.dir = dir
		}
		for _, name := range strings.Split(*programs, ",") {
			path, err := r.record(name)
			if err != nil {
				return err
			}
			paths = append(paths, path)
		}
	}
	o := &timing.Options{Error: *bound}
	var all []*program
	for _, path := range paths {
		p, err := measured(path, o)
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	fmt.Printf("Relative error bound %g; ratios against 8 bytes a time.\n\n", *bound)
	printRatios(all)
	fmt.Println()
	printCodecs(all)
	fmt.Println()
	printHistograms(all)
	return nil
}

// A program is what was measured of one recording.
type program struct {
	name    string
	ranks   int
	calls   int64
	results []*measure.Result
	hist    histogramErrors
}

func measured(path string, o *timing.Options) (*program, error) {
	r, err := trace.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p := &program{name: strings.TrimSuffix(filepath.Base(path), ".spoor")}
	codecs := codec.All()
	for _, c := range codecs {
		p.results = append(p.results, measure.New(c))
	}
	for rank := range r.Ranks() {
		if r.ClassOf(rank) < 0 {
			continue
		}
		k, err := r.Rank(rank)
		if err != nil {
			return nil, err
		}
		p.ranks++
		for stream := range k.Streams() {
			var whole measure.Block
			for block, err := range measure.Blocks(k, stream, o) {
				if err != nil {
					return nil, err
				}
				p.calls += int64(len(block.Calls.Keys))
				for i, c := range codecs {
					if err := p.results[i].Add(c, block); err != nil {
						return nil, fmt.Errorf("%s: rank %d: %w", path, rank, err)
					}
				}
				whole.Calls.Keys = append(whole.Calls.Keys, block.Calls.Keys...)
				whole.Batch.Gaps = append(whole.Batch.Gaps, block.Batch.Gaps...)
				whole.Batch.Durations = append(whole.Batch.Durations, block.Batch.Durations...)
			}
			p.hist.add(whole.Calls.Keys, whole.Batch)
		}
	}
	return p, nil
}
