package otf2

import (
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/internal/track/trackwriter"
	"github.com/spoor-hpc/spoor/mpi"
)

// A recorder goes through the events of one rank, its threads merged by time, and makes calls.
type recorder struct {
	w       *world
	k       *rank
	all     *outcomes
	out     *trackwriter.Writer
	threads []*thread
	layouts map[*mpi.Call]signature.Layout
	empty   int64

	comms     map[*comm]int64 // by communicator: the handle
	handles   symbol.NumberPool
	makers    int // number of communicator-making calls so far
	windows   map[uint32]int64
	winPool   symbol.NumberPool
	files     map[uint32]int64
	filePool  symbol.NumberPool
	requests  map[uint64]request
	transfers map[transferKey]request // transfers of windows and files, which are numbered separately
}

// A request is a pending operation.
type request struct {
	thread int
	number int64 // number of the request among those that its thread made, from 1
	what   outcome
	known  bool // its outcome was determined
}

// A thread is the state of reading the events of one thread, a location.
type thread struct {
	number  int
	events  *EventReader
	more    bool
	stack   []entered
	made    int64   // number of one-shot requests made
	begun   int     // index of the next operation in the thread's list in rank.begun
	ready   []*open // calls that are recorded when the outermost call around them has ended
	off     *uint64 // ticks at which recording was switched off; nil: it is on
	metrics []measured
	counted map[string]*counter
}

// A counter is an accumulated metric.
type counter struct {
	base, now float64 // value at the end of the last call, and the latest value
	based     bool
}

// An entered is a region that was entered and not left.
type entered struct {
	region uint32
	call   *open // nil: not an MPI function
	source uint32
}

// An open is an open call with the records in it.
type open struct {
	call       *mpi.Call
	start, end uint64
	site       uint64
	acts       []Event
	values     []measured
}

// A measured is a metric's value before a call.
type measured struct {
	name  string
	value float64
}

func (r *recorder) run() error {
	for i, location := range r.k.threads {
		es, err := r.w.a.Events(location)
		if err != nil {
			return err
		}
		defer es.Close()
		t := &thread{number: i, events: es}
		t.more = es.Next()
		r.threads = append(r.threads, t)
	}
	for {
		var next *thread
		for _, t := range r.threads {
			if t.more && (next == nil || t.events.TimeTicks < next.events.TimeTicks) {
				next = t
			}
		}
		if next == nil {
			break
		}
		if err := r.event(next, &next.events.Event); err != nil {
			return err
		}
		next.more = next.events.Next()
	}
	for _, t := range r.threads {
		if err := t.events.Err(); err != nil {
			return err
		}
		for i := range t.stack {
			if c := t.stack[i].call; c != nil && c.end != 0 {
				// An empty event marks that the call returned, here while recording was off.
				c.acts = append(c.acts, Event{})
			} else if c != nil {
				c.end = max(c.start, r.k.last)
				r.w.notes.Add("calls that never returned", 1)
			}
		}
		if t.off != nil {
			r.unrecorded(max(r.k.last, *t.off) - *t.off)
		}
		if err := r.flush(t, true); err != nil {
			return err
		}
	}
	if n := len(r.requests); n > 0 {
		r.w.notes.Add("operations that no record completes", uint64(n))
	}
	return nil
}

func (r *recorder) event(t *thread, e *Event) error {
	x := &rows[e.ID]
	switch {
	case x.at != nil:
		return x.at(r, t, e)
	case x.in == nil:
		r.w.notes.Add("records that are not read: "+RecordName(e.ID), 1)
		return nil
	}
	if c := t.innermost(); c != nil {
		c.acts = append(c.acts, *e)
		return nil
	}
	if x.alone {
		c := &open{start: e.TimeTicks, end: e.TimeTicks, site: r.site(t, e.CallSiteLocation), acts: []Event{*e}}
		t.ready = append(t.ready, c)
		return r.flush(t, false)
	}
	r.w.notes.Add("records outside of any MPI function: "+RecordName(e.ID), 1)
	return nil
}

