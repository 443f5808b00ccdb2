package symbol

import "github.com/spoor-hpc/spoor/internal/file/pack"

// Save writes the state. Requests keep their indices.
func (q *Requests) Save(w *pack.Writer) {
	w.Fixed(q.null)
	q.pool.Save(w)
	w.Ints(q.made)
	w.Uint(uint64(len(q.entries)))
	w.Uint(uint64(q.handles.Len()))
	q.handles.Each(func(handle uint64, first int64) {
		n := 0
		for i := int32(first) - 1; i != None; i = q.entries[i].newer {
			n++
		}
		w.Fixed(handle)
		w.Uint(uint64(n))
		for i := int32(first) - 1; i != None; i = q.entries[i].newer {
			e := &q.entries[i]
			w.Uint(uint64(i))
			w.Fixed(e.place)
			w.Uint(uint64(e.thread))
			w.Int(e.number)
			w.Uint(uint64(e.kind))
		}
	})
	saveMap(w, &q.places)
	w.Uint(uint64(len(q.unused)))
	for _, i := range q.unused {
		w.Uint(uint64(i))
	}
}

// Load reads what Save wrote.
func (q *Requests) Load(r *pack.Reader) {
	*q = Requests{null: r.Fixed(), cursor: None}
	q.pool.Load(r)
	q.made = r.Ints()
	places := r.Uint()
	if places > uint64(r.Rest()) {
		r.Check(errRange)
		return
	}
	q.entries = make([]request, places)
	for range r.Count(9) {
		q.loadHandle(r)
	}
	loadMap(r, &q.places, int64(len(q.entries)))
	free := make([]bool, len(q.entries))
	q.unused = make([]int32, r.Count(1))
	for k := range q.unused {
		i := r.Index(len(q.entries))
		if r.Err() != nil || q.entries[i].live || free[i] {
			r.Check(errRange)
			return
		}
		q.unused[k], free[i] = int32(i), true
	}
}

// loadHandle reads the requests with one handle, oldest first.
func (q *Requests) loadHandle(r *pack.Reader) {
	handle := r.Fixed()
	first, last := int32(None), int32(None)
	for range r.Count(5) {
		i := int32(r.Index(len(q.entries)))
		if r.Err() != nil || q.entries[i].live || q.handles.Get(handle) != 0 {
			r.Check(errRange)
			return
		}
		e := &q.entries[i]
		*e = request{handle: handle, older: last, newer: None, live: true}
		e.place = r.Fixed()
		e.thread = int32(r.Index(1 << 20))
		e.number = r.Int()
		e.kind = RequestKind(r.Index(int(Transfer) + 1))
		if e.number >= 0 && int(e.thread) >= len(q.made) {
			r.Check(errRange)
			return
		}
		if e.number >= 0 {
			q.alive++
		}
		if last == None {
			first = i
		} else {
			q.entries[last].newer = i
		}
		last = i
	}
	if first != None {
		q.entries[first].newest = last
		q.handles.Set(handle, int64(first)+1)
	}
}
