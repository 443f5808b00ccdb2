package symbol

import (
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// Segments names allocations: each gets the lowest free number of its class at its first use.
type Segments struct {
	names Map // allocation's serial number, as in SEGMENT records → 1 + name
	pools [8]NumberPool
}

// NameNew returns the name of an allocation that a record announced. opened reports whether the name is new.
func (s *Segments) NameNew(serial uint64, device, class int64) (name int64, opened bool) {
	if v := s.names.Get(serial); v != 0 {
		return v - 1, false
	}
	id := int64(s.pools[class&7].Take())
	name = signature.PackSegName(id, device&31, class&7)
	s.names.Set(serial, 1+name)
	return name, true
}

// Name returns the name of an allocation; false if it has none.
func (s *Segments) Name(serial uint64) (int64, bool) {
	v := s.names.Get(serial)
	return v - 1, v != 0
}

// FreeName frees the name of a freed allocation; closed reports whether it had one.
func (s *Segments) FreeName(serial uint64) (name int64, closed bool) {
	v := s.names.Delete(serial)
	if v != 0 {
		s.pools[(v-1)&7].Return(uint32((v - 1) >> 8))
	}
	return v - 1, v != 0
}

func (s *Segments) code(c *wire.Coder) {
	for i := range s.pools {
		s.pools[i].code(c)
	}
	s.names.code(c, 1<<48)
}
