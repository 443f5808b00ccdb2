package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace"
)

// A size is the size of a trace whose ranks are simulated (by bench/scale/vmpi).
type size struct {
	calls       uint64 // number of calls of all ranks
	times, file int    // bytes of section times, and of the whole file
	sites       int    // number of distinct pairs of function and call site, summed over the classes
	classes     int
}

// sizeOf simulates ranks that make the calls of p iterations times, merges them, and measures the trace.
func sizeOf(p skeleton.Program, mode timing.Mode, ranks, iterations int) (size, error) {
	var x size
	links := merge.LocalTransports(ranks)
	var root *merge.MergedBlock
	for rank := ranks - 1; rank >= 0; rank-- {
		v := vmpi.RunTimed(p.Name, rank, ranks, mode, func(v *vmpi.Rank) {
			for range iterations {
				p.Run(v)
			}
		})
		x.calls += v.Calls()
		s, err := merge.Merge(links[rank], v.Track())
		if err != nil {
			return x, err
		}
		links[rank], root = nil, s
	}
	if len(root.Problems) > 0 {
		return x, fmt.Errorf("problem of rank %d: %s", root.Problems[0].FirstRank, root.Problems[0].Text)
	}
	c, err := root.Content(map[string]string{trace.MetaCommand: "./" + p.Name, trace.MetaMPIFlavour: "mpich"})
	if err != nil {
		return x, err
	}
	file, err := sections.EncodeFile(c)
	if err != nil {
		return x, err
	}
	r, err := trace.ReadBytes(file, p.Name)
	if err != nil {
		return x, err
	}
	x.file, x.classes = len(file), r.Classes()
	for _, s := range r.Sections() {
		if s.Name == "times" {
			x.times = int(s.StoredBytes)
		}
	}
	for n := range r.Classes() {
		places, err := r.TerminalFunctionSites(n)
		if err != nil {
			return x, err
		}
		x.sites += len(places)
	}
	return x, nil
}

var sizeModes = []timing.Mode{timing.ModeStats, timing.ModeHist}

// sizePrograms are the programs whose bytes are counted by default.
var sizePrograms = []string{"st2d", "st3d", "cg", "lu", "mg"}

// printSizes prints bytes of section times by program, mode, iterations and ranks.
func printSizes(w io.Writer, ranks string, programs []string) error {
	var list []int
	for _, text := range strings.Split(ranks, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of ranks", text)
		}
		list = append(list, n)
	}
	fmt.Fprint(w, "| program | times over | distinct calls |")
	for _, mode := range sizeModes {
		for _, n := range list {
			fmt.Fprintf(w, " %s, %d ranks |", mode, n)
		}
	}
	fmt.Fprint(w, "\n|---|--:|--:|"+strings.Repeat("--:|", len(sizeModes)*len(list))+"\n")
	for _, name := range programs {
		p, ok := skeleton.ByName(name)
		if !ok {
			return fmt.Errorf("no program %q", name)
		}
		for _, iterations := range []int{1, 10} {
			var sites []string
			row := ""
			for _, mode := range sizeModes {
				for _, n := range list {
					if iterations > 1 && n > 1024 {
						row += " - |"
						continue
					}
					x, err := sizeOf(p, mode, n, iterations)
					if err != nil {
						return fmt.Errorf("%s on %d ranks: %w", name, n, err)
					}
					row += fmt.Sprintf(" %d |", x.times)
					if mode == timing.ModeStats {
						sites = append(sites, strconv.Itoa(x.sites))
					}
				}
			}
			fmt.Fprintf(w, "| %s | %d | %s |%s\n", name, iterations, strings.Join(sites, ", "), row)
		}
	}
	return nil
}
