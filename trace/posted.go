package trace

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// The file omits statuses that follow from the envelopes of the receives they belong to: source, tag and size (see
// signature.ReceiveEnvelope). The status of a receive itself is filled in when its terminal is decoded. Statuses of
// requests are filled in when the calls of a stream are read.

var (
	errPosted = errors.New("a status follows from no receive")
	errLeft   = errors.New("no call left the requests of one")
)

// layout returns where a function's signatures have the values from which statuses follow. It is cached.
func (r *Reader) layout(f *Function) *signature.Layout {
	if l, ok := r.layouts.Load(f.ID); ok {
		return l.(*signature.Layout)
	}
	l := &signature.Layout{}
	if def, ok := mpi.CallByID(f.ID); ok {
		if x := signature.LayoutOf(def); len(x.Params) == len(f.Params) {
			l = &x
		}
	}
	r.layouts.Store(f.ID, l)
	return l
}

// envelope returns source, tag and size of the message that a receive expects; UnknownEnvelope for any other call.
func (c *Call) envelope() signature.ReceiveEnvelope {
	def, _ := mpi.CallByID(c.Func.ID)
	source, tag, count, datatype, ok := meaning.ReceiveParams(def)
	if !ok {
		return signature.UnknownEnvelope
	}
	var vals [4]int64
	for i, name := range [...]string{source, tag, count, datatype} {
		p := c.Param(name)
		if p == nil || p.In.Type != TypeInt && p.In.Type != TypeHandle {
			return signature.UnknownEnvelope
		}
		vals[i] = p.In.Num
	}
	return signature.EnvelopeOf(vals[0], vals[1], vals[2], vals[3])
}

// posting returns the request that a call creates, with its envelope if the call is a receive.
func (c *Call) posting() (x signature.PostedRequest) {
	for i := range c.Params {
		switch v := &c.Params[i].Out; {
		case v.Type != TypeRequest:
			continue
		case v.RequestForm == RequestOneShot:
			x = signature.PostedRequest{Kind: signature.RequestOneShot}
		case v.RequestForm == RequestPersistent:
			x = signature.PostedRequest{Kind: signature.RequestPersistent, ID: v.RequestID}
		default:
			continue
		}
		x.Envelope = c.envelope()
		break
	}
	return x
}

// fill sets the fields of a status from a receive's envelope. It returns false if the envelope leaves a field
// unknown, as with a wildcard.
func (s *StatusValue) fill(e signature.ReceiveEnvelope) bool {
	s.Source, s.Tag, s.ReceivedBytes = e.Source, e.Tag, e.Bytes
	return e.Bytes >= 0
}

// posted reports whether the status is omitted in the file, as it follows from a receive.
func (s *StatusValue) posted() bool {
	return s != nil && (s.Form == StatusFormImplied || s.Form == StatusFormImpliedIgnored)
}

// follows returns the requests of which a call has statuses that follow from their receives: the values that the
// signature has for them. If the call is a receive whose own status follows, it fills that in and returns own true.
func (r *Reader) follows(c *Call, spans []signature.Span, vals []int64) (names []int64, own bool, err error) {
	statuses := 0
	for i := range c.Params {
		v := &c.Params[i].Out
		if v.Status.posted() {
			statuses++
		}
		for k := range v.Elems {
			if v.Elems[k].Status.posted() {
				statuses++
			}
		}
	}
	if statuses == 0 {
		return nil, false, nil
	}
	l := r.layout(c.Func)
	requests := l.RequestNames(spans, vals)
	array := l.RequestArrayOf(spans, vals)
	for s, number := range l.Statuses(spans, vals) {
		switch {
		case !s.IsImpliedStatus(vals):
		case !l.Completion.Completes:
			status := c.Params[s.Param].Out.Status
			status.Form -= StatusFormImplied - StatusFormFilled
			own = status.fill(c.envelope())
		case l.LeavesRequestArray() && array.IsOmitted:
			names = append(names, int64(number))
		case number >= 0 && number < len(requests):
			names = append(names, requests[number])
		}
	}
	if len(names) < statuses && !own {
		return nil, false, errPosted
	}
	return names, own, nil
}

// apart gives a call, which shares its values with others, copies of the statuses that follow from receives. It returns
// these, to be filled in, and the indices of their parameters.
func (c *Call) apart() (list []*StatusValue, params []int) {
	c.Params = slices.Clone(c.Params)
	for i := range c.Params {
		v := &c.Params[i].Out
		from := len(list)
		own := func(v *Value) {
			if v.Status.posted() {
				s := *v.Status
				s.Form -= StatusFormImplied - StatusFormFilled
				v.Status = &s
				list = append(list, v.Status)
			}
		}
		own(v)
		if v.Type == TypeArray && len(v.Elems) > 0 && v.Elems[0].Type == TypeStatus {
			v.Elems = slices.Clone(v.Elems)
			for k := range v.Elems {
				own(&v.Elems[k])
			}
		}
		if len(list) > from {
			params = append(params, i)
		}
	}
	return list, params
}

