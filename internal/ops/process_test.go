package ops_test

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/ops"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A notebook writes down what it is told, and that each call is left once, after it was entered.
type notebook struct {
	t    *testing.T
	acts map[ops.ActKind]int
	sent map[[2]int]uint64
	open map[int]int
	last map[int]int64
}

func (n *notebook) Begin(*trace.Rank) error {
	n.open, n.last = make(map[int]int), make(map[int]int64)
	return nil
}

func (n *notebook) End(k *trace.Rank) error {
	for stream, open := range n.open {
		if open != 0 {
			n.t.Errorf("rank %d: thread %d: %d calls were not left", k.Number(), stream, open)
		}
	}
	return nil
}

func (n *notebook) Enter(c *ops.Call) error {
	n.open[c.Stream]++
	n.forward(c.Stream, c.StartNs)
	for _, a := range c.Acts {
		n.acts[a.Kind]++
		if a.Kind == ops.ActSend || a.Kind == ops.ActSendBegin {
			n.sent[[2]int{c.Rank, a.PeerWorldRank()}] += a.SentBytes
		}
	}
	return nil
}

func (n *notebook) Leave(c *ops.Call) error {
	n.open[c.Stream]--
	n.forward(c.Stream, c.EndNs)
	return nil
}

func (n *notebook) forward(stream int, ns int64) {
	if ns < n.last[stream] {
		n.t.Errorf("time goes from %d back to %d", n.last[stream], ns)
	}
	n.last[stream] = ns
}

func told(t *testing.T, r *trace.Reader, o ops.Options) (*notebook, ops.Losses) {
	t.Helper()
	s, err := ops.NewSource(r, o)
	if err != nil {
		t.Fatal(err)
	}
	n := &notebook{t: t, acts: make(map[ops.ActKind]int), sent: make(map[[2]int]uint64)}
	if err := s.Run(n); err != nil {
		t.Fatal(err)
	}
	return n, s.Losses
}

var everything = ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime}

// Requests that are completed together end one by one; one that nobody completes is counted.
func TestRequests(t *testing.T) {
	const rounds = 5
	r := mergetest.Run(t, 3, func(r *tracktest.Recorder) {
		right, left := int64((r.Rank+1)%r.Size), int64((r.Rank+r.Size-1)%r.Size)
		r.Begin()
		for range rounds {
			r.Irecv(10, 100, left, 7)
			r.Isend(20, 100, right, 7)
			r.Waitall(30, 2)
			r.Allreduce(31, 1)
		}
		r.Irecv(11, 1, left, 9)
		r.End()
	})
	n, losses := told(t, r, everything)
	want := map[ops.ActKind]int{
		ops.ActRecvBegin: 3*rounds + 3, ops.ActSendBegin: 3 * rounds, ops.ActRecvEnd: 3 * rounds, ops.ActSendEnd: 3 * rounds, ops.ActCollective: 3 * rounds,
	}
	if diff := cmp.Diff(want, n.acts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[[2]int]uint64{{0, 1}: 400 * rounds, {1, 2}: 400 * rounds, {2, 0}: 400 * rounds}, n.sent); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(ops.Losses{"operations that nothing completed": 3}, losses); diff != "" {
		t.Error(diff)
	}
}

// A persistent barrier begins where it is started, not where its request is made. Both meet in the order of calls: Met counts
// the making alone, as a collective call of the communicator.
func TestPersistentBarrier(t *testing.T) {
	r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("MPI_Barrier_init", 18, mpi.HandleCommWorld, 0, 1)
		for range 3 {
			r.Call("MPI_Start", 19, 1)
			r.Call("MPI_Wait", 20, 1, signature.StatusFormIgnored, 0, 0, 0, 0)
		}
		r.End()
	})
	n, losses := told(t, r, everything)
	if diff := cmp.Diff(map[ops.ActKind]int{ops.ActCollectiveBegin: 6, ops.ActCollectiveEnd: 6}, n.acts); diff != "" || len(losses) > 0 {
		t.Error(diff, losses)
	}
}

// Calls outside of the wanted ranks and times are not told, but what they began is known.
func TestPart(t *testing.T) {
	r := mergetest.Run(t, 4, tracktest.Stencil(10))
	whole, _ := told(t, r, everything)
	first, end, err := r.TimeExtent()
	if err != nil {
		t.Fatal(err)
	}
	o := everything
	o.Ranks, o.FromNs = []int{1, 2}, (first+end)/2
	part, losses := told(t, r, o)
	for kind, n := range part.acts {
		if n == 0 || n >= whole.acts[kind] {
			t.Errorf("kind %d: %d of %d acts are in half of the time on half of the ranks", kind, n, whole.acts[kind])
		}
	}
	if part.acts[ops.ActRecvEnd] == 0 || len(losses) > 0 {
		t.Errorf("%d receives ended; left out: %v", part.acts[ops.ActRecvEnd], losses)
	}
}

// A request that a wait left under way, MPI_ERR_PENDING, is told of once it has come to its end.
func TestPending(t *testing.T) {
	filled := func(source, tag, bytes, failed int64) []int64 {
		return []int64{signature.StatusFormFilled, source, tag, bytes, 0, failed}
	}
	r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Call("MPI_Init", 1)
		if r.Rank == 0 {
			for i := range int64(2) {
				r.Call("MPI_Send", 2, 0, 0, 8, 0x247, 1, i, mpi.HandleCommWorld)
			}
		} else {
			for i := range int64(2) {
				r.Call("MPI_Irecv", 3, 0, 0, 8, 0x247, 0, i, mpi.HandleCommWorld, 2)
			}
			statuses := append([]int64{2}, append(filled(0, 0, 8, 15), filled(0, 0, 0, mpi.ErrPending)...)...)
			r.CallOn(0, "MPI_Waitall", 4, append([]int64{mpi.ErrInStatus, 2, 2, 4, 2}, statuses...)...)
			r.Call("MPI_Wait", 5, 2, signature.StatusFormFilled, 0, 1, 8, 0)
		}
		r.Call("MPI_Finalize", 6)
	})
	s, err := ops.NewSource(r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime})
	if err != nil {
		t.Fatal(err)
	}
	n := &notebook{t: t, acts: make(map[ops.ActKind]int), sent: make(map[[2]int]uint64)}
	if err := s.Run(n); err != nil {
		t.Fatal(err)
	}
	if n.acts[ops.ActTestedIncomplete] != 1 || n.acts[ops.ActRecvEnd] != 1 {
		t.Errorf("%d requests tested, %d receives ended, want one each", n.acts[ops.ActTestedIncomplete], n.acts[ops.ActRecvEnd])
	}
}
