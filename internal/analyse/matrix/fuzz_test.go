package matrix

import (
	"encoding/binary"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// Calls with any values make a matrix or an error, and the same from both ways
// of counting.
func FuzzCompute(f *testing.F) {
	names := []string{
		"MPI_Send", "MPI_Type_contiguous", "MPI_Send_init", "MPI_Start", "MPI_Win_allocate", "MPI_Put", "MPI_Comm_split",
		"MPI_Allgather", "MPI_Bcast", "MPI_Cart_create", "MPI_Neighbor_alltoall", "MPI_Scan", "MPI_Intercomm_create",
		"MPI_Reduce_scatter_block", "MPI_Graph_create",
	}
	for _, seed := range [][]int64{
		{0, 7, 1, 0, 1, double, 1, 1, own},
		{6, 12, tracktest.World, 1, 0, own, 0, 0, 0, 2, -1, 0, 0},
		{9, 15, tracktest.World, 2, 2, 2, 1, 2, 0, 1, 0, own, 0, 0, 0, 2, -1, 0},
	} {
		var b []byte
		for _, v := range seed {
			b = binary.AppendVarint(b, v)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tracks := tracktest.RunAll(3, func(r *tracktest.Recorder) {
			r.Begin()
			rest := data
			next := func() int64 {
				v, n := binary.Varint(rest)
				if n <= 0 {
					rest = nil
					return 0
				}
				rest = rest[n:]
				return v
			}
			for range 50 {
				if len(rest) == 0 {
					break
				}
				name := names[uint64(next())%uint64(len(names))]
				vals := make([]int64, uint64(next())%24)
				for i := range vals {
					vals[i] = next()
				}
				r.Call(name, 3, vals...)
			}
			r.End()
		})
		s, err := merge.MergeAll(tracks, len(tracks))
		if err != nil {
			return
		}
		c, err := s.Content(nil)
		if err == nil {
			_, err = sections.EncodeFile(c)
		}
		if err != nil {
			return // values that don't fit the functions
		}
		r := reader(t, tracks)
		if _, err := Compute(r, everything); err == nil {
			same(t, r, 1, 2)
		}
	})
}
