package symbol

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/mpi"
)

// CommDescriptionWords is how many words describe a new communicator: the world rank of its rank 0, the calling process's
// rank, size, world rank of the remote group's rank 0, remote size, hash of the member list.
const CommDescriptionWords = 6

// A CommDescription is the description of a communicator, in CommDescriptionWords words.
type CommDescription [CommDescriptionWords]int64

// Comms names communicators, and counts the creations from each parent. All members of a new communicator have seen
// the same number of equal creations on its parent, so that the number identifies it without communication.
type Comms struct {
	Handles
	info    []CommDescription // by name-FirstUserHandleID
	world   CommDescription
	self    CommDescription
	made    map[creation]int64
	unbound []int64 // names of duplicates whose raw handle is not yet known
}

// A creation identifies creations that count as equal.
type creation struct {
	parent int64 // name of the parent
	call   uint16
	leader int64 // world rank of rank 0 of the new (local) group, for a creation by one or two groups; else -1
	hash   int64 // hash of the member list, for a creation by a group; else 0
	remote int64 // world rank of the remote group's rank 0, if two groups are joined; else -1
}

// Init sets the descriptions of MPI_COMM_WORLD and MPI_COMM_SELF, and forgets all creations.
func (c *Comms) Init(rank, ranks int) {
	c.world = CommDescription{0, int64(rank), int64(ranks), -1, 0, 0}
	c.self = CommDescription{int64(rank), 0, 1, -1, 0, 0}
	c.made = make(map[creation]int64)
}

// Description returns the description of a communicator by name.
func (c *Comms) Description(name int64) CommDescription {
	switch i := name - mpi.FirstUserHandleID; {
	case name == mpi.HandleCommSelf:
		return c.self
	case i >= 0 && i < int64(len(c.info)):
		return c.info[i]
	}
	return c.world
}

// SetDescription sets the description of a new communicator.
func (c *Comms) SetDescription(name int64, info CommDescription) {
	i := int(name - mpi.FirstUserHandleID)
	if i < 0 || i >= len(c.refs) {
		return
	}
	for len(c.info) < len(c.refs) {
		c.info = append(c.info, CommDescription{})
	}
	c.info[i] = info
}

// CountCreation counts a creation on parent and returns how many equal ones precede it. If all members of the parent take
// part, a creation counts regardless of its result, as the members of one result may have been in different earlier
// results. If a group takes part, creations are counted by group. If two groups are joined, they are counted by the
// two leaders, as each side has its own parent.
func (c *Comms) CountCreation(parent int64, call uint16, info CommDescription) int64 {
	k := creation{parent: parent, call: call, leader: -1, remote: -1}
	if info[5] != 0 {
		k.leader, k.hash = info[0], info[5]
	}
	if info[4] != 0 && c.Description(parent)[4] == 0 {
		k.leader, k.remote = info[0], info[3]
	}
	n := c.made[k]
	c.made[k] = n + 1
	return n
}

// ForgetChildren discards the counts of creations on a freed communicator.
func (c *Comms) ForgetChildren(parent int64) {
	for k := range c.made {
		if k.parent == parent {
			delete(c.made, k)
		}
	}
}

// ReserveUnbound returns a new name for a duplicate whose handle will be seen later.
func (c *Comms) ReserveUnbound() int64 {
	name := c.ReserveName()
	c.unbound = append(c.unbound, name)
	return name
}

// NameOrBind returns the name of a handle that the program passes. It binds an unknown handle to the oldest
// duplicate that has none; bound reports whether it did.
func (c *Comms) NameOrBind(raw uint64) (name int64, bound bool) {
	name = c.NameOf(raw)
	if name == UnknownHandle && len(c.unbound) > 0 {
		name, bound = c.unbound[0], true
		c.unbound = c.unbound[1:]
		c.Bind(raw, name)
	}
	return name, bound
}

// Code codes the state.
func (c *Comms) Code(x *wire.Coder) {
	c.Handles.Code(x)
	n := len(c.info)
	if x.Count(&n, CommDescriptionWords); x.Reader != nil {
		c.info = make([]CommDescription, n)
	}
	words := func(info *CommDescription) {
		for i := range info {
			wire.CodeIntegers(x, &info[i])
		}
	}
	words(&c.world)
	words(&c.self)
	for i := range c.info {
		words(&c.info[i])
	}
	keys := slices.SortedFunc(maps.Keys(c.made), func(a, b creation) int {
		return cmp.Or(cmp.Compare(a.parent, b.parent), cmp.Compare(a.call, b.call), cmp.Compare(a.leader, b.leader),
			cmp.Compare(a.hash, b.hash), cmp.Compare(a.remote, b.remote))
	})
	if x.Reader != nil {
		c.made = make(map[creation]int64)
	}
	wire.CodeList(x, &keys, 6, func(_ int, k *creation) {
		call, name := int64(k.call), c.made[*k]
		wire.CodeIntegers(x, &k.parent, &call, &k.leader, &k.hash, &k.remote, &name)
		if k.call = uint16(call); x.Reader != nil {
			c.made[*k] = name
		}
	})
	x.Integers(&c.unbound)
	for _, name := range c.unbound {
		i := name - mpi.FirstUserHandleID
		x.RefuseIf(i < 0 || i >= int64(len(c.refs)), "a duplicate that is no communicator")
	}
}
