package imported

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/otf2"
	"github.com/spoor-hpc/spoor/mpi"
)

// A comm is a communicator. Some tools define one for each of its members.
type comm struct {
	number  int
	handle  int64 // mpi.CommWorld or mpi.CommSelf; 0: made by the program
	members []int // ranks of the world
	remote  []int // of the other side of an intercommunicator
	parent  *comm
	users   map[int]bool
	order   int // in the file

	maker map[int]int // by rank: which of its makers; -1: none, so one has to stand in
	key   string
	ids   []uint32
}

// sides are the members of the group of a rank and of the other one.
func (c *comm) sides(rank int) (own, other []int) {
	if c.remote != nil && slices.Contains(c.remote, rank) {
		return c.remote, c.members
	}
	return c.members, c.remote
}

// findComms translates definitions of communicators into ranks.
func (w *world) findComms() error {
	at := make(map[uint64]int)
	for i, k := range w.ranks {
		at[k.threads[0]] = i
	}
	var order []uint64
	groups := make(map[uint32]otf2.Group)
	for _, g := range w.a.Groups {
		switch {
		case g.Type == otf2.CommLocations && g.Paradigm == otf2.ParadigmMPI:
			if order == nil {
				order = g.Members
			}
		default:
			if _, ok := groups[g.ID]; !ok {
				groups[g.ID] = g
			}
		}
	}
	ranks := func(id uint32) (list []int, self bool, err error) {
		g, ok := groups[id]
		if !ok {
			return nil, false, fmt.Errorf("group %d is not defined", id)
		}
		for _, m := range g.Members {
			if m >= uint64(len(order)) || m >= uint64(len(w.ranks)) {
				return nil, false, fmt.Errorf("member %d of group %d: there are %d ranks", m, id, len(w.ranks))
			}
			list = append(list, int(m))
		}
		return list, g.Type == otf2.CommSelf, nil
	}
	world := false
	for i, def := range w.a.Comms {
		if _, ok := w.byID[def.ID]; ok {
			continue
		}
		c := &comm{order: i, users: make(map[int]bool), maker: make(map[int]int), ids: []uint32{def.ID}}
		members, self, err := ranks(def.Group)
		if err == nil && def.Remote != otf2.Undefined {
			c.remote, _, err = ranks(def.Remote)
		}
		if err != nil {
			return fmt.Errorf("communicator %d: %w", def.ID, err)
		}
		c.members = members
		switch {
		case self:
			c.handle = mpi.CommSelf
		case !world && c.remote == nil && def.Parent == otf2.Undefined && len(members) == len(w.ranks) && inOrder(members):
			c.handle, world = mpi.CommWorld, true
		case len(members) == 0 || def.Remote != otf2.Undefined && len(c.remote) == 0:
			continue
		}
		c.key = fmt.Sprint(members, c.remote)
		w.byID[def.ID] = c
		w.comms = append(w.comms, c)
	}
	for _, def := range w.a.Comms {
		if c, p := w.byID[def.ID], w.byID[def.Parent]; c != nil && c.parent == nil && p != c {
			c.parent = p
		}
	}
	return nil
}

func inOrder(list []int) bool {
	for i, m := range list {
		if m != i {
			return false
		}
	}
	return true
}

// assignComms says which call made which communicator at each rank. Where the trace doesn't say,
// it is the first one that made none known yet, in the order in which communicators were defined.
func (w *world) assignComms() {
	for _, k := range w.ranks {
		for _, u := range k.uses {
			if c := w.byID[u.comm]; c != nil {
				c.users[k.number] = true
			}
		}
		for _, m := range k.makers {
			if c := w.byID[m.comm]; c != nil {
				c.users[k.number] = true
			}
		}
	}
	w.unite()
	slices.SortFunc(w.comms, func(a, b *comm) int { return cmp.Compare(a.order, b.order) })
	for i, c := range w.comms {
		c.number = i
	}
	for _, k := range w.ranks {
		w.assign(k)
	}
	for _, c := range w.comms {
		if p := c.parent; p != nil && p.handle == 0 {
			for _, m := range append(slices.Clone(c.members), c.remote...) {
				if !p.users[m] {
					c.parent = nil
					break
				}
			}
		}
	}
}

// unite makes one of the communicators that tools define for each member alone: with the same
// members, of which each uses another one.
func (w *world) unite() {
	byKey := make(map[string][]*comm)
	var list []*comm
next:
	for _, c := range w.comms {
		if c.handle == 0 && len(c.users) > 0 && len(c.users) < len(c.members) {
			for _, o := range byKey[c.key] {
				if disjoint(o.users, c.users) {
					for u := range c.users {
						o.users[u] = true
					}
					for _, id := range c.ids {
						w.byID[id] = o
					}
					o.ids = append(o.ids, c.ids...)
					continue next
				}
			}
			byKey[c.key] = append(byKey[c.key], c)
		}
		list = append(list, c)
	}
	w.comms = list
	for _, c := range list {
		if c.parent != nil {
			c.parent = w.byID[c.parent.ids[0]]
		}
	}
}

func disjoint(a, b map[int]bool) bool {
	for x := range b {
		if a[x] {
			return false
		}
	}
	return true
}

func (w *world) assign(k *rank) {
	taken := make([]bool, len(k.makers))
	for i, m := range k.makers {
		if c := w.byID[m.comm]; c != nil && c.handle == 0 {
			if _, ok := c.maker[k.number]; !ok {
				c.maker[k.number], taken[i] = i, true
			}
		}
	}
	uses := make(map[*comm]int)
	var list []*comm
	for _, u := range k.uses {
		c := w.byID[u.comm]
		if c == nil || c.handle != 0 {
			continue
		}
		if _, ok := c.maker[k.number]; ok {
			continue
		}
		if _, ok := uses[c]; !ok {
			uses[c] = u.makers
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *comm) int { return cmp.Compare(a.order, b.order) })
	for _, c := range list {
		c.maker[k.number] = -1
		for i := range min(uses[c], len(k.makers)) {
			if !taken[i] && k.makers[i].comm == otf2.Undefined && between(k.makers[i].call) == (c.remote != nil) {
				c.maker[k.number], taken[i] = i, true
				break
			}
		}
	}
}

// between reports whether a function makes intercommunicators.
func between(c *mpi.Call) bool {
	switch c.Name {
	case "MPI_Intercomm_create", "MPI_Intercomm_create_from_groups", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join":
		return true
	}
	return false
}
