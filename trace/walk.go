package trace

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
)

// A Walk iterates over the calls of a stream like TimedCalls, but reuses memory: a call is valid until Next. It is
// for callers that must keep up with the speed of programs.
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
	made    int64 // one-shot requests made before the next call; unknown before the first call with requests
	counted bool
	calls   []numberedCall            // by terminal
	line    timeline.CallTimeIterator // nil: no times
	posts   posts

	now  TimedCall
	same bool
	last int // terminal
	err  error
}

// A numberedCall is a terminal whose requests are numbered for a position in the stream.
type numberedCall struct {
	call *Call
	t    template
	made int64    // one-shot requests made before that position
	left uint64   // posts.changes when the array that an earlier call left was filled in
	from *Call    // the call that call is a copy of
	lane []*int64 // pointers to the fields that the lane sets in the call; nil: the call is decoded each time
	own  []int    // indices of the parameters with these fields, and of those with statuses that follow from receives

	statuses []*StatusValue // statuses of requests, to be filled in
	elems    []Value        // memory for an array that an earlier call left
	text     []byte         // the text without gaps; nil until needed
	gaps     []gap          // their positions in the text
}

// Walk returns a walk that begins at a position of a stream.
func (k *Rank) Walk(stream int, index uint64) (*Walk, error) {
	w := &Walk{k: k, stream: stream, cursor: k.streams[stream].Cursor(), counted: index == 0, calls: make([]numberedCall, k.Terminals()), last: -1}
	w.posts = posts{k: k, stream: stream, from: index}
	w.cursor.Seek(index)
	w.lanes = k.walkLanes(index)
	return w, nil
}

// TimedWalk returns a walk whose calls have times.
func (k *Rank) TimedWalk(stream int, index uint64) (*Walk, error) {
	w, err := k.Walk(stream, index)
	if err != nil {
		return nil, err
	}
	w.line, err = k.timeline(stream, index)
	return w, err
}

// ReadAhead decodes the times of the following calls, up to limit bytes of them. Next is then as fast as with
// means. Callers use it when they have time to spare.
func (w *Walk) ReadAhead(limit int) error {
	if l, ok := w.line.(*timeline.SeriesLine); ok {
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

// evaluate updates a terminal's call to the walk's position.
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

// take makes the call a copy of c.
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

// renumber is like numbered, but stores the result in v, which was copied or numbered from from before.
func renumber(v, from *Value, count int64) {
	switch {
	case from.Type == TypeRequest:
		if from.RequestForm == RequestOneShot {
			v.RequestID, v.RequestForm = onceAt(from.RequestID, count)
		}
	case from.Type != TypeArray || len(from.Elems) == 0:
	case &v.Elems[0] == &from.Elems[0]: // v still shares its elements with from
		*v = numbered(*from, count)
	default:
		for i := range v.Elems {
			renumber(&v.Elems[i], &from.Elems[i], count)
		}
	}
}

// Call returns the current call. Next may change it and everything in it.
func (w *Walk) Call() *Call { return w.now.Call }

// Timed returns the current call with its times, if the walk has any.
func (w *Walk) Timed() *TimedCall { return &w.now }

// Repeated reports whether no value differs between this call and the one before.
func (w *Walk) Repeated() bool { return w.same }

// Err returns why the walk ended early, nil if it did not.
func (w *Walk) Err() error { return w.err }
