package trace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/naming"
	"github.com/spoor-hpc/spoor/mpi"
)

// A Comm is one communicator of the run, or one side of an intercommunicator.
// Ranks give communicators names of their own; which of them mean the same one
// follows from what they know of its making.
type Comm struct {
	Number  int    // in order of the lowest rank that knows it, and of its making there
	Name    string // that the lowest rank which did so gave it by MPI_Comm_set_name; "" if none did
	MadeBy  string // function; "" of a predefined one
	Parent  *Comm  // nil of a predefined one, or if there is none
	Ordinal int64  // how many like it were made from the same parent before
	Size    int
	Remote  *Comm // the other side of an intercommunicator, if it is in this world

	RemoteSize int

	pair    int // of an intercommunicator: same for both sides; else -1
	members []int
}

// WorldRank returns the rank in the world of a member of the (local) group; -1
// if that member left no track or is outside this world.
func (c *Comm) WorldRank(rank int) int {
	if rank < 0 || rank >= len(c.members) {
		return -1
	}
	return c.members[rank]
}

// Peer returns the world rank that a rank parameter of a point-to-point call
// on the communicator means: that of the remote group on an
// intercommunicator. It is -1 if not known.
func (c *Comm) Peer(rank int) int {
	if c.RemoteSize == 0 {
		return c.WorldRank(rank)
	}
	if c.Remote == nil {
		return -1
	}
	return c.Remote.WorldRank(rank)
}

// Members returns the world ranks of the (local) group, -1 where not known.
func (c *Comm) Members() []int { return append([]int(nil), c.members...) }

// Comms tells which communicator a rank's name for it means at some place.
type Comms struct {
	world *Comm
	list  []*Comm
	bound []map[int64]naming.History[*Comm] // by rank, by handle
}

// Comms finds all communicators of the run. It looks at the calls that make
// communicators and no others.
func (r *Reader) Comms() (*Comms, error) { return r.comms() }

// List returns all communicators that were made, in order of their numbers,
// MPI_COMM_WORLD first.
func (c *Comms) List() []*Comm { return c.list }

// World returns MPI_COMM_WORLD.
func (c *Comms) World() *Comm { return c.world }

// At returns the communicator that a handle means in a call of a rank, given
// by stream and index; nil if that is not known.
func (c *Comms) At(rank, stream int, index uint64, handle int64) *Comm {
	switch handle {
	case mpi.CommWorld:
		return c.world
	case mpi.CommSelf:
		return &Comm{Number: -1, Size: 1, pair: -1, members: []int{rank}}
	}
	b, _ := c.bound[rank][handle].At(stream, index)
	return b.To
}

// commKey is what all members of a communicator know of it alike.
type commKey struct {
	parent         int // number, or of an intercommunicator -2 - pair; -1 none
	call           uint16
	ordinal        int64
	leader, remote int64
	hash           int64
}

// pairKey is what both sides of an intercommunicator know of it alike.
type pairKey struct {
	call      uint16
	ordinal   int64
	low, high int64 // leaders
}

// maxMade bounds how many communicators of a rank are followed whose handles stand for
// others each time: each takes memory here, but next to none in a file that says they
// were made in a loop. What the handles stand for is not known of more.
const maxMade = 1 << 20

type commTracker struct {
	*Comms
	known map[commKey]*Comm
	pairs map[pairKey]int
	sides [][]*Comm // by pair
}

func (r *Reader) trackComms() (*Comms, error) {
	t := commTracker{
		Comms: &Comms{bound: make([]map[int64]naming.History[*Comm], r.Ranks())},
		known: make(map[commKey]*Comm), pairs: make(map[pairKey]int),
	}
	t.world = &Comm{Size: r.Ranks(), pair: -1, members: make([]int, r.Ranks())}
	for i := range t.world.members {
		t.world.members[i] = i
	}
	t.list = append(t.list, t.world)
	// Positions are the same in all ranks of most classes.
	type found struct {
		same map[int]bool
		list []*makers
	}
	known := make(map[int]found)
	for rank := range r.Ranks() {
		n := r.ClassOf(rank)
		if n < 0 {
			continue
		}
		k, err := r.Rank(rank)
		if err != nil {
			return nil, err
		}
		same, err := k.sameEachTime()
		if err != nil {
			return nil, err
		}
		x, ok := known[n]
		if !ok || len(k.class.Varying) > 0 || !maps.Equal(x.same, same) {
			x = found{same, k.makers(same)}
			known[n] = x
		}
		if err := t.rank(k, x.list); err != nil {
			return nil, fmt.Errorf("trace: %s: communicators: %w", r.name, err)
		}
	}
	for _, sides := range t.sides {
		if len(sides) == 2 {
			sides[0].Remote, sides[1].Remote = sides[1], sides[0]
		}
	}
	return t.Comms, r.nameComms(t.Comms)
}

// makers is the calls of a stream that make communicators, in order: the first of those that make the same one
// each time, and all others, up to maxMade of them.
type makers struct {
	list []occurrence
	more bool // than maxMade
}

type occurrence struct {
	index    uint64
	terminal int
}

