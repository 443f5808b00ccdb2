package matrix

import (
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// inPlace reports whether a buffer is MPI_IN_PLACE.
func (s *site) inPlace(name string) bool {
	p := s.c.Param(name)
	return p != nil && p.In.Type == trace.Address && p.In.Addr.Class == trace.Special && p.In.Addr.Offset == trace.SpecialInPlace
}

// own returns the calling rank's number in the (local) group.
func (t *traffic) own(c *handles.Comm) int {
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

func (t *traffic) collective(s site) {
	comm := t.comm(&s)
	if comm == nil {
		t.out.unknown()
		return
	}
	self := t.own(comm)
	inter := comm.RemoteSize > 0
	root, rooted := s.num("root")
	if rooted && inter && root == mpi.ProcNull {
		return
	}
	atRoot := rooted && (inter && root == mpi.RootHere || !inter && root == int64(self))
	out := s.means.Out
	switch s.means.Pattern {
	case meaning.FromRoot:
		if atRoot {
			b, ok := t.data(&s, out)
			t.out.spread(comm, self, b, ok)
		}
	case meaning.PartFromRoot:
		switch {
		case !atRoot:
		case s.means.Array(out.Count):
			t.parts(&s, comm, self, out)
		default:
			b, ok := t.data(&s, out)
			t.out.spread(comm, self, b, ok)
		}
	case meaning.ToRoot:
		if !atRoot {
			b, ok := t.contribution(&s, self)
			t.out.send(comm.Peer(int(root)), b, ok)
		}
	case meaning.ToAll:
		b, ok := t.contribution(&s, self)
		t.out.spread(comm, self, b, ok)
	case meaning.PartToAll:
		// In place, blocks have the size of those that they are exchanged for.
		if s.inPlace(out.Buffer) {
			out = s.means.In
		}
		t.parts(&s, comm, self, out)
	case meaning.PartReduced:
		b, ok := t.data(&s, out)
		if s.means.In.Own {
			b, ok = t.element(&s, out, self)
		}
		t.out.collect(comm, self, b, ok)
	case meaning.ToNext:
		if self >= 0 && self+1 < comm.Size {
			b, ok := t.data(&s, out)
			t.out.send(comm.WorldRank(self+1), b, ok)
		}
	case meaning.Neighbors:
		t.neighbours(&s, comm)
	}
}

// contribution is what a rank gives to a gathering or reduction, or to each
// other rank.
func (t *traffic) contribution(s *site, self int) (int64, bool) {
	out, in := s.means.Out, s.means.In
	switch {
	case !out.InPlace || !s.inPlace(out.Buffer):
		return t.data(s, out)
	case s.means.Array(in.Count):
		return t.element(s, in, self)
	}
	return t.data(s, in)
}

// element is the size of one part of an array.
func (t *traffic) element(s *site, x *meaning.Side, i int) (int64, bool) {
	c, d := s.c.Param(x.Count), s.c.Param(x.Type)
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
func (t *traffic) parts(s *site, comm *handles.Comm, self int, x *meaning.Side) {
	c := s.c.Param(x.Count)
	if c == nil || c.In.Type != trace.Array {
		t.out.unknown()
		return
	}
	for i := range c.In.Elems {
		if comm.RemoteSize == 0 && i == self {
			continue
		}
		if b, ok := t.element(s, x, i); b > 0 || !ok {
			t.out.send(comm.Peer(i), b, ok)
		}
	}
}
