package replay

import (
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// Prepared is what stays the same among the calls of a terminal, so that it is worked out
// once.
type prepared struct {
	plan    *plan
	room    int64
	lane    bool   // its calls differ
	fixed   uint32 // parameters whose words stay, as bits
	placed  uint32 // those whose words stay until memory comes or goes
	version uint64 // of the segments, for these
	words   [CallWords]uint64
}

// prepare returns what is known of a call's terminal. The lock is held.
func (s *Stream) prepare(c *trace.Call) (*prepared, error) {
	if s.ready == nil {
		s.ready = make([]*prepared, s.p.rank.Terminals())
	}
	x := s.ready[c.Terminal]
	if x == nil {
		plan, err := s.p.plan(c.Func)
		if err != nil {
			return nil, err
		}
		x = &prepared{plan: plan, room: roomFor(c), lane: s.p.rank.Lane(c.Terminal) != nil}
		s.ready[c.Terminal] = x
	}
	if x.lane {
		x.room = roomFor(c)
	}
	return x, nil
}

// has reports whether the word of a parameter is known.
func (x *prepared) has(i int, version uint64) bool {
	return (x.fixed|x.placed&-b2u(x.version == version))>>i&1 != 0
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// keep notes the word of a parameter if it stays.
func (x *prepared) keep(i int, c *trace.Call, st *step, p *trace.Param, w uint64) {
	if x.lane {
		return
	}
	d := st.def
	if d.Array || d.ByAddress() || d.Kind == mpi.KindPointer && d.Name == "extra_state" {
		return
	}
	switch v := &p.In; {
	case d.Kind.Form() == mpi.FormInt && v.Type == trace.Int:
		if _, ok := numbered(c, d.Kind); ok || reissue.IsAddress(v.Num) {
			return
		}
		x.fixed |= 1 << i
	case v.Predefined() && d.Kind.IsHandle():
		x.fixed |= 1 << i
	case v.Type == trace.Address:
		x.placed |= 1 << i
	default:
		return
	}
	x.words[i] = w
}
