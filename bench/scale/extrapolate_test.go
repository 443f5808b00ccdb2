package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
	"github.com/spoor-hpc/spoor/internal/analyse/diff"
	"github.com/spoor-hpc/spoor/internal/extrapolate"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/trace"
)

// A trial is one rule for the numbers of ranks that are known, for all programs.
type trial struct {
	name   string
	known  []int // those of them that the program takes, up to five
	wanted []int
	whole  []string // programs that must not be refused
}

var trials = []trial{
	{"smallest", []int{4, 5, 6, 7, 8, 9, 16, 25, 32, 36, 64}, []int{64, 100}, []string{"ft"}},
	{"sides of 3 and more", []int{27, 36, 49, 64, 81}, []int{256, 127, 100}, []string{"st2d", "st2dp", "st3d", "st3dp", "lu", "nek", "bfly"}},
	{"powers of two", []int{4, 8, 16, 32, 64}, []int{128, 256}, []string{"cg", "bfly"}},
}

// squares are for programs on square grids.
var squares = trial{"squares", []int{16, 25, 36, 49, 64}, []int{100}, []string{"cannon"}}

// Extrapolated traces are equal to those of the runs: all ranks, call by call and value by value. Of the programs named there is a trace for the first of the
// wanted numbers; of the others there may be none, but never a wrong one.
func TestExtrapolate(t *testing.T) {
	for _, p := range skeleton.All {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			folder, made := t.TempDir(), 0
			known := make(map[int]*trace.Reader)
			open := func(ranks int) *trace.Reader {
				if known[ranks] == nil {
					measuring.Lock()
					_, err := measure(p, ranks, false, folder)
					measuring.Unlock()
					if err != nil {
						t.Fatal(err)
					}
					r, err := trace.Open(fmt.Sprintf("%s/%s-%d.spoor", folder, p.Name, ranks))
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { r.Close() })
					known[ranks] = r
				}
				return known[ranks]
			}
			list := trials
			if slices.Contains(squares.whole, p.Name) {
				list = append(slices.Clone(list), squares)
			}
			for _, x := range list {
				var from []*trace.Reader
				for _, n := range x.known {
					if takes(p, n) && len(from) < 5 {
						from = append(from, open(n))
					}
				}
				if len(from) < 3 {
					continue
				}
				m, err := extrapolate.Learn(from, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i, n := range x.wanted {
					if !takes(p, n) || n <= from[len(from)-1].Ranks() {
						continue
					}
					c, err := m.Extrapolate(n, extrapolate.Options{})
					var refusal *extrapolate.Refusal
					switch {
					case errors.As(err, &refusal):
						if i == 0 && slices.Contains(x.whole, p.Name) {
							t.Errorf("%s, %d ranks: %v", x.name, n, err)
						}
						continue
					case err != nil:
						t.Fatalf("%s, %d ranks: %v", x.name, n, err)
					}
					file, err := sections.EncodeFile(c)
					if err != nil {
						t.Fatal(err)
					}
					r, err := trace.ReadBytes(file, "extrapolated")
					if err != nil {
						t.Fatal(err)
					}
					for d, err := range diff.CompareTraces(r, open(n), diff.Options{}) {
						t.Fatalf("%s, %d ranks: differs from the run: %+v, %v", x.name, n, d, err)
					}
					made++
				}
			}
			t.Logf("%d traces, all equal to those of the runs", made)
		})
	}
}

// measuring is held by who makes a trace, which counts memory.
var measuring sync.Mutex

func takes(p skeleton.Program, ranks int) bool { return p.Fits == nil || p.Fits(ranks) }
