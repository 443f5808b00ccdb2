package diff

import "github.com/spoor-hpc/spoor/trace"

// A renaming says what in the first trace stands for what in the second:
// addresses by segment and distance, and numbers and names by value. It is one
// to one. What a comparison assumes is kept only if that comparison succeeds.
type renaming struct {
	there, back map[place]place
	names, old  map[name]name
	trial       []func()

	threads bool // handles and requests may have other numbers
	files   bool // so may files and attribute keys
}

// A place is a segment, and how far its addresses are moved.
type place struct {
	class  trace.AddressClass
	device int
	id     int64
	shift  int64
}

// A name is a value of a kind that a run makes up.
type name struct {
	kind string
	text string
	num  int64
}

func newRenaming() *renaming {
	return &renaming{
		files: true,
		there: make(map[place]place), back: make(map[place]place), names: make(map[name]name), old: make(map[name]name),
	}
}

// end keeps or drops what was assumed since the last end.
func (r *renaming) end(keep bool) {
	if !keep {
		for _, undo := range r.trial {
			undo()
		}
	}
	r.trial = r.trial[:0]
}

func (r *renaming) address(v, w *trace.Location) bool {
	if v.Class == trace.Special || w.Class == trace.Special {
		return *v == *w
	}
	from := place{v.Class, v.Device, v.ID, 0}
	to := place{w.Class, w.Device, w.ID, w.Offset - v.Offset}
	if known, ok := r.there[from]; ok {
		return known == to
	}
	if _, ok := r.back[to]; ok {
		return false
	}
	r.there[from], r.back[to] = to, from
	r.trial = append(r.trial, func() { delete(r.there, from); delete(r.back, to) })
	return true
}

func (r *renaming) name(v, w name) bool {
	if known, ok := r.names[v]; ok {
		return known == w
	}
	if _, ok := r.old[w]; ok {
		return false
	}
	r.names[v], r.old[w] = w, v
	r.trial = append(r.trial, func() { delete(r.names, v); delete(r.old, w) })
	return true
}

// renamed compares a value of a kind that every run makes up; ok is false if
// it is of no such kind.
func (r *renaming) renamed(p *trace.Param, v, w *trace.Value) (equal, ok bool) {
	if r.threads {
		if equal, ok := r.own(p.Kind(), v, w, v == &p.Out); ok {
			return equal, true
		}
	}
	switch {
	case !r.files:
	case v.Type == trace.String && p.Name() == "filename" && !v.Null && !w.Null:
		return r.name(name{kind: "file", text: v.Text}, name{kind: "file", text: w.Text}), true
	case v.Type == trace.String && p.Kind() == "path" && !v.Null && !w.Null:
		return r.name(name{kind: "path", text: v.Text}, name{kind: "path", text: w.Text}), true
	case v.Type == trace.Int && (p.Kind() == "keyval" || p.Kind() == "fint"):
		return v.Num == w.Num || r.name(name{kind: p.Kind(), num: v.Num}, name{kind: p.Kind(), num: w.Num}), true
	}
	return false, false
}
