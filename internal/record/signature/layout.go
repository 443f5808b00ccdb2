package signature

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// ErrLayout means that values cannot be those of a call of their function.
var ErrLayout = errors.New("values don't fit the function")

// A Layout describes the values in a function's signatures:
//
//	return code, [result], per parameter [input] [output], [properties of a new object]
//
// A key has them in the order of recording: all inputs first, then the result and all outputs. If the call failed
// or never returned, there are no outputs.
type Layout struct {
	ResultValueCount    Width
	ResultVaries        bool // see mpi.Call.ResultMayVary
	Params              []ParamLayout
	NewObjectValueCount int // number of values that describe a new communicator or datatype; 0: the function makes neither

	ReceiveValueIndices ReceiveValueIndices // zero unless its calls receive a message of given source, tag, count and datatype
	Completion          meaning.CompletionParams
}

// A ParamLayout describes the values of a parameter.
type ParamLayout struct {
	Width             Width // of one element
	Dims              int   // 0 scalar, 1 array, 2 array of arrays; each array begins with its length
	IsInput, IsOutput bool
	Varies            bool // see mpi.Param.MayVary
	IsRequest         bool
}

// UnknownOutput is an output that an imported trace lacks.
const UnknownOutput = math.MinInt64

// A Width is the number of values of an element.
type Width uint8

// The values of Width. Parameters of WidthNone are not recorded.
const (
	WidthNone    Width = 0
	WidthOne     Width = 1
	WidthAddress Width = 2 // an address: segment and offset
	WidthStatus  Width = 3 // a status: the number depends on its form, see StatusFormFilled
)

// Number of values for a communicator or datatype that a call made, and positions of some of them.
const (
	NewCommWords              = 7
	NewCommSizePosition       = 3
	NewCommRemoteSizePosition = 5
	NewTypeWords              = 5
	NewTypeSizePosition       = 0
)

// Forms of statuses. A status in a signature begins with its form, after which come the fields that are known.
const (
	StatusFormAbsent  = 0
	StatusFormFilled  = 1 // followed by source, tag, count and cancelled, and by an error if the return code is MPI_ERR_IN_STATUS
	StatusFormIgnored = 2 // as StatusFormFilled, though the program passed MPI_STATUS_IGNORE
	StatusFormEmpty   = 3
	StatusFormOfSend  = 4 // followed by cancelled

	StatusFormImplied        = 5 // as StatusFormFilled, but the fields are omitted as they follow from the receive; see ReceiveEnvelope
	StatusFormImpliedIgnored = 6
)

// Positions of a status's fields, relative to its form.
const (
	StatusSourcePosition = 1 + iota
	StatusTagPosition
	StatusCountPosition
	StatusCancelledPosition
	StatusErrorPosition
	statusEnd
)

// LayoutOf returns the layout of a function's signatures. Params are in the order of mpi/calls.txt, without those
// that only the large-count form has if c is not that form.
func LayoutOf(c *mpi.Call) Layout {
	l := Layout{Params: make([]ParamLayout, 0, len(c.Params))}
	names := make([]string, 0, len(c.Params))
	if c.ReturnsValue() {
		l.ResultValueCount, l.ResultVaries = widthOf(c.ReturnKind), c.ResultMayVary()
	}
	for i := range c.Params {
		p := &c.Params[i]
		if p.LargeOnly && !c.Large {
			continue
		}
		q := ParamLayout{Width: widthOf(p.Kind), IsInput: p.HasEnterPart(), IsOutput: p.HasLeavePart(), Varies: p.MayVary(), IsRequest: p.Kind == mpi.KindRequest}
		switch {
		case !p.Array, p.Kind == mpi.KindString && !q.IsInput:
			// A C string is an array itself: an output with a length is one string, not several.
		case p.InnerLen != nil:
			q.Dims = 2
		default:
			q.Dims = 1
		}
		l.Params, names = append(l.Params, q), append(names, p.Name)
	}
	switch {
	case c.Has(mpi.AttrCreatesComm):
		l.NewObjectValueCount = NewCommWords
	case c.Has(mpi.AttrCreatesType):
		l.NewObjectValueCount = NewTypeWords
	}
	if r, ok := l.receiveOf(c); ok {
		l.ReceiveValueIndices = r
	}
	l.Completion = meaning.CompletionParamsOf(c, len(names), func(i int) string { return names[i] })
	return l
}

func widthOf(k mpi.Kind) Width {
	switch k.ValueForm() {
	case mpi.ValueFormNone:
		return WidthNone
	case mpi.ValueFormAddress:
		return WidthAddress
	case mpi.ValueFormStatus:
		return WidthStatus
	case mpi.ValueFormInt, mpi.ValueFormDouble, mpi.ValueFormHandle, mpi.ValueFormToolObject, mpi.ValueFormFunction, mpi.ValueFormString:
		return WidthOne
	}
	panic(fmt.Sprintf("signature: parameters of kind %s have no width", k))
}

// Values of Span.Param for spans that belong to no parameter: the result, and the properties of a new object.
const (
	ParamResult    = -1
	ParamNewObject = 1 << 30
)

