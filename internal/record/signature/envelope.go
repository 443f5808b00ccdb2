package signature

import (
	"iter"
	"math"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// Most statuses repeat their receive: they have its source and tag, and the size that it has room for. Such a status is
// not kept: its form is StatusPosted instead of StatusFilled, or StatusPostedIgnored instead of StatusIgnored, and
// nothing follows.
//
// The receive of a status is the call itself, or the call of the same thread that made the request; for a persistent
// one that is not MPI_Start. It has to name source, tag and a predefined datatype. A call in which MPI failed has no
// such status, nor has one that leaves its requests unchanged.

// An ReceiveEnvelope is what a receive says of its message.
type ReceiveEnvelope struct{ Source, Tag, Bytes int64 }

// UnknownEnvelope is the envelope of a receive that leaves something open, and of other operations.
var UnknownEnvelope = ReceiveEnvelope{Bytes: -1}

// EnvelopeOf returns the envelope of a receive of count elements of a datatype.
func EnvelopeOf(source, tag, count, datatype int64) ReceiveEnvelope {
	size, predefined := mpi.TypeSize(datatype)
	const most = 1 << 50 // bytes
	switch {
	case !predefined || count < 0 || size > 0 && count > most/size:
		return UnknownEnvelope // from MPI_PROC_NULL as well: ranks at an edge are to have the forms of others
	case source == mpi.ProcNull:
		return EnvelopeWithoutSize(source, tag)
	case source < 0 || tag < 0:
		return UnknownEnvelope
	}
	return ReceiveEnvelope{source, tag, count * size}
}

// EnvelopeWithoutSize returns what a receive of any size says. What comes from MPI_PROC_NULL is nothing, with any tag; else the size is not known, -1.
func EnvelopeWithoutSize(source, tag int64) ReceiveEnvelope {
	if source == mpi.ProcNull {
		return ReceiveEnvelope{mpi.ProcNull, mpi.AnyTag, 0}
	}
	return ReceiveEnvelope{source, tag, -1}
}

// PredictsStatus reports whether a status of these values follows from the receive.
func (e ReceiveEnvelope) PredictsStatus(source, tag, bytes, cancelled int64) bool {
	return e.Bytes >= 0 && source == e.Source && tag == e.Tag && bytes == e.Bytes && cancelled == 0
}

// WithTag returns what the receive says if it names another tag.
func (e ReceiveEnvelope) WithTag(tag int64) ReceiveEnvelope {
	switch {
	case e.Bytes < 0, e.Source == mpi.ProcNull:
		return e
	case tag < 0:
		return UnknownEnvelope
	}
	e.Tag = tag
	return e
}

// A ReceiveParams is where the calls of a function have what they say of a message that they ask for:
// of values in either order.
type ReceiveParams struct{ Source, Tag, Count, Type int32 }

// receiveOf returns that of a function, false if its calls ask for no message or don't name it.
func (l *Layout) receiveOf(c *mpi.Call) (r ReceiveParams, ok bool) {
	source, tag, count, datatype, ok := meaning.ReceiveParams(c)
	if !ok {
		return r, false
	}
	at := map[string]*int32{source: &r.Source, tag: &r.Tag, count: &r.Count, datatype: &r.Type}
	place, found, i := int32(1), 0, 0
	for k := range c.Params {
		p := &c.Params[k]
		if p.LargeOnly && !c.Large {
			continue
		}
		if to := at[p.Name]; to != nil {
			*to = place
			found++
		}
		if q := &l.Params[i]; found < len(at) {
			if q.Dims > 0 || q.Width == WidthStatus || q.Out {
				return r, false // the next values are at no fixed position
			}
			place += int32(q.Width)
		}
		i++
	}
	return r, found == len(at)
}

// Envelope returns what a call says of the message that it asks for.
func (l *Layout) Envelope(vals []int64) ReceiveEnvelope {
	r := l.ReceiveParams
	if r.Source == 0 || int(max(r.Source, r.Tag, r.Count, r.Type)) >= len(vals) {
		return UnknownEnvelope
	}
	return EnvelopeOf(vals[r.Source], vals[r.Tag], vals[r.Count], vals[r.Type])
}

// A PostedRequest is a request that a call makes.
type PostedRequest struct {
	Kind     RequestKind
	ID       int64 // of a persistent one
	Envelope ReceiveEnvelope
}

// RequestKind is what kind of request that is.
type RequestKind uint8

// The kinds.
const (
	RequestNone RequestKind = iota
	RequestOneShot
	RequestPersistent
)

// PostedRequest returns the request that a call makes.
func (l *Layout) PostedRequest(spans []Span, vals []int64) PostedRequest {
	for i := range spans {
		s := &spans[i]
		if !s.IsOutput || s.Dims > 0 || s.Param < 0 || s.Param >= len(l.Params) || !l.Params[s.Param].Request {
			continue
		}
		switch name := vals[s.First]; {
		case name <= 0:
		case name&1 == 0:
			return PostedRequest{RequestOneShot, 0, l.Envelope(vals)}
		default:
			return PostedRequest{RequestPersistent, name >> 1, l.Envelope(vals)}
		}
	}
	return PostedRequest{}
}

// OwnStatus, in place of a request, says that the status is that of the receiving call itself.
const OwnStatus = -1

// Statuses yields the statuses of a call that may follow from a receive, each with the number of its request among those that the call
// is given.
func (l *Layout) Statuses(spans []Span, vals []int64) iter.Seq2[Span, int] {
	return func(yield func(Span, int) bool) {
		if len(vals) == 0 || vals[0] != 0 {
			return
		}
		find := func(param int, out bool) (Span, bool) {
			for i := range spans {
				if s := &spans[i]; param >= 0 && s.Param == param && s.IsOutput == out {
					return *s, true
				}
			}
			return Span{}, false
		}
		x := &l.Completion
		if status, ok := find(x.Status, true); ok && !x.Completes {
			if l.ReceiveParams.Source > 0 {
				yield(status, OwnStatus)
			}
			return
		}
		if flag, ok := find(x.Flag, true); !x.Completes || ok && vals[flag.First] == 0 {
			return
		}
		number := func(i int64) int { return int(min(max(i, OwnStatus), math.MaxInt32)) }
		if x.Request >= 0 {
			if status, ok := find(x.Status, true); ok {
				yield(status, 0)
			}
			return
		}
		if index, ok := find(x.Index, true); ok {
			if status, known := find(x.Status, true); known {
				yield(status, number(vals[index.First]))
			}
			return
		}
		statuses, ok := find(x.Statuses, true)
		if !ok || x.Requests < 0 {
			return
		}
		indices, some := find(x.Indices, true)
		i := 0
		for s := range statuses.Elements(vals) {
			n := int64(i)
			if i++; some {
				at := indices.First + i
				if at >= indices.End {
					return
				}
				n = vals[at]
			}
			if !yield(s, number(n)) {
				return
			}
		}
	}
}

// PostedEnvelopes are what the requests of a thread were posted with, call after call.
type PostedEnvelopes struct {
	// EarlierReceives returns the receives of requests that were made before the first call that Post saw: a one-shot request by
	// its number, a persistent one by its ID. Nil: Post saw all calls.
	EarlierReceives interface {
		OneShot(number int64) ReceiveEnvelope
		Persistent(id int64) ReceiveEnvelope
	}
	OneShotsMade int64 // one-shot requests before the next call

	from       int64             // the first of them that Post saw
	ring       []ReceiveEnvelope // by the low bits of their numbers
	persistent map[int64]ReceiveEnvelope
}

// The newest requests are at hand: some, and up to a bound, if there are others that aren't or once such a one is asked for.
const (
	firstRing = 8
	someRing  = 64
	mostRing  = 1 << 16
)

// BeginCall begins before a call; made is how many one-shot requests were made before it.
func (p *PostedEnvelopes) BeginCall(made int64) { p.OneShotsMade, p.from = made, made }

// AddPosted takes in what a call makes.
func (p *PostedEnvelopes) AddPosted(x PostedRequest) {
	switch x.Kind {
	case RequestNone:
	case RequestOneShot:
		if p.ring == nil {
			p.ring = make([]ReceiveEnvelope, firstRing)
		}
		if n := len(p.ring); p.OneShotsMade-p.from >= int64(n) && (p.EarlierReceives == nil || n < someRing) {
			p.grow()
		}
		p.ring[p.OneShotsMade&int64(len(p.ring)-1)] = x.Envelope
		p.OneShotsMade++
	case RequestPersistent:
		if p.persistent == nil {
			p.persistent = make(map[int64]ReceiveEnvelope)
		}
		p.persistent[x.ID] = x.Envelope
	}
}

// grow doubles the ring. What it has lost by then stays lost.
func (p *PostedEnvelopes) grow() {
	n := int64(len(p.ring))
	if n >= mostRing {
		return
	}
	ring := make([]ReceiveEnvelope, 2*n)
	for i := max(p.from, p.OneShotsMade-n); i < p.OneShotsMade; i++ {
		ring[i&(2*n-1)] = p.ring[i&(n-1)]
	}
	p.from = max(p.from, p.OneShotsMade-n)
	p.ring = ring
}

// ForRequest returns what the receive of a request says, by the name that this has for the next call.
func (p *PostedEnvelopes) ForRequest(name int64) ReceiveEnvelope {
	switch {
	case name <= 0:
		return UnknownEnvelope
	case name&1 != 0:
		id := name >> 1
		e, ok := p.persistent[id]
		if !ok {
			if e = UnknownEnvelope; p.EarlierReceives != nil {
				e = p.EarlierReceives.Persistent(id)
				p.AddPosted(PostedRequest{RequestPersistent, id, e})
			}
		}
		return e
	}
	number := p.OneShotsMade - name>>1
	if number >= p.from && number < p.OneShotsMade && number >= p.OneShotsMade-int64(len(p.ring)) {
		return p.ring[number&int64(len(p.ring)-1)]
	}
	if number < 0 || p.EarlierReceives == nil {
		return UnknownEnvelope
	}
	if number >= p.from {
		p.grow()
	}
	return p.EarlierReceives.OneShot(number)
}

// RequestNames returns the names of the requests that a call is given.
func (l *Layout) RequestNames(spans []Span, vals []int64) []int64 {
	if s, ok := l.RequestsSpan(spans); ok {
		return vals[s.First+1 : s.End]
	}
	for i := range spans {
		if s := &spans[i]; s.Param == l.Completion.Request && !s.IsOutput {
			return vals[s.First:s.End]
		}
	}
	return nil
}

// says returns what the receive says that a status belongs to, that of the call itself or of one of some requests.
func (l *Layout) says(vals []int64, number int, names []int64, of func(name int64) ReceiveEnvelope) ReceiveEnvelope {
	switch {
	case number >= len(names):
		return UnknownEnvelope
	case number < 0 || names[number] == 0:
		return l.Envelope(vals)
	}
	return of(names[number])
}

// IsPostedStatus reports whether a status follows from its receive and is left out.
func (s *Span) IsPostedStatus(vals []int64) bool {
	return s.Width == WidthStatus && (vals[s.First] == StatusPosted || vals[s.First] == StatusPostedIgnored)
}

// LeaveOutStatuses appends a call's values to a list, without what statuses repeat.
func (p *PostedEnvelopes) LeaveOutStatuses(to []int64, l *Layout, spans []Span, vals []int64) []int64 {
	from, names := 0, l.RequestNames(spans, vals)
	for s, number := range l.Statuses(spans, vals) {
		if !s.IsFilledStatus(vals) || s.End-s.First != StatusError {
			continue
		}
		v := vals[s.First:s.End]
		if l.says(vals, number, names, p.ForRequest).PredictsStatus(v[StatusSource], v[StatusTag], v[StatusCount], v[StatusCancelled]) {
			to = append(append(to, vals[from:s.First]...), v[0]+StatusPosted-StatusFilled)
			from = s.End
		}
	}
	return append(to, vals[from:]...)
}

// FillInStatuses appends a call's values to a list, with those that LeaveOutStatuses left out. It is false
// if that can't have made them.
func (p *PostedEnvelopes) FillInStatuses(to []int64, l *Layout, spans []Span, vals []int64) ([]int64, bool) {
	return l.FillInStatuses(to, spans, vals, p.ForRequest)
}

// FillInStatuses does the same for who has the receives of requests elsewhere.
func (l *Layout) FillInStatuses(to []int64, spans []Span, vals []int64, of func(name int64) ReceiveEnvelope) ([]int64, bool) {
	from, ok, names := 0, true, l.RequestNames(spans, vals)
	for s, number := range l.Statuses(spans, vals) {
		if !s.IsPostedStatus(vals) {
			continue
		}
		e := l.says(vals, number, names, of)
		to = append(append(to, vals[from:s.First]...), vals[s.First]+StatusFilled-StatusPosted, e.Source, e.Tag, e.Bytes, 0)
		from, ok = s.End, ok && e.Bytes >= 0
	}
	return append(to, vals[from:]...), ok
}
