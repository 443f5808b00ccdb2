package replay

import (
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// Requests are found again whatever order they end in, and their places are
// used again: memory does not grow with the number of calls.
func TestRequestsAndMemory(t *testing.T) {
	program := func(loops int) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			r.Begin()
			for range loops {
				r.Isend(1, 4, 0, 1)
				r.Isend(2, 4, 0, 2)
				r.Isend(3, 4, 0, 3)
				r.Call("MPI_Wait", 4, 4, 4, 0) // the middle one, sent
				r.Call("MPI_Waitall", 5, 2, 2, 6, 2, 2, 4, 0, 4, 0)
			}
			r.End()
		}
	}
	used := func(loops int, traced bool) int64 {
		f := &fake{traced: traced}
		var live []uint64
		made := f.makes(6, 4)
		f.on = map[string]func(c *Call){
			"MPI_Isend": func(c *Call) {
				made(c)
				live = append(live, load(c.Words[6], 4))
			},
			"MPI_Wait": func(c *Call) {
				if got := load(c.Words[0], 4); got != live[1] {
					t.Errorf("waits for %x, expected %x", got, live[1])
				}
				store(c.Words[0], 4, 0x2c000000)
			},
			"MPI_Waitall": func(c *Call) {
				if a, b := load(c.Words[1], 4), load(c.Words[1]+4, 4); a != live[0] || b != live[2] {
					t.Errorf("waits for %x and %x, expected %x and %x", a, b, live[0], live[2])
				}
				store(c.Words[1], 4, 0x2c000000)
				store(c.Words[1]+4, 4, 0x2c000000)
				live = nil
			},
		}
		p, err := run(t, mergetest.Run(t, 1, program(loops)), 0, f, mpi.FlavourMPICH, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(p.Streams()[0].requests); n != 0 {
			t.Errorf("%d requests left", n)
		}
		return f.allocated
	}
	for _, traced := range []bool{false, true} {
		if few, many := used(10, traced), used(500, traced); few != many {
			t.Errorf("traced %v: %d bytes for 10 rounds, %d for 500", traced, few, many)
		}
	}
}

// A tracer that tells requests apart by where they are finds them in the array
// in which the program had them.
func TestRequestsLieWhereTheProgramHadThem(t *testing.T) {
	f := &fake{traced: true}
	var places []uint64
	made := f.makes(6, 8)
	f.on = map[string]func(c *Call){
		"MPI_Isend": func(c *Call) { made(c); places = append(places, c.Words[6]) },
		"MPI_Waitall": func(c *Call) {
			if at := c.Words[1]; places[0] != at+8 || places[1] != at {
				t.Errorf("requests at %x, the array is at %x", places, at)
			}
		},
	}
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		r.Isend(1, 4, 0, 1)
		r.Isend(2, 4, 0, 2)
		r.Call("MPI_Waitall", 3, 2, 2, 2, 4, -5) // the newer one first
		r.End()
	})
	if _, err := run(t, r, 0, f, mpi.FlavourOpenMPI, Options{}); err != nil {
		t.Fatal(err)
	}
}