// DependsOnEarlierCalls reports whether statuses or requests of a distinct call follow from earlier calls. Then the
// result of Terminal lacks them.
func (k *Rank) DependsOnEarlierCalls(terminal int) bool {
	t, err := k.template(terminal)
	return err == nil && (len(t.posted) > 0 || t.leftOut())
}

// RequestsFromEarlierCall reports whether a distinct call lacks its array of requests, as it is the one that an earlier
// call left.
func (c *Call) RequestsFromEarlierCall() bool {
	return slices.ContainsFunc(c.Params, func(p Param) bool { return p.In.Type == TypeArray && p.In.Num == ArrayFromEarlierCall })
}

// array returns the array of requests that a call of a function such as MPI_Waitany passes, and may leave partly
// unfinished for later calls. It returns nil for other functions.
func (r *Reader) array(f *Function, spans []signature.Span, vals []int64) *signature.RequestArray {
	l := r.layout(f)
	if !l.LeavesRequestArray() {
		return nil
	}
	a := l.RequestArrayOf(spans, vals)
	return &a
}

// leftOut reports whether the file omits a call's array of requests, because an earlier call left the same one.
func (t *template) leftOut() bool { return t.array != nil && t.array.IsOmitted }

// MaxRequestDistance returns the largest age of a one-shot request in a call of the rank. The age is the number of
// one-shot requests that the stream has created since, this one included.
func (k *Rank) MaxRequestDistance() (most int64, err error) {
	list, left := make([]template, k.Terminals()), false
	for n := range list {
		t, err := k.template(n)
		if err != nil {
			return 0, err
		}
		list[n], left = t, left || t.leftOut()
		for i := range t.call.Params {
			v := &t.call.Params[i].In
			for _, v := range append([]Value{*v}, v.Elems...) {
				if v.Type == TypeRequest && v.RequestForm == RequestOneShot {
					most = max(most, v.RequestID)
				}
			}
		}
	}
	for stream := 0; left && stream < k.Streams(); stream++ {
		var x signature.RequestArrayState
		made := int64(0)
		for n := range k.Sequence(stream) {
			t := &list[n]
			if t.leftOut() {
				for _, r := range x.RequestNumbers {
					if r > 0 {
						most = max(most, made-r+1)
					}
				}
			}
			if t.array != nil {
				x.SetArrayAfterCall(t.array, made)
			}
			made += t.made
		}
	}
	return most, nil
}

// posts is what calls need from earlier ones when a stream is read from index from on: the envelopes of requests, and
// the requests that a call left in an array.
type posts struct {
	k      *Rank
	stream int
	from   uint64
	signature.PostedEnvelopes
	left    signature.RequestArrayState
	reached bool   // whether left is that of the current position
	changes uint64 // how many calls that were read have changed left
	err     error
}

// at prepares the envelopes for the first call that needs or adds one; later calls of at do nothing. made is how many
// one-shot requests the stream made before that call.
func (p *posts) at(made int64) {
	if p.EarlierReceives == nil {
		p.EarlierReceives = p
		p.StartAfterRequests(made)
	}
}

// post stores what later calls need of call c: the envelope of the request that it makes, and the array of requests
// that it leaves. made is how many one-shot requests the stream made before it.
func (p *posts) post(t *template, c *Call, made int64) {
	if t.array != nil {
		p.leave(t.array, made)
	}
	if t.posting.Kind == signature.RequestNone {
		return
	}
	x := t.posting
	if t.laned {
		x.Envelope = c.envelope()
	}
	p.at(made)
	p.AddPosted(x)
}

// fill fills in those statuses of the current call that follow from the receives of its requests. made is how many
// one-shot requests the stream made before it.
func (p *posts) fill(statuses []*StatusValue, t *template, made int64) error {
	p.at(made)
	for i, s := range statuses {
		name := t.posted[i]
		if t.leftOut() {
			if name < 0 || name >= int64(len(p.left.RequestNumbers)) {
				return p.failed()
			}
			name = signature.NameOfRequest(p.left.RequestNumbers[name], made)
		}
		if !s.fill(p.ForRequest(name)) {
			return p.failed()
		}
	}
	return nil
}

// leave updates p.left by the array a of a call that may leave requests in it.
func (p *posts) leave(a *signature.RequestArray, made int64) {
	p.left.SetArrayAfterCall(a, made)
	if !a.IsOmitted || a.Ended.AreAll || len(a.Ended.Indices) > 0 {
		p.changes++
	}
}