// makers finds the calls that make communicators, by stream.
func (k *Rank) makers(same map[int]bool) []*makers {
	list := make([]*makers, k.Streams())
	for i := range list {
		often := k.weighed(i, func(t uint32) int64 {
			if once, ok := same[int(t)]; ok && !once {
				return 1
			}
			return 0
		})
		m := &makers{more: often.Total() > maxMade}
		for t, index := range often.Firsts(k.Terminals()) {
			if same[t] && index < k.Len(i) {
				m.list = append(m.list, occurrence{index, t})
			}
		}
		for n := range min(often.Total(), maxMade) {
			index, terminal := often.Nth(n)
			m.list = append(m.list, occurrence{index, int(terminal)})
		}
		slices.SortFunc(m.list, func(a, b occurrence) int { return cmp.Compare(a.index, b.index) })
		list[i] = m
	}
	return list
}

// sameEachTime tells of each terminal that makes communicators whether it is the same one
// each time: if no other makes one of that name, and its parent's name stands for one.
func (k *Rank) sameEachTime() (map[int]bool, error) {
	same := make(map[int]bool)
	var list []int
	makes := make(map[int64][]int)   // by handle
	parents := make(map[int][]int64) // by terminal
	for t := range k.class.Terminals {
		if !k.r.byID[k.class.Terminals[t].Group.Call].Has(CreatesComm) {
			continue
		}
		c, err := k.Terminal(t)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
		same[t] = k.Lane(t) == nil
		for i := range c.Params {
			p := &c.Params[i]
			if p.Kind() != "comm" {
				continue
			}
			if p.In.Type == Handle {
				parents[t] = append(parents[t], p.In.Num)
			}
			if p.Out.Type == Handle && c.NewComm != nil {
				makes[p.Out.Num] = append(makes[p.Out.Num], t)
			}
		}
	}
	for _, of := range makes {
		if len(of) > 1 {
			for _, t := range of {
				same[t] = false
			}
		}
	}
	for again := true; again; {
		again = false
		for _, t := range list {
			if !same[t] {
				continue
			}
			for _, parent := range parents[t] {
				if of := makes[parent]; len(of) > 0 && !same[of[0]] {
					same[t], again = false, true
				}
			}
		}
	}
	return same, nil
}

func (t *commTracker) rank(k *Rank, list []*makers) error {
	bound := make(map[int64]naming.History[*Comm])
	t.bound[k.number] = bound
	for stream, m := range list {
		for _, x := range m.list {
			c, err := k.Terminal(x.terminal)
			if err != nil {
				return err
			}
			t.made(k.number, stream, x.index, c, bound)
		}
		if !m.more {
			continue
		}
		for handle, of := range bound { // handles that stand for too many communicators
			if len(of) > 1 {
				bound[handle] = nil
			}
		}
	}
	return nil
}

// made notes a call that made a communicator.
func (t *commTracker) made(rank, stream int, index uint64, c *Call, bound map[int64]naming.History[*Comm]) {
	n := c.NewComm
	if n == nil {
		return
	}
	var parent *Comm
	var handle int64
	for i := range c.Params {
		p := &c.Params[i]
		if p.Kind() != "comm" {
			continue
		}
		if parent == nil && p.In.Type == Handle {
			parent = t.At(rank, stream, index, p.In.Num)
		}
		if p.Out.Type == Handle {
			handle = p.Out.Num
		}
	}
	if handle < FirstLocal || c.Param("parent") != nil && len(bound[handle]) > 0 {
		return // asking for the parents twice doesn't make two of them
	}
	comm := t.comm(c, n, parent, rank)
	if comm == nil {
		return
	}
	if n.Rank >= 0 && n.Rank < int64(len(comm.members)) {
		comm.members[n.Rank] = rank
	}
	bound[handle] = append(bound[handle], naming.Binding[*Comm]{Stream: stream, Index: index, To: comm})
}

// comm returns the communicator that a call made; nil if what the trace says
// of it makes no sense.
func (t *commTracker) comm(c *Call, n *NewComm, parent *Comm, rank int) *Comm {
	if n.Size < 1 || n.Size > int64(t.world.Size) || n.RemoteSize < 0 {
		return nil
	}
	key := commKey{-1, c.Func.ID, n.Ordinal, n.Leader, n.RemoteLeader, n.MembersHash}
	if parent != nil {
		if key.parent = parent.Number; parent.pair >= 0 {
			key.parent = -2 - parent.pair
		}
		if parent.Number < 0 { // each rank's MPI_COMM_SELF
			key.parent, key.leader = -1, int64(rank)
		}
	}
	if comm := t.known[key]; comm != nil {
		if comm.Size != int(n.Size) {
			return nil
		}
		return comm
	}
	comm := &Comm{
		Number: len(t.list), MadeBy: c.Name(), Parent: parent, Ordinal: n.Ordinal, Size: int(n.Size),
		RemoteSize: int(n.RemoteSize), pair: -1, members: make([]int, n.Size),
	}
	for i := range comm.members {
		comm.members[i] = -1
	}
	t.known[key] = comm
	t.list = append(t.list, comm)
	if n.RemoteSize > 0 {
		p := pairKey{c.Func.ID, n.Ordinal, min(n.Leader, n.RemoteLeader), max(n.Leader, n.RemoteLeader)}
		pair, ok := t.pairs[p]
		if !ok {
			pair = len(t.sides)
			t.pairs[p] = pair
			t.sides = append(t.sides, nil)
		}
		comm.pair = pair
		t.sides[pair] = append(t.sides[pair], comm)
	}
	return comm
}
