package sections

import (
	"fmt"
	"iter"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// layoutOf returns the layout of a function's signatures. room is memory for its parameters.
func layoutOf(f *model.Function, room []signature.ParamLayout) signature.Layout {
	for i := range f.Params {
		p := &f.Params[i]
		room = append(room, signature.ParamLayout{Width: widthOf(p.Type), Dims: p.Dims, IsInput: p.HasIn, IsOutput: p.HasOut, IsRequest: p.Type == model.TypeRequest})
	}
	l := signature.Layout{ResultValueCount: widthOf(f.ResultType), Params: room}
	switch {
	case f.Has(model.AttrCreatesComm):
		l.NewObjectValueCount = signature.NewCommWords
	case f.Has(model.AttrCreatesType):
		l.NewObjectValueCount = signature.NewTypeWords
	}
	return l
}

// widthOf returns how wide the values of a type are in signatures.
func widthOf(t model.Type) signature.Width {
	switch t {
	case model.TypeNone:
		return signature.WidthNone
	case model.TypeAddress:
		return signature.WidthAddress
	case model.TypeStatus:
		return signature.WidthStatus
	case model.TypeInt, model.TypeTime, model.TypeHandle, model.TypeRequest, model.TypeMPITObject, model.TypeFunctionRef, model.TypeString:
		return signature.WidthOne
	}
	panic(fmt.Sprintf("sections: values of type %d have no width", t)) // the schema has no other types
}

// Few functions have more parameters, and few signatures more spans: buffers of this size are on the stack.
const (
	someParams   = 16
	TypicalSpans = 24
)

// SpansOf divides the values of a signature into spans. room is memory for the list.
func SpansOf(f *model.Function, room []signature.Span, vals []int64) ([]signature.Span, error) {
	var parts [someParams]signature.ParamLayout
	l := layoutOf(f, parts[:0])
	list, err := l.Spans(room, vals)
	if err != nil {
		return nil, fmt.Errorf("%s: %d values: %w", f.Name, len(vals), err)
	}
	return list, nil
}

// ParamOf returns the parameter that a span belongs to.
func ParamOf(f *model.Function, s *signature.Span) *model.ParamDef {
	if s.Param == signature.ParamResult {
		return &model.ParamDef{Kind: f.ReturnKind, Type: f.ResultType}
	}
	return &f.Params[s.Param]
}

// markRanks marks the values of a signature that are ranks. forms is the positions of values on which that depends.
func markRanks(f *model.Function, vals []int64, ranks []bool) (forms []int32, err error) {
	var room [TypicalSpans]signature.Span
	spans, err := SpansOf(f, room[:0], vals)
	if err != nil {
		return nil, err
	}
	for i := range spans {
		s := &spans[i]
		if s.Param == signature.ParamNewObject {
			continue
		}
		if s.HasOmittedDispls(vals) { // RestoreDisplacements could not fill in the elements
			return nil, fmt.Errorf("%s: %w", f.Name, signature.ErrLayout)
		}
		switch p := ParamOf(f, s); {
		case p.Type == model.TypeStatus && s.IsFilledStatus(vals):
			ranks[s.First+signature.StatusSourcePosition] = true
		case p.Type == model.TypeStatus && s.Dims > 0:
			for e := range s.Elements(vals) {
				if e.IsFilledStatus(vals) {
					ranks[e.First+signature.StatusSourcePosition] = true
				}
			}
		case p.Type == model.TypeInt && p.Kind == mpi.KindRank:
			for at := s.First + min(s.Dims, 1); at < s.End; at++ {
				ranks[at] = true
			}
		}
	}
	var m signature.LaneCandidates
	m.FindIn(&signature.Layout{}, spans, vals)
	return m.LayoutPositions, nil
}

// Signatures omit displacements that are the sums of counts (see signature.OmitSummedDispls). Functions of this package
// that return values fill them in.

// maySum reports whether a parameter's values may be omitted sums: an array of integers that directly follows
// another one.
func maySum(f *model.Function, i int) bool {
	return i > 0 && isNumbers(&f.Params[i]) && isNumbers(&f.Params[i-1])
}

func isNumbers(p *model.ParamDef) bool {
	return p.Type == model.TypeInt && p.Dims == 1 && p.HasIn && !p.HasOut
}

func haveSums(f *model.Function) bool {
	for i := range f.Params {
		if maySum(f, i) {
			return true
		}
	}
	return false
}

// CountAndDisplSpans yields pairs of spans: counts, and displacements that may be their sums.
func CountAndDisplSpans(f *model.Function, spans []signature.Span) iter.Seq2[*signature.Span, *signature.Span] {
	return func(yield func(counts, displs *signature.Span) bool) {
		for i := range spans {
			if n := spans[i].Param; n != signature.ParamNewObject && maySum(f, n) && !yield(&spans[i-1], &spans[i]) {
				return
			}
		}
	}
}

// RestoreDisplacements fills in omitted displacements. It leaves values unchanged that do not fit the function; whoever
// decodes them gets the error.
func RestoreDisplacements(f *model.Function, vals []int64) {
	if len(vals) == 0 || !haveSums(f) {
		return
	}
	var room [TypicalSpans]signature.Span
	spans, err := SpansOf(f, room[:0], vals)
	if err != nil {
		return
	}
	for counts, displs := range CountAndDisplSpans(f, spans) {
		signature.RestoreSummedDispls(vals[counts.First:counts.End], vals[displs.First:displs.End])
	}
}
