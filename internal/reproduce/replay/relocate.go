package replay

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
)

// A relocation has memory in place of that of the original processes that calls name
// by address: a slot for each window of their address spaces. It lies at the same
// address in all ranks, as one rank names the memory of another in a dynamic window.
type relocation struct{ windows []reissue.Window }

const (
	slotSize  = 8 << 30 // twice a window: what begins in it may end behind it
	relocated = 1 << 46 // where no Linux puts anything of its own accord, nor Go its heap
)

// newRelocation reserves the memory: pages are there once they are touched.
func newRelocation(windows []reissue.Window, h Host) (*relocation, error) {
	l := &relocation{windows}
	if len(windows) == 0 {
		return l, nil
	}
	return l, h.Reserve(relocated, l.size())
}

func (l *relocation) size() int64 { return slotSize * int64(len(l.windows)) }

// address returns where the memory of an original address is.
func (l *relocation) address(n int64) (int64, error) {
	w, offset := reissue.WindowOf(n)
	i, ok := slices.BinarySearch(l.windows, w)
	if !ok {
		return 0, fmt.Errorf("nothing was set aside for address %#x", n)
	}
	return relocated + slotSize*int64(i) + offset, nil
}

// attach makes all that was set aside part of a dynamic window that was made.
func (s *Stream) attach(win uint64) error {
	if len(s.p.relocation.windows) == 0 {
		return nil
	}
	value := load(win, s.p.handles[mpi.KindWin].width)
	result, err := s.p.ask("PMPI_Win_attach", value, relocated, uint64(s.p.relocation.size())) // nobody is to see it
	if err == nil && int32(result) != 0 {
		err = fmt.Errorf("MPI_Win_attach of what addresses are to point to ended with error %d", int32(result))
	}
	return err
}
