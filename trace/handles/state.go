package handles

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A stateComm is a communicator as a HandleState knows it: own is the process's rank in it.
type stateComm struct {
	members   []int // the members as ranks in MPI_COMM_WORLD; nil: unknown
	own, size int
	grid      *Grid // Cartesian topology; nil: it has none, or an unknown one
}

// A HandleState is what the handles of a process mean between two of its calls: communicators with their members and
// grids, groups and datatypes, by the rules of the standard. Determine returns the results of the next call,
// ApplyResults adds what the call created to the state.
//
// Rank and Comms are for recorded calls, in any order: they use the properties of objects that were recorded at their
// creation. HandleState is for calls that were not recorded, such as those of a synthetic trace.
type HandleState struct {
	rank, ranks int
	comms       map[int64]*stateComm
	groups      map[int64][]int
	types       map[int64]stateType
	made        symbol.Comms // counts equal creations of communicators, for NewComm.EqualCreationsBefore

	// SplitColors returns the colors and keys that the members of a communicator pass to the current MPI_Comm_split,
	// and which of them get a communicator. If SplitColors is nil, the result of that call is unknown.
	SplitColors func(members []int) (color, key []int64, taking []bool, err error)
}

// NewHandleState returns the state of a rank before its first call. world is all ranks of MPI_COMM_WORLD, in order.
func NewHandleState(rank int, world []int) *HandleState {
	ranks := len(world)
	o := &HandleState{rank: rank, ranks: ranks, comms: make(map[int64]*stateComm), groups: make(map[int64][]int), types: make(map[int64]stateType)}
	o.comms[mpi.HandleCommWorld] = &stateComm{members: world, own: rank, size: ranks}
	o.comms[mpi.HandleCommSelf] = &stateComm{members: []int{rank}, size: 1}
	o.made.Init(rank, ranks)
	return o
}

// Arguments are the values of a call by the names of parameters, as signatures have them: lists begin with their
// length.
type Arguments struct {
	Func            *trace.Function
	In, Out         map[string][]int64
	NewObjectValues []int64 // properties of a new communicator or datatype
}

func (a *Arguments) one(name string) int64 {
	if v := a.In[name]; len(v) == 1 {
		return v[0]
	}
	panic(ErrUnknown)
}

func (a *Arguments) list(name string) []int64 {
	if v := a.In[name]; len(v) > 0 && v[0] == int64(len(v)-1) {
		return v[1:]
	}
	panic(ErrUnknown)
}

// ErrUnknown is returned if the result of a call depends on something that the HandleState doesn't know.
var ErrUnknown = errors.New("what it depends on is not known")

// Results are what the MPI standard determines of a call's results: values of outputs by parameter (Out), and the
// properties of a new communicator, group or datatype.
type Results struct {
	Out   map[string][]int64
	comm  *stateComm
	group []int
	typ   *stateType
}

func ints[T int | int64](list []T) []int64 {
	out := []int64{int64(len(list))}
	for _, v := range list {
		out = append(out, int64(v))
	}
	return out
}

func one(v int64) []int64 { return []int64{v} }

// A rule returns the results of a call. If a result is unknown, it panics with ErrUnknown.
type rule func(o *HandleState, a *Arguments) Results

// HasDeterminableResults reports whether the standard determines the results of a function, or the objects that it creates.
func HasDeterminableResults(f *trace.Function) bool { return ruleOf(f) != nil }

func ruleOf(f *trace.Function) rule {
	return rules[strings.TrimSuffix(strings.TrimSuffix(f.Name, "_c"), "_x")]
}

// Determine returns the results of a call, whose function must satisfy HasDeterminableResults; ErrUnknown if the state lacks
// something.
func (o *HandleState) Determine(a *Arguments) (r Results, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != ErrUnknown {
				panic(p)
			}
			err = ErrUnknown
		}
	}()
	return ruleOf(a.Func)(o, a), nil
}

// describe counts a new communicator in o.made, and returns its properties as the values that a signature has for it.
func (o *HandleState) describe(a *Arguments, c *stateComm) []int64 {
	info := symbol.CommDescription{int64(c.members[0]), int64(c.own), int64(c.size), -1, 0, 0}
	if a.In["group"] != nil {
		info[5] = hash(c.members)
	}
	return append(one(o.made.CountCreation(a.parent(), a.Func.ID, info)), info[:]...)
}

