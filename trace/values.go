package trace

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// lookup maps hashes in values to strings, sites and the like.
type lookup struct {
	strings map[uint64]string
	sites   *sections.SiteTable
}

// readCall decodes a signature as seen by a rank.
func readCall(f *Function, spans []signature.Span, vals []int64, find *lookup, rank int) (*Call, error) {
	c := &Call{Func: f, Return: vals[0], Params: make([]Param, len(f.Params))}
	for i := range f.Params {
		c.Params[i].Def = &f.Params[i]
	}
	for i := range spans {
		s := &spans[i]
		if s.Param == signature.ParamMade {
			c.made(vals[s.First:s.End])
			continue
		}
		v, ok := find.value(sections.ParamOf(f, s), s, vals)
		if v.Type == TypeString && sections.ParamOf(f, s).Kind == mpi.KindFilePath {
			v.Text = signature.FileNameOfRank(v.Text, rank)
		}
		switch {
		case !ok:
			return nil, fmt.Errorf("%s: %w", f.Name, signature.ErrLayout)
		case s.Param == signature.ParamResult:
			c.Result = v
		case s.IsOutput:
			c.Params[s.Param].Out = v
		default:
			c.Params[s.Param].In = v
		}
	}
	return c, nil
}

// made decodes the properties of a communicator or datatype that the call made.
func (c *Call) made(w []int64) {
	if len(w) == signature.CommWords {
		c.NewComm = &NewComm{w[0], w[1], w[2], w[3], w[4], w[5], w[6]}
	} else {
		c.NewType = &NewType{w[0], w[1], w[2], w[3], w[4]}
	}
}

// value decodes a span. It returns false if the span omits something that could not be filled in.
func (l *lookup) value(p *ParamDef, s *signature.Span, vals []int64) (Value, bool) {
	if s.Dims == 0 {
		return l.scalar(p, s, vals), true
	}
	v := Value{Type: TypeArray, Num: vals[s.First]}
	if s.HasSumsLeftOut(vals) || v.Num <= 0 {
		return v, v.Num >= ArrayStatusesIgnore || v.Num == ArrayFromEarlierCall
	}
	v.Elems = make([]Value, 0, v.Num)
	for e := range s.Elements(vals) {
		x, ok := l.value(p, &e, vals)
		if !ok {
			return v, false
		}
		v.Elems = append(v.Elems, x)
	}
	return v, true
}

func (l *lookup) scalar(p *ParamDef, s *signature.Span, vals []int64) Value {
	v := Value{Type: p.Type, Num: vals[s.First]}
	if s.IsOutput && v.Num == signature.UnknownNumber && p.Type == TypeInt {
		return Value{}
	}
	switch p.Type {
	case TypeNone, TypeInt, TypeTime, TypeHandle, TypeObject: // Num has the value
	case TypeRequest:
		v.RequestForm, v.RequestID, v.RequestThread = requestForm(v.Num)
	case TypeAddress:
		v.Addr = location(v.Num)
		v.Num, v.Addr.Offset = 0, vals[s.First+1]
	case TypeFunctionRef:
		if s, ok := l.sites.ByHash[uint64(v.Num)]; ok {
			v.Site = &s
		}
	case TypeString:
		l.text(&v)
	case TypeStatus:
		v.Status = statusOf(s, vals)
		v.Num = 0
	default:
		panic(fmt.Sprintf("trace: %s: values of type %d can't be decoded", p.Name, p.Type)) // the schema has no other types
	}
	return v
}

// location decodes a segment's number.
func location(segment int64) Location {
	id, device, class := signature.UnpackSegName(segment)
	return Location{Class: AddressClass(class), Device: int(device), ID: id}
}

func (l *lookup) text(v *Value) {
	if v.Num == 0 {
		v.Null = true
		return
	}
	text, ok := l.strings[uint64(v.Num)]
	if !ok {
		text = fmt.Sprintf("#%016x", uint64(v.Num))
	}
	v.Text = text
}

