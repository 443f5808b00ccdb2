package symbol

import (
	"spoor/internal/pack"
	"spoor/internal/track"
)

// Sites names code addresses: call sites and callbacks.
type Sites struct {
	modules *Modules
	known   Map // address → 1 + index
	list    []site
}

type site struct {
	hash   uint64
	module int32 // or None
	offset uint64
}

// Init sets where addresses are looked up.
func (s *Sites) Init(m *Modules) { s.modules = m }

// Name returns the content hash of a code address; 0 for none.
func (s *Sites) Name(addr uint64) uint64 {
	if i := s.known.Get(addr); i != 0 {
		return s.list[i-1].hash
	}
	if addr == 0 {
		return 0
	}
	return s.add(addr)
}

func (s *Sites) add(addr uint64) uint64 {
	// Code that no file holds was made at run time: its address says nothing
	// that another process could share.
	v := site{hash: hashEnd(hashSeed), module: None}
	if m, offset := s.modules.find(addr); m != None {
		mod := &s.modules.modules[m]
		mod.open()
		v = site{hashEnd(hashWord(mod.hash, offset)), m, offset}
	}
	s.put(addr, v)
	return v.hash
}

func (s *Sites) put(addr uint64, v site) {
	s.list = append(s.list, v)
	s.known.Set(addr, int64(len(s.list)))
}

// Table returns all sites by hash.
func (s *Sites) Table() map[uint64]track.Site {
	m := make(map[uint64]track.Site, len(s.list))
	for _, v := range s.list {
		var where track.Site
		if v.module != None {
			mod := &s.modules.modules[v.module]
			where = track.Site{Module: mod.path, BuildID: mod.buildID, Offset: v.offset}
		}
		m[v.hash] = where
	}
	return m
}

// Save writes the state.
func (s *Sites) Save(w *pack.Writer) {
	w.Uint(uint64(len(s.list)))
	s.known.Each(func(addr uint64, i int64) {
		v := &s.list[i-1]
		w.Fixed(addr)
		w.Fixed(v.hash)
		w.Uint(uint64(v.module + 1))
		w.Uint(v.offset)
	})
}

// Load reads what Save wrote, after the modules.
func (s *Sites) Load(r *pack.Reader) {
	s.known, s.list = Map{}, nil
	for range r.Count(18) {
		addr := r.Fixed()
		s.put(addr, site{r.Fixed(), int32(r.Index(len(s.modules.modules)+1)) - 1, r.Uint()})
	}
}
