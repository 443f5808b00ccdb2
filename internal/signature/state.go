package signature

import (
	"errors"

	"spoor/internal/pack"
	"spoor/internal/timing"
)

var errTwice = errors.New("a signature appears twice")

// Save writes the state.
func (t *Table) Save(w *pack.Writer) {
	w.Uint(uint64(t.Len()))
	for n := range t.hash {
		k := t.Key(uint32(n))
		w.Uint(uint64(k.Call()))
		w.Fixed(k.Site())
		w.Ints(k.Values())
		saveStat(w, &t.times[n].Duration)
		saveStat(w, &t.times[n].Gap)
	}
	for _, n := range t.next {
		w.Uint(uint64(n + 1))
	}
}

// Load reads what Save wrote.
func (t *Table) Load(r *pack.Reader) {
	*t = Table{}
	n := r.Len(10)
	for i := range n {
		k := make(Key, KeyHeader, 16)
		k.SetHeader(uint16(r.Index(1<<16)), r.Fixed())
		k = append(k, r.Ints()...)
		var times Times
		loadStat(r, &times.Duration)
		loadStat(r, &times.Gap)
		if r.Err != nil || int(t.find(None, k)) != i {
			r.Fail(errTwice)
			return
		}
		t.times[i] = times
	}
	for i := range t.next {
		t.next[i] = uint32(r.Index(n+1)) - 1
	}
}

func saveStat(w *pack.Writer, s *timing.Stat) {
	w.Uint(s.Count)
	w.Uint(s.Sum)
	w.Uint(s.Min)
	w.Uint(s.Max)
}

func loadStat(r *pack.Reader, s *timing.Stat) {
	s.Count, s.Sum, s.Min, s.Max = r.Uint(), r.Uint(), r.Uint(), r.Uint()
}
