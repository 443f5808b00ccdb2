package replay

import (
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// A lookahead reads calls ahead of a stream to find what becomes of a request: the call that completes it shows the
// message of a wildcard receive, and later calls show in which array the program put the request. It reads each call
// once, and keeps its findings until the stream asks.
type lookahead struct {
	k           *trace.Rank
	stream      int
	places      bool // it is also wanted in which array a request is used
	walk        *trace.Walk
	at          uint64                    // index of the next call that walk reads
	completions map[int64]*requestOutcome // by number of the one-shot request
}

// A requestOutcome is where, and with which status, a one-shot request completes.
type requestOutcome struct {
	status    *trace.StatusValue // its final status; nil: not recorded
	array     uint64             // 1 + index of the first call that passes the request in an array; 0: none
	position  int                // index of the request in that array
	length    int                // number of requests in that array
	wantMatch bool
	wantPlace bool
}

// farthest is the largest number of calls read ahead for one request.
const farthest = 1 << 20

// completion returns the outcome of the request that the call makes. It is nil if the call makes none, or if the
// replay needs neither its status nor its array.
func (f *lookahead) completion(c *trace.Call) (*requestOutcome, error) {
	id := made(c)
	if id < 0 || !f.places && !tells(c) {
		return nil, nil
	}
	if err := f.reach(c.Index); err != nil {
		return nil, err
	}
	for {
		v := f.completions[id]
		if v != nil && !v.wantMatch && !v.wantPlace || f.at > c.Index+farthest {
			delete(f.completions, id)
			return v, nil
		}
		if !f.walk.Next() {
			delete(f.completions, id)
			return v, f.walk.Err()
		}
		f.at++
		if !f.walk.Repeated() { // repetitions of a call are equal
			f.look(f.walk.Call())
		}
	}
}

// nearby is the largest number of calls that are skipped one by one. A farther call is looked up in the grammar,
// which takes longer the larger the grammar is.
const nearby = 1 << 12

// reach skips the calls before the one with an index, unless the lookahead is already past it.
func (f *lookahead) reach(index uint64) error {
	if f.walk != nil && f.at > index {
		return nil
	}
	clear(f.completions)
	if f.walk == nil || index-f.at > nearby {
		f.at = index
		var err error
		f.walk, err = f.k.Walk(f.stream, index)
		return err
	}
	for ; f.at < index; f.at++ {
		if !f.walk.Next() {
			return f.walk.Err()
		}
	}
	return nil
}

// made returns the number of the one-shot request that a call makes, -1 if none.
func made(c *trace.Call) int64 {
	for i := range c.Params {
		if out := &c.Params[i].Out; out.Type == trace.TypeRequest && out.RequestForm == trace.RequestOneShot {
			return out.RequestID
		}
	}
	return -1
}

// tells reports whether the replay needs the status with which the request of a call completes.
func tells(c *trace.Call) bool { return c.Param("query_fn") != nil || wildcard(c) }

// look records the requests that the call makes, is passed or completes.
func (f *lookahead) look(d *trace.Call) {
	if id := made(d); id >= 0 {
		v := &requestOutcome{wantMatch: tells(d), wantPlace: f.places}
		if v.wantMatch || v.wantPlace {
			f.completions[id] = v
		}
	}
	if len(f.completions) == 0 {
		return
	}
	some := false
	for i := range d.Params {
		p := &d.Params[i]
		if p.Def.Type != trace.TypeRequest {
			continue
		}
		some = true
		switch p.In.Type {
		case trace.TypeRequest:
			f.used(&p.In, d, 0, 0, p.Def.Dir == trace.DirIn)
		case trace.TypeArray:
			for j := range p.In.Elems {
				f.used(&p.In.Elems[j], d, j, len(p.In.Elems), false)
			}
		}
	}
	if some {
		for _, done := range ops.RequestsFoundComplete(d) {
			f.status(done.Request, done.Status, d)
		}
	}
}

// used records the position of a request in a call's array; a request passed by value has no position.
func (f *lookahead) used(r *trace.Value, d *trace.Call, position, length int, value bool) {
	if r.RequestForm != trace.RequestOneShot || value {
		return
	}
	if v := f.completions[r.RequestID]; v != nil && v.wantPlace {
		v.wantPlace = false
		if length > 0 {
			v.array, v.position, v.length = d.Index+1, position, length
		}
	}
}

// status records the status of a completed request.
func (f *lookahead) status(r *trace.Value, s *trace.StatusValue, d *trace.Call) {
	if r.RequestForm != trace.RequestOneShot {
		return
	}
	v := f.completions[r.RequestID]
	if v == nil || !v.wantMatch || s == nil && !d.Func.Has(trace.AttrCompletes) {
		return
	}
	v.wantMatch = false
	v.status = s
}
