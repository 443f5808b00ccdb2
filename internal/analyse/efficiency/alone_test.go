package efficiency

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// At which call sites nobody but the rank itself takes part, in runs of one rank and of several.
func TestAlone(t *testing.T) {
	const own = trace.FirstCreatedHandle
	irecv := func(r *tracktest.Recorder, site int, source, comm int64) {
		r.Call("MPI_Irecv", site, 1, 8*source, 1, tracktest.IntType, source, 0, comm, 2)
	}
	sendrecv := func(r *tracktest.Recorder, site int, dest, source, comm int64) {
		r.Call("MPI_Sendrecv", site, 1, 0, 1, tracktest.IntType, dest, 0, 1, 8, 1, tracktest.IntType, source, 0, comm, 1, source, 0, 4, 0)
	}
	split := func(r *tracktest.Recorder, site int, color, size int64) {
		r.Call("MPI_Comm_split", site, tracktest.World, color, 0, own, 0, color, int64(r.Rank)%size, size, -1, 0, 0)
	}
	programs := map[string]func(r *tracktest.Recorder){
		"collectives": func(r *tracktest.Recorder) {
			r.Call("MPI_Barrier", 11, mpi.HandleCommSelf)
			r.Call("MPI_Barrier", 12, tracktest.World)
			split(r, 13, int64(r.Rank), 1)
			r.Call("MPI_Barrier", 14, own)
			r.Call("MPI_Barrier", 15, own)
			r.Call("MPI_Barrier", 15, tracktest.World) // the same place
		},
		"larger communicator": func(r *tracktest.Recorder) {
			split(r, 11, int64(r.Rank/2), 2)
			r.Call("MPI_Barrier", 12, own)
		},
		// One rank is left over: others at that place have somebody.
		"odd one": func(r *tracktest.Recorder) {
			size := int64(2)
			if r.Rank/2 == r.Size/2 {
				size = 1
			}
			split(r, 11, int64(r.Rank/2), size)
			r.Call("MPI_Barrier", 12, own)
		},
		"messages": func(r *tracktest.Recorder) {
			me, next, nobody := int64(r.Rank), int64((r.Rank+1)%r.Size), int64(tracktest.ProcNull)
			sendrecv(r, 11, me, me, tracktest.World)
			sendrecv(r, 12, nobody, nobody, tracktest.World)
			sendrecv(r, 13, nobody, me, tracktest.World)
			sendrecv(r, 14, next, next, tracktest.World)
			sendrecv(r, 15, nobody, next, tracktest.World)
			sendrecv(r, 16, 0, 0, mpi.HandleCommSelf)
			sendrecv(r, 17, 0, mpi.AnySource, mpi.HandleCommSelf)
			edge := nobody // rank 0 has nobody, others have
			if r.Rank > 0 {
				edge = me - 1
			}
			r.Recv(18, 1, edge, 0)
			r.Recv(19, 1, mpi.AnySource, 0)
		},
		"requests with itself": func(r *tracktest.Recorder) {
			irecv(r, 11, 0, mpi.HandleCommSelf)
			irecv(r, 12, int64(r.Rank), tracktest.World)
			r.Waitall(13, 2)
		},
		"requests": func(r *tracktest.Recorder) {
			irecv(r, 11, 0, mpi.HandleCommSelf)
			irecv(r, 12, int64((r.Rank+1)%r.Size), tracktest.World)
			r.Waitall(13, 2)
		},
		"file": func(r *tracktest.Recorder) {
			r.Call("MPI_File_open", 11, mpi.HandleCommSelf, 1, 2, mpi.HandleCommSelf, own) // info is of no interest
			r.Call("MPI_File_close", 12, own)
		},
	}
	want := map[string]map[int]bool{ // by site, in a run of several
		"collectives":          {11: true, 12: false, 13: false, 14: true, 15: false},
		"larger communicator":  {11: false, 12: false},
		"odd one":              {11: false, 12: false},
		"messages":             {11: true, 12: true, 13: true, 14: false, 15: false, 16: true, 17: true, 18: false, 19: false},
		"requests with itself": {13: true},
		"requests":             {13: false},
		"file":                 {11: true, 12: true},
	}
	for name, program := range programs {
		for _, ranks := range []int{1, 5} {
			if name == "file" && ranks == 1 || name == "larger communicator" && ranks == 1 {
				continue
			}
			expect := maps.Clone(want[name])
			for site := range expect {
				expect[site] = expect[site] || ranks == 1
			}
			r := mergetest.Open(t, tracktest.RunAll(ranks, program), nil)
			for _, all := range []bool{false, true} {
				rep, err := Analyse(r, Options{AllFunctions: all, NameSite: func(s trace.Site) string { return fmt.Sprint((s.Offset - 0x1000) / 12) }})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got := map[int]bool{}
				for i := range rep.Calls {
					c := &rep.Calls[i]
					if !c.IsCollective && !c.CompletesRequests {
						continue
					}
					var site int
					if _, err := fmt.Sscan(c.Place, &site); err != nil {
						t.Fatal(err)
					}
					got[site] = c.IsLocal
				}
				if all {
					if d := cmp.Diff(expect, got); d != "" {
						t.Errorf("%s on %d ranks: %s", name, ranks, d)
					}
					continue
				}
				for site, lone := range got {
					if lone || expect[site] {
						t.Errorf("%s on %d ranks: ranks are said to wait at site %d", name, ranks, site)
					}
				}
			}
		}
	}
}
