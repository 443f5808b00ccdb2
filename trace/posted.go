package trace

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// Statuses that follow from their receives have no values in the file (see signature.Envelope). That of a call
// that is a receive is filled in with its terminal, those of requests in calls of a stream.

var errPosted = errors.New("a status follows from no receive")

// layout returns where calls of a function have what statuses follow from.
func (r *Reader) layout(f *Function) *signature.Layout {
	if l, ok := r.layouts.Load(f.ID); ok {
		return l.(*signature.Layout)
	}
	l := &signature.Layout{}
	if def, ok := mpi.ByID(f.ID); ok {
		if x := signature.LayoutOf(def); len(x.Params) == len(f.Params) {
			l = &x
		}
	}
	r.layouts.Store(f.ID, l)
	return l
}

// envelope returns what a call says of the message that it asks for.
func (c *Call) envelope() signature.Envelope {
	def, _ := mpi.ByID(c.Func.ID)
	source, tag, count, datatype, ok := meaning.ReceiveParams(def)
	if !ok {
		return signature.NoEnvelope
	}
	var vals [4]int64
	for i, name := range [...]string{source, tag, count, datatype} {
		p := c.Param(name)
		if p == nil || p.In.Type != Int && p.In.Type != Handle {
			return signature.NoEnvelope
		}
		vals[i] = p.In.Num
	}
	return signature.EnvelopeOf(vals[0], vals[1], vals[2], vals[3])
}

// posting returns the request that a call makes.
func (c *Call) posting() (x signature.Posting) {
	for i := range c.Params {
		switch v := &c.Params[i].Out; {
		case v.Type != Request:
			continue
		case v.Form == RequestOnce:
			x = signature.Posting{Makes: signature.OneShot}
		case v.Form == RequestPersistent:
			x = signature.Posting{Makes: signature.Persistent, ID: v.ID}
		default:
			continue
		}
		x.Envelope = c.envelope()
		break
	}
	return x
}

// fill makes a status what a receive says; false if that leaves something open.
func (s *StatusValue) fill(e signature.Envelope) bool {
	s.Source, s.Tag, s.Count = e.Source, e.Tag, e.Bytes
	return e.Bytes >= 0
}

// posted reports whether the status follows from a receive.
func (s *StatusValue) posted() bool {
	return s != nil && (s.Form == StatusPosted || s.Form == StatusPostedIgnored)
}

// follows returns the requests that those statuses of a call belong to which follow from their receives, by the names
// that they have in its values, after it filled in the one of the call itself.
func (r *Reader) follows(c *Call, vals []int64) (names []int64, own bool, err error) {
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
	var room [sections.SomeSpans]signature.Span
	spans, err := sections.SpansOf(c.Func, room[:0], vals)
	if err != nil {
		return nil, false, err
	}
	for s, name := range l.Statuses(spans, vals) {
		switch {
		case !s.Posted(vals):
		case !l.Completion.Completes:
			status := c.Params[s.Param].Out.Status
			status.Form -= StatusPosted - StatusFilled
			own = status.fill(c.envelope())
		default:
			names = append(names, name)
		}
	}
	if len(names) < statuses && !own {
		return nil, false, errPosted
	}
	return names, own, nil
}

// apart gives a call statuses of its own, and returns those that follow from receives, to be filled in, and in which
// parameters they are.
func (c *Call) apart() (list []*StatusValue, params []int) {
	c.Params = slices.Clone(c.Params)
	for i := range c.Params {
		v := &c.Params[i].Out
		from := len(list)
		own := func(v *Value) {
			if v.Status.posted() {
				s := *v.Status
				s.Form -= StatusPosted - StatusFilled
				v.Status = &s
				list = append(list, v.Status)
			}
		}
		own(v)
		if v.Type == Array && len(v.Elems) > 0 && v.Elems[0].Type == Status {
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

// Posted reports whether statuses of a distinct call follow from receives that calls before it posted, so that
// Terminal has no values of them.
func (k *Rank) Posted(terminal int) bool {
	t, err := k.template(terminal)
	return err == nil && len(t.posted) > 0
}

// posts is what the requests of a stream were posted with, for who goes through it from a position on.
type posts struct {
	k      *Rank
	stream int
	from   uint64
	signature.Envelopes
	err error
}

// at begins before a call, where that has not been done yet. made is how many one-shot requests were made before it.
func (p *posts) at(made int64) {
	if p.Before == nil {
		p.Before = p
		p.Start(made)
	}
}

// post takes in a call.
func (p *posts) post(t *template, c *Call, made int64) {
	if t.posting.Makes == signature.NoRequest {
		return
	}
	x := t.posting
	if t.laned {
		x.Envelope = c.envelope()
	}
	p.at(made)
	p.Post(x)
}

// fill fills in statuses that belong to requests, by the names that these have for the call that the walk is at.
func (p *posts) fill(statuses []*StatusValue, names []int64, made int64) error {
	p.at(made)
	for i, s := range statuses {
		if !s.fill(p.Of(names[i])) {
			return p.failed()
		}
	}
	return nil
}

func (p *posts) failed() error {
	if p.err != nil {
		return p.err
	}
	return p.k.r.failed(container.Signatures, fmt.Errorf("rank %d: %w: %w", p.k.number, errPosted, ErrFormat))
}

// OneShot returns what the receive says that made a one-shot request.
func (p *posts) OneShot(number int64) signature.Envelope {
	sums, err := p.k.requestSums(p.stream)
	if err != nil || number >= sums.Total() {
		p.err = err
		return signature.NoEnvelope
	}
	at, _ := sums.Nth(number)
	return p.receive(at)
}

// Persistent returns what the receive says that made a persistent request last, before the walk.
func (p *posts) Persistent(id int64) signature.Envelope {
	if p.from == 0 {
		return signature.NoEnvelope
	}
	makers := p.k.Occurrences(p.stream, func(n int) bool {
		t, err := p.k.template(n)
		if err != nil {
			p.err = err
		}
		return t.posting.Makes == signature.Persistent && t.posting.ID == id
	})
	n := makers.Before(p.from)
	if n == 0 || p.err != nil {
		return signature.NoEnvelope
	}
	at, _ := makers.Nth(n - 1)
	return p.receive(at)
}

func (p *posts) receive(at uint64) signature.Envelope {
	c, err := p.k.Call(p.stream, at)
	if err != nil {
		p.err = err
		return signature.NoEnvelope
	}
	return c.envelope()
}
