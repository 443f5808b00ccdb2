package replay

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/again/reissue"
	"github.com/spoor-hpc/spoor/mpi"
)

// A relocation has memory in place of that of the original processes that calls name
// by address: a slot for each window of their address spaces. It lies at the same
// address in all ranks, as one rank names the memory of another in a dynamic window.
type relocation struct{ windows []reissue.Window }

const (
	slotSize  = 8 << 30 // twice a window: what begins in it may end behind it
	relocated = 1 << 44 // where no Linux puts anything of its own accord
	mostSlots = 4096
)

// newRelocation reserves the memory: pages are there once they are touched.
func newRelocation(windows []reissue.Window, h Host) (*relocation, error) {
	if len(windows) > mostSlots {
		return nil, fmt.Errorf("displacements are addresses in %d places, more than the %d that a replay has room for", len(windows), mostSlots)
	}
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
	f := s.p.host.Function("PMPI_Win_attach") // nobody is to see it
	if f == 0 {
		return fmt.Errorf("this MPI has no MPI_Win_attach")
	}
	w := s.p.handles[mpi.KindWin].width
	*s.call = Call{Function: f}
	s.call.Words[0], s.call.Words[1], s.call.Words[2] = load(win, w), relocated, uint64(s.p.relocation.size())
	s.p.host.Make(s.call)
	if int32(s.call.Result) != 0 {
		return fmt.Errorf("MPI_Win_attach of what addresses are to point to ended with error %d", int32(s.call.Result))
	}
	return nil
}
