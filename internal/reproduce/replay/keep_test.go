package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// Arrays that an operation reads stay as they are until it is done, and then their
// memory is used again, though their contents are never the same twice.
func TestArraysOfOperationsUnderWay(t *testing.T) {
	const datatype = 1024
	program := func(loops int) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			r.Begin()
			for range loops {
				r.Call("MPI_Type_contiguous", 1, 4, tracktest.IntType, datatype, 16, 0, 16, 0, 16)
				r.Call("MPI_Ialltoallw", 2, heap0, 0, 1, 3, 1, 0, 1, datatype, heap0, 64, 1, 3, 1, 0, 1, datatype, tracktest.World, 2)
				r.Call("MPI_Ialltoallw", 3, heap0, 0, 1, 3, 1, 0, 1, datatype, heap0, 64, 1, 3, 1, 0, 1, datatype, tracktest.World, 2)
				r.Call("MPI_Type_free", 4, datatype)
				r.Waitall(5, 2)
			}
			r.End()
		}
	}
	used := func(loops int) int64 {
		f := &fake{}
		var types []uint64 // where the arrays of types are
		made := f.makes(9, 4)
		f.on = map[string]func(c *Call){
			"MPI_Type_contiguous": f.makes(2, 4),
			"MPI_Ialltoallw": func(c *Call) {
				types = append(types, c.Words[3], c.Words[7])
				made(c)
			},
			"MPI_Waitall": func(c *Call) {
				for i, at := range types {
					if got, want := load(at, 4), load(types[0], 4); got != want || got < 0x5000 {
						t.Errorf("array %d has type %x, expected %x", i, got, want)
					}
				}
				if len(types) != 4 || types[0] == types[2] || types[0] == types[1] {
					t.Errorf("arrays at %x", types)
				}
				types = types[:0]
				store(c.Words[1], 4, 0x2c000000)
				store(c.Words[1]+4, 4, 0x2c000000)
			},
		}
		p, err := run(t, mergetest.Run(t, 1, program(loops)), 0, f, mpi.FlavourMPICH, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(p.Streams()[0].kept); n != 0 {
			t.Errorf("arrays of %d requests are left", n)
		}
		return f.allocated
	}
	if few, many := used(10), used(500); few != many {
		t.Errorf("%d bytes for 10 rounds, %d for 500", few, many)
	}
}

// What the trace says to have finished is looked up in an array of requests.
func TestFinishedRequestIsOneOfThem(t *testing.T) {
	f := &fake{}
	f.on = map[string]func(c *Call){"MPI_Irecv": f.makes(6, 4)}
	_, err := run(t, mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		r.Irecv(1, 4, 0, 1)
		r.Call("MPI_Waitany", 2, 1, 1, 2, 7, 2, 6, 8, 16, 0)
	}), 0, f, mpi.FlavourMPICH, Options{})
	if err == nil || !strings.Contains(err.Error(), "request 7 of 1 is said to have finished") {
		t.Errorf("error %v", err)
	}
}

// Threads don't wait for an MPI that no call will initialise.
func TestThreadsWithoutMPI(t *testing.T) {
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.CallOn(0, "MPI_Get_library_version", 1, 0, r.String("fake"), 4)
		r.CallOn(1, "MPI_Barrier", 2, 0, tracktest.World)
	})
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProcess(r, k, &fake{}, mpi.FlavourMPICH, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	for _, s := range p.Streams() {
		go func() { ended <- s.Run() }()
	}
	for range p.Streams() {
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatal("a thread waits")
		}
	}
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "none that initialises MPI") {
		t.Errorf("error %v", err)
	}
}
