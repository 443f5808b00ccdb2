package hang

import (
	"runtime"
	"testing"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// What is kept of a rank does not grow with its distinct calls: there may be thousands of ranks.
func TestMemory(t *testing.T) {
	const ranks, distinct = 50, 200
	r := mergetest.Run(t, ranks, func(r *tracktest.Recorder) {
		r.Begin()
		for i := range int64(distinct) {
			r.Send(3, 1, int64(r.Rank+1)%ranks, i)
			r.Recv(4, 1, int64(r.Rank+ranks-1)%ranks, i)
		}
		r.End()
	})
	kept := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	if _, err := Analyse(r, Options{}); err != nil { // tables of the reader
		t.Fatal(err)
	}
	before := kept()
	f, err := follow(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if each := (kept() - before) / ranks; each > 2*distinct*1000 { // a call takes 2,000 and more
		t.Errorf("%d bytes are kept of each rank", each)
	}
	runtime.KeepAlive(f)
	runtime.KeepAlive(r)
}
