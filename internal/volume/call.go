package volume

import (
	"spoor/mpi"
	"spoor/trace"
)

// Numbers of the standard ABI.
const (
	procNull  = -3
	rootHere  = -4 // MPI_ROOT: the root of a call on an intercommunicator is this process
	commWorld = 0x101
	commSelf  = 0x102
	inPlace   = trace.SpecialInPlace
)

// A call is a terminal taken apart: where in its signature the values stand
// that matter. Positions of what is missing are -1.
type call struct {
	terminal int
	rule     *rule
	later    bool // the rule is about MPI_Start

	out, in                 operands
	root, comm, inPlace     int
	status                  int // of a blocking receive
	partitions              int
	request                 int // persistent one that comes out
	starts                  int // persistent request or requests that go in
	handle, aux             int // of a new datatype or communicator
	makes                   what
	topology                topology
	topologyAt, topologyAt2 int // the numbers of neighbours follow from these
	parent                  int
	shape                   []int // positions of what the layout of the signature depends on
	array                   bool  // of requests
}

type operands struct{ count, datatype, peer int }

// what a handle is a handle of.
type what uint8

const (
	nothing what = iota
	datatype
	communicator
	request
)

// topology says how a communicator comes by its neighbours.
type topology uint8

const (
	noTopology  topology = iota
	cartesian            // number of dimensions
	subgrid              // the dimensions that remain
	graph                // index of each process's last neighbour
	adjacent             // numbers of sources and targets
	distributed          // what all ranks together gave
	inherited            // as the parent has it
)

var topologies = map[string]struct {
	kind          topology
	first, second string
}{
	"MPI_Cart_create": {cartesian, "ndims", ""}, "MPI_Cart_sub": {subgrid, "remain_dims", ""},
	"MPI_Graph_create": {graph, "index", ""}, "MPI_Dist_graph_create_adjacent": {adjacent, "indegree", "outdegree"},
	"MPI_Dist_graph_create": {distributed, "", ""},
	"MPI_Comm_dup":          {inherited, "", ""}, "MPI_Comm_idup": {inherited, "", ""},
	"MPI_Comm_dup_with_info": {inherited, "", ""}, "MPI_Comm_idup_with_info": {inherited, "", ""},
}

// compile takes a terminal apart; nil if it neither moves anything nor makes a
// handle that matters.
func compile(k *trace.Rank, terminal, width int) (*call, error) {
	c, err := k.Terminal(terminal)
	if err != nil {
		return nil, err
	}
	r, later := ruleOf(c.Name())
	if r == nil && c.Func.Has(trace.Persistent) {
		r, later = &rule{}, true // a barrier moves nothing, but its number may be used again
	}
	starts := c.Func.Has(trace.Starts)
	if r == nil && !starts && c.NewType == nil && c.NewComm == nil {
		return nil, nil
	}
	at, err := k.ParamValues(terminal)
	if err != nil {
		return nil, err
	}
	p := &call{terminal: terminal, rule: r, later: later, makes: nothing, shape: []int{0}}
	for i := range c.Params {
		def := c.Params[i].Def
		for _, pos := range []int{at[i].In, at[i].Out} {
			if pos >= 0 && (def.Dims > 0 || def.Type == trace.Status) {
				p.shape = append(p.shape, pos)
			}
		}
	}
	find := func(name string) int {
		for i := range c.Params {
			if name == "" || c.Params[i].Name() != name {
				continue
			}
			return at[i].In
		}
		return -1
	}
	made := func(kind string) int {
		for i := range c.Params {
			if c.Params[i].Kind() == kind && at[i].Out >= 0 {
				return at[i].Out
			}
		}
		return -1
	}
	p.comm, p.root, p.inPlace, p.status, p.partitions, p.request, p.starts = find("comm"), -1, -1, -1, -1, -1, -1
	if r != nil {
		p.out = operands{find(r.out.count), find(r.out.datatype), find(r.out.peer)}
		p.in = operands{find(r.in.count), find(r.in.datatype), find(r.in.peer)}
		p.inPlace = find(r.inPlace)
		if r.root {
			p.root = find("root")
		}
		if r.partitions {
			p.partitions = find("partitions")
		}
		for i := range c.Params {
			if c.Params[i].Def.Type == trace.Status && c.Params[i].Def.Dims == 0 && r.in.datatype != "" {
				p.status = at[i].Out
			}
		}
		if later {
			p.makes, p.request = request, made("request")
		}
	}
	if starts {
		for i := range c.Params {
			if c.Params[i].Kind() == "request" {
				p.starts = at[i].In
				p.array = c.Params[i].Def.Dims > 0
			}
		}
	}
	if c.NewType != nil {
		p.makes, p.handle, p.aux = datatype, made("datatype"), width-5
	}
	if c.NewComm != nil {
		p.makes, p.handle, p.aux = communicator, made("comm"), width-7
		t := topologies[c.Name()]
		p.topology, p.topologyAt, p.topologyAt2 = t.kind, find(t.first), find(t.second)
		if t.kind == inherited {
			p.parent = p.comm
		}
	}
	if p.makes != nothing && p.makes != request && p.handle < 0 || p.makes == request && p.request < 0 {
		p.makes = nothing
	}
	return p, nil
}

