package ops

import (
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// A call is a terminal, with the positions in its signature of the values that determine how many bytes its calls move;
// -1: the function has no such parameter.
type call struct {
	terminal int
	means    *meaning.DataMovement // nil if the call only starts requests

	out, in             operands
	root, comm, inPlace int
	status              int // position of a blocking receive's status
	partitions          int
	starts              int   // position of the persistent request or requests that the call starts
	shape               []int // positions of the values that determine the layout of the signature
	array               bool  // starts is an array of requests
}

type operands struct {
	count, datatype, peer int
	types                 bool // the parameter of the datatype is an array
}

// compile returns the call of a terminal; nil if its calls move no data.
func compile(k *trace.Rank, terminal int) (*call, error) {
	c := k.CallWithoutParams(terminal)
	m := meaning.DataMovementOf(c.Name())
	starts := c.Func.Has(trace.AttrStarts)
	if m == nil && !starts {
		return nil, nil
	}
	at, err := k.Positions(terminal)
	if err != nil {
		return nil, err
	}
	p := &call{terminal: terminal, means: m, shape: []int{0}}
	for i := range c.Func.Params {
		def := &c.Func.Params[i]
		for _, pos := range []int{at.Params[i].In, at.Params[i].Out} {
			if pos >= 0 && (def.Dims > 0 || def.Type == trace.TypeStatus) {
				p.shape = append(p.shape, pos)
			}
		}
	}
	find := func(name string) int {
		for i := range c.Func.Params {
			if name == "" || c.Func.Params[i].Name != name {
				continue
			}
			return at.Params[i].In
		}
		return -1
	}
	p.comm, p.root, p.inPlace, p.status, p.partitions, p.starts = find("comm"), -1, -1, -1, -1, -1
	if m != nil {
		side := func(x *meaning.DataSide) operands {
			if x == nil {
				return operands{count: -1, datatype: -1, peer: -1}
			}
			if x.Partitions != "" {
				p.partitions = find(x.Partitions)
			}
			if x.AbsentIfInPlace {
				p.inPlace = find(x.Buffer)
			}
			return operands{find(x.Count), find(x.Type), find(x.Peer), m.IsArrayParam(x.Type)}
		}
		p.out, p.in = side(m.Out), side(m.In)
		if m.Rooted {
			p.root = find("root")
		}
		for i := range c.Func.Params {
			if c.Func.Params[i].Type == trace.TypeStatus && c.Func.Params[i].Dims == 0 && m.In != nil {
				p.status = at.Params[i].Out
			}
		}
	}
	if starts {
		for i := range c.Func.Params {
			if c.Func.Params[i].Kind == mpi.KindRequest {
				p.starts = at.Params[i].In
				p.array = c.Func.Params[i].Dims > 0
			}
		}
	}
	return p, nil
}

// A view is a position in a rank's calls, which determines what handles mean there. It records which properties of the
// rank were used, and whether a value differs between the ranks of the class.
type view struct {
	w      *evaluator
	stream int
	index  uint64

	blocks bool // compute also Transfer.BytesByMember

	varies      bool // a value that was used differs between the ranks of the class
	askedRank   bool // the own rank in a communicator was used
	askedHandle bool // a handle that the program made was used
}

// values returns a function that returns the values of a terminal's signature on the view's rank.
func (v *view) values(terminal int) values {
	return func(at int) int64 {
		if n, ok := v.w.c.x.Uniform(terminal, at); ok {
			return n
		}
		v.varies = true
		return v.w.c.x.At(terminal, at, v.w.member)
	}
}

// A commSize is a communicator's handle and size, and the size of the remote group.
type commSize struct{ handle, size, remote int64 }

func (v *view) comm(handle int64) commSize {
	switch handle {
	case mpi.HandleCommWorld:
		return commSize{mpi.HandleCommWorld, int64(v.w.c.r.Ranks()), 0}
	case mpi.HandleCommSelf:
		return commSize{mpi.HandleCommSelf, 1, 0}
	}
	v.askedHandle = true
	if m, ok := v.w.meanings().CommCreation(handle, v.stream, v.index); ok && m.Call.NewComm != nil {
		return commSize{handle, m.Call.NewComm.Size, m.Call.NewComm.RemoteSize}
	}
	return commSize{handle: handle}
}

// rank returns the rank in communicator g of the process that the view belongs to; -1 if unknown.
func (v *view) rank(g commSize) int64 {
	v.askedRank = true
	switch g.handle {
	case mpi.HandleCommWorld:
		return int64(v.w.c.x.Ranks()[v.w.member])
	case mpi.HandleCommSelf:
		return 0
	}
	if m, ok := v.w.objects().CommCreation(g.handle, v.stream, v.index); ok && m.Call.NewComm != nil {
		return m.Call.NewComm.Rank
	}
	return -1
}

// neighbours returns the numbers of sources and destinations in a communicator's topology.
func (v *view) neighbours(handle int64) (in, out uint64) {
	v.askedHandle, v.askedRank = true, true
	n, _ := v.w.objects().Neighbours(handle, v.stream, v.index)
	return uint64(len(n.Sources)), uint64(len(n.Destinations))
}

func (v *view) size(handle int64) (n uint64, known bool) {
	if n, ok := mpi.PredefinedTypeSize(handle); ok {
		return uint64(n), true
	}
	v.askedHandle = true
	size, ok := v.w.meanings().TypeSize(handle, v.stream, v.index)
	return uint64(max(0, size)), ok && size >= 0
}

// values returns the value at a position of a signature.
type values func(at int) int64

// amount returns how many bytes one call moves.
func (c *call) amount(get values, v *view) Amount {
	switch {
	case c.means != nil && c.means.TakesEffectAtStart || get(0) != 0: // the call takes effect later, failed, or never returned
		return Amount{}
	case c.starts >= 0:
		return c.started(get, v)
	}
	return c.byRule(get, v)
}

func (c *call) started(get values, v *view) (a Amount) {
	v.askedHandle = true
	add := func(id int64) {
		if id < 0 || id&1 == 0 { // no request, or not a persistent one
			return
		}
		m, ok := v.w.meanings().PersistentRequestCreation(id>>1, v.stream, v.index)
		if !ok {
			return
		}
		p := v.w.call(m.Call.Terminal)
		if p == nil || p.means == nil { // the started operation moves no data, e.g. a barrier
			return
		}
		there := *v
		there.stream, there.index = m.Stream, m.Index
		get := there.values(m.Call.Terminal)
		if get(0) == 0 {
			a.AddMultiple(p.byRule(get, &there), 1)
		}
		v.varies, v.askedRank = v.varies || there.varies, v.askedRank || there.askedRank
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

// byRule returns how many bytes a call moves, according to its arguments and the standard's description of its
// function.
func (c *call) byRule(get values, v *view) Amount {
	a := c.shares(get, v)
	return Amount{a.Out.TotalBytes, a.In.TotalBytes}
}

// A Transfer is what a call moves in one direction.
type Transfer struct {
	TotalBytes      uint64   // bytes of all blocks together
	BytesPerMember  uint64   // bytes of the block of each member or neighbor, if all blocks have one size
	BytesByMember   []uint64 // by member or neighbor: bytes of its block, if blocks have a size each
	HasUnknownSizes bool     // the size of some datatype is unknown or impossible; its blocks count 0 bytes
}

// maxBytes is more than any message has. Larger sizes count as unknown, so that sums do not overflow.
const maxBytes = 1 << 50

// add adds elements of a datatype to the transfer, and returns their size in bytes; 0 if it is unknown.
func (s *Transfer) add(count int64, size uint64, known bool) uint64 {
	switch {
	case count <= 0:
		return 0
	case !known || size > 0 && uint64(count) > maxBytes/size:
		s.HasUnknownSizes = true
		return 0
	}
	s.TotalBytes += uint64(count) * size
	return uint64(count) * size
}

// repeat multiplies the transfer by n.
func (s *Transfer) repeat(n int64) {
	if n < 0 || s.TotalBytes > 0 && uint64(n) > maxBytes/s.TotalBytes {
		s.TotalBytes, s.BytesPerMember, s.HasUnknownSizes = 0, 0, true
		return
	}
	s.TotalBytes *= uint64(n)
	s.BytesPerMember *= uint64(n)
}

// Transfers is what a call moves in both directions.
type Transfers struct{ Out, In Transfer }

// shares computes what a call moves, with the blocks of each member if v.blocks is set.
func (c *call) shares(get values, v *view) (a Transfers) {
	comm := commSize{mpi.HandleCommSelf, 1, 0}
	if c.comm >= 0 {
		comm = v.comm(get(c.comm))
	}
	isRoot, isOther := true, true
	if c.root >= 0 {
		root := get(c.root)
		isRoot = root == v.rank(comm)
		isOther = !isRoot
		if comm.remote > 0 { // an intercommunicator
			isRoot = root == mpi.MPIRoot
			isOther = !isRoot && root != mpi.ProcNull
		}
	}
	between := comm.remote > 0
	has := func(x *meaning.DataSide) bool {
		switch {
		case x == nil:
			return false
		case x.OnlyRoot:
			return isRoot
		case x.OnlyOthers:
			return isOther
		case c.root >= 0 && between: // in the root's group of an intercommunicator, only the root moves data, on its own side
			return isOther
		}
		return true
	}
	out, in := c.means.Out, c.means.In
	replaced := c.inPlace >= 0 && signature.SegClassOf(get(c.inPlace)) == signature.SegClassSpecial && get(c.inPlace+1) == trace.SpecialInPlace
	if has(out) {
		if replaced && out.AbsentIfInPlace {
			a.Out = c.instead(get, v, comm, in, c.in)
		} else {
			a.Out = c.share(get, v, comm, blocksOf(c.means, out), c.out)
		}
	}
	if has(in) {
		if replaced && in.AbsentIfInPlace {
			a.In = c.instead(get, v, comm, out, c.out)
		} else {
			a.In = c.share(get, v, comm, blocksOf(c.means, in), c.in)
		}
		if c.status >= 0 {
			if form := trace.StatusForm(get(c.status)); form == trace.StatusFormFilled || form == trace.StatusFormIgnored {
				if n := get(c.status + signature.StatusCountPosition); n >= 0 {
					a.In.TotalBytes = uint64(n)
				}
			}
		}
	}
	if c.partitions >= 0 {
		a.Out.repeat(get(c.partitions))
		a.In.repeat(get(c.partitions))
	}
	return a
}

// blocks says how many blocks a call moves in one direction. A block is as many elements as the parameter count says.
type blocks uint8

const (
	oneBlock blocks = iota
	members         // one for each process of the (other) group
	sources         // one for each neighbor that sends
	targets         // one for each neighbor that receives
	array           // the count is an array, and so may be the datatype
	ownBlock        // one: the element of the array for this process
)

func blocksOf(m *meaning.DataMovement, x *meaning.DataSide) blocks {
	switch {
	case x.IsOwnElementOnly:
		return ownBlock
	case m.IsArrayParam(x.Count):
		return array
	case x.Comm == "":
		return oneBlock
	case x.Multiplicity == mpi.PropertyInDegree:
		return sources
	case x.Multiplicity == mpi.PropertyOutDegree:
		return targets
	}
	return members
}

// instead returns what a call moves in the direction whose buffer is MPI_IN_PLACE. x and o are the other direction's:
// the amount is that direction's if all ranks exchange parts, else the one block of this process.
func (c *call) instead(get values, v *view, comm commSize, x *meaning.DataSide, o operands) Transfer {
	n := blocksOf(c.means, x)
	switch {
	case blocksOf(c.means, c.means.Out) == blocksOf(c.means, c.means.In) && n != oneBlock:
	case n == array:
		n = ownBlock
	case n == members:
		n = oneBlock
	}
	return c.share(get, v, comm, n, o)
}

// share returns what a call moves in one direction, with the operands o and this many blocks.
func (c *call) share(get values, v *view, comm commSize, times blocks, o operands) (s Transfer) {
	if o.datatype < 0 {
		s.HasUnknownSizes = true
		return s
	}
	if o.peer >= 0 && get(o.peer) == mpi.ProcNull {
		return s
	}
	switch {
	case o.count < 0: // a function without a count moves one element
		size, known := v.size(get(o.datatype))
		s.BytesPerMember = s.add(1, size, known)
		return s
	case times == array:
		n := int(max(0, get(o.count)))
		if v.blocks {
			s.BytesByMember = make([]uint64, n)
		}
		for i := range n {
			at := o.datatype
			if o.types {
				at += 1 + i
			}
			size, known := v.size(get(at))
			if b := s.add(get(o.count+1+i), size, known); v.blocks {
				s.BytesByMember[i] = b
			}
		}
		return s
	}
	count := o.count
	if times == ownBlock {
		own := v.rank(comm)
		if own < 0 || own >= get(o.count) {
			return s
		}
		count += 1 + int(own)
	}
	size, known := v.size(get(o.datatype))
	s.BytesPerMember = s.add(get(count), size, known)
	n := uint64(1)
	switch times {
	case members:
		if n = uint64(comm.size); comm.remote > 0 {
			n = uint64(comm.remote)
		}
	case sources:
		n, _ = v.neighbours(get(c.comm))
	case targets:
		_, n = v.neighbours(get(c.comm))
	}
	s.TotalBytes *= n
	return s
}