func (a *Arguments) parent() int64 {
	if i := parent(a.Func); i >= 0 {
		if v := a.In[a.Func.Params[i].Name]; len(v) == 1 {
			return v[0]
		}
	}
	return 0
}

// hash returns the hash that the shim records of the members of a communicator that is made from a group.
func hash(members []int) int64 {
	mix := func(h, v uint64) uint64 {
		h = (h ^ v) * 0x9e3779b97f4a7c15
		return h ^ h>>32
	}
	h := mix(0, uint64(len(members)))
	for _, m := range members {
		h = mix(h, uint64(m))
	}
	return int64(cmp.Or(h, 1))
}

func (o *HandleState) comm(a *Arguments, name string) *stateComm {
	if c := o.comms[a.one(name)]; c != nil {
		return c
	}
	panic(ErrUnknown)
}

// among returns the results of a call that creates communicator c with these members (ranks in MPI_COMM_WORLD). They
// are empty if this rank is no member.
func (o *HandleState) among(members []int, c stateComm) Results {
	c.members, c.size, c.own = members, len(members), slices.Index(members, o.rank)
	if c.own < 0 {
		return Results{}
	}
	return Results{comm: &c}
}

func (c *stateComm) known() []int {
	if c.members == nil {
		panic(ErrUnknown)
	}
	return c.members
}

func (o *HandleState) group(a *Arguments, name string) []int {
	g, ok := o.groupOf(a.one(name))
	if !ok {
		panic(ErrUnknown)
	}
	return g
}

func (o *HandleState) groupOf(handle int64) ([]int, bool) {
	g, ok := o.groups[handle]
	return g, ok || handle == GroupEmpty
}

// grid returns the communicator that a call passes as comm. It panics with ErrUnknown if that has no known grid.
func (o *HandleState) grid(a *Arguments) *stateComm {
	c := o.comm(a, "comm")
	if c.grid == nil {
		panic(ErrUnknown)
	}
	return c
}

// rankAt returns the rank at coordinates of the communicator's grid; MPI_PROC_NULL outside of it.
func (c *stateComm) rankAt(at []int) int64 {
	if rank := c.grid.Rank(at); rank >= 0 {
		return int64(rank)
	}
	return mpi.ProcNull
}

// rules are the rules by the name of their function, without the suffixes _c and _x of large counts.
var rules map[string]rule

