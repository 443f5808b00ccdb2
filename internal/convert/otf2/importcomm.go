package otf2

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
)

// A comm is a communicator. Some tools define one for each member.
//
// Archives list communicators with their members, but often not the call that made them. assign looks for calls that
// can have made them. Package handles does the reverse, from calls to communicators; it reads the trace that import
// writes.
type comm struct {
	number  int
	handle  int64 // mpi.HandleCommWorld or mpi.HandleCommSelf; 0: another communicator
	members []int // ranks of the world
	remote  []int // of the other side of an intercommunicator
	parent  *comm
	users   map[int]bool
	order   int // position of the definition in the file

	maker map[int]int // by rank: index in rank.makers of the call that makes it; -1: a call must be inserted
	key   string
	ids   []uint32
}

// sides returns the members of a rank's group, and of the other group.
func (c *comm) sides(rank int) (own, other []int) {
	if c.remote != nil && slices.Contains(c.remote, rank) {
		return c.remote, c.members
	}
	return c.members, c.remote
}

// findComms translates definitions of communicators into ranks.
func (w *world) findComms() error {
	var order []uint64
	groups := make(map[uint32]Group)
	for _, g := range w.a.Groups {
		switch {
		case !ofMPI(g): // the tool's own or a GPU's: its members are not ranks
		case g.Type == GroupTypeCommLocations:
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
		return list, g.Type == GroupTypeCommSelf, nil
	}
	others := make(map[uint32]bool)
	for _, g := range w.a.Groups {
		others[g.ID] = !ofMPI(g)
	}
	named := slices.IndexFunc(w.a.Comms, func(def Comm) bool { return w.a.String(def.Name) == "MPI_COMM_WORLD" && !others[def.Group] }) >= 0
	world := false
	for i, def := range w.a.Comms {
		if _, ok := w.byID[def.ID]; ok || others[def.Group] {
			continue
		}
		c := &comm{order: i, users: make(map[int]bool), maker: make(map[int]int), ids: []uint32{def.ID}}
		members, self, err := ranks(def.Group)
		if err == nil && def.RemoteGroup != UndefinedRef {
			c.remote, _, err = ranks(def.RemoteGroup)
		}
		if err != nil {
			return fmt.Errorf("communicator %d: %w", def.ID, err)
		}
		c.members = members
		switch {
		case self:
			c.handle = mpi.HandleCommSelf
		case !world && (!named || w.a.String(def.Name) == "MPI_COMM_WORLD") && c.remote == nil && def.Parent == UndefinedRef && len(members) == len(w.ranks) && inOrder(members):
			c.handle, world = mpi.HandleCommWorld, true
		case len(members) == 0 || def.RemoteGroup != UndefinedRef && len(c.remote) == 0:
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

// ofMPI reports whether a group consists of MPI ranks.
func ofMPI(g Group) bool {
	return g.Paradigm == ParadigmMPI || g.Paradigm == ParadigmUnknown
}

func inOrder(list []int) bool {
	for i, m := range list {
		if m != i {
			return false
		}
	}
	return true
}

// assignComms decides which call made which communicator on each rank. If the trace doesn't show it, communicators
// are processed in the order of their definitions. Each gets the first call that is unassigned on all its members.
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
	w.assign()
	for _, c := range w.comms {
		if p := c.parent; p != nil && p.handle == 0 {
			for _, m := range append(slices.Clone(c.members), c.remote...) {
				if _, ok := p.maker[m]; !ok {
					c.parent = nil
					break
				}
			}
		}
	}
}

// unite merges communicators that a tool defined for each member separately: they have equal members, and each is
// used by a different one.
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

// assign finds the call that made each communicator on each rank. Members that don't use a communicator also took part
// in making it.
func (w *world) assign() {
	free := make([]slots, len(w.ranks)) // by rank
	for _, k := range w.ranks {
		x := slots{used: make(map[*comm]int)}
		x.call = make([]*mpi.Call, len(k.makers))
		for i, m := range k.makers {
			c := w.byID[m.comm]
			switch _, twice := c.made(k.number); {
			case m.comm == UndefinedRef:
				x.call[i] = m.call
			case c != nil && c.handle == 0 && !twice:
				c.maker[k.number] = i
			}
		}
		for _, u := range k.uses {
			c := w.byID[u.comm]
			if c == nil {
				continue
			}
			if _, ok := x.used[c]; !ok {
				x.used[c] = u.makers
			}
		}
		free[k.number] = x
	}
	for _, c := range w.comms {
		if c.handle == 0 && len(c.users) > 0 {
			c.assign(free)
		}
	}
}

// slots are a rank's calls that make communicators, as far as the archive doesn't say which one each of them made.
type slots struct {
	call []*mpi.Call   // by index in rank.makers; nil: the call's communicator is known
	used map[*comm]int // by communicator: number of communicator-making calls before the rank's first use of it
}

// next returns the index of the first call from i on that can have made a communicator; -1: none.
func (x *slots) next(c *comm, i int) int {
	end, used := x.used[c]
	if !used {
		end = len(x.call)
	}
	for ; i < min(end, len(x.call)); i++ {
		if x.call[i] != nil && between(x.call[i]) == (c.remote != nil) {
			return i
		}
	}
	return -1
}

// made returns the index in rank.makers of the call that makes communicator c on a rank, if it is known.
func (c *comm) made(rank int) (int, bool) {
	if c == nil {
		return 0, false
	}
	i, ok := c.maker[rank]
	return i, ok
}

// assign gives the communicator the first call that is unassigned on all members, or at least on all its users.
// Without such a call, each user gets its own first unassigned call.
func (c *comm) assign(free []slots) {
	var members, users []int
	for _, m := range append(slices.Clone(c.members), c.remote...) {
		if _, ok := c.maker[m]; ok {
			continue
		}
		if members = append(members, m); c.users[m] {
			users = append(users, m)
		}
	}
	for _, list := range [][]int{members, users} {
		if i := c.common(list, free); i >= 0 {
			for _, m := range list {
				c.maker[m], free[m].call[i] = i, nil
			}
			return
		}
	}
	for _, m := range users {
		c.maker[m] = free[m].next(c, 0)
		if i := c.maker[m]; i >= 0 {
			free[m].call[i] = nil
		}
	}
}

// common returns the first call that is unassigned on all these ranks; -1: none.
func (c *comm) common(ranks []int, free []slots) int {
	for at := 0; len(ranks) > 0; {
		most := at
		for _, m := range ranks {
			i := free[m].next(c, most)
			if i < 0 {
				return -1
			}
			most = i
		}
		if first := free[ranks[0]].next(c, at); first == most {
			return most
		}
		at = most
	}
	return -1
}

// between reports whether a function makes intercommunicators.
func between(c *mpi.Call) bool {
	switch c.Name {
	case "MPI_Intercomm_create", "MPI_Intercomm_create_from_groups", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join":
		return true
	}
	return false
}
