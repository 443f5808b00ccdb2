package replay

import (
	"fmt"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// What is put by address into a dynamic window lands in memory that was set aside at
// the same place in all ranks, and that is attached to the window behind the tracer's
// back.
func TestDynamicWindowsByAddress(t *testing.T) {
	const there, win = 0x5555_0000_1008, 1024
	r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("MPI_Win_create_dynamic", 1, 0x130, tracktest.World, win)
		r.Call("MPI_Put", 2, heap0, 0, 1, tracktest.IntType, 1, there, 1, tracktest.IntType, win)
		r.Call("MPI_Put", 3, heap0, 0, 1, tracktest.IntType, 1, 8, 1, tracktest.IntType, win)
		r.End()
	})
	windows, err := reissue.AddressWindows(r)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(windows, []reissue.AddressWindow{0x5555}) {
		t.Fatalf("windows %#x", windows)
	}
	f := &fake{}
	f.on = map[string]func(c *Call){"MPI_Win_create_dynamic": f.makes(2, 4)}
	if _, err := run(t, r, 0, f, mpi.FlavourMPICH, Options{NoCompute: true, Windows: windows}); err != nil {
		t.Fatal(err)
	}
	want := []string{fmt.Sprintf("reserve %#x %#x", uint64(relocated), uint64(slotSize)), "MPI_Init", "MPI_Win_create_dynamic", "PMPI_Win_attach", "MPI_Put", "MPI_Put", "MPI_Finalize"}
	if !slices.Equal(f.log, want) {
		t.Fatalf("calls %v, expected %v", f.log, want)
	}
	attach, far, near := f.calls[2].Words, f.calls[3].Words, f.calls[4].Words
	if attach[0] != 0x5001 || attach[1] != relocated || attach[2] != slotSize {
		t.Errorf("attached %#x", attach[:3])
	}
	if far[4] != relocated+0x1008 || near[4] != 8 {
		t.Errorf("put to %#x and %#x", far[4], near[4])
	}
	if _, err := run(t, r, 0, &fake{}, mpi.FlavourMPICH, Options{NoCompute: true}); err == nil {
		t.Error("no error where nothing was set aside")
	}
}