func init() {
	like := func(parent string) rule { // makes a communicator with the members of the one in parameter parent
		return func(o *HandleState, a *Arguments) Results {
			c := o.comm(a, parent)
			return o.among(c.known(), stateComm{})
		}
	}
	duplicate := func(o *HandleState, a *Arguments) Results {
		c := o.comm(a, "comm")
		return o.among(c.known(), *c)
	}
	ofGroup := func(o *HandleState, a *Arguments) Results { return o.among(o.group(a, "group"), stateComm{}) }
	rules = map[string]rule{
		"MPI_Comm_size": func(o *HandleState, a *Arguments) Results {
			return Results{Out: map[string][]int64{"size": one(int64(o.comm(a, "comm").size))}}
		},
		"MPI_Comm_rank": func(o *HandleState, a *Arguments) Results {
			return Results{Out: map[string][]int64{"rank": one(int64(o.comm(a, "comm").own))}}
		},
		"MPI_Comm_group": func(o *HandleState, a *Arguments) Results {
			return Results{group: slices.Clone(o.comm(a, "comm").known())}
		},
		"MPI_Group_size": func(o *HandleState, a *Arguments) Results {
			return Results{Out: map[string][]int64{"size": one(int64(len(o.group(a, "group"))))}}
		},
		"MPI_Group_rank": func(o *HandleState, a *Arguments) Results {
			at := int64(slices.Index(o.group(a, "group"), o.rank))
			if at < 0 {
				at = mpi.Undefined
			}
			return Results{Out: map[string][]int64{"rank": one(at)}}
		},
		"MPI_Group_translate_ranks": func(o *HandleState, a *Arguments) Results {
			g := o.group(a, "group2")
			var list []int64
			for _, k := range a.list("ranks1") {
				at := k
				if k != mpi.ProcNull {
					if at = int64(slices.Index(g, picked(o.group(a, "group1"), int(k)))); at < 0 {
						at = mpi.Undefined
					}
				}
				list = append(list, at)
			}
			return Results{Out: map[string][]int64{"ranks2": ints(list)}}
		},
		"MPI_Comm_dup":                   duplicate,
		"MPI_Comm_dup_with_info":         duplicate,
		"MPI_Comm_create":                ofGroup,
		"MPI_Comm_create_group":          ofGroup,
		splitting:                        splitByColor,
		"MPI_Dist_graph_create":          like("comm_old"),
		"MPI_Dist_graph_create_adjacent": like("comm_old"),
		"MPI_Graph_create": func(o *HandleState, a *Arguments) Results {
			members, n := o.comm(a, "comm_old").known(), a.one("nnodes")
			if n < 0 || n > int64(len(members)) {
				panic(ErrUnknown)
			}
			return o.among(members[:n], stateComm{})
		},
		"MPI_Cart_create": func(o *HandleState, a *Arguments) Results {
			members, n := o.comm(a, "comm_old").known(), 1
			dims, periods := a.list("dims"), a.list("periods")
			g := &Grid{}
			for i, d := range dims {
				if n *= int(d); d < 1 || n > len(members) || len(periods) != len(dims) {
					panic(ErrUnknown)
				}
				g.Dims, g.Periodic = append(g.Dims, int(d)), append(g.Periodic, periods[i] != 0)
			}
			return o.among(members[:n], stateComm{grid: g})
		},
		"MPI_Cart_sub": func(o *HandleState, a *Arguments) Results {
			c, keep := o.grid(a), a.list("remain_dims")
			if len(keep) != len(c.grid.Dims) {
				panic(ErrUnknown)
			}
			own := c.grid.Coordinates(c.own)
			sub := c.grid.SubGrid(func(d int) bool { return keep[d] != 0 })
			var members []int
			for rank := range sub.Size() {
				at, within := slices.Clone(own), sub.Coordinates(rank)
				for d := range at {
					if keep[d] != 0 {
						at[d], within = within[0], within[1:]
					}
				}
				members = append(members, c.known()[c.grid.Rank(at)])
			}
			return o.among(members, stateComm{grid: &sub})
		},
		"MPI_Cartdim_get": func(o *HandleState, a *Arguments) Results {
			return Results{Out: map[string][]int64{"ndims": one(int64(len(o.grid(a).grid.Dims)))}}
		},
		"MPI_Cart_get": func(o *HandleState, a *Arguments) Results {
			c := o.grid(a)
			periods := make([]int, len(c.grid.Dims))
			for d, p := range c.grid.Periodic {
				if p {
					periods[d] = 1
				}
			}
			return Results{Out: map[string][]int64{"dims": ints(c.grid.Dims), "periods": ints(periods), "coords": ints(c.grid.Coordinates(c.own))}}
		},
		"MPI_Cart_coords": func(o *HandleState, a *Arguments) Results {
			return Results{Out: map[string][]int64{"coords": ints(o.grid(a).grid.Coordinates(int(a.one("rank"))))}}
		},
		"MPI_Cart_rank": func(o *HandleState, a *Arguments) Results {
			c := o.grid(a)
			var at []int
			for _, x := range a.list("coords") {
				at = append(at, int(x))
			}
			if len(at) != len(c.grid.Dims) {
				panic(ErrUnknown)
			}
			return Results{Out: map[string][]int64{"rank": one(c.rankAt(at))}}
		},
		"MPI_Cart_shift": func(o *HandleState, a *Arguments) Results {
			c, d, by := o.grid(a), a.one("direction"), int(a.one("disp"))
			if d < 0 || d >= int64(len(c.grid.Dims)) {
				panic(ErrUnknown)
			}
			from, to := c.grid.Coordinates(c.own), c.grid.Coordinates(c.own)
			from[d] -= by
			to[d] += by
			return Results{Out: map[string][]int64{"rank_source": one(c.rankAt(from)), "rank_dest": one(c.rankAt(to))}}
		},
	}
	maps.Copy(rules, typeRules())
	for name, of := range groupRules {
		rules[name] = func(o *HandleState, a *Arguments) Results {
			list, ok := of(func(name string) ([]int, bool) { return o.groupOf(a.one(name)) }, a)
			if !ok {
				panic(ErrUnknown)
			}
			return Results{group: list}
		}
	}
}

// splitting is the function whose results depend on the colors and keys that all members of the communicator pass.
const splitting = "MPI_Comm_split"

