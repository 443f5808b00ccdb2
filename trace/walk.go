package trace

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
)

// A Walk iterates over the calls of a stream like Rank.TimedCalls, but reuses memory: a call is valid until Next. It is
// for callers that must be about as fast as the recorded program, such as replays.
//
//	for w.Next() {
//		… w.Call() …
//	}
//	… w.Err() …
type Walk struct {
	k       *Rank
	stream  int
	cursor  *grammar.Cursor
	lanes   *laneWalk
	made    int64 // number of one-shot requests that the stream made before the next call, if counted is set
	counted bool
	calls   []numberedCall            // by terminal: its last call
	line    timeline.CallTimeIterator // the times of the calls; nil: the walk has none
	posts   posts

	now  TimedCall
	same bool
	last int // terminal of the current call; -1 before the first
	err  error
}

// A numberedCall is the last call of a terminal that a walk has passed. It is changed to be the terminal's next call.
type numberedCall struct {
	call *Call
	t    template
	made int64    // number of one-shot requests that the stream made before this call
	left uint64   // value of posts.changes when the array of requests that an earlier call left was filled in
	from *Call    // the call that call is a copy of: in it, requests are still distances
	lane []*int64 // pointers to the fields of call that the lane sets; nil: each call of the terminal is decoded
	own  []int    // indices of the parameters with these fields, and of those with statuses that follow from receives

	statuses []*StatusValue // the statuses in call that are filled in from the receives of its requests
	elems    []Value        // memory for the array of requests that an earlier call left
	text     []byte         // the text that all calls of the terminal share, without gaps; nil until needed
	gaps     []gap          // what is left out in text
}

// Walk returns a walk without times that begins with the call at the given index of a stream.
func (k *Rank) Walk(stream int, index uint64) (*Walk, error) {
	w := &Walk{k: k, stream: stream, cursor: k.streams[stream].Cursor(), counted: index == 0, calls: make([]numberedCall, k.Terminals()), last: -1}
	w.posts = posts{k: k, stream: stream, from: index}
	w.cursor.Seek(index)
	w.lanes = k.walkLanes(index)
	return w, nil
}

// TimedWalk returns a walk with times that begins with the call at the given index of a stream.
func (k *Rank) TimedWalk(stream int, index uint64) (*Walk, error) {
	w, err := k.Walk(stream, index)
	if err != nil {
		return nil, err
	}
	w.line, err = k.timeline(stream, index)
	return w, err
}

// ReadAhead decodes up to limit bytes of the times of the following calls, if the trace has the time of each call. Next
// is then as fast as in a trace with means. Callers use it when they have time to spare.
func (w *Walk) ReadAhead(limit int) error {
	if l, ok := w.line.(*timeline.SeriesTimeIterator); ok {
		return l.ReadAhead(limit)
	}
	return nil
}

// Next moves on to the next call. It returns false at the end, and after an error.
func (w *Walk) Next() bool {
	if w.err != nil {
		return false
	}
	at := w.cursor.Pos()
	id, ok := w.cursor.Next()
	if !ok {
		return false
	}
	n := int(id)
	x := &w.calls[n]
	w.same = n == w.last && x.made == w.made && (w.lanes == nil || w.k.lanes[n] == nil) && (!x.t.leftOut() || x.left == w.posts.changes)
	w.last = n
	if !w.same {
		if w.err = w.evaluate(x, n); w.err != nil {
			return false
		}
	}
	x.call.Index = at
	w.now.Call = x.call
	w.posts.post(&x.t, x.call, w.made)
	w.made += x.t.made
	if w.line != nil {
		w.err = w.now.next(w.line)
	}
	return w.err == nil
}

// AppendText appends the text of the current call, as Call.AppendText does. The parts that all calls of a terminal
// have in common are cached.
func (w *Walk) AppendText(b []byte) []byte {
	x := &w.calls[w.last]
	if x.lane == nil && w.lanes != nil && w.k.lanes[w.last] != nil {
		return x.call.AppendText(b)
	}
	if x.text == nil {
		x.gaps = x.gaps[:0]
		x.text = x.call.appendText(nil, &x.gaps, x.own)
	}
	from := 0
	for _, g := range x.gaps {
		b = append(b, x.text[from:g.at]...)
		from = g.at
		p := &x.call.Params[g.param]
		if g.out {
			b = p.appendText(b, &p.Out)
		} else {
			b = p.appendText(b, &p.In)
		}
	}
	return append(b, x.text[from:]...)
}

