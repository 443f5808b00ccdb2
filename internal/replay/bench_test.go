package replay

import (
	"testing"

	"spoor/internal/merge/mergetest"
	"spoor/internal/track/tracktest"
	"spoor/mpi"
)

// What a replay adds to a call, the MPI's part aside.
func BenchmarkCall(b *testing.B) {
	const laps = 25_000
	r := mergetest.Run(b, 2, func(r *tracktest.Recorder) {
		r.Begin()
		for range laps {
			r.Irecv(1, 4, 0, 1)
			r.Isend(2, 4, 0, 2)
			r.Waitall(3, 2)
			r.Allreduce(4, 1)
		}
		r.End()
	})
	f := &fake{}
	f.on = map[string]func(c *Call){
		"MPI_Irecv": f.makes(6, 4), "MPI_Isend": f.makes(6, 4),
		"MPI_Waitall": func(c *Call) { store(c.Words[1], 4, 0x2c000000); store(c.Words[1]+4, 4, 0x2c000000) },
	}
	b.ReportAllocs()
	for range b.N {
		f.log, f.calls = f.log[:0], f.calls[:0]
		k, err := r.Rank(0)
		if err != nil {
			b.Fatal(err)
		}
		p, err := New(r, k, f, mpi.MPICH, Options{NoCompute: true})
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Streams()[0].Run(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(4*laps), "ns/call")
}