func statusOf(s *signature.Span, vals []int64) *StatusValue {
	w := vals[s.First:s.End]
	x := &StatusValue{Form: StatusForm(w[0])}
	switch {
	case s.IsFilledStatus(vals):
		x.Source, x.Tag, x.Count = w[signature.StatusSource], w[signature.StatusTag], w[signature.StatusCount]
		x.Cancelled = w[signature.StatusCancelled] != 0
		if len(w) > signature.StatusError {
			x.Error, x.HasError = w[signature.StatusError], true
		}
	case x.Form == StatusSend:
		x.Cancelled = w[1] != 0
	}
	return x
}

// valueNames returns for each value of a signature the name of its parameter.
func valueNames(f *Function, vals []int64) []string {
	names := make([]string, len(vals))
	if len(vals) == 0 {
		return names
	}
	names[0] = "return code"
	spans, err := sections.SpansOf(f, nil, vals)
	if err != nil {
		return names
	}
	name := func(s *signature.Span, what string) {
		for i := s.First; i < s.End; i++ {
			names[i] = what
		}
		if s.IsFilledStatus(vals) {
			for i, field := range []string{".source", ".tag", ".count", ".cancelled"} {
				names[s.First+1+i] = what + field
			}
		}
	}
	for i := range spans {
		s := &spans[i]
		switch {
		case s.Param == signature.ParamMade:
			name(s, "what was made")
			continue
		case s.Param == signature.ParamResult:
			name(s, "result")
			continue
		}
		p := &f.Params[s.Param]
		what := p.Name
		if s.IsOutput && p.HasIn {
			what += " on return"
		}
		name(s, what)
		if s.Dims == 1 && s.Width == signature.WidthStatus {
			for e := range s.Elements(vals) {
				name(&e, what)
			}
		}
	}
	return names
}

// threadBits is how many low bits of another thread's request number are the thread.
const threadBits = 10

// requestForm splits the number of a request into its parts. For a one-shot request id is first the distance: how
// many creations ago it was made. numberRequests replaces that by the number of creations before it.
func requestForm(n int64) (form RequestForm, id int64, thread int) {
	switch {
	case n == 0:
		return RequestNull, 0, 0
	case n == -1:
		return RequestUnknown, 0, 0
	case n < 0:
		n = -2 - n
		return RequestForeign, n>>threadBits + 1, int(n & (1<<threadBits - 1))
	case n&1 != 0:
		return RequestPersistent, n >> 1, 0
	}
	return RequestOneShot, n >> 1, 0
}

// namesRequests reports whether a parameter of a call is a request.
func (c *Call) namesRequests() bool {
	return slices.ContainsFunc(c.Params, func(p Param) bool { return p.Def.Type == TypeRequest })
}

// numberRequests returns the call with its requests numbered by creation on the stream. The stream created before
// requests before this call, and made is how many the call itself creates.
func (c *Call) numberRequests(before, made int64) *Call {
	d := *c
	d.Params = slices.Clone(c.Params)
	for i := range d.Params {
		if p := &d.Params[i]; p.Def.Type == TypeRequest { // few parameters are
			p.In, p.Out = numbered(p.In, before), numbered(p.Out, before+made)
		}
	}
	return &d
}

// onceAt returns the one-shot request that a stream created back creations before its count-th.
func onceAt(back, count int64) (id int64, form RequestForm) {
	if id = count - back; id < 0 {
		return 0, RequestUnknown // made while tracing was off
	}
	return id, RequestOneShot
}

func numbered(v Value, count int64) Value {
	switch {
	case v.Type == TypeRequest && v.RequestForm == RequestOneShot:
		v.RequestID, v.RequestForm = onceAt(v.RequestID, count)
	case v.Type == TypeArray && len(v.Elems) > 0 && (v.Elems[0].Type == TypeRequest || v.Elems[0].Type == TypeArray):
		elems := make([]Value, len(v.Elems))
		for i := range elems {
			elems[i] = numbered(v.Elems[i], count)
		}
		v.Elems = elems
	}
	return v
}
