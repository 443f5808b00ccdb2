package hang_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/analyse/hang"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A step is one call of a rank: as recorded, and what it does.
type step struct {
	call   *trace.Call
	vals   []int64
	inputs int // so many of these are known before it returns
}

// A course of a program: which calls have begun and returned by some time.
type course struct {
	steps    [][]step
	at       []int // by rank: the call that is next, or open
	open     []bool
	sent     map[[3]int64]int // from, to, tag
	received map[[3]int64]int
	posted   [][][3]int64 // by rank: receives of requests not completed, in order
	entered  []int
}

// steps takes down what each rank of a program does.
func steps(t mergetest.TB, ranks int, program func(r *tracktest.Recorder)) [][]step {
	r := mergetest.Run(t, ranks, program)
	list := make([][]step, ranks)
	for rank := range list {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			vals := k.Signature(c.Terminal)
			outputs := map[string]int{"MPI_Recv": 5, "MPI_Waitall": 1, "MPI_Isend": 1, "MPI_Irecv": 1}[c.Name()]
			list[rank] = append(list[rank], step{c, vals, len(vals) - outputs})
		}
	}
	return list
}

func number(c *trace.Call, name string) int64 { return c.Param(name).In.Num }

// next lets a rank begin its next call, or return from the open one; false if it can't.
func (p *course) next(rank int) bool {
	if p.at[rank] == len(p.steps[rank]) {
		return false
	}
	c, me := p.steps[rank][p.at[rank]].call, int64(rank)
	if !p.open[rank] {
		p.open[rank] = true
		switch c.Name() {
		case "MPI_Send", "MPI_Isend":
			p.sent[[3]int64{me, number(c, "dest"), number(c, "tag")}]++
		case "MPI_Irecv":
			p.posted[rank] = append(p.posted[rank], [3]int64{number(c, "source"), me, number(c, "tag")})
		case "MPI_Allreduce", "MPI_Barrier", "MPI_Finalize":
			p.entered[rank]++
		}
		return true
	}
	switch c.Name() {
	case "MPI_Recv":
		s := c.Param("status").Out.Status
		if ch := [3]int64{s.Source, me, s.Tag}; s.Source != mpi.ProcNull {
			if p.sent[ch] <= p.received[ch] {
				return false
			}
			p.received[ch]++
		}
	case "MPI_Waitall":
		need := make(map[[3]int64]int)
		for _, ch := range p.posted[rank] {
			if need[ch]++; ch[0] != mpi.ProcNull && p.sent[ch] < p.received[ch]+need[ch] {
				return false
			}
		}
		for ch, n := range need {
			p.received[ch] += n
		}
		p.posted[rank] = nil
	case "MPI_Allreduce", "MPI_Barrier", "MPI_Finalize":
		for r := range p.entered {
			if p.entered[r] < p.entered[rank] {
				return false
			}
		}
	}
	p.open[rank] = false
	p.at[rank]++
	return true
}

// killed is the trace of the program as it was left at this time.
func (p *course) killed(t mergetest.TB) *trace.Reader {
	tracks := tracktest.RunAll(len(p.steps), func(r *tracktest.Recorder) {
		for i, s := range p.steps[r.Rank] {
			switch {
			case i < p.at[r.Rank]:
				r.CallOn(0, s.call.Name(), i%50, s.vals...)
			case i == p.at[r.Rank] && p.open[r.Rank]:
				vals := slices.Clone(s.vals[:s.inputs])
				vals[0] = trace.ReturnCodeNeverReturned
				r.CallOn(0, s.call.Name(), i%50, vals...)
			}
		}
	})
	for rank, tr := range tracks {
		if p.at[rank] < len(p.steps[rank]) {
			tr.Process.EndState = track.EndCrashed
		}
		for n := range tr.Signatures {
			if c, _ := mpi.CallByID(tr.Signatures[n].FunctionID); tr.Signatures[n].Values[0] == trace.ReturnCodeNeverReturned && c.Name != "MPI_Send" { // which needs nobody here
				tr.Times[n].Duration = model.Stat{}
				tr.Times[n].Duration.Add(hour)
			}
		}
	}
	return mergetest.Open(t, tracks, nil)
}

// TestHealthy: programs that come to their end are never called stuck on the way, whenever one looks,
// and whatever order their ranks run in.
func TestHealthy(t *testing.T) {
	programs := map[string][][]step{
		"stencil": steps(t, 6, tracktest.Stencil(3)), "workers": steps(t, 4, tracktest.Workers(9)),
		"butterfly": steps(t, 4, tracktest.Butterfly(2)), "transpose": steps(t, 4, tracktest.Transpose(2)),
	}
	names := []string{"stencil", "workers", "butterfly", "transpose"}
	rapid.Check(t, func(t *rapid.T) {
		list := programs[rapid.SampledFrom(names).Draw(t, "program")]
		n := len(list)
		p := &course{
			steps: list, at: make([]int, n), open: make([]bool, n), sent: make(map[[3]int64]int), received: make(map[[3]int64]int),
			posted: make([][][3]int64, n), entered: make([]int, n),
		}
		total := 0
		for _, s := range list {
			total += 2 * len(s)
		}
		stop := rapid.IntRange(0, total).Draw(t, "steps")
		order := rapid.SliceOfN(rapid.IntRange(0, n-1), 1, 20).Draw(t, "order")
		for done, idle := 0, 0; done < stop && idle < n; {
			rank := (order[done%len(order)] + idle) % n
			if p.next(rank) {
				done, idle = done+1, 0
			} else {
				idle++
			}
		}
		for rank := range n {
			if stop == total && p.at[rank] < len(list[rank]) {
				t.Fatalf("the program itself stops at %v", p.at)
			}
		}
		rep, err := hang.Analyse(p.killed(t), hang.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Verdict != hang.VerdictWaiting && rep.Verdict != hang.VerdictProgressing && rep.Verdict != hang.VerdictEnded {
			t.Fatalf("%s at %v: cycles %v\n%s", rep.Verdict, p.at, rep.Cycles, said(rep))
		}
		if len(rep.Mismatches) > 0 {
			t.Fatal(fmt.Sprint(rep.Mismatches))
		}
	})
}