// switched records that recording was switched off or on; calls in between are missing.
func (r *recorder) switched(t *thread, e *Event) error {
	if e.Values[0] != MeasurementOff {
		if t.off != nil {
			r.unrecorded(e.TimeTicks - *t.off)
		}
		t.off = nil
		return nil
	}
	if t.off == nil {
		at := e.TimeTicks
		t.off = &at
	}
	for i := range t.stack {
		if c := t.stack[i].call; c != nil && c.end == 0 {
			c.end = e.TimeTicks
		}
	}
	return nil
}

func (r *recorder) unrecorded(ticks uint64) {
	r.w.notes.Add("times that recording was switched off: calls of MPI in between are missing, and count as computing", 1)
	r.w.notes.Add("µs in which recording was switched off, summed over threads", r.w.ns(ticks)/1000)
}

func (r *recorder) flushed(_ *thread, _ *Event) error {
	r.w.notes.Add("times that the recording tool wrote its buffers, which counts as computing or as part of a call", 1)
	return nil
}

// innermost returns the innermost open MPI call.
func (t *thread) innermost() *open {
	if i := lastIndex(t.stack, func(f entered) bool { return f.call != nil }); i >= 0 {
		return t.stack[i].call
	}
	return nil
}

func (r *recorder) enter(t *thread, e *Event) {
	f := entered{region: r.w.region(e), source: e.CallSiteLocation}
	if e.ID == EvCallingContextEnter {
		f.source = r.w.a.CallingContexts[uint32(e.Values[0])].SourceCodeLocation
	}
	if c := r.w.regions[f.region]; c != nil {
		f.call = &open{call: c, start: e.TimeTicks, site: r.site(t, f.source), values: t.pending()}
		t.read()
		t.ready = append(t.ready, f.call)
	} else {
		r.w.notes.Add("calls of functions that are not MPI's", 1)
	}
	t.stack = append(t.stack, f)
}

func (r *recorder) leave(t *thread, e *Event) error {
	region := r.w.region(e)
	if i := lastIndex(t.stack, func(f entered) bool { return f.region == region }); i >= 0 {
		if c := t.stack[i].call; c != nil {
			c.end = max(e.TimeTicks, c.start)
			c.acts = append(c.acts, Event{}) // an empty event marks that the call returned
			t.read()
		}
		t.stack = slices.Delete(t.stack, i, i+1)
	}
	return r.flush(t, false)
}

// flush records a thread's finished calls if no call of MPI is open, or, with all set, in any case.
func (r *recorder) flush(t *thread, all bool) error {
	if len(t.ready) == 0 || !all && t.innermost() != nil {
		return nil
	}
	for _, c := range t.ready {
		if err := r.record(t, c); err != nil {
			return err
		}
	}
	t.ready = t.ready[:0]
	return nil
}

// record records a call, or several if the function did more than its parameters can express.
func (r *recorder) record(t *thread, c *open) error {
	ended := c.call == nil
	if n := len(c.acts); n > 0 && c.acts[n-1].ID == 0 {
		c.acts, ended = c.acts[:n-1], true
	}
	for _, e := range c.acts {
		if err := r.commsOf(t, c, &e); err != nil {
			return err
		}
	}
	x := &translation{r: r, t: t, c: c, ended: ended}
	for _, f := range x.forms() {
		at := c.start
		if f.moved {
			at = c.end
		}
		n, err := r.out.AddCall(t.number, f.call.ID, c.site, f.values())
		if err != nil {
			return err
		}
		r.out.SetLastCallTimes(t.number, n, r.w.ns(at-r.w.first), r.w.ns(c.end-r.w.first))
		for _, v := range c.values {
			r.out.AttachValue(n, v.name, v.value)
		}
		c.values = nil
	}
	return nil
}

