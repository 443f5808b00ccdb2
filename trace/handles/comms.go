package handles

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A Comm is one communicator of the run, or one side of an intercommunicator. Each rank has its own numbers for
// communicators. Which of them mean the same communicator follows from properties recorded at its creation. So it is
// known even if the standard does not determine the members; a HandleState knows only what the standard determines.
type Comm struct {
	// Number is 0 for MPI_COMM_WORLD and -1 for MPI_COMM_SELF. Others are numbered from 1: by the lowest rank that made
	// them, then in the order in which that rank did.
	Number               int
	Name                 string // name that MPI_Comm_set_name set on the lowest rank that called it; "" if none did
	MadeBy               string // function that created it; "" for a predefined one
	Parent               *Comm  // the communicator that it was created from; nil for a predefined one, or if there was none
	EqualCreationsBefore int64  // number of equal creations before this one; see trace.NewComm
	Size                 int
	Remote               *Comm // the other side of an intercommunicator; nil if it is in another world

	RemoteSize int

	pair    int // of an intercommunicator: a number that both sides have; else -1
	members []int
}

// WorldRank returns the rank in MPI_COMM_WORLD of a rank in the (local) group. It is -1 if that process left no track,
// or is outside of MPI_COMM_WORLD.
func (c *Comm) WorldRank(rank int) int {
	if rank < 0 || rank >= len(c.members) {
		return -1
	}
	return c.members[rank]
}

// PeerWorldRank returns the rank in MPI_COMM_WORLD of the process that a point-to-point call on the communicator names
// by rank. On an intercommunicator it is in the remote group. It is -1 if unknown.
func (c *Comm) PeerWorldRank(rank int) int {
	if c.RemoteSize == 0 {
		return c.WorldRank(rank)
	}
	if c.Remote == nil {
		return -1
	}
	return c.Remote.WorldRank(rank)
}

// RankOf returns the rank in the (local) group of a rank in MPI_COMM_WORLD; -1 if it is no member.
func (c *Comm) RankOf(world int) int {
	if c.WorldRank(world) == world { // the usual case, which needs no search (e.g. MPI_COMM_WORLD)
		return world
	}
	return slices.Index(c.members, world)
}

// ID returns a number that identifies a communicator in a run. The two sides of an intercommunicator have different
// IDs. So have the MPI_COMM_SELF of different ranks.
func (c *Comm) ID() int {
	if c.Number < 0 {
		return -1 - c.members[0]
	}
	return c.Number
}

// ChannelID returns the ID, but on both sides of an intercommunicator the lower of their IDs: messages go from one side
// to the other.
func (c *Comm) ChannelID() int {
	if c.Remote != nil {
		return min(c.ID(), c.Remote.ID())
	}
	return c.ID()
}

// Members returns the world ranks of the (local) group, -1 for unknown ones.
func (c *Comm) Members() []int { return append([]int(nil), c.members...) }

// String returns the communicator's name for messages to users.
func (c *Comm) String() string {
	switch {
	case c.Number < 0:
		return "MPI_COMM_SELF"
	case c.Number == 0:
		return "MPI_COMM_WORLD"
	case c.Name != "":
		return fmt.Sprintf("communicator %q", c.Name)
	case c.MadeBy == "":
		return fmt.Sprintf("communicator %d", c.Number)
	}
	return fmt.Sprintf("communicator %d of %s", c.Number, c.MadeBy)
}

// Comms maps a rank's handle to the communicator that it means at a position.
type Comms struct {
	list  []*Comm
	bound []map[int64]history[*Comm] // by rank, then by handle: the communicators that it has meant, in order
}

// List returns all communicators that were made, in order of their numbers,
// MPI_COMM_WORLD first.
func (c *Comms) List() []*Comm { return c.list }

// World returns MPI_COMM_WORLD.
func (c *Comms) World() *Comm { return c.list[0] }

// At returns the communicator that a handle means in a rank's call at the given stream and index; nil if unknown.
func (c *Comms) At(rank, stream int, index uint64, handle int64) *Comm {
	switch handle {
	case mpi.HandleCommWorld:
		return c.World()
	case mpi.HandleCommSelf:
		return &Comm{Number: -1, Size: 1, pair: -1, members: []int{rank}}
	}
	b, _ := c.bound[rank][handle].at(stream, index)
	return b.to
}

// commKey is the recorded properties on which all members of a communicator agree.
type commKey struct {
	parent         int // Number of the parent; -2 - pair if that is an intercommunicator; -1 without a parent
	call           uint16
	ordinal        int64
	leader, remote int64
	hash           int64
}

// pairKey is the recorded properties on which both sides of an intercommunicator agree.
type pairKey struct {
	call      uint16
	ordinal   int64
	low, high int64 // lower and higher leader (rank 0 of a group) of the two sides, as ranks in MPI_COMM_WORLD
	nth       int   // how many with equal other fields the side had created before, from other parents
}

// sideKey identifies one side of an intercommunicator.
type sideKey struct {
	pairKey
	leader int64
}

// A uniter determines which communicators of different ranks are the same.
type uniter struct {
	*Comms
	known map[commKey]*Comm
	pairs map[pairKey]int
	sides [][]*Comm // by Comm.pair: the sides of the intercommunicator found so far
	alike map[sideKey]int
}

