package oracle

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A CommFinder tells which communicator a handle means after a call of a
// stream; nil if that isn't known.
type CommFinder func(stream int, index uint64, handle int64) *handles.Comm

// separate are the calls that join two communicators without a common one.
var separate = map[string]bool{"MPI_Comm_accept": true, "MPI_Comm_connect": true, "MPI_Comm_join": true}

// newComm tests what a trace says of a new communicator, and what follows from
// it: the members, which no rank alone knows.
func (c *comparer) newComm(p *pending) string {
	want, got := p.log.Comm, p.trace.NewComm
	if want == nil {
		return ""
	}
	if got == nil {
		return "not described in the trace"
	}
	size, remote := int64(len(want.Members)), int64(len(want.Remote))
	if got.Rank != want.Rank || got.Size != size || got.RemoteSize != remote {
		return fmt.Sprintf("logged rank %d of %d and %d remote ones, trace has %+v", want.Rank, size, remote, *got)
	}
	if c.comms == nil {
		return ""
	}
	handle := int64(-1)
	for i := range p.trace.Params {
		if v := &p.trace.Params[i].Out; v.Type == trace.TypeHandle && p.trace.Params[i].Def.Kind == mpi.KindComm {
			handle = v.Num
		}
	}
	comm := c.comms(p.stream, p.trace.Index, handle)
	if comm == nil && slices.Contains(want.Members, -1) {
		c.excuse(OtherWorld)
		return ""
	}
	if comm == nil {
		return "the trace doesn't know which communicator this is"
	}
	if members := comm.Members(); !slices.Equal(members, want.Members) {
		return fmt.Sprintf("logged members %v, trace has %v", want.Members, members)
	}
	if remote == 0 {
		return ""
	}
	if comm.Remote == nil {
		switch {
		case slices.Max(want.Remote) < 0:
			c.excuse(OtherWorld)
			return ""
		case separate[p.log.Name]:
			c.excuse(SeparateSides)
			return ""
		}
		return fmt.Sprintf("logged remote members %v, trace has none", want.Remote)
	}
	if members := comm.Remote.Members(); !slices.Equal(members, want.Remote) {
		return fmt.Sprintf("logged remote members %v, trace has %v", want.Remote, members)
	}
	return ""
}

// newType tests what a trace says of a new datatype.
func (c *comparer) newType(p *pending) string {
	want, got := p.log.Type, p.trace.NewType
	if want == nil {
		return ""
	}
	if got == nil {
		return "not described in the trace"
	}
	if list := []int64{got.Size, got.LowerBound, got.Extent, got.TrueLowerBound, got.TrueExtent}; !slices.Equal(list, want) {
		return fmt.Sprintf("logged size and extents %v, trace has %v", want, list)
	}
	return ""
}