// A Span is a group of values: input or output of a parameter, an element of it, the result, or the properties of a
// new object.
type Span struct {
	Param      int // index in the layout, or ParamResult or ParamNewObject
	IsOutput   bool
	Width      Width
	Dims       int
	First, End int // index of the first value, and of the next span

	errors bool // statuses in the span have an error field
	passed bool // the span is input requests, whose array may be omitted
}

// Spans divides a signature into spans, which it appends to a list.
func (l *Layout) Spans(list []Span, vals []int64) ([]Span, error) {
	if len(vals) == 0 {
		return nil, ErrLayout
	}
	// The return code usually determines whether there are outputs; the number of values always does.
	outputs := vals[0] == 0 || vals[0] == mpi.ErrInStatus
	for range 2 {
		r := valueReader{l: l, vals: vals, at: 1, list: list}
		if outputs {
			r.part(ParamResult, l.ResultValueCount, 0, true)
		}
		for i := range l.Params {
			p := &l.Params[i]
			if p.IsInput {
				r.part(i, p.Width, p.Dims, false)
			}
			if p.IsOutput && outputs {
				r.part(i, p.Width, p.Dims, true)
			}
		}
		if r.made() {
			return r.list, nil
		}
		outputs = !outputs
	}
	return nil, ErrLayout
}

// KeySpans is Spans for values in the order of a key.
func (l *Layout) KeySpans(list []Span, vals []int64) ([]Span, error) {
	if len(vals) == 0 {
		return nil, ErrLayout
	}
	r := valueReader{l: l, vals: vals, at: 1, list: list}
	for i := range l.Params {
		if p := &l.Params[i]; p.IsInput {
			r.part(i, p.Width, p.Dims, false)
		}
	}
	if r.at == len(vals) {
		return r.list, nil
	}
	r.part(ParamResult, l.ResultValueCount, 0, true)
	for i := range l.Params {
		if p := &l.Params[i]; p.IsOutput {
			r.part(i, p.Width, p.Dims, true)
		}
	}
	if !r.made() {
		return nil, ErrLayout
	}
	return r.list, nil
}

// A valueReader reads a signature's values by its layout. at is -1 after a value that does not fit.
type valueReader struct {
	l    *Layout
	vals []int64
	at   int
	list []Span
}

func (r *valueReader) part(param int, of Width, dims int, out bool) {
	if r.at < 0 || of == WidthNone && dims == 0 {
		return
	}
	s := Span{Param: param, IsOutput: out, Width: of, Dims: dims, First: r.at, errors: out && r.vals[0] == mpi.ErrInStatus}
	s.passed = !out && param >= 0 && r.l.Params[param].IsRequest
	r.at = s.end(r.vals)
	s.End = r.at
	r.list = append(r.list, s)
}

// made takes the remaining values as properties of a new object, and reports whether all values fit.
func (r *valueReader) made() bool {
	if r.at >= 0 && r.l.NewObjectValueCount > 0 && len(r.vals)-r.at == r.l.NewObjectValueCount {
		r.list = append(r.list, Span{Param: ParamNewObject, IsOutput: true, Width: WidthOne, First: r.at, End: len(r.vals)})
		return true
	}
	return r.at == len(r.vals)
}

// end returns the end of a span, given its begin; -1 if the values do not fit.
func (s *Span) end(vals []int64) int {
	if s.First >= len(vals) {
		return -1
	}
	end := s.First + int(s.Width)
	switch {
	case s.Dims > 0:
		n, _ := ArrayLength(vals[s.First])
		end = s.First + 1
		switch rest := int64(len(vals) - end); {
		case n == LengthFromEarlierCall && s.passed && s.Dims == 1: // the array is omitted
		case n <= firstSummed || n > rest:
			return -1
		case n > 0 && (s.Dims > 1 || s.Width == WidthStatus):
			e := s.element()
			for range n {
				if e.First = end; end >= 0 {
					end = e.end(vals)
				}
			}
		default:
			end += int(max(n, 0)) * int(s.Width)
		}
	case s.Width == WidthStatus:
		switch vals[s.First] {
		case StatusFormAbsent, StatusFormEmpty, StatusFormImplied, StatusFormImpliedIgnored:
			end = s.First + 1
		case StatusFormFilled, StatusFormIgnored:
			if end = s.First + statusEnd; !s.errors {
				end--
			}
		case StatusFormOfSend:
			end = s.First + 2
		default:
			return -1
		}
	}
	if end > len(vals) {
		return -1
	}
	return end
}

func (s *Span) element() Span {
	e := *s
	e.Dims--
	return e
}

// Elements yields the elements of an array, which are spans themselves.
func (s *Span) Elements(vals []int64) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		e := s.element()
		for at := s.First + 1; at < s.End; at = e.End {
			e.First = at
			if e.End = e.end(vals); !yield(e) {
				return
			}
		}
	}
}

// HasOmittedDispls reports whether the elements of an array are omitted, see OmitSummedDispls.
func (s *Span) HasOmittedDispls(vals []int64) bool {
	if s.Dims == 0 {
		return false
	}
	_, summed := ArrayLength(vals[s.First])
	return summed
}

// IsFilledStatus reports whether a status has source, tag and count.
func (s *Span) IsFilledStatus(vals []int64) bool {
	form := vals[s.First]
	return s.Width == WidthStatus && s.Dims == 0 && (form == StatusFormFilled || form == StatusFormIgnored)
}