// A name is a handle of some kind; a meaning is what is known of it. Of a
// datatype: its size. Of a communicator: own rank, size, size of the other
// group, neighbours that send and that get. Of a persistent request: Amount.
type name struct {
	what   what
	handle int64
}

type meaning [5]int64

// An env knows what handles mean at some place. It notes what it was asked.
type env struct {
	world    meaning
	means    map[name]meaning
	unstable map[name]bool // handles that mean this here and that there

	// degrees tells how many neighbours a rank has in the distributed graph that a
	// terminal makes.
	degrees func(terminal int) (in, out int64)

	askedRank     bool // own rank in a communicator
	askedHandle   bool // a handle that the program made
	askedUnstable bool
}

func (e *env) forget() { e.askedRank, e.askedHandle, e.askedUnstable = false, false, false }

func (e *env) look(n name) meaning {
	e.askedHandle = true
	e.askedUnstable = e.askedUnstable || e.unstable[n]
	return e.means[n]
}

func (e *env) comm(handle int64) meaning {
	switch handle {
	case commWorld:
		return e.world
	case commSelf:
		return meaning{0, 1}
	}
	return e.look(name{communicator, handle})
}

// rank is this process's rank, of what comm gave.
func (e *env) rank(comm meaning) int64 {
	e.askedRank = true
	return comm[0]
}

func (e *env) size(handle int64) uint64 {
	if n, ok := mpi.TypeSize(handle); ok {
		return uint64(n)
	}
	return uint64(max(0, e.look(name{datatype, handle})[0]))
}

// values gives the values of a signature.
type values func(at int) int64

// amount is what one call moves.
func (c *call) amount(get values, e *env) Amount {
	switch {
	case c.rule == nil && c.starts < 0 || c.later || get(0) != 0: // failed, or never returned
		return Amount{}
	case c.starts >= 0:
		return c.started(get, e)
	}
	return c.moved(get, e)
}

// made returns the handle that a call made and what it means.
func (c *call) made(get values, e *env) (name, meaning, bool) {
	if c.makes == nothing || get(0) != 0 {
		return name{}, meaning{}, false
	}
	switch c.makes {
	case datatype:
		return name{datatype, get(c.handle)}, meaning{get(c.aux)}, true
	case request:
		a := c.moved(get, e)
		return name{request, get(c.request)}, meaning{int64(a.Out), int64(a.In)}, true
	}
	m := meaning{get(c.aux + 2), get(c.aux + 3), get(c.aux + 5), 1, 1}
	switch c.topology {
	case cartesian:
		m[3] = 2 * get(c.topologyAt)
		m[4] = m[3]
	case subgrid:
		m[3] = 0
		for i := range max(0, get(c.topologyAt)) {
			if get(c.topologyAt+1+int(i)) != 0 {
				m[3] += 2
			}
		}
		m[4] = m[3]
	case graph:
		if own := e.rank(m); own >= 0 && own < get(c.topologyAt) {
			if m[3] = get(c.topologyAt + 1 + int(own)); own > 0 {
				m[3] -= get(c.topologyAt + int(own))
			}
			m[4] = m[3]
		}
	case adjacent:
		m[3], m[4] = get(c.topologyAt), get(c.topologyAt2)
	case distributed:
		e.askedRank = true
		m[3], m[4] = e.degrees(c.terminal)
	case inherited:
		parent := e.comm(get(c.parent))
		m[3], m[4] = parent[3], parent[4]
	}
	return name{communicator, get(c.handle)}, m, true
}

