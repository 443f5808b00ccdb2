package signature

import (
	"iter"
	"math"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// Most statuses repeat their receive: they have its source and tag, and the size of its buffer. The fields of such
// a status are not stored. Its form is StatusFormImplied instead of StatusFormFilled, or StatusFormImpliedIgnored instead of
// StatusFormIgnored.
//
// The receive is the call itself, or the call of the same thread that made the request; for a persistent request
// that is not MPI_Start. The receive must name source, tag and a predefined datatype. Statuses of a failed call,
// and of a call that does not change its requests, are always stored.

// A ReceiveEnvelope is the source, tag and size of the message that a receive expects.
type ReceiveEnvelope struct{ Source, Tag, Bytes int64 }

// UnknownEnvelope is the envelope of a receive with wildcards or unknown size, and of all other operations.
var UnknownEnvelope = ReceiveEnvelope{Bytes: -1}

// EnvelopeOf returns the envelope of a receive of count elements of a datatype.
func EnvelopeOf(source, tag, count, datatype int64) ReceiveEnvelope {
	size, predefined := mpi.PredefinedTypeSize(datatype)
	const most = 1 << 50 // bytes
	switch {
	case !predefined || count < 0 || size > 0 && count > most/size:
		// Even from MPI_PROC_NULL: statuses at an edge of the domain must have the same form as elsewhere.
		return UnknownEnvelope
	case source == mpi.ProcNull:
		return EnvelopeWithoutSize(source, tag)
	case source < 0 || tag < 0:
		return UnknownEnvelope
	}
	return ReceiveEnvelope{source, tag, count * size}
}

// EnvelopeWithoutSize returns the envelope of a receive whose size is unknown: Bytes is -1. From MPI_PROC_NULL it is
// an empty message with any tag.
func EnvelopeWithoutSize(source, tag int64) ReceiveEnvelope {
	if source == mpi.ProcNull {
		return ReceiveEnvelope{mpi.ProcNull, mpi.AnyTag, 0}
	}
	return ReceiveEnvelope{source, tag, -1}
}

// PredictsStatus reports whether a status with these values follows from the receive.
func (e ReceiveEnvelope) PredictsStatus(source, tag, bytes, cancelled int64) bool {
	return e.Bytes >= 0 && source == e.Source && tag == e.Tag && bytes == e.Bytes && cancelled == 0
}

// WithTag returns the envelope with another tag.
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

// A ReceiveValueIndices is the indices of a function's values that form a receive's envelope. They are the same in the order
// of recording and in the order of the standard.
type ReceiveValueIndices struct{ Source, Tag, Count, Type int32 }

// receiveOf returns the ReceiveParams of a function; false if its calls do not receive a message of given source, tag,
// count and datatype.
func (l *Layout) receiveOf(c *mpi.Call) (r ReceiveValueIndices, ok bool) {
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
			if q.Dims > 0 || q.Width == WidthStatus || q.IsOutput {
				return r, false // the positions of later values vary
			}
			place += int32(q.Width)
		}
		i++
	}
	return r, found == len(at)
}

// Envelope returns the envelope of a call's receive.
func (l *Layout) Envelope(vals []int64) ReceiveEnvelope {
	r := l.ReceiveValueIndices
	if r.Source == 0 || int(max(r.Source, r.Tag, r.Count, r.Type)) >= len(vals) {
		return UnknownEnvelope
	}
	return EnvelopeOf(vals[r.Source], vals[r.Tag], vals[r.Count], vals[r.Type])
}

// A PostedRequest is the request that a call makes.
type PostedRequest struct {
	Kind     RequestKind
	ID       int64 // number of a persistent request; 0 for other kinds
	Envelope ReceiveEnvelope
}

// A RequestKind is the kind of a PostedRequest.
type RequestKind uint8

// The kinds of PostedRequest. RequestNone means that the call makes no request.
const (
	RequestNone RequestKind = iota
	RequestOneShot
	RequestPersistent
)

