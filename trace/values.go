package trace

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// lookup has the strings and sites for the hashes that signatures have in place of them.
type lookup struct {
	strings map[uint64]string
	sites   *sections.SiteTable
}

// readCall decodes the values (vals) of a signature on a rank as a call of function f. spans says which values belong
// to which parameter.
func readCall(f *Function, spans []signature.Span, vals []int64, find *lookup, rank int) (*Call, error) {
	c := &Call{Func: f, Return: vals[0], Params: make([]Param, len(f.Params))}
	for i := range f.Params {
		c.Params[i].Def = &f.Params[i]
	}
	for i := range spans {
		s := &spans[i]
		if s.Param == signature.ParamNewObject {
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

// made sets NewComm or NewType from w, the values that a signature has for a new communicator or datatype.
func (c *Call) made(w []int64) {
	if len(w) == signature.NewCommWords {
		c.NewComm = &NewComm{w[0], w[1], w[2], w[3], w[4], w[5], w[6]}
	} else {
		c.NewType = &NewType{w[0], w[1], w[2], w[3], w[4]}
	}
}

// value decodes the values of one parameter, span s. It returns false if the signature omits an array of displacements
// that could not be filled in.
func (l *lookup) value(p *ParamDef, s *signature.Span, vals []int64) (Value, bool) {
	if s.Dims == 0 {
		return l.scalar(p, s, vals), true
	}
	v := Value{Type: TypeArray, Num: vals[s.First]}
	if s.HasOmittedDispls(vals) || v.Num <= 0 {
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
	if s.IsOutput && v.Num == signature.UnknownOutput && p.Type == TypeInt {
		return Value{}
	}
	switch p.Type {
	case TypeNone, TypeInt, TypeTime, TypeHandle, TypeMPITObject: // nothing to do: Num already has the value
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
		// Unreachable: decoding the schema accepts no other types.
		panic(fmt.Sprintf("trace: %s: values of type %d can't be decoded", p.Name, p.Type))
	}
	return v
}

// location decodes the number by which signatures name a segment: its class, device and ID. Offset remains 0.
func location(segment int64) SymbolicAddress {
	id, device, class := signature.UnpackSegName(segment)
	return SymbolicAddress{Class: AddressClass(class), Device: int(device), ID: id}
}

func (l *lookup) text(v *Value) {
	if v.Num == 0 {
		v.IsNullString = true
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
		x.Source, x.Tag, x.ReceivedBytes = w[signature.StatusSourcePosition], w[signature.StatusTagPosition], w[signature.StatusCountPosition]
		x.Cancelled = w[signature.StatusCancelledPosition] != 0
		if len(w) > signature.StatusErrorPosition {
			x.Error, x.HasError = w[signature.StatusErrorPosition], true
		}
	case x.Form == StatusFormOfSend:
		x.Cancelled = w[1] != 0
	}
	return x
}

// valueNames returns for each value of a signature a name to show: that of its parameter, or of the result.
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
		case s.Param == signature.ParamNewObject:
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

// threadBits is how many low bits of the number of another thread's request are the number of that thread.
const threadBits = 10

// requestForm splits the number that signatures have for a request into form, ID and thread. For a one-shot request id
// is a distance: 1 for the last one that the stream made before the call. numberRequests replaces that by the number of
// one-shot requests that the stream made before the request.
func requestForm(n int64) (form RequestForm, id int64, thread int) {
	switch {
	case n == 0:
		return RequestNull, 0, 0
	case n == -1:
		return RequestUnknown, 0, 0
	case n < 0:
		n = -2 - n
		return RequestOfOtherThread, n>>threadBits + 1, int(n & (1<<threadBits - 1))
	case n&1 != 0:
		return RequestPersistent, n >> 1, 0
	}
	return RequestOneShot, n >> 1, 0
}

// namesRequests reports whether a parameter of a call is a request or an array of requests.
func (c *Call) namesRequests() bool {
	return slices.ContainsFunc(c.Params, func(p Param) bool { return p.Def.Type == TypeRequest })
}

// numberRequests returns a copy of the call in which one-shot requests are numbered, from 0, by their creation on the
// stream. before is how many of them the stream created before this call, and made how many the call itself creates.
func (c *Call) numberRequests(before, made int64) *Call {
	d := *c
	d.Params = slices.Clone(c.Params)
	for i := range d.Params {
		if p := &d.Params[i]; p.Def.Type == TypeRequest { // most parameters are not, and numbered copies values
			p.In, p.Out = numbered(p.In, before), numbered(p.Out, before+made)
		}
	}
	return &d
}

// onceAt returns the number, from 0, of a one-shot request, given its distance: back is 1 for the last one when the
// stream has made count of them.
func onceAt(back, count int64) (id int64, form RequestForm) {
	if id = count - back; id < 0 {
		return 0, RequestUnknown // the request was made while tracing was off
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
