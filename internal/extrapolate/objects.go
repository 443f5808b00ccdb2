package extrapolate

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A comm is a communicator of a rank.
type comm struct {
	members   []int // their ranks in the world; nil: not known
	own, size int
	grid      *handles.Grid // of its topology, if it has one
}

// objects are what the handles of a rank stand for, so that what the standard says of them need not be fitted.
type objects struct {
	rank, ranks int
	comms       map[int64]*comm
	groups      map[int64][]int
	types       map[int64]datatype
	made        symbol.Comms // how many communicators were

	// colors are the color and the key that members of a communicator pass to the MPI_Comm_split that is being looked at.
	colors func(members []int) (color, key []int64, taking []bool, err error)
}

// newObjects is what a rank has from the beginning. world is all ranks, in order.
func newObjects(rank int, world []int) *objects {
	ranks := len(world)
	o := &objects{rank: rank, ranks: ranks, comms: make(map[int64]*comm), groups: make(map[int64][]int), types: make(map[int64]datatype)}
	o.comms[mpi.CommWorld] = &comm{members: world, own: rank, size: ranks}
	o.comms[mpi.CommSelf] = &comm{members: []int{rank}, size: 1}
	o.made.Init(rank, ranks)
	return o
}

func worldOf(ranks int) []int {
	world := make([]int, ranks)
	for i := range world {
		world[i] = i
	}
	return world
}

// An arguments is the values of a call by the names of parameters, as signatures have them: lists begin with their length.
type arguments struct {
	f       *trace.Function
	in, out map[string][]int64
	made    []int64 // what is known of a new communicator or datatype
}

func (a *arguments) one(name string) int64 {
	if v := a.in[name]; len(v) == 1 {
		return v[0]
	}
	panic(errUnknown)
}

func (a *arguments) list(name string) []int64 {
	if v := a.in[name]; len(v) > 0 && v[0] == int64(len(v)-1) {
		return v[1:]
	}
	panic(errUnknown)
}

// errUnknown says that something is not known that a result depends on.
var errUnknown = errors.New("what it depends on is not known")

// results are what MPI determines of a call: values that come out, and what new objects are.
type results struct {
	out   map[string][]int64
	comm  *comm
	group []int
	typ   *datatype
}

func ints[T int | int64](list []T) []int64 {
	out := []int64{int64(len(list))}
	for _, v := range list {
		out = append(out, int64(v))
	}
	return out
}

func one(v int64) []int64 { return []int64{v} }

// A rule says what MPI determines of the calls of a function. It panics with errUnknown.
type rule func(o *objects, a *arguments) results

func ruleOf(f *trace.Function) rule {
	return rules[strings.TrimSuffix(strings.TrimSuffix(f.Name, "_c"), "_x")]
}

// results applies a rule.
func (o *objects) results(a *arguments) (r results, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != errUnknown {
				panic(p)
			}
			err = errUnknown
		}
	}()
	return ruleOf(a.f)(o, a), nil
}

// describe counts a new communicator, and returns what is known of it, in the order of signatures.
func (o *objects) describe(a *arguments, c *comm) []int64 {
	info := symbol.CommInfo{int64(c.members[0]), int64(c.own), int64(c.size), -1, 0, 0}
	if a.in["group"] != nil {
		info[5] = hash(c.members)
	}
	return append(one(o.made.Ordinal(a.parent(), a.f.ID, info)), info[:]...)
}

func (a *arguments) parent() int64 {
	for i := range a.f.Params {
		if p := &a.f.Params[i]; p.Kind == mpi.KindComm && len(a.in[p.Name]) == 1 {
			return a.in[p.Name][0]
		}
	}
	return 0
}

// hash is the shim's, of the members of a communicator that is made of a group.
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

func (o *objects) comm(a *arguments, name string) *comm {
	if c := o.comms[a.one(name)]; c != nil {
		return c
	}
	panic(errUnknown)
}

// among makes a communicator of ranks of the world, which this one gets if it is among them.
func (o *objects) among(members []int, c comm) results {
	c.members, c.size, c.own = members, len(members), slices.Index(members, o.rank)
	if c.own < 0 {
		return results{}
	}
	return results{comm: &c}
}

func (c *comm) known() []int {
	if c.members == nil {
		panic(errUnknown)
	}
	return c.members
}

func (o *objects) group(a *arguments, name string) []int {
	g, ok := o.groups[a.one(name)]
	if !ok {
		panic(errUnknown)
	}
	return g
}

// grid is the communicator of a Cartesian topology.
func (o *objects) grid(a *arguments) *comm {
	c := o.comm(a, "comm")
	if c.grid == nil {
		panic(errUnknown)
	}
	return c
}

// rankAt is the rank at coordinates of a grid, MPI_PROC_NULL beyond it.
func (c *comm) rankAt(at []int) int64 {
	if rank := c.grid.Rank(at); rank >= 0 {
		return int64(rank)
	}
	return mpi.ProcNull
}

