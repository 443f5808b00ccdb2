package convert

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// written exports a trace and returns its actions.
func written(t *testing.T, r *trace.Reader) ([][]action, ops.Losses) {
	t.Helper()
	s, err := ops.NewSource(r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, FindBytesPerMember: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w, err := NewSMPIWriter(s, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return parse(t, dir), s.Losses
}

// TestPrograms: a replay of programs ends, and moves what the matrix says.
func TestPrograms(t *testing.T) {
	for name, program := range map[string]func(*tracktest.Recorder){
		"stencil": tracktest.Stencil(5), "butterfly": tracktest.Butterfly(4), "transpose": tracktest.Transpose(3), "workers": tracktest.Workers(20),
		"unfinished": func(r *tracktest.Recorder) {
			r.Begin()
			r.Irecv(3, 4, int64((r.Rank+1)%r.Size), 9)
			r.End()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := mergetest.Run(t, 16, program)
			ranks, losses := written(t, r)
			x := replay{ranks: ranks}
			if err := x.run(); err != nil {
				t.Fatal(err)
			}
			if name != "unfinished" && len(losses) > 0 {
				t.Errorf("left out: %v", losses)
			}
			got := make(map[[2]int]matrix.Cell)
			for c, p := range x.posts {
				cell := got[[2]int{c.from, c.to}]
				cell.Messages += uint64(p[0])
				cell.Bytes += uint64(x.bytes[c][0])
				got[[2]int{c.from, c.to}] = cell
			}
			m, err := matrix.Compute(r, matrix.Options{PointToPoint: true})
			if err != nil {
				t.Fatal(err)
			}
			for from, row := range m.Dense() {
				for to, want := range row {
					if got[[2]int{from, to}] != want {
						t.Errorf("from %d to %d: %v, the matrix says %v", from, to, got[[2]int{from, to}], want)
					}
				}
			}
		})
	}
}

// functions are those of all patterns of collectives.
var functions = []string{
	"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv", "MPI_Allgather",
	"MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Reduce_scatter", "MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Exscan",
}

// operation is what a rank knows of a collective in which rank i sends amount(i, j) bytes to rank j.
func operation(name string, me, size, root int, amount func(i, j int) uint64) (op ops.Operation, p meaning.Pattern) {
	def, _ := mpi.CallNamed(name)
	op = ops.Operation{PerMember: &ops.Transfers{}, StartedBy: &trace.Function{Name: name, ID: def.ID}, Root: root}
	if m := meaning.DataMovementOf(name); m != nil {
		p = m.Pattern
	}
	sum := func(at func(i int) uint64) (list []uint64, n uint64) {
		for i := range size {
			list = append(list, at(i))
			n += at(i)
		}
		return list, n
	}
	same := amount(0, 0)
	switch all := same * uint64(size); name {
	case "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Scan", "MPI_Exscan":
		op.SentBytes, op.ReceivedBytes = same, same
	case "MPI_Gather":
		if op.SentBytes = same; me == root {
			op.ReceivedBytes = all
		}
	case "MPI_Scatter":
		if op.ReceivedBytes = same; me == root {
			op.SentBytes = all
		}
	case "MPI_Allgather":
		op.SentBytes, op.ReceivedBytes = same, all
	case "MPI_Alltoall":
		op.SentBytes, op.ReceivedBytes = all, all
	case "MPI_Reduce_scatter_block":
		op.SentBytes, op.ReceivedBytes = all, same
	case "MPI_Gatherv":
		if op.SentBytes = amount(me, root); me == root {
			op.PerMember.In.BytesByMember, op.ReceivedBytes = sum(func(i int) uint64 { return amount(i, root) })
		}
	case "MPI_Scatterv":
		if op.ReceivedBytes = amount(root, me); me == root {
			op.PerMember.Out.BytesByMember, op.SentBytes = sum(func(i int) uint64 { return amount(root, i) })
		}
	case "MPI_Allgatherv":
		op.SentBytes = amount(me, 0)
		op.PerMember.In.BytesByMember, op.ReceivedBytes = sum(func(i int) uint64 { return amount(i, 0) })
	case "MPI_Alltoallv", "MPI_Alltoallw":
		op.PerMember.Out.BytesByMember, op.SentBytes = sum(func(i int) uint64 { return amount(me, i) })
		op.PerMember.In.BytesByMember, op.ReceivedBytes = sum(func(i int) uint64 { return amount(i, me) })
	case "MPI_Reduce_scatter":
		op.PerMember.Out.BytesByMember, op.SentBytes = sum(func(i int) uint64 { return amount(0, i) })
		op.ReceivedBytes = amount(0, me)
	}
	return op, p
}

// TestSteps: what members of a communicator do for a collective fits together, message by message and
// byte by byte, whichever the function, the number of members and the root. Who hears of
// whose data is what the collective is for.
func TestSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(functions).Draw(t, "function")
		size := rapid.IntRange(1, 20).Draw(t, "members")
		root, flat := rapid.IntRange(0, size-1).Draw(t, "root"), rapid.Bool().Draw(t, "flat")
		sizes := rapid.SliceOfN(rapid.Uint64Range(1, 1000), 7, 7).Draw(t, "sizes")
		amount := func(i, j int) uint64 { return sizes[(3*i+5*j)%7] }
		x := replay{ranks: make([][]action, size)}
		var p meaning.Pattern
		for me := range size {
			var op ops.Operation
			op, p = operation(name, me, size, root, amount)
			var later []action
			for _, s := range steps(nil, p, &op, commView{me, size}, flat) {
				list := &x.ranks[me]
				if s.from >= 0 {
					*list = append(*list, action{"irecv", []int{s.from, 0, int(s.in)}})
				}
				wait := action{"wait", []int{s.from, me, 0}}
				switch {
				case s.to < 0:
				case flat:
					*list = append(*list, action{"isend", []int{s.to, 0, int(s.out)}})
					later = append(later, action{"wait", []int{me, s.to, 0}})
				default:
					*list = append(*list, action{"send", []int{s.to, 0, int(s.out)}})
				}
				switch {
				case s.from >= 0 && flat:
					later = append(later, wait)
				case s.from >= 0:
					*list = append(*list, wait)
				}
			}
			x.ranks[me] = append(x.ranks[me], later...)
		}
		if err := x.run(); err != nil {
			t.Fatalf("%s of %d: %v", name, size, err)
		}
		reach(t, name, p, size, root, x)
	})
}

// reach wants data to get from each to whom it is for.
func reach(t *rapid.T, name string, p meaning.Pattern, size, root int, x replay) {
	heard := make([][]bool, size)
	for i := range heard {
		heard[i] = make([]bool, size)
		heard[i][i] = true
	}
	for range size { // in any order, often enough
		for c := range x.posts {
			for i := range size {
				heard[c.to][i] = heard[c.to][i] || heard[c.from][i]
			}
		}
	}
	for to := range size {
		for from := range size {
			need := true
			switch p {
			case meaning.PatternFromRoot, meaning.PatternPartFromRoot:
				need = from == root
			case meaning.PatternToRoot:
				need = to == root
			case meaning.PatternToNext:
				need = from <= to
			}
			if need && !heard[to][from] {
				t.Fatalf("%s of %d, root %d: nothing of rank %d reaches rank %d: %v", name, size, root, from, to, fmt.Sprint(x.posts))
			}
		}
	}
}