// array sets the array of requests of a call to the one that an earlier call left. It stores the elements in room,
// enlarged if necessary, and returns them.
func (p *posts) array(c *Call, room []Value) []Value {
	room = room[:0]
	for _, r := range p.left.RequestNumbers {
		v := Value{Type: TypeRequest}
		if r > 0 {
			v.RequestForm, v.RequestID = RequestOneShot, r-1
		}
		room = append(room, v)
	}
	for i := range c.Params {
		if p := &c.Params[i]; p.Def.Type == TypeRequest && p.In.Type == TypeArray {
			p.In.Num, p.In.Elems = int64(len(room)), room
		}
	}
	return room
}

// reach determines p.left before the call with index at, whose array is a. Only the first such call that is read needs
// that: from then on, leave keeps p.left up to date.
func (p *posts) reach(a *signature.RequestArray, at uint64) error {
	if !p.reached && a.IsOmitted && p.from > 0 {
		if err := p.k.left(&p.left, p.stream, at); err != nil {
			return err
		}
	}
	if p.reached = true; a.IsOmitted && !p.left.IsKnown {
		return p.k.r.failed(container.SectionSignatures, fmt.Errorf("rank %d: %w: %w", p.k.number, errLeft, ErrFormat))
	}
	return nil
}

// left determines which requests are left in the array before the call with index before of a stream. It starts at the
// last earlier call whose array is stored. After it, only calls matter that completed a one-shot request of the array;
// they are at most as many as the array has elements.
func (k *Rank) left(x *signature.RequestArrayState, stream int, before uint64) error {
	var failed error
	arrays := func(wanted func(a *signature.RequestArray) bool) *Occurrences {
		return k.Occurrences(stream, func(n int) bool {
			if !k.r.layout(k.CallWithoutParams(n).Func).LeavesRequestArray() {
				return false
			}
			t, err := k.template(n)
			failed = errors.Join(failed, err)
			return err == nil && t.array != nil && wanted(t.array)
		})
	}
	take := func(at uint64, terminal int) error {
		made, err := k.requestsBefore(stream, at)
		if err != nil {
			return err
		}
		t, err := k.template(terminal)
		if err == nil {
			x.SetArrayAfterCall(t.array, made)
		}
		return err
	}
	kept := arrays(func(a *signature.RequestArray) bool { return !a.IsOmitted })
	n := kept.CountBefore(before)
	if n == 0 || failed != nil {
		x.ForgetArray()
		return failed
	}
	at, terminal := kept.Nth(n - 1)
	if err := take(at, terminal); err != nil {
		return err
	}
	ends := arrays(func(a *signature.RequestArray) bool {
		open := func(i int) bool { return i < len(x.RequestNumbers) && x.RequestNumbers[i] != 0 }
		return a.IsOmitted && (!a.Ended.AreKnown || a.Ended.AreAll || slices.ContainsFunc(a.Ended.Indices, open))
	})
	some := func() bool { return slices.ContainsFunc(x.RequestNumbers, func(r int64) bool { return r != 0 }) }
	for i := ends.CountBefore(at + 1); i < ends.CountBefore(before) && some(); i++ {
		if err := take(ends.Nth(i)); err != nil {
			return err
		}
	}
	return failed
}

func (p *posts) failed() error {
	if p.err != nil {
		return p.err
	}
	return p.k.r.failed(container.SectionSignatures, fmt.Errorf("rank %d: %w: %w", p.k.number, errPosted, ErrFormat))
}

// OneShot returns the envelope of the receive that made the one-shot request with a number, counted from 0 in the
// stream.
func (p *posts) OneShot(number int64) signature.ReceiveEnvelope {
	sums, err := p.k.requestSums(p.stream)
	if err != nil || number >= sums.Total() {
		p.err = err
		return signature.UnknownEnvelope
	}
	at, _ := sums.Nth(number)
	return p.receive(at)
}

// Persistent returns the envelope of the last call before index p.from that made the persistent request with this ID.
func (p *posts) Persistent(id int64) signature.ReceiveEnvelope {
	if p.from == 0 {
		return signature.UnknownEnvelope
	}
	makers := p.k.Occurrences(p.stream, func(n int) bool {
		t, err := p.k.template(n)
		if err != nil {
			p.err = err
		}
		return t.posting.Kind == signature.RequestPersistent && t.posting.ID == id
	})
	n := makers.CountBefore(p.from)
	if n == 0 || p.err != nil {
		return signature.UnknownEnvelope
	}
	at, _ := makers.Nth(n - 1)
	return p.receive(at)
}

func (p *posts) receive(at uint64) signature.ReceiveEnvelope {
	c, err := p.k.Call(p.stream, at)
	if err != nil {
		p.err = err
		return signature.UnknownEnvelope
	}
	return c.envelope()
}