// PostedRequest returns the request that a call makes.
func (l *Layout) PostedRequest(spans []Span, vals []int64) PostedRequest {
	for i := range spans {
		s := &spans[i]
		if !s.IsOutput || s.Dims > 0 || s.Param < 0 || s.Param >= len(l.Params) || !l.Params[s.Param].IsRequest {
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

// OwnStatus in place of a request's index means the status of the receiving call itself.
const OwnStatus = -1

// Statuses yields the statuses of a call that may follow from a receive. The int is the index of the status's
// request among the call's requests, or OwnStatus.
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
		if status, ok := find(x.StatusPosition, true); ok && !x.Completes {
			if l.ReceiveValueIndices.Source > 0 {
				yield(status, OwnStatus)
			}
			return
		}
		if flag, ok := find(x.FlagPosition, true); !x.Completes || ok && vals[flag.First] == 0 {
			return
		}
		number := func(i int64) int { return int(min(max(i, OwnStatus), math.MaxInt32)) }
		if x.RequestPosition >= 0 {
			if status, ok := find(x.StatusPosition, true); ok {
				yield(status, 0)
			}
			return
		}
		if index, ok := find(x.IndexPosition, true); ok {
			if status, known := find(x.StatusPosition, true); known {
				yield(status, number(vals[index.First]))
			}
			return
		}
		statuses, ok := find(x.StatusesPosition, true)
		if !ok || x.RequestsPosition < 0 {
			return
		}
		indices, some := find(x.IndicesPosition, true)
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

// PostedEnvelopes holds the envelopes of a thread's requests, while its calls are read or written in order.
type PostedEnvelopes struct {
	// EarlierReceives returns envelopes of requests made before the first call that AddPosted was called for: of a
	// one-shot request by its number, of a persistent one by its ID. It is nil if AddPosted was called for all calls.
	EarlierReceives interface {
		OneShot(number int64) ReceiveEnvelope
		Persistent(id int64) ReceiveEnvelope
	}
	OneShotsMade int64 // number of one-shot requests that the thread made before the next call

	from       int64             // number of the first one-shot request that AddPosted was called for
	ring       []ReceiveEnvelope // envelopes of the newest one-shot requests, by low bits of their numbers
	persistent map[int64]ReceiveEnvelope
}

// Sizes of the ring of the newest requests. It grows with their number: up to someRing if EarlierReceives has the
// older ones, else up to mostRing. From someRing on it also grows when one of the older ones is asked for.
const (
	firstRing = 8
	someRing  = 64
	mostRing  = 1 << 16
)

// StartAfterRequests begins at a call in the middle of a stream; made is how many one-shot requests were made before it.
func (p *PostedEnvelopes) StartAfterRequests(made int64) { p.OneShotsMade, p.from = made, made }

// AddPosted adds the request that a call makes.
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

// grow doubles the ring. Requests that it has dropped before stay unknown.
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

// ForRequest returns the envelope of a request, given its name in the values of the next call.
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

// RequestNames returns the names of the requests that a call passes.
func (l *Layout) RequestNames(spans []Span, vals []int64) []int64 {
	if s, ok := l.RequestsSpan(spans); ok {
		return vals[s.First+1 : s.End]
	}
	for i := range spans {
		if s := &spans[i]; s.Param == l.Completion.RequestPosition && !s.IsOutput {
			return vals[s.First:s.End]
		}
	}
	return nil
}

// says returns the envelope that a status may follow from. number is the index of the status's request; OwnStatus: the
// call itself.
func (l *Layout) says(vals []int64, number int, names []int64, of func(name int64) ReceiveEnvelope) ReceiveEnvelope {
	switch {
	case number >= len(names):
		return UnknownEnvelope
	case number < 0 || names[number] == 0:
		return l.Envelope(vals)
	}
	return of(names[number])
}

// IsImpliedStatus reports whether a status follows from its receive, so that its fields are omitted.
func (s *Span) IsImpliedStatus(vals []int64) bool {
	return s.Width == WidthStatus && (vals[s.First] == StatusFormImplied || vals[s.First] == StatusFormImpliedIgnored)
}

// AppendOmittingStatuses appends a call's values to a list, without the fields of statuses that follow from receives.
func (p *PostedEnvelopes) AppendOmittingStatuses(to []int64, l *Layout, spans []Span, vals []int64) []int64 {
	from, names := 0, l.RequestNames(spans, vals)
	for s, number := range l.Statuses(spans, vals) {
		if !s.IsFilledStatus(vals) || s.End-s.First != StatusErrorPosition {
			continue
		}
		v := vals[s.First:s.End]
		if l.says(vals, number, names, p.ForRequest).PredictsStatus(v[StatusSourcePosition], v[StatusTagPosition], v[StatusCountPosition], v[StatusCancelledPosition]) {
			to = append(append(to, vals[from:s.First]...), v[0]+StatusFormImplied-StatusFormFilled)
			from = s.End
		}
	}
	return append(to, vals[from:]...)
}

// AppendRestoringStatuses appends a call's values to a list, with the fields that AppendOmittingStatuses omitted. It returns false
// if AppendOmittingStatuses cannot have produced them.
func (p *PostedEnvelopes) AppendRestoringStatuses(to []int64, l *Layout, spans []Span, vals []int64) ([]int64, bool) {
	return l.AppendRestoringStatuses(to, spans, vals, p.ForRequest)
}

// AppendRestoringStatuses is PostedEnvelopes.AppendRestoringStatuses for callers that store the envelopes elsewhere.
func (l *Layout) AppendRestoringStatuses(to []int64, spans []Span, vals []int64, of func(name int64) ReceiveEnvelope) ([]int64, bool) {
	from, ok, names := 0, true, l.RequestNames(spans, vals)
	for s, number := range l.Statuses(spans, vals) {
		if !s.IsImpliedStatus(vals) {
			continue
		}
		e := l.says(vals, number, names, of)
		to = append(append(to, vals[from:s.First]...), vals[s.First]+StatusFormFilled-StatusFormImplied, e.Source, e.Tag, e.Bytes, 0)
		from, ok = s.End, ok && e.Bytes >= 0
	}
	return append(to, vals[from:]...), ok
}
