package handles

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A Turn says that a call of a stream began after a call of another one had returned, as both use one object.
type Turn struct {
	Index  uint64 // the later call
	Stream int    // of the earlier one
	Call   uint64
}

// endsAtFree are the kinds of objects whose first freeing call is their last use.
var endsAtFree = map[mpi.Kind]bool{
	mpi.KindComm: true, mpi.KindWin: true, mpi.KindFile: true, mpi.KindOp: true, mpi.KindSession: true, mpi.KindRequest: true,
}

// A turner finds the turns of a rank.
type turner struct {
	k        *trace.Rank
	distinct []*trace.Call
	lists    [][]Turn
	handed   [][]trace.Handover
	uses     map[turnKey]*trace.Occurrences
}

// A turnKey is calls of a stream that use an object, or those that make or free it.
type turnKey struct {
	kind   mpi.Kind
	number int64
	stream int
	which  which
}

type which uint8

const (
	all which = iota
	remaking
	ending // making, too
)

// Turns returns, by stream, which calls of a rank's streams wait for calls of others: those that use what another made,
// and those that free or replace what another uses. A trace has none if its recorder noted no handovers.
func Turns(k *trace.Rank) ([][]Turn, error) {
	t := &turner{k: k, lists: make([][]Turn, k.Streams()), uses: make(map[turnKey]*trace.Occurrences)}
	some := false
	for stream := range t.lists {
		list, err := k.Handovers(stream)
		if err != nil {
			return nil, err
		}
		t.handed = append(t.handed, list)
		some = some || len(list) > 0
	}
	if !some {
		return t.lists, nil
	}
	var err error
	if t.distinct, err = k.Distinct(); err != nil {
		return nil, err
	}
	for stream, list := range t.handed {
		for i := range list {
			t.add(stream, list[i].Index, list[i].Stream, list[i].Made)
			if endsAtFree[list[i].Kind] {
				t.ends(stream, i)
			}
		}
	}
	for _, list := range t.lists {
		slices.SortStableFunc(list, func(a, b Turn) int { return cmp.Compare(a.Index, b.Index) })
	}
	return t.lists, nil
}

func (t *turner) add(stream int, index uint64, of int, call uint64) {
	t.lists[stream] = append(t.lists[stream], Turn{index, of, call})
}

// ends adds the turns of whoever frees or replaces an object that a stream has from its maker.
func (t *turner) ends(stream, i int) {
	h := &t.handed[stream][i]
	last, ok := t.lastUse(stream, h, h.Index)
	if !ok {
		return
	}
	if at, ok := t.next(h, h.Stream, h.Made+1, ending); ok {
		t.add(h.Stream, at, stream, last)
	}
	if at, ok := t.next(h, stream, h.Index, ending); ok && at <= last { // it frees the object itself
		if of, ok := t.lastUse(h.Stream, h, h.Made); ok && of > h.Made {
			t.add(stream, at, h.Stream, of)
		}
	}
	for other, list := range t.handed {
		for k := range list {
			o := &list[k]
			if other == stream || o.Kind != h.Kind || o.Number != h.Number || o.Stream != h.Stream || o.Made != h.Made {
				continue
			}
			if at, ok := t.next(h, other, o.Index, ending); ok {
				if until, ok := t.lastUse(other, o, o.Index); ok && at <= until {
					t.add(other, at, stream, last)
				}
			}
		}
	}
}

// lastUse returns the last call of a stream, from one on, that uses an object; false if none.
func (t *turner) lastUse(stream int, h *trace.Handover, from uint64) (uint64, bool) {
	end := t.k.Len(stream)
	for i := range t.handed[stream] {
		if o := &t.handed[stream][i]; o.Index > from && o.Kind == h.Kind && o.Number == h.Number {
			end = min(end, o.Index)
		}
	}
	if at, ok := t.next(h, stream, from+1, remaking); ok {
		end = min(end, at)
	}
	o := t.calls(h, stream, all)
	n := o.Before(end)
	if n == 0 {
		return 0, false
	}
	at, _ := o.Nth(n - 1)
	return at, at >= from
}

// next returns the first call of a stream, from one on, that does something with an object.
func (t *turner) next(h *trace.Handover, stream int, from uint64, w which) (uint64, bool) {
	o := t.calls(h, stream, w)
	n := o.Before(from)
	if n == o.Total() {
		return 0, false
	}
	at, _ := o.Nth(n)
	return at, true
}

func (t *turner) calls(h *trace.Handover, stream int, w which) *trace.Occurrences {
	key := turnKey{h.Kind, h.Number, stream, w}
	o := t.uses[key]
	if o == nil {
		o = t.k.Occurrences(stream, func(n int) bool { return does(t.distinct[n], h.Kind, h.Number, w) })
		t.uses[key] = o
	}
	return o
}

// does reports whether a call uses an object with a number, or makes or frees one.
func does(c *trace.Call, kind mpi.Kind, number int64, w which) bool {
	is := func(v *trace.Value) bool {
		if v.Type == trace.Request {
			return kind == mpi.KindRequest && v.Form == trace.RequestPersistent && v.ID == number
		}
		return v.Type == trace.Handle && v.Num == number
	}
	has := func(v *trace.Value) bool {
		return is(v) || slices.ContainsFunc(v.Elems, func(e trace.Value) bool { return is(&e) })
	}
	for i := range c.Params {
		p := &c.Params[i]
		if p.Kind() != kind {
			continue
		}
		if w != all && has(&p.Out) || w == ending && p.Def.Dir == trace.DirFree && has(&p.In) || w == all && has(&p.In) {
			return true
		}
	}
	return false
}