// evaluate changes x, the last call of terminal n, to the walk's current call.
func (w *Walk) evaluate(x *numberedCall, n int) error {
	if x.t.call == nil {
		t, err := w.k.template(n)
		if err != nil {
			return err
		}
		x.t = t
	}
	if x.t.array != nil {
		if err := w.posts.reach(x.t.array, w.cursor.Pos()-1); err != nil {
			return err
		}
	}
	if x.t.requests && !w.counted {
		var err error
		if w.made, err = w.k.requestsBefore(w.stream, w.cursor.Pos()-1); err != nil {
			return err
		}
		w.counted = true
	}
	laned := w.lanes != nil && w.k.lanes[n] != nil
	switch {
	case x.call == nil && !laned:
		x.take(x.t.call, w.stream)
	case laned && !(x.lane != nil && w.lanes.set(n, x.lane)):
		c, err := w.lanes.call(&x.t, n)
		if err != nil {
			return err
		}
		x.take(c, w.stream)
		var params []int
		x.lane, params = w.lanes.places(n, x.call)
		x.own = append(x.own, params...)
		x.text = nil
	case laned && x.t.own:
		x.call.Params[x.own[0]].Out.Status.fill(x.call.envelope())
	case x.made == w.made && len(x.statuses) == 0 && !x.t.leftOut():
		return nil
	}
	x.made = w.made
	if x.t.requests {
		for i := range x.from.Params {
			from := &x.from.Params[i]
			if from.Def.Type != TypeRequest {
				continue
			}
			p := &x.call.Params[i]
			renumber(&p.In, &from.In, w.made)
			renumber(&p.Out, &from.Out, w.made+x.t.made)
		}
	}
	if x.t.leftOut() {
		x.elems, x.left = w.posts.array(x.call, x.elems), w.posts.changes
	}
	if len(x.statuses) > 0 {
		return w.posts.fill(x.statuses, &x.t, w.made)
	}
	return nil
}

// take sets x.call to a copy of c, with own copies of the values that later calls of the terminal change.
func (x *numberedCall) take(c *Call, stream int) {
	d := *c
	d.Stream = stream
	if x.t.requests {
		d.Params = slices.Clone(d.Params)
	}
	x.from, x.call = c, &d
	switch {
	case len(x.t.posted) > 0:
		x.statuses, x.own = d.apart()
	case x.t.own && x.t.laned:
		x.own = []int{slices.IndexFunc(d.Params, func(p Param) bool { return p.Def.Type == TypeStatus })}
	}
}

// renumber is like numbered(*from, count), but stores the result in v, which must be a copy of *from or an earlier
// result for it.
func renumber(v, from *Value, count int64) {
	switch {
	case from.Type == TypeRequest:
		if from.RequestForm == RequestOneShot {
			v.RequestID, v.RequestForm = onceAt(from.RequestID, count)
		}
	case from.Type != TypeArray || len(from.Elems) == 0:
	case &v.Elems[0] == &from.Elems[0]: // v is a copy that shares its elements with from
		*v = numbered(*from, count)
	default:
		for i := range v.Elems {
			renumber(&v.Elems[i], &from.Elems[i], count)
		}
	}
}

// Call returns the current call. Next may change it and everything that it points to.
func (w *Walk) Call() *Call { return w.now.Call }

// Timed returns the current call with its times; these are 0 in a walk without times. Next may change it.
func (w *Walk) Timed() *TimedCall { return &w.now }

// Repeated reports whether the current call has the same function, site and values as the stream's previous call.
func (w *Walk) Repeated() bool { return w.same }

// Err returns the error that ended the walk, nil if there was no error.
func (w *Walk) Err() error { return w.err }