// findComms finds the communicators of all ranks. It processes only calls that create communicators.
func (t *Table) findComms() (*Comms, error) {
	world := &Comm{Size: t.r.Ranks(), pair: -1, members: make([]int, t.r.Ranks())}
	for i := range world.members {
		world.members[i] = i
	}
	u := uniter{
		Comms: &Comms{list: []*Comm{world}, bound: make([]map[int64]history[*Comm], t.r.Ranks())},
		known: make(map[commKey]*Comm), pairs: make(map[pairKey]int), alike: make(map[sideKey]int),
	}
	isComm := func(of kind) bool { return of == comm }
	for k, err := range t.ranks(func(c *class) bool {
		return slices.ContainsFunc(c.makers, func(m creator) bool { return m.of == comm })
	}) {
		if err != nil {
			return nil, err
		}
		x, err := t.view(k, isComm)
		if err != nil {
			return nil, fmt.Errorf("communicators: %w", err)
		}
		u.rank(x)
	}
	for _, sides := range u.sides {
		if len(sides) == 2 {
			sides[0].Remote, sides[1].Remote = sides[1], sides[0]
		}
	}
	return u.Comms, t.nameComms(u.Comms)
}

// rank adds the communicators that a rank created, in an order in which parents precede the communicators made from
// them. If one thread got a handle from another, its use there is added after its creation.
func (u *uniter) rank(x *Rank) {
	bound := make(map[int64]history[*Comm])
	u.bound[x.k.Number()] = bound
	lists := slices.Clone(x.makings(func(o *object) extent {
		switch o.state {
		case lost:
			return noneOf
		case ambiguous:
			return allOf
		}
		return firstOf
	}))
	got := slices.Clone(x.handed)
	rest := func() (n int) {
		for stream := range lists {
			n += len(lists[stream]) + len(got[stream])
		}
		return n
	}
	for forced := false; rest() > 0; {
		before := rest()
		for stream, list := range lists {
			for len(list)+len(got[stream]) > 0 {
				if len(got[stream]) > 0 && (len(list) == 0 || got[stream][0].FirstUse <= list[0].index) {
					h := &got[stream][0]
					if from := lists[h.MakerStream]; !forced && len(from) > 0 && from[0].index <= h.MakerCall {
						break // the handle's creation in the other stream has not been processed yet
					}
					forced = false
					if b, ok := bound[h.id].of(h.MakerStream).last(h.MakerCall); ok {
						bound[h.id] = bound[h.id].with(binding[*Comm]{stream, h.FirstUse, b.to})
					}
					got[stream] = got[stream][1:]
					continue
				}
				at := list[0]
				list = list[1:]
				lists[stream] = list
				m, handle := x.made[at.maker].call, x.made[at.maker].name.id
				if m.Param("parent") != nil && len(bound[handle]) > 0 {
					continue // MPI_Comm_get_parent returns the same communicator each time
				}
				if c := u.comm(m, x.k.Number(), stream, at.index); c != nil {
					bound[handle] = bound[handle].with(binding[*Comm]{stream, at.index, c})
				}
			}
		}
		forced = rest() == before // no progress is possible: the file is damaged
	}
}

// comm returns the communicator that a call of a rank created; nil if its recorded properties are inconsistent.
func (u *uniter) comm(c *trace.Call, rank, stream int, index uint64) *Comm {
	n, world := c.NewComm, u.World()
	if n.Size < 1 || n.Size > int64(world.Size) || n.RemoteSize < 0 {
		return nil
	}
	key := commKey{-1, c.Func.ID, n.EqualCreationsBefore, n.LeaderWorldRank, n.RemoteLeaderWorldRank, n.MembersHash}
	var parent *Comm
	if handle, ok := parentOf(c); ok {
		parent = u.At(rank, stream, index, handle)
	}
	if parent != nil {
		if key.parent = parent.Number; parent.pair >= 0 {
			key.parent = -2 - parent.pair
		}
		if parent.Number < 0 { // MPI_COMM_SELF: those of different ranks are different parents
			key.parent, key.leader = -1, int64(rank)
		}
	}
	comm := u.known[key]
	if comm == nil {
		comm = u.add(key, c, parent)
	}
	if comm.Size != int(n.Size) {
		return nil
	}
	if n.Rank >= 0 && n.Rank < n.Size {
		comm.members[n.Rank] = rank
	}
	return comm
}

// parent returns the index of the parameter with the parent communicator; -1 if the function has none.
func parent(f *trace.Function) int {
	return slices.IndexFunc(f.Params, func(p trace.ParamDef) bool { return p.Kind == mpiKinds[comm] && p.HasIn })
}

// parentOf returns the handle of the parent communicator; false if the call has none.
func parentOf(c *trace.Call) (handle int64, ok bool) {
	i := parent(c.Func)
	if i < 0 || c.Params[i].In.Type != trace.TypeHandle {
		return 0, false
	}
	return c.Params[i].In.Num, true
}

func (u *uniter) add(key commKey, c *trace.Call, parent *Comm) *Comm {
	n := c.NewComm
	comm := &Comm{
		Number: len(u.list), MadeBy: c.Name(), Parent: parent, EqualCreationsBefore: n.EqualCreationsBefore, Size: int(n.Size),
		RemoteSize: int(n.RemoteSize), pair: -1, members: make([]int, n.Size),
	}
	for i := range comm.members {
		comm.members[i] = -1
	}
	u.known[key] = comm
	u.list = append(u.list, comm)
	if n.RemoteSize > 0 {
		p := pairKey{c.Func.ID, n.EqualCreationsBefore, min(n.LeaderWorldRank, n.RemoteLeaderWorldRank), max(n.LeaderWorldRank, n.RemoteLeaderWorldRank), 0}
		side := sideKey{p, n.LeaderWorldRank}
		p.nth = u.alike[side]
		u.alike[side]++
		pair, fresh := once.NumberOf(u.pairs, p)
		if fresh {
			u.sides = append(u.sides, nil)
		}
		comm.pair = pair
		u.sides[pair] = append(u.sides[pair], comm)
	}
	return comm
}