// DependsOnColors reports whether the results of a function depend on the colors and keys that all members of the
// communicator pass, as HandleState.SplitColors returns them.
func DependsOnColors(f *trace.Function) bool { return f.Name == splitting }

// NewCommResults returns the results of a call that creates a communicator with these members (ranks in
// MPI_COMM_WORLD). own is this process's rank in it.
func NewCommResults(members []int, own int) Results {
	return Results{comm: &stateComm{members: members, own: own, size: len(members)}}
}

// splitByColor is the rule of MPI_Comm_split: the new communicator has the members that pass the same color, in the
// order of their keys.
func splitByColor(o *HandleState, a *Arguments) Results {
	c := o.comm(a, "comm")
	if o.SplitColors == nil {
		panic(ErrUnknown)
	}
	colors, keys, taking, err := o.SplitColors(c.known())
	if err != nil {
		panic(ErrUnknown)
	}
	var at []int
	for i, color := range colors {
		if taking[i] && color == a.one("color") {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(keys[i], keys[j]) })
	members := make([]int, len(at))
	for i, k := range at {
		members[i] = c.members[k]
	}
	return o.among(members, stateComm{})
}

// ApplyResults adds the objects that a call created to the state: r has their properties, a.Out their handles.
func (o *HandleState) ApplyResults(a *Arguments, r Results) {
	f := a.Func
	for i := range f.Params {
		p := &f.Params[i]
		v := a.Out[p.Name]
		if len(v) != 1 {
			continue
		}
		switch {
		case p.Kind == mpi.KindGroup:
			delete(o.groups, v[0])
			if r.group != nil {
				o.groups[v[0]] = r.group
			}
		case p.Kind == mpi.KindComm && f.Has(trace.AttrCreatesComm) && r.comm != nil:
			o.comms[v[0]] = r.comm
		case p.Kind == mpi.KindComm && f.Has(trace.AttrCreatesComm) && len(a.NewObjectValues) > 3:
			o.comms[v[0]] = &stateComm{own: int(a.NewObjectValues[2]), size: int(a.NewObjectValues[3])}
		case p.Kind == mpi.KindDatatype && f.Has(trace.AttrCreatesType):
			delete(o.types, v[0])
			if r.typ != nil {
				o.types[v[0]] = *r.typ
			} else if len(a.NewObjectValues) == typeValues {
				m := a.NewObjectValues
				o.types[v[0]] = stateType{size: m[0], low: m[1], high: m[1] + m[2], trueLow: m[3], trueHigh: m[3] + m[4]}
			}
		}
	}
}

// ChangesHandles reports whether calls of a function create a communicator, datatype or group, or free a communicator.
func ChangesHandles(f *trace.Function) bool {
	return f.Has(trace.AttrCreatesComm) || f.Has(trace.AttrCreatesType) || slices.ContainsFunc(f.Params, func(p trace.ParamDef) bool {
		return p.Kind == mpi.KindGroup && p.HasOut || p.Kind == mpi.KindComm && p.Dir == trace.DirFree
	})
}

// CountCreation updates the counts of created communicators (o.made) by a call that creates or frees one. It must not
// be called for a creation whose properties NextNewObjectValues returns, as NextNewObjectValues counts it.
func (o *HandleState) CountCreation(a *Arguments) {
	for i := range a.Func.Params {
		if p := &a.Func.Params[i]; p.Kind == mpi.KindComm && p.Dir == trace.DirFree && len(a.In[p.Name]) == 1 {
			o.made.ForgetChildren(a.In[p.Name][0])
		}
	}
	if !a.Func.Has(trace.AttrCreatesComm) {
		return
	}
	var info symbol.CommDescription
	if len(a.NewObjectValues) > len(info) {
		copy(info[:], a.NewObjectValues[1:])
	}
	o.made.CountCreation(a.parent(), a.Func.ID, info)
}

// NextNewObjectValues returns the properties of the communicator or datatype that a call creates, as its signature has them. It
// returns nil if they are unknown. It counts created communicators, as CountCreation does.
func (o *HandleState) NextNewObjectValues(a *Arguments, r Results) []int64 {
	switch {
	case r.comm != nil:
		return o.describe(a, r.comm)
	case r.typ != nil:
		return r.typ.made()
	}
	o.CountCreation(a)
	return nil
}
