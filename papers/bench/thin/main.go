// Command thin measures by how much `spoor reduce` makes the trace of an adaptive-mesh program smaller: by precision,
// with each of its flags alone and with all of them. The program runs on virtual ranks.
//
//	go run ./papers/bench/thin [-ranks 8,16,32,64,128,256,512,1024] [-precisions 100,99,95,90,80,70,60,50,25,0]
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/papers/partners"
	"github.com/spoor-hpc/spoor/papers/rounds"
	"github.com/spoor-hpc/spoor/trace"
)

func main() {
	ranks := flag.String("ranks", "8,16,32,64,128,256,512,1024", "numbers of `ranks`")
	precisions := flag.String("precisions", "100,99,95,90,80,70,60,50,25,0", "from high to low, in `percent`")
	flag.Parse()
	if err := run(numbers(*ranks), numbers(*precisions)); err != nil {
		fmt.Fprintln(os.Stderr, "thin:", err)
		os.Exit(1)
	}
}

func numbers(text string) (list []int) {
	for word := range strings.SplitSeq(text, ",") {
		if n, err := strconv.Atoi(word); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// A knob is a set of reductions of a trace. All of them reduce message sizes; with draw set they also draw trip
// counts, with partners set also partners of messages.
type knob struct {
	name           string
	draw, partners bool
}

var knobs = []knob{{"sizes", false, false}, {"and rounds, `--trip-counts`", true, false}, {"and partners, `--partners`", false, true}, {"all", true, true}}

func run(ranks, precisions []int) error {
	fmt.Print("| | ranks | before |")
	for _, p := range precisions {
		fmt.Printf(" %d |", p)
	}
	fmt.Printf("\n|---|---:|---:|%s\n", strings.Repeat("---:|", len(precisions)))
	for _, n := range ranks {
		r, err := recorded(n, mesh)
		if err != nil {
			return err
		}
		for _, k := range knobs {
			sizes, err := k.sizes(r, precisions)
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %d | %d |", k.name, n, r.Size())
			for _, size := range sizes {
				fmt.Printf(" %d |", size)
			}
			fmt.Println()
		}
	}
	return nil
}

// sizes returns the file size of the reduced trace for each precision in percent.
func (k *knob) sizes(r *trace.Reader, precisions []int) (list []int64, err error) {
	d := partners.New(r, 1, func(int) {})
	for _, p := range precisions {
		o := reduce.Options{PrecisionPercent: p}
		if k.draw {
			o.NewTripCountDrawer = func(r *trace.Reader) reduce.TripCountDrawer {
				return rounds.New(r, rounds.Options{PrecisionPercent: p, Seed: 1})
			}
		}
		if k.partners {
			o.PartnerDrawer = d
		}
		x, err := reduce.ReduceTrace(r, o, func(int) {})
		if err != nil {
			return nil, err
		}
		list = append(list, x.FileBytes)
		x.Close()
	}
	return list, nil
}

// recorded runs a program on this number of virtual ranks, and returns its trace.
func recorded(ranks int, program func(v *vmpi.Rank)) (*trace.Reader, error) {
	tracks := make([]*track.Track, ranks)
	for rank := range tracks {
		tracks[rank] = vmpi.Run("mesh", rank, ranks, program).Track()
	}
	s, err := merge.MergeAll(tracks, ranks)
	if err != nil {
		return nil, err
	}
	c, err := s.Content(map[string]string{trace.MetaCommand: "./mesh", trace.MetaMPIFlavour: "mpich"})
	if err != nil {
		return nil, err
	}
	file, err := sections.EncodeFile(c)
	if err != nil {
		return nil, err
	}
	return trace.ReadBytes(file, "mesh")
}

// mesh is a program that solves on a mesh which changes in each step. The solver iterates until it converges. Then
// each rank sends about two messages of 900 to 1,099 bytes, which move blocks between ranks that look random. All
// ranks know where all blocks are.
func mesh(v *vmpi.Rank) {
	v.Start(1)
	next, last := int64((v.Rank+1)%v.Size), int64((v.Rank+v.Size-1)%v.Size)
	for step := range 60 {
		for range 36 + int(skeleton.Random(step)%8) {
			v.Sendrecv(2, vmpi.Heap(2), 64, next, 1, vmpi.Heap(3), 64, last, 1, vmpi.Double, vmpi.World)
			v.Allreduce(3, vmpi.Stack(16), vmpi.Stack(32), 1, vmpi.Double, vmpi.Sum, vmpi.World)
		}
		var rs []vmpi.Request
		for _, receives := range []bool{true, false} {
			for k := range 2 * v.Size {
				h := skeleton.Random(step, k)
				from, to := int(h%uint64(v.Size)), int(h>>16%uint64(v.Size))
				bytes, tag := int64(900+h>>32%200), int64(100+h>>48%5)
				switch {
				case from == to:
				case receives && to == v.Rank:
					rs = append(rs, v.Irecv(4, vmpi.Heap(0).Plus(int64(len(rs))<<12), bytes, vmpi.Byte, int64(from), tag, vmpi.World))
				case !receives && from == v.Rank:
					rs = append(rs, v.Isend(5, vmpi.Heap(1), bytes, vmpi.Byte, int64(to), tag, vmpi.World))
				}
			}
		}
		v.Waitall(6, rs)
	}
	v.Finalize(7)
}
