package extrapolate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/diff"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A receiver's size for which there is no form is that of what is sent to it.
func TestSizesOfSends(t *testing.T) {
	program := func(r *tracktest.Recorder) {
		next, last := int64((r.Rank+2)%r.Size), int64((r.Rank+r.Size-2)%r.Size)
		count := func(rank int64) int64 {
			if rank == 0 {
				return 100
			}
			return 3*rank + 7
		}
		const most = 9999
		r.Begin()
		for range 3 {
			r.Send(3, count(int64(r.Rank)), next, 1)
			r.Call("MPI_Recv", 4, 1<<40, 0, most, tracktest.IntType, last, 1, tracktest.World, 1, last, 1, 4*count(last), 0)
			r.Call("MPI_Irecv", 5, 1<<40, 0, most, tracktest.IntType, last, 2, tracktest.World, 2)
			r.Send(6, count(int64(r.Rank)), next, 2)
			r.Call("MPI_Wait", 7, 2, 1, last, 2, 4*count(last), 0)
		}
		r.End()
	}
	m, err := Learn(known(t, program, 4, 5, 6, 7), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(m.FittedValues(), func(s FittedValue) bool { return len(s.FittingForms) == 0 }) {
		t.Error("there is a form for what receivers get: the test shows nothing")
	}
	r := extrapolated(t, m, 12)
	for d, err := range diff.CompareTraces(r, mergetest.Run(t, 12, program), diff.Options{}) {
		t.Fatalf("%+v, %v", d, err)
	}
}

// From MPI_PROC_NULL comes nothing, also where the MPI writes a rank and a tag into the status, as MPICH's MPI_Waitall does.
func TestFromNobody(t *testing.T) {
	program := func(r *tracktest.Recorder) {
		last, source, tag, bytes := int64(r.Rank-1), int64(r.Rank-1), int64(1), int64(32)
		if r.Rank == 0 {
			last, source, tag, bytes = mpi.ProcNull, 0, 0, 0
		}
		next := int64(r.Rank + 1)
		if next == int64(r.Size) {
			next = mpi.ProcNull
		}
		r.Begin()
		for range 3 {
			r.Call("MPI_Irecv", 5, 1<<40, 0, 8, tracktest.IntType, last, 1, tracktest.World, 2)
			r.Send(6, 8, next, 1)
			r.Call("MPI_Wait", 7, 2, 1, source, tag, bytes, 0)
		}
		r.End()
	}
	m, err := Learn(known(t, program, 4, 5, 6, 7), nil)
	if err != nil {
		t.Fatal(err)
	}
	for d, err := range diff.CompareTraces(extrapolated(t, m, 12), mergetest.Run(t, 12, program), diff.Options{}) {
		t.Fatalf("%s, %s, %v", d.CallA.Text(), d.CallB.Text(), err)
	}
}

// What is nothing for the first time is refused, with a number of ranks that shows it.
func TestFirstZero(t *testing.T) {
	program := func(r *tracktest.Recorder) {
		count := int64(10 / r.Size)
		if r.Rank < 10%r.Size {
			count++
		}
		r.Begin()
		if count > 0 {
			r.Send(3, count, mpi.ProcNull, 1)
		}
		r.End()
	}
	m, err := Learn(known(t, program, 4, 6, 8, 9), nil)
	if err != nil {
		t.Fatal(err)
	}
	var refusal *Refusal
	if _, err = m.Extrapolate(16, Options{}); !errors.As(err, &refusal) || len(refusal.HelpfulRankCounts) != 1 || refusal.HelpfulRankCounts[0] != 11 {
		t.Errorf("on 16 ranks six have nothing: %v", err)
	}
	for d, err := range diff.CompareTraces(extrapolated(t, m, 10), mergetest.Run(t, 10, program), diff.Options{}) {
		t.Fatalf("%+v, %v", d, err)
	}
}

// A partial trace has what the run would have but for the calls that are not known and those that need them.
func TestPartial(t *testing.T) {
	unknown := func(r *tracktest.Recorder) int64 { return int64(r.Rank * r.Rank * 7919 % (r.Size + 13)) }
	for name, x := range map[string]struct {
		all, rest func(r *tracktest.Recorder)
		lost      uint64 // of a rank
	}{
		"a count": {
			func(r *tracktest.Recorder) {
				for range 5 {
					r.Allreduce(3, unknown(r))
					r.Allreduce(4, 8)
				}
			},
			func(r *tracktest.Recorder) {
				for range 5 {
					r.Allreduce(4, 8)
				}
			}, 5,
		},
		"a request": {
			func(r *tracktest.Recorder) {
				next, last := int64((r.Rank+1)%r.Size), int64((r.Rank+r.Size-1)%r.Size)
				r.Irecv(3, 4, last, 1)
				r.Isend(4, 4, next, unknown(r))
				r.Waitall(5, 2)
				r.Isend(6, 4, next, 1)
				r.Irecv(7, 4, last, 1)
				r.Waitall(8, 2)
			},
			func(r *tracktest.Recorder) {
				next, last := int64((r.Rank+1)%r.Size), int64((r.Rank+r.Size-1)%r.Size)
				r.Irecv(3, 4, last, 1)
				r.Isend(6, 4, next, 1)
				r.Irecv(7, 4, last, 1)
				r.Waitall(8, 2)
			}, 2,
		},
		"iterations": {
			func(r *tracktest.Recorder) {
				r.Allreduce(3, 8)
				for range unknown(r) {
					r.Allreduce(4, 8)
					r.Allreduce(5, 8)
				}
				r.Allreduce(6, 8)
			},
			func(r *tracktest.Recorder) {
				r.Allreduce(3, 8)
				r.Allreduce(6, 8)
			}, 2,
		},
		"a communicator": {
			func(r *tracktest.Recorder) {
				r.Call("MPI_Comm_free", 4, trace.FirstCreatedHandle+unknown(r))
				r.Call("MPI_Barrier", 5, trace.FirstCreatedHandle)
				r.Call("MPI_Barrier", 6, tracktest.World)
			},
			func(r *tracktest.Recorder) { r.Call("MPI_Barrier", 6, tracktest.World) }, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole := func(f func(r *tracktest.Recorder)) func(r *tracktest.Recorder) {
				return func(r *tracktest.Recorder) {
					r.Begin()
					f(r)
					r.End()
				}
			}
			m, err := Learn(known(t, whole(x.all), 4, 5, 6, 7), nil)
			if err != nil {
				t.Fatal(err)
			}
			if c, err := m.Extrapolate(12, Options{}); c != nil || err == nil {
				t.Fatalf("it is whole, %v", err)
			}
			c, err := m.Extrapolate(12, Options{AllowPartial: true})
			if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || c == nil {
				t.Fatal(err)
			}
			file, err := sections.EncodeFile(c)
			if err != nil {
				t.Fatal(err)
			}
			r, err := trace.ReadBytes(file, "partial")
			if err != nil {
				t.Fatal(err)
			}
			for d, err := range diff.CompareTraces(r, mergetest.Run(t, 12, whole(x.rest)), diff.Options{}) {
				t.Fatalf("%+v, %v", d, err)
			}
			procs, err := r.Processes()
			if err != nil {
				t.Fatal(err)
			}
			for rank, p := range procs.All() {
				if p.LostCalls != x.lost {
					t.Errorf("rank %d lacks %d calls, want %d", rank, p.LostCalls, x.lost)
				}
			}
			if r.Meta()[OmittedCallsKey] == "" {
				t.Error("it does not say what it lacks")
			}
			if list, err := reissue.Obstacles(r, reissue.TargetMPI{}); err != nil || len(list) == 0 {
				t.Errorf("it could be replayed: %v", err)
			}
		})
	}
}

// A buffer for which there is no form may be anywhere: the trace is written, says how many there are, and diff takes it for equal.
func TestAnywhere(t *testing.T) {
	program := func(r *tracktest.Recorder) {
		r.Begin()
		hash := int64(r.Rank*r.Rank*7919%(r.Size+13)) * 8
		r.Call("MPI_Send", 3, 1<<8|1, hash, 4, tracktest.IntType, mpi.ProcNull, 1, tracktest.World)
		r.End()
	}
	m, err := Learn(known(t, program, 4, 5, 6, 7), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := extrapolated(t, m, 12)
	if got := r.Meta()[noted]; !strings.Contains(got, "12 addresses of buffers not determined") {
		t.Errorf("the note is %q", got)
	}
	real := mergetest.Run(t, 12, program)
	for d, err := range diff.CompareTraces(r, real, diff.Options{AllowMovedBlocks: true}) {
		t.Fatalf("%+v, %v", d, err)
	}
	for range diff.CompareTraces(r, real, diff.Options{}) {
		return
	}
	t.Error("all buffers are known: the test shows nothing")
}