// chosen are the members of a group at places.
func chosen(group []int, at []int64) []int {
	out := make([]int, len(at))
	for i, k := range at {
		if k < 0 || k >= int64(len(group)) {
			panic(errUnknown)
		}
		out[i] = group[k]
	}
	return out
}

// places are those of a group that triples of first, last and step name.
func places(group []int, triples []int64) (list []int64) {
	for ; len(triples) >= 3; triples = triples[3:] {
		first, last, step := triples[0], triples[1], triples[2]
		if n := int64(len(group)); step == 0 || first < 0 || first >= n || last < 0 || last >= n {
			panic(errUnknown)
		}
		for k := first; step > 0 && k <= last || step < 0 && k >= last; k += step {
			list = append(list, k)
		}
	}
	return list
}

func without(group, others []int) []int {
	in := make(map[int]bool, len(others))
	for _, m := range others {
		in[m] = true
	}
	return slices.DeleteFunc(slices.Clone(group), func(m int) bool { return in[m] })
}

// rules are by function, without the suffixes of large counts.
var rules map[string]rule

func init() {
	newGroup := func(of func(o *objects, a *arguments) []int) rule {
		return func(o *objects, a *arguments) results { return results{group: append([]int{}, of(o, a)...)} }
	}
	like := func(parent string) rule { // a communicator of the same members
		return func(o *objects, a *arguments) results {
			c := o.comm(a, parent)
			return o.among(c.known(), comm{})
		}
	}
	duplicate := func(o *objects, a *arguments) results {
		c := o.comm(a, "comm")
		return o.among(c.known(), *c)
	}
	ofGroup := func(o *objects, a *arguments) results { return o.among(o.group(a, "group"), comm{}) }
	rules = map[string]rule{
		"MPI_Comm_size": func(o *objects, a *arguments) results {
			return results{out: map[string][]int64{"size": one(int64(o.comm(a, "comm").size))}}
		},
		"MPI_Comm_rank": func(o *objects, a *arguments) results {
			return results{out: map[string][]int64{"rank": one(int64(o.comm(a, "comm").own))}}
		},
		"MPI_Comm_group": newGroup(func(o *objects, a *arguments) []int { return o.comm(a, "comm").known() }),
		"MPI_Group_size": func(o *objects, a *arguments) results {
			return results{out: map[string][]int64{"size": one(int64(len(o.group(a, "group"))))}}
		},
		"MPI_Group_rank": func(o *objects, a *arguments) results {
			at := int64(slices.Index(o.group(a, "group"), o.rank))
			if at < 0 {
				at = mpi.Undefined
			}
			return results{out: map[string][]int64{"rank": one(at)}}
		},
		"MPI_Group_incl": newGroup(func(o *objects, a *arguments) []int { return chosen(o.group(a, "group"), a.list("ranks")) }),
		"MPI_Group_excl": newGroup(func(o *objects, a *arguments) []int {
			g := o.group(a, "group")
			return without(g, chosen(g, a.list("ranks")))
		}),
		"MPI_Group_range_incl": newGroup(func(o *objects, a *arguments) []int {
			g := o.group(a, "group")
			return chosen(g, places(g, a.list("ranges")))
		}),
		"MPI_Group_range_excl": newGroup(func(o *objects, a *arguments) []int {
			g := o.group(a, "group")
			return without(g, chosen(g, places(g, a.list("ranges"))))
		}),
		"MPI_Group_union": newGroup(func(o *objects, a *arguments) []int {
			g := o.group(a, "group1")
			return slices.Concat(g, without(o.group(a, "group2"), g))
		}),
		"MPI_Group_difference": newGroup(func(o *objects, a *arguments) []int { return without(o.group(a, "group1"), o.group(a, "group2")) }),
		"MPI_Group_intersection": newGroup(func(o *objects, a *arguments) []int {
			g := o.group(a, "group1")
			return without(g, without(g, o.group(a, "group2")))
		}),
		"MPI_Group_translate_ranks": func(o *objects, a *arguments) results {
			g := o.group(a, "group2")
			var list []int64
			for _, k := range a.list("ranks1") {
				at := k
				if k != mpi.ProcNull {
					if at = int64(slices.Index(g, chosen(o.group(a, "group1"), one(k))[0])); at < 0 {
						at = mpi.Undefined
					}
				}
				list = append(list, at)
			}
			return results{out: map[string][]int64{"ranks2": ints(list)}}
		},
		"MPI_Comm_dup":                   duplicate,
		"MPI_Comm_dup_with_info":         duplicate,
		"MPI_Comm_create":                ofGroup,
		"MPI_Comm_create_group":          ofGroup,
		splitting:                        split,
		"MPI_Dist_graph_create":          like("comm_old"),
		"MPI_Dist_graph_create_adjacent": like("comm_old"),
		"MPI_Graph_create": func(o *objects, a *arguments) results {
			members, n := o.comm(a, "comm_old").known(), a.one("nnodes")
			if n < 0 || n > int64(len(members)) {
				panic(errUnknown)
			}
			return o.among(members[:n], comm{})
		},
		"MPI_Cart_create": func(o *objects, a *arguments) results {
			members, n := o.comm(a, "comm_old").known(), 1
			dims, periods := a.list("dims"), a.list("periods")
			g := &handles.Grid{}
			for i, d := range dims {
				if n *= int(d); d < 1 || n > len(members) || len(periods) != len(dims) {
					panic(errUnknown)
				}
				g.Dims, g.Periodic = append(g.Dims, int(d)), append(g.Periodic, periods[i] != 0)
			}
			return o.among(members[:n], comm{grid: g})
		},
		"MPI_Cart_sub": func(o *objects, a *arguments) results {
			c, keep := o.grid(a), a.list("remain_dims")
			if len(keep) != len(c.grid.Dims) {
				panic(errUnknown)
			}
			own := c.grid.At(c.own)
			sub := c.grid.Sub(func(d int) bool { return keep[d] != 0 })
			var members []int
			for rank := range sub.Size() {
				at, within := slices.Clone(own), sub.At(rank)
				for d := range at {
					if keep[d] != 0 {
						at[d], within = within[0], within[1:]
					}
				}
				members = append(members, c.known()[c.grid.Rank(at)])
			}
			return o.among(members, comm{grid: &sub})
		},
		"MPI_Cartdim_get": func(o *objects, a *arguments) results {
			return results{out: map[string][]int64{"ndims": one(int64(len(o.grid(a).grid.Dims)))}}
		},
		"MPI_Cart_get": func(o *objects, a *arguments) results {
			c := o.grid(a)
			periods := make([]int, len(c.grid.Dims))
			for d, p := range c.grid.Periodic {
				if p {
					periods[d] = 1
				}
			}
			return results{out: map[string][]int64{"dims": ints(c.grid.Dims), "periods": ints(periods), "coords": ints(c.grid.At(c.own))}}
		},
		"MPI_Cart_coords": func(o *objects, a *arguments) results {
			return results{out: map[string][]int64{"coords": ints(o.grid(a).grid.At(int(a.one("rank"))))}}
		},
		"MPI_Cart_rank": func(o *objects, a *arguments) results {
			c := o.grid(a)
			var at []int
			for _, x := range a.list("coords") {
				at = append(at, int(x))
			}
			if len(at) != len(c.grid.Dims) {
				panic(errUnknown)
			}
			return results{out: map[string][]int64{"rank": one(c.rankAt(at))}}
		},
		"MPI_Cart_shift": func(o *objects, a *arguments) results {
			c, d, by := o.grid(a), a.one("direction"), int(a.one("disp"))
			if d < 0 || d >= int64(len(c.grid.Dims)) {
				panic(errUnknown)
			}
			from, to := c.grid.At(c.own), c.grid.At(c.own)
			from[d] -= by
			to[d] += by
			return results{out: map[string][]int64{"rank_source": one(c.rankAt(from)), "rank_dest": one(c.rankAt(to))}}
		},
	}
	maps.Copy(rules, typeRules())
}