func (c *call) started(get values, e *env) (a Amount) {
	add := func(id int64) {
		m := e.look(name{request, id})
		a.Out += uint64(m[0])
		a.In += uint64(m[1])
	}
	if !c.array {
		add(get(c.starts))
		return a
	}
	for i := range max(0, get(c.starts)) {
		add(get(c.starts + 1 + int(i)))
	}
	return a
}

// moved is what a call moves by its rule.
func (c *call) moved(get values, e *env) Amount {
	r := c.rule
	comm := meaning{0, 1, 0, 1, 1}
	if c.comm >= 0 {
		comm = e.comm(get(c.comm))
	}
	isRoot, isOther := true, true
	if c.root >= 0 {
		root := get(c.root)
		isRoot = root == e.rank(comm)
		isOther = !isRoot
		if comm[2] > 0 { // between two groups
			isRoot = root == rootHere
			isOther = !isRoot && root != procNull
		}
	}
	between := comm[2] > 0
	has := func(p part) bool {
		switch {
		case p.onlyRoot:
			return isRoot
		case p.onlyOthers:
			return isOther
		case c.root >= 0 && between: // the root's group only has the root's side
			return isOther
		}
		return true
	}
	var a Amount
	out, in := r.out.datatype != "" && has(r.out), r.in.datatype != "" && has(r.in)
	replaced := c.inPlace >= 0 && get(c.inPlace)&7 == int64(trace.Special) && get(c.inPlace+1) == inPlace
	if out {
		if replaced && !r.inPlaceIsIn {
			a.Out = c.own(get, e, comm, r.in, c.in)
		} else {
			a.Out = c.size(get, e, comm, r.out, c.out)
		}
	}
	if in {
		if replaced && r.inPlaceIsIn {
			a.In = c.own(get, e, comm, r.out, c.out)
		} else {
			a.In = c.size(get, e, comm, r.in, c.in)
		}
		if c.status >= 0 {
			if form := trace.StatusForm(get(c.status)); form == trace.StatusFilled || form == trace.StatusIgnored {
				if n := get(c.status + 3); n >= 0 {
					a.In = uint64(n)
				}
			}
		}
	}
	if c.partitions >= 0 {
		n := uint64(max(0, get(c.partitions)))
		a.Out *= n
		a.In *= n
	}
	return a
}

// own is what this process has to do with in place of a buffer of its own: all
// of it in an all-to-all call, else its own block.
func (c *call) own(get values, e *env, comm meaning, p part, o operands) uint64 {
	switch {
	case c.rule.out.times == c.rule.in.times && p.times != once: // an all-to-all call
	case p.times == array:
		p.times = ownBlock
	case p.times == members:
		p.times = once
	}
	return c.size(get, e, comm, p, o)
}

// size is how much one direction comes to.
func (c *call) size(get values, e *env, comm meaning, p part, o operands) uint64 {
	if o.datatype < 0 {
		return 0
	}
	if o.peer >= 0 && get(o.peer) == procNull {
		return 0
	}
	if p.count == "" {
		return e.size(get(o.datatype))
	}
	if o.count < 0 {
		return 0
	}
	count := func(at int) uint64 { return uint64(max(0, get(at))) }
	switch p.times {
	case array:
		n, types := int(max(0, get(o.count))), p.datatype[len(p.datatype)-1] == 's'
		sum := uint64(0)
		for i := range n {
			at := o.datatype
			if types {
				at += 1 + i
			}
			sum += count(o.count+1+i) * e.size(get(at))
		}
		return sum
	case ownBlock:
		own := e.rank(comm)
		if own < 0 || own >= get(o.count) {
			return 0
		}
		return count(o.count+1+int(own)) * e.size(get(o.datatype))
	}
	n := count(o.count) * e.size(get(o.datatype))
	switch p.times {
	case members:
		if n *= uint64(comm[1]); comm[2] > 0 {
			n = count(o.count) * e.size(get(o.datatype)) * uint64(comm[2])
		}
	case sources:
		n *= uint64(max(0, comm[3]))
	case targets:
		n *= uint64(max(0, comm[4]))
	}
	return n
}
