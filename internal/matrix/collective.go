package matrix

import "spoor/trace"

// The logical pattern of a collective is who needs whose data, not how a
// library moves it: a broadcast is a message from the root to each other rank,
// a reduction one from each rank to the root, an all-reduce one from each rank
// to each other. What a rank has for itself is no message. A barrier has no
// data. A scan hands partial results on, from each rank to the next.

const rootMark = -4 // MPI_ROOT of the standard ABI

// inPlace reports whether a buffer is MPI_IN_PLACE.
func (s *site) inPlace(name string) bool {
	p := s.c.Param(name)
	return p != nil && p.In.Type == trace.Address && p.In.Addr.Class == trace.Special && p.In.Addr.Offset == trace.SpecialInPlace
}

// own returns the calling rank's number in the (local) group.
func (t *traffic) own(c *trace.Comm) int {
	if c.WorldRank(t.rank) == t.rank { // mostly MPI_COMM_WORLD
		return t.rank
	}
	if t.last != c || t.lastOf != t.rank {
		t.last, t.lastOf, t.lastSelf = c, t.rank, -1
		for i := range c.Size {
			if c.WorldRank(i) == t.rank {
				t.lastSelf = i
				break
			}
		}
	}
	return t.lastSelf
}

func (t *traffic) collective(r role, s site) {
	comm := t.comm(&s)
	if comm == nil {
		t.out.unknown()
		return
	}
	self := t.own(comm)
	inter := comm.RemoteSize > 0
	root, rooted := s.num("root")
	if rooted && inter && root == procNull {
		return
	}
	atRoot := rooted && (inter && root == rootMark || !inter && root == int64(self))
	switch r {
	case bcast:
		if atRoot {
			b, ok := t.data(&s, "count", "datatype")
			t.out.spread(comm, self, b, ok)
		}
	case scatter:
		if atRoot {
			b, ok := t.data(&s, "sendcount", "sendtype")
			t.out.spread(comm, self, b, ok)
		}
	case scatterv:
		if atRoot {
			t.parts(&s, comm, self, "sendcounts", "sendtype")
		}
	case gather, reduce:
		if !atRoot {
			b, ok := t.contribution(r, &s, self)
			t.out.send(comm.Peer(int(root)), b, ok)
		}
	case allgather, reduceAll, alltoall:
		b, ok := t.contribution(r, &s, self)
		t.out.spread(comm, self, b, ok)
	case alltoallv:
		// In place, blocks have the size of those that they are exchanged for.
		counts, types := "sendcounts", "sendtype"
		if s.inPlace("sendbuf") {
			counts, types = "recvcounts", "recvtype"
		}
		if s.c.Param(types) == nil {
			types += "s"
		}
		t.parts(&s, comm, self, counts, types)
	case reduceBlock:
		b, ok := t.data(&s, "recvcount", "datatype")
		t.out.collect(comm, self, b, ok)
	case reduceParts:
		b, ok := t.element(&s, "recvcounts", "datatype", self)
		t.out.collect(comm, self, b, ok)
	case scan:
		if self >= 0 && self+1 < comm.Size {
			b, ok := t.data(&s, "count", "datatype")
			t.out.send(comm.WorldRank(self+1), b, ok)
		}
	case neighbours, toNeighbours:
		t.neighbours(&s, comm)
	}
}

// contribution is what a rank gives to a gathering or reduction, or to each
// other rank.
func (t *traffic) contribution(r role, s *site, self int) (int64, bool) {
	switch {
	case r == reduce || r == reduceAll:
		return t.data(s, "count", "datatype")
	case s.inPlace("sendbuf") && s.c.Param("recvcounts") != nil:
		return t.element(s, "recvcounts", "recvtype", self)
	case s.inPlace("sendbuf"):
		return t.data(s, "recvcount", "recvtype")
	}
	return t.data(s, "sendcount", "sendtype")
}

// element is the size of one part of an array.
func (t *traffic) element(s *site, counts, datatype string, i int) (int64, bool) {
	c, d := s.c.Param(counts), s.c.Param(datatype)
	if c == nil || d == nil || i < 0 || i >= len(c.In.Elems) {
		return 0, false
	}
	dt := &d.In
	if dt.Type == trace.Array {
		if i >= len(dt.Elems) {
			return 0, false
		}
		dt = &dt.Elems[i]
	}
	return t.bytes(s, c.In.Elems[i].Num, dt)
}

// parts sends to each rank a part of its own. Empty ones are no messages.
func (t *traffic) parts(s *site, comm *trace.Comm, self int, counts, datatype string) {
	c := s.c.Param(counts)
	if c == nil || c.In.Type != trace.Array {
		t.out.unknown()
		return
	}
	for i := range c.In.Elems {
		if comm.RemoteSize == 0 && i == self {
			continue
		}
		if b, ok := t.element(s, counts, datatype, i); b > 0 || !ok {
			t.out.send(comm.Peer(i), b, ok)
		}
	}
}