// splitting is the function whose results depend on what all members pass.
const splitting = "MPI_Comm_split"

func isSplit(f *trace.Function) bool { return f.Name == splitting }

// split makes one communicator of all members that pass the same color, in the order of their keys.
func split(o *objects, a *arguments) results {
	c := o.comm(a, "comm")
	if o.colors == nil {
		panic(errUnknown)
	}
	colors, keys, taking, err := o.colors(c.known())
	if err != nil {
		panic(errUnknown)
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
	return o.among(members, comm{})
}

// bind takes down what a call made.
func (o *objects) bind(a *arguments, r results) {
	f := a.f
	for i := range f.Params {
		p := &f.Params[i]
		v := a.out[p.Name]
		if len(v) != 1 {
			continue
		}
		switch {
		case p.Kind == mpi.KindGroup:
			delete(o.groups, v[0])
			if r.group != nil {
				o.groups[v[0]] = r.group
			}
		case p.Kind == mpi.KindComm && f.Has(trace.CreatesComm) && r.comm != nil:
			o.comms[v[0]] = r.comm
		case p.Kind == mpi.KindComm && f.Has(trace.CreatesComm) && len(a.made) > 3:
			o.comms[v[0]] = &comm{own: int(a.made[2]), size: int(a.made[3])}
		case p.Kind == mpi.KindDatatype && f.Has(trace.CreatesType):
			delete(o.types, v[0])
			if r.typ != nil {
				o.types[v[0]] = *r.typ
			} else if len(a.made) == len(typeNames) {
				m := a.made
				o.types[v[0]] = datatype{size: m[0], low: m[1], high: m[1] + m[2], trueLow: m[3], trueHigh: m[3] + m[4]}
			}
		}
	}
}
