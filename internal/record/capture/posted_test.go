package capture

import (
	"math/rand/v2"
	"testing"

	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// TestStatusesAsPosted: a status that says what its receive says is a form alone, and another one has its values, whether the call is
// read or found in the cache; sizes that come from data make no other distinct calls of those that wait.
func TestStatusesAsPosted(t *testing.T) {
	const receives = 3
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newSynth(t, 0, 1<<20)
		short := r.IntN(2) == 0 // some messages are shorter than there is room for
		var want [][]int64
		for range 400 {
			handles := make([]uint64, receives)
			requests, statuses := []int64{0, receives, receives}, []int64{receives}
			out := []uint64{receives}
			for k := range handles {
				handles[k] = 0x98000000 + r.Uint64N(5)*16 + uint64(k)
				source, tag, count := 1+r.Int64N(2), int64(3+k), r.Int64N(4)
				asked := source
				if r.IntN(16) == 0 && short {
					asked = -2 // MPICH's MPI_ANY_SOURCE
				}
				place := uint64(0x5000 + 4*k)
				s.enter("MPI_Irecv", cat(buffer(stackBuf+64), uint64(count), typeInt, uint64(asked), uint64(tag), commWorld)...)
				s.leave("MPI_Irecv", handles[k], place)
				bytes := 4 * count
				if short && count > 0 && r.IntN(8) == 0 {
					bytes -= 4
				}
				requests = append(requests, int64(2*(receives-k)))
				if asked == source && bytes == 4*count {
					statuses = append(statuses, signature.StatusFormImplied)
				} else {
					statuses = append(statuses, signature.StatusFormFilled, source, tag, bytes, 0)
				}
				out = append(out, statusOf(source, tag, bytes)...)
			}
			s.enter("MPI_Waitall", cat(receives, receives, uint64(0x5000), 4, handles)...)
			s.leave("MPI_Waitall", out...)
			want = append(want, append(requests, statuses...))
		}
		got := tracked(t, s)
		waits := 0
		for i, v := range vals(got, 0) {
			if i%(receives+1) == receives {
				check(t, v, want[i/(receives+1)])
			}
		}
		for _, x := range got.Signatures {
			if x.Values[1] == receives {
				waits++
			}
		}
		if !short && waits != 1 {
			t.Errorf("seed %d: %d distinct calls that wait, want 1", seed, waits)
		}
		if t.Failed() {
			return
		}
	}
}