// commsOf makes the communicators that a record uses and that no call made.
func (r *recorder) commsOf(t *thread, c *open, e *Event) error {
	id := uint32(UndefinedRef)
	switch uses := rows[e.ID].uses; {
	// The communicator is in the record that completes the operation.
	case e.ID == EvMpiIrecvRequest || e.ID == EvCollectiveRequest:
		if n := t.begun; n < len(r.k.begun[t.number]) {
			if o := r.all.list[r.k.begun[t.number][n]]; o.kind != 0 {
				id = o.comm
			}
		}
	case uses == nil || rows[e.ID].ends:
		return nil
	default:
		id = uses(r.w, e)
	}
	m := r.w.byID[id]
	if m == nil || m.handle != 0 || r.comms[m] != 0 {
		return nil
	}
	if at, ok := m.maker[r.k.number]; ok && at >= r.makers && c.call != nil && c.call.Has(mpi.AttrCreatesComm) {
		return nil // made by this call
	}
	call, _ := mpi.CallNamed("MPI_Comm_create_group")
	f := newForm(call, r.layouts, r.empty)
	f.set("comm", mpi.HandleCommWorld)
	r.make(f, m, "newcomm")
	n, err := r.out.AddCall(t.number, call.ID, 0, f.values())
	if err != nil {
		return err
	}
	at := r.w.ns(c.start - r.w.first)
	r.out.SetLastCallTimes(t.number, n, at, at)
	r.w.notes.Add("communicators that no recorded call made (MPI_Comm_create_group is assumed)", 1)
	return nil
}

// make sets the communicator that a call makes.
func (r *recorder) make(f *callValues, m *comm, param string) {
	own, other := m.sides(r.k.number)
	h := int64(r.handles.Take()) + mpi.FirstUserHandleID
	r.comms[m] = h
	f.give(param, h)
	leader, remote := int64(-1), int64(-1)
	if len(own) > 0 {
		leader = int64(own[0])
	}
	if len(other) > 0 {
		remote = int64(other[0])
	}
	f.made = []int64{int64(m.number), leader, int64(slices.Index(own, r.k.number)), int64(len(own)), remote, int64(len(other)), 0}
}

// comm returns the handle of a communicator.
func (r *recorder) comm(id uint32) (*comm, int64) {
	m := r.w.byID[id]
	switch {
	case m == nil:
		return nil, symbol.UnknownHandle
	case m.handle != 0:
		return m, m.handle
	}
	if h, ok := r.comms[m]; ok {
		return m, h
	}
	return m, symbol.UnknownHandle
}

// site returns a call site: the recorded source line, else the surrounding function.
func (r *recorder) site(t *thread, source uint32) uint64 {
	a := r.w.a
	if s, ok := a.SourceCodeLocations[source]; ok && source != UndefinedRef {
		return r.place(a.String(s.File), s.Line, "")
	}
	if i := lastIndex(t.stack, func(f entered) bool { return f.call == nil }); i >= 0 {
		g := a.Regions[t.stack[i].region]
		return r.place(a.String(g.File), g.Line, a.String(g.Name))
	}
	return 0
}

// metric stores measurements for the next call.
func (r *recorder) metric(t *thread, e *Event) {
	list := r.w.a.Metrics[uint32(e.Values[0])]
	if len(list) != len(e.MetricValues) {
		r.w.notes.Add("measurements of metrics that are not defined", 1)
		return
	}
	for i, m := range list {
		v := e.MetricValues[i]
		switch {
		case m.Name == "" || math.IsNaN(v):
			r.w.notes.Add("measurements of metrics that are not defined", 1)
		case m.Mode == MetricModeRelative:
			t.metrics = append(t.metrics, measured{m.Name, v})
		case m.Mode == MetricModeAccumulated:
			c := t.counted[m.Name]
			if c == nil {
				if t.counted == nil {
					t.counted = make(map[string]*counter)
				}
				c = &counter{base: v}
				t.counted[m.Name] = c
			}
			c.now = v
		default:
			r.w.notes.Add("measurements of what there is at a time, which don't belong to calls", 1)
		}
	}
}

// pending returns the measurements since the previous call.
func (t *thread) pending() []measured {
	list := t.metrics
	t.metrics = nil
	for _, name := range slices.Sorted(maps.Keys(t.counted)) {
		if c := t.counted[name]; c.based && c.now >= c.base {
			list = append(list, measured{name, c.now - c.base})
		}
	}
	return list
}

// read sets the counters' base to their latest values.
func (t *thread) read() {
	for _, c := range t.counted {
		c.base, c.based = c.now, true
	}
}
