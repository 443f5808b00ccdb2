package replay

import (
	"iter"

	"spoor/trace"
)

// A prophet runs ahead of a stream to find out which message a non-blocking
// receive with a wildcard gets: that is known where it completes. It looks at
// each call once, and keeps what it found until the stream asks.
type prophet struct {
	k      *trace.Rank
	stream int
	next   func() (*trace.Call, error, bool)
	close  func()
	at     uint64 // calls seen
	open   map[int64]bool
	found  map[int64]*trace.StatusValue // by request; nil: it never tells
	made   int64
}

// farthest is how many calls the prophet looks ahead for one receive.
const farthest = 1 << 20

func newProphet(k *trace.Rank, stream int) *prophet {
	return &prophet{k: k, stream: stream, open: make(map[int64]bool), found: make(map[int64]*trace.StatusValue)}
}

func (f *prophet) stop() {
	if f.close != nil {
		f.close()
	}
}

// match returns the message that the receive which makes the call's request
// gets, nil if the trace does not tell.
func (f *prophet) match(c *trace.Call) (*trace.StatusValue, error) {
	id := int64(-1)
	for i := range c.Params {
		if out := &c.Params[i].Out; out.Type == trace.Request && out.Form == trace.RequestOnce {
			id = out.ID
		}
	}
	if id < 0 {
		return nil, nil
	}
	if f.next == nil || f.at <= c.Index {
		// Nothing before this call matters.
		f.stop()
		f.next, f.close = iter.Pull2(f.k.CallsFrom(f.stream, c.Index))
		f.at = c.Index
		clear(f.open)
		clear(f.found)
	}
	for {
		if v, ok := f.found[id]; ok {
			delete(f.found, id)
			return v, nil
		}
		if f.at > c.Index+farthest {
			delete(f.open, id)
			return nil, nil
		}
		d, err, ok := f.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			delete(f.open, id)
			return nil, nil
		}
		f.at++
		f.look(d)
	}
}

// look takes note of receives that the call makes and of those it completes.
func (f *prophet) look(d *trace.Call) {
	var requests *trace.Value
	for i := range d.Params {
		p := &d.Params[i]
		if p.Def.Type != trace.Request {
			continue
		}
		if p.Out.Type == trace.Request && p.Out.Form == trace.RequestOnce && wildcard(d) {
			f.open[p.Out.ID] = true
		}
		if p.In.Type == trace.Request || p.In.Type == trace.Array {
			requests = &p.In
		}
	}
	if requests == nil || len(f.open) == 0 || !d.Func.Has(trace.Completes) {
		return
	}
	if requests.Type == trace.Request {
		f.completed(requests, scalarStatus(d), d)
		return
	}
	list := requests.Elems
	if at := d.Param("index"); at != nil {
		if n := at.Out.Num; at.Out.Type == trace.Int && n >= 0 && n < int64(len(list)) {
			f.completed(&list[n], scalarStatus(d), d)
		}
		return
	}
	statuses := d.Param("array_of_statuses")
	if statuses == nil {
		return
	}
	status := func(i int) *trace.StatusValue {
		if i < len(statuses.Out.Elems) {
			return statuses.Out.Elems[i].Status
		}
		return nil
	}
	if at := d.Param("array_of_indices"); at != nil {
		for i := range at.Out.Elems {
			if n := at.Out.Elems[i].Num; n >= 0 && n < int64(len(list)) {
				f.completed(&list[n], status(i), d)
			}
		}
		return
	}
	if flag := d.Param("flag"); flag != nil && flag.Out.Num == 0 {
		return
	}
	for i := range list {
		f.completed(&list[i], status(i), d)
	}
}

func scalarStatus(d *trace.Call) *trace.StatusValue {
	if p := d.Param("status"); p != nil {
		return p.Out.Status
	}
	return nil
}

// completed notes the message of a request that has completed; a test that said
// no leaves it open.
func (f *prophet) completed(r *trace.Value, v *trace.StatusValue, d *trace.Call) {
	if r.Form != trace.RequestOnce || !f.open[r.ID] {
		return
	}
	if flag := d.Param("flag"); flag != nil && flag.Out.Num == 0 {
		return
	}
	delete(f.open, r.ID)
	if v != nil {
		v = message(v)
	}
	f.found[r.ID] = v
}
