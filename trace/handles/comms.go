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
	Number  int    // communicators are numbered by the lowest rank that knows them, then by creation there
	Name    string // name that MPI_Comm_set_name set on the lowest rank that called it; "" if none did
	MadeBy  string // function that created it; "" for a predefined one
	Parent  *Comm  // nil for a predefined one, or if none exists
	Ordinal int64  // how many equal creations on the same parent precede it
	Size    int
	Remote  *Comm // the other side of an intercommunicator; nil if it is in another world

	RemoteSize int

	pair    int // of an intercommunicator: equal on both sides; else -1
	members []int
}

// WorldRank returns the world rank of a member of the (local) group; -1 if that member left no track or is outside
// this world.
func (c *Comm) WorldRank(rank int) int {
	if rank < 0 || rank >= len(c.members) {
		return -1
	}
	return c.members[rank]
}

// PeerWorldRank returns the world rank that a rank parameter of a point-to-point call on the communicator means, which on an
// intercommunicator is in the remote group. It is -1 if unknown.
func (c *Comm) PeerWorldRank(rank int) int {
	if c.RemoteSize == 0 {
		return c.WorldRank(rank)
	}
	if c.Remote == nil {
		return -1
	}
	return c.Remote.WorldRank(rank)
}

// RankOf returns the rank in the (local) group of a world rank; -1 if it is no member.
func (c *Comm) RankOf(world int) int {
	if c.WorldRank(world) == world { // the usual case, such as MPI_COMM_WORLD
		return world
	}
	return slices.Index(c.members, world)
}

// ID identifies a communicator in a run. The two sides of an intercommunicator have different IDs, and so has
// MPI_COMM_SELF on each rank.
func (c *Comm) ID() int {
	if c.Number < 0 {
		return -1 - c.members[0]
	}
	return c.Number
}

// ChannelID is ID, except that it is equal on both sides of an intercommunicator: messages go from one side to the
// other.
func (c *Comm) ChannelID() int {
	if c.Remote != nil {
		return min(c.ID(), c.Remote.ID())
	}
	return c.ID()
}

// Members returns the world ranks of the (local) group, -1 for unknown ones.
func (c *Comm) Members() []int { return append([]int(nil), c.members...) }

// String names a communicator for people.
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
	bound []map[int64]history[*Comm] // by rank, then by handle
}

// List returns all communicators that were made, in order of their numbers,
// MPI_COMM_WORLD first.
func (c *Comms) List() []*Comm { return c.list }

// World returns MPI_COMM_WORLD.
func (c *Comms) World() *Comm { return c.list[0] }

// At returns the communicator that a handle means in a call of a rank, given by stream and index; nil if unknown.
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
	parent         int // number of the parent, or -2 - pair for an intercommunicator; -1: none
	call           uint16
	ordinal        int64
	leader, remote int64
	hash           int64
}

// pairKey is the recorded properties on which both sides of an intercommunicator agree.
type pairKey struct {
	call      uint16
	ordinal   int64
	low, high int64 // world ranks of the leaders
	nth       int   // index among intercommunicators with equal leaders, as counted on each side: the sides' parents differ
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
	sides [][]*Comm // by pair
	alike map[sideKey]int
}

// findComms processes the calls of all ranks that create communicators, and no others.
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

// rank adds the communicators that a rank created. An object that a stream received from another one is added after
// its creation.
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
						break // not yet created
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
					continue // repeated queries for the parent return one communicator
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
	key := commKey{-1, c.Func.ID, n.Ordinal, n.Leader, n.RemoteLeader, n.MembersHash}
	var parent *Comm
	if handle, ok := parentOf(c); ok {
		parent = u.At(rank, stream, index, handle)
	}
	if parent != nil {
		if key.parent = parent.Number; parent.pair >= 0 {
			key.parent = -2 - parent.pair
		}
		if parent.Number < 0 { // each rank's own MPI_COMM_SELF
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
		Number: len(u.list), MadeBy: c.Name(), Parent: parent, Ordinal: n.Ordinal, Size: int(n.Size),
		RemoteSize: int(n.RemoteSize), pair: -1, members: make([]int, n.Size),
	}
	for i := range comm.members {
		comm.members[i] = -1
	}
	u.known[key] = comm
	u.list = append(u.list, comm)
	if n.RemoteSize > 0 {
		p := pairKey{c.Func.ID, n.Ordinal, min(n.Leader, n.RemoteLeader), max(n.Leader, n.RemoteLeader), 0}
		side := sideKey{p, n.Leader}
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
