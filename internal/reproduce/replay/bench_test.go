package replay

import (
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// A quick host is a fake that notes nothing: what is left is the replayer.
type quick struct {
	fake
	made []func(c *Call) // by function
}

func (q *quick) FunctionAddress(name string) uint64 {
	f := q.fake.FunctionAddress(name)
	for uint64(len(q.made)) <= f {
		q.made = append(q.made, nil)
	}
	q.made[f] = q.on[name]
	return f
}

func (q *quick) MakeCall(c *Call) {
	c.ReadyNs = q.now
	q.now = max(q.now, c.NotBeforeNs)
	c.BeginNs = q.now
	q.now += 10
	c.EndNs, c.Result = q.now, 0
	if g := q.made[c.FunctionAddress]; g != nil {
		g(c)
	}
}

func (q *quick) RepeatCall(c *Call, r *RepeatedCall) { repeat(q.MakeCall, c, r) }

// What a replay adds to a call, the MPI's part aside.
func benchmarkCalls(b *testing.B, program func(r *tracktest.Recorder)) {
	r := mergetest.Run(b, 2, program)
	f := &quick{}
	f.on = map[string]func(c *Call){
		"MPI_Irecv": f.makes(6, 4), "MPI_Isend": f.makes(6, 4),
		"MPI_Waitall": func(c *Call) { store(c.Words[1], 4, 0x2c000000); store(c.Words[1]+4, 4, 0x2c000000) },
		"MPI_Wait":    func(c *Call) { store(c.Words[0], 4, 0x2c000000) },
	}
	b.ReportAllocs()
	calls := int64(0)
	for b.Loop() {
		k, err := r.Rank(0)
		if err != nil {
			b.Fatal(err)
		}
		p, err := NewProcess(r, k, f, mpi.FlavourMPICH, Options{})
		if err != nil {
			b.Fatal(err)
		}
		s := p.Streams()[0]
		if err := s.Run(); err != nil {
			b.Fatal(err)
		}
		calls += s.Calls
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(calls), "ns/call")
}

func BenchmarkExchange(b *testing.B) {
	benchmarkCalls(b, func(r *tracktest.Recorder) {
		r.Begin()
		for range 25_000 {
			r.Irecv(1, 4, 0, 1)
			r.Isend(2, 4, 0, 2)
			r.Waitall(3, 2)
			r.Allreduce(4, 1)
		}
		r.End()
	})
}

// Tests that find nothing, as a program makes them that has nothing else to do.
func BenchmarkTests(b *testing.B) {
	benchmarkCalls(b, func(r *tracktest.Recorder) {
		r.Begin()
		for range 500 {
			r.Irecv(1, 4, 0, 1)
			for range 200 {
				r.Call("MPI_Test", 2, 2, 0, 0)
			}
			r.Call("MPI_Wait", 3, 2, 0)
		}
		r.End()
	})
}
