package capture

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// However many distinct calls a rank makes, they are recorded, merged, written and read.
// SPOOR_TEST_SIGNATURES=5000000 tries what takes minutes and gigabytes.
func TestManySignatures(t *testing.T) {
	calls := 60_000
	if n, err := strconv.Atoi(os.Getenv("SPOOR_TEST_SIGNATURES")); err == nil {
		calls = n
	}
	s := newSynth(t, 0, 1<<20)
	cfg := testConfig()
	cfg.ProcessDir = t.TempDir()
	cfg.Rank, cfg.Ranks = 0, 1
	c := attach(t, cfg, s)
	defer c.CloseCheckpoints()
	count := func(i int) int { // without a rule, and all different
		x := uint32(i) * 0x9e3779b1
		x = (x ^ x>>15) * 0x85ebca6b
		return int(x>>5)<<4 + i&15
	}
	begin := cpu()
	for i := range calls {
		s.enter("MPI_Send", cat(buffer(stackBuf), count(i), typeInt, 0, i%32768, commWorld)...)
		s.leave("MPI_Send")
		if i%512 == 511 {
			if err := c.Drain(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Drain(); err != nil {
		t.Fatal(err)
	}
	tr, err := c.Track(track.EndFinished)
	if err != nil {
		t.Fatal(err)
	}
	c.FreeCalls()
	distinct := len(tr.Signatures)
	state, err := merge.MergeAll([]*track.Track{tr}, 1)
	if err != nil || len(state.Problems) > 0 {
		t.Fatalf("%v, problems %v", err, state.Problems)
	}
	tr = nil
	content, err := state.Content(nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := sections.EncodeFile(content)
	if err != nil {
		t.Fatal(err)
	}
	state, content = nil, nil
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d distinct calls of %d: %d bytes, %.1f µs of a processor each, %d MB from the system", distinct, calls, len(file), float64(cpu()-begin)/1e3/float64(calls), m.Sys>>20)
	r, err := trace.ReadBytes(file, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Check(r); err != nil {
		t.Fatal(err)
	}
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	if k.CallCount(0) != uint64(calls) {
		t.Fatalf("%d calls of %d", k.CallCount(0), calls)
	}
	send, _ := mpi.CallNamed("MPI_Send")
	for _, i := range []int{0, 1, calls / 3, calls - 1} {
		call, err := k.Call(0, uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		if call.Func.ID != send.ID || call.Params[1].In.Num != int64(count(i)) {
			t.Errorf("call %d is %s, count %d expected", i, call.Text(), count(i))
		}
	}
}
