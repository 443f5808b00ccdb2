package main

import (
	"bytes"
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
	whole  []string // programs of which all can be told; of the others nothing may be wrong
}

var trials = []trial{
	{"smallest", []int{4, 5, 6, 7, 8, 9, 16, 25, 32, 36, 64}, []int{64, 100}, []string{"ft"}},
	{"sides of 3 and more", []int{27, 36, 49, 64, 81}, []int{256, 127, 100}, []string{"st2d", "st2dp", "st3d", "st3dp", "lu", "nek", "bfly"}},
	{"powers of two", []int{4, 8, 16, 32, 64}, []int{256}, []string{"ft", "bfly"}},
}

// What is told of runs that nobody made is what happens in them: all ranks, call by call and value by value. The first of the wanted numbers is
// told of the programs named, and whatever is told is right.
func TestExtrapolate(t *testing.T) {
	for _, p := range skeleton.All {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			folder, told := t.TempDir(), 0
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
			for _, x := range trials {
				var from []*trace.Reader
				for _, n := range x.known {
					if takes(p, n) && len(from) < 5 {
						from = append(from, open(n))
					}
				}
				if len(from) < 3 {
					continue
				}
				m, err := extrapolate.Learn(from)
				if err != nil {
					t.Fatal(err)
				}
				for i, n := range x.wanted {
					if !takes(p, n) || n <= from[len(from)-1].Ranks() {
						continue
					}
					c, err := m.At(n)
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
					file, err := sections.Encode(c)
					if err != nil {
						t.Fatal(err)
					}
					r, err := trace.NewReader(bytes.NewReader(file), int64(len(file)), "extrapolated")
					if err != nil {
						t.Fatal(err)
					}
					for d, err := range diff.Traces(r, open(n), diff.Options{}) {
						t.Fatalf("%s, %d ranks: differs from the run: %+v, %v", x.name, n, d, err)
					}
					told++
				}
			}
			t.Logf("%d runs told, all as they are", told)
		})
	}
}

// measuring is held by who makes a trace, which counts memory.
var measuring sync.Mutex

func takes(p skeleton.Program, ranks int) bool { return p.Fits == nil || p.Fits(ranks) }
