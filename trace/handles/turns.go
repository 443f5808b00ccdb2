package handles

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A ThreadDependency means that a call of a stream began after a call of another stream had returned, because both use
// one object.
type ThreadDependency struct {
	LaterCall     uint64 // index of the later call in its stream
	EarlierStream int    // stream of the earlier call; EarlierCall is its index there
	EarlierCall   uint64
}

// endsAtFree are the kinds of objects that no call can use after the first call that frees them.
var endsAtFree = map[mpi.Kind]bool{
	mpi.KindComm: true, mpi.KindWin: true, mpi.KindFile: true, mpi.KindOp: true, mpi.KindSession: true, mpi.KindRequest: true,
}

// A turner computes the ThreadDependencies of a rank.
type turner struct {
	k        *trace.Rank
	distinct []*trace.Call
	lists    [][]ThreadDependency
	handed   [][]trace.Handover
	uses     map[turnKey]*trace.Occurrences
}

// A turnKey selects calls of a stream that pass a handle of this kind and number: which says whether all, or only those
// that create or free its object.
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
	ending // calls that create or free an object with the handle
)

// ThreadDependencies returns by stream which calls must follow calls of other streams: those that use an object created
// by another stream, and those that free or replace an object used by another stream. Its lists are empty if the trace
// has no handovers of the rank.
func ThreadDependencies(k *trace.Rank) ([][]ThreadDependency, error) {
	t := &turner{k: k, lists: make([][]ThreadDependency, k.Streams()), uses: make(map[turnKey]*trace.Occurrences)}
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
	if t.distinct, err = k.DistinctCalls(); err != nil {
		return nil, err
	}
	for stream, list := range t.handed {
		for i := range list {
			t.add(stream, list[i].FirstUse, list[i].MakerStream, list[i].MakerCall)
			if endsAtFree[list[i].Kind] {
				t.ends(stream, i)
			}
		}
	}
	for _, list := range t.lists {
		slices.SortStableFunc(list, func(a, b ThreadDependency) int { return cmp.Compare(a.LaterCall, b.LaterCall) })
	}
	return t.lists, nil
}

func (t *turner) add(stream int, index uint64, of int, call uint64) {
	t.lists[stream] = append(t.lists[stream], ThreadDependency{index, of, call})
}

// ends adds the dependencies of calls that end an object which a stream got in its handover i: calls that free it, or
// give its handle to a new object. They must follow the last use of the object in other streams.
func (t *turner) ends(stream, i int) {
	h := &t.handed[stream][i]
	last, ok := t.lastUse(stream, h, h.FirstUse)
	if !ok {
		return
	}
	if at, ok := t.next(h, h.MakerStream, h.MakerCall+1, ending); ok {
		t.add(h.MakerStream, at, stream, last)
	}
	if at, ok := t.next(h, stream, h.FirstUse, ending); ok && at <= last { // the stream that got the object frees it
		if of, ok := t.lastUse(h.MakerStream, h, h.MakerCall); ok && of > h.MakerCall {
			t.add(stream, at, h.MakerStream, of)
		}
	}
	for other, list := range t.handed {
		for k := range list {
			o := &list[k]
			if other == stream || o.Kind != h.Kind || o.Handle != h.Handle || o.MakerStream != h.MakerStream || o.MakerCall != h.MakerCall {
				continue
			}
			if at, ok := t.next(h, other, o.FirstUse, ending); ok {
				if until, ok := t.lastUse(other, o, o.FirstUse); ok && at <= until {
					t.add(other, at, stream, last)
				}
			}
		}
	}
}

// lastUse returns the index of the last call of a stream that uses the object of h, which the handle means at index
// from. It returns false if no call from there on uses it.
func (t *turner) lastUse(stream int, h *trace.Handover, from uint64) (uint64, bool) {
	end := t.k.CallCount(stream)
	for i := range t.handed[stream] {
		if o := &t.handed[stream][i]; o.FirstUse > from && o.Kind == h.Kind && o.Handle == h.Handle {
			end = min(end, o.FirstUse)
		}
	}
	if at, ok := t.next(h, stream, from+1, remaking); ok {
		end = min(end, at)
	}
	o := t.calls(h, stream, all)
	n := o.CountBefore(end)
	if n == 0 {
		return 0, false
	}
	at, _ := o.Nth(n - 1)
	return at, at >= from
}

// next returns the index of the first call of a stream, from index from on, that w selects for the handle of h; false
// without such a call.
func (t *turner) next(h *trace.Handover, stream int, from uint64, w which) (uint64, bool) {
	o := t.calls(h, stream, w)
	n := o.CountBefore(from)
	if n == o.Total() {
		return 0, false
	}
	at, _ := o.Nth(n)
	return at, true
}

func (t *turner) calls(h *trace.Handover, stream int, w which) *trace.Occurrences {
	key := turnKey{h.Kind, h.Handle, stream, w}
	o := t.uses[key]
	if o == nil {
		o = t.k.Occurrences(stream, func(n int) bool { return does(t.distinct[n], h.Kind, h.Handle, w) })
		t.uses[key] = o
	}
	return o
}

// does reports whether w selects a call for the handle of a kind with a number: all are calls that pass it, remaking
// those that return it for a new object, ending these and calls that free its object.
func does(c *trace.Call, kind mpi.Kind, number int64, w which) bool {
	is := func(v *trace.Value) bool {
		if v.Type == trace.TypeRequest {
			return kind == mpi.KindRequest && v.RequestForm == trace.RequestPersistent && v.RequestID == number
		}
		return v.Type == trace.TypeHandle && v.Num == number
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
