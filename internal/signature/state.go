package signature

import (
	"errors"

	"spoor/internal/pack"
	"spoor/internal/timing"
)

var errTwice = errors.New("a signature appears twice")

// Save writes the whole table.
func (t *Table) Save(w *pack.Writer) {
	t.SaveKeys(w, 0)
	for i := range t.times {
		saveStat(w, &t.times[i].Duration)
		saveStat(w, &t.times[i].Gap)
	}
}

// Load reads what Save wrote.
func (t *Table) Load(r *pack.Reader) {
	*t = Table{}
	t.LoadKeys(r)
	for i := range t.times {
		loadStat(r, &t.times[i].Duration)
		loadStat(r, &t.times[i].Gap)
	}
}

// SaveKeys writes the signatures from number first on. None is ever taken back,
// so whoever has the older ones needs no more.
func (t *Table) SaveKeys(w *pack.Writer, first int) {
	w.Uint(uint64(t.Len() - first))
	for n := first; n < t.Len(); n++ {
		k := t.Key(uint32(n))
		w.Uint(uint64(k.Call()))
		w.Fixed(k.Site())
		w.Ints(k.Values())
	}
}

// LoadKeys appends what SaveKeys wrote.
func (t *Table) LoadKeys(r *pack.Reader) {
	for range r.Count(10) {
		k := make(Key, KeyHeader, 16)
		k.SetHeader(uint16(r.Index(1<<16)), r.Fixed())
		k = append(k, r.Ints()...)
		if n := t.Len(); r.Err() != nil || int(t.find(None, k)) != n {
			r.Check(errTwice)
			return
		}
	}
}

func saveStat(w *pack.Writer, s *timing.Stat) {
	w.Uint(s.Count)
	w.Uint(s.Sum)
	w.Uint(s.Min)
	w.Uint(s.Max)
	w.Uint(s.Squares.Hi)
	w.Uint(s.Squares.Lo)
}

func loadStat(r *pack.Reader, s *timing.Stat) {
	s.Count, s.Sum, s.Min, s.Max = r.Uint(), r.Uint(), r.Uint(), r.Uint()
	s.Squares.Hi, s.Squares.Lo = r.Uint(), r.Uint()
}
