package signature

import (
	"errors"

	"github.com/spoor-hpc/spoor/internal/file/pack"
	"github.com/spoor-hpc/spoor/trace/model"
)

var errTwice = errors.New("a signature appears twice")

// SaveKeys writes the signatures from number first on. None is ever taken back,
// so whoever has the older ones needs no more.
func (t *Table) SaveKeys(w *pack.Writer, first int) {
	w.Uint(uint64(t.Len() - first))
	for n := first; n < t.Len(); n++ {
		k := t.Look(uint32(n))
		w.Uint(uint64(k[0]))
		w.Fixed(k.Site())
		w.Ints(k[KeyHeader:])
	}
}

// LoadKeys reads what SaveKeys wrote, and passes each key on to be inserted.
func (t *Table) LoadKeys(r *pack.Reader, insert func(Key) error) {
	for range r.Count(10) {
		k := make(Key, KeyHeader, 16)
		k[0], k[1] = int64(r.Uint()), int64(r.Fixed())
		k = append(k, r.Ints()...)
		if r.Err() != nil {
			return
		}
		if _, twice := t.LookUp(k); twice {
			r.Check(errTwice)
			return
		}
		r.Check(insert(k))
	}
}

// SaveTimes writes what is known of the times of all signatures.
func (t *Table) SaveTimes(w *pack.Writer) {
	for n := range uint32(t.Len()) {
		duration, gap := t.TimesOf(n)
		saveStat(w, &duration)
		saveStat(w, &gap)
	}
}

// LoadTimes reads what SaveTimes wrote.
func (t *Table) LoadTimes(r *pack.Reader) {
	if r.Err() != nil {
		return
	}
	for n := range uint32(t.Len()) {
		times := t.Times(n)
		loadStat(r, &times.Duration)
		loadStat(r, &times.Gap)
	}
}

func saveStat(w *pack.Writer, s *model.Stat) {
	w.Uint(s.Count)
	w.Uint(s.Sum)
	w.Uint(s.Min)
	w.Uint(s.Max)
	w.Uint(s.Squares.Hi)
	w.Uint(s.Squares.Lo)
}

func loadStat(r *pack.Reader, s *model.Stat) {
	s.Count, s.Sum, s.Min, s.Max = r.Uint(), r.Uint(), r.Uint(), r.Uint()
	s.Squares.Hi, s.Squares.Lo = r.Uint(), r.Uint()
}
