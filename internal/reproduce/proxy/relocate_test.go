package proxy

import (
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/tracktest"
)

// What a program named by address is written as such, in memory that the proxy sets
// aside; displacements beside it stay what they are.
func TestAddresses(t *testing.T) {
	const win = 1024
	p := generate(t, record(t, 5, func(r *tracktest.Recorder) {
		there := []int64{0x5555_0000_1008, 0x7ffd_0000_0010, 0x5555_0777_0000, 0x7ffd_1234_0000, 0x5555_0000_0000}[r.Rank]
		r.Begin()
		r.Call("MPI_Win_create_dynamic", 1, 0x130, tracktest.World, win)
		r.Call("MPI_Put", 2, 0<<8|1, 0, 1, tracktest.IntType, 1, 0x5555_0000_2000, 1, tracktest.IntType, win)
		r.Call("MPI_Put", 3, 0<<8|1, 0, 1, tracktest.IntType, 1, 8, 1, tracktest.IntType, win)
		r.Call("MPI_Put", 4, 0<<8|1, 0, 1, tracktest.IntType, 1, there, 1, tracktest.IntType, win)
		r.End()
	}), Options{})
	text := string(p.Files["proxy.c"])
	for _, want := range []string{
		"relocate_regions(2, (const int64_t[]){0x5555, 0x7ffd});",
		"MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win[0])); attach_relocated(win[0]);",
		"MPI_INT, 1, relocate(0x555500002000LL), 1, MPI_INT, win[0])",
		"MPI_INT, 1, 8, 1, MPI_INT, win[0])",
		"0x555500001008LL", "0x7ffd00000010LL", "0x7ffd12340000LL",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
