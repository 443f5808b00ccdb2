package sections

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/record/lane"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/trace/model"
)

// layoutOf returns what the values of a function's signatures are. room is for the parts.
func layoutOf(f *model.Function, room []signature.Part) signature.Layout {
	for i := range f.Params {
		p := &f.Params[i]
		room = append(room, signature.Part{Width: widthOf(p.Type), Dims: p.Dims, In: p.In, Out: p.Out})
	}
	l := signature.Layout{Result: widthOf(f.Result), Params: room}
	switch {
	case f.Has(model.CreatesComm):
		l.Made = signature.CommWords
	case f.Has(model.CreatesType):
		l.Made = signature.TypeWords
	}
	return l
}

// widthOf is how many values of a signature one of the type takes.
func widthOf(t model.Type) signature.Width {
	switch t {
	case model.None:
		return signature.Nothing
	case model.Address:
		return signature.Place
	case model.Status:
		return signature.Status
	}
	return signature.Word
}

// Few functions have more parameters, and few signatures more spans: for so many there is
// room on the stack.
const (
	someParams = 16
	SomeSpans  = 24
)

// SpansOf takes the values of a signature apart. room is for the list.
func SpansOf(f *model.Function, room []signature.Span, vals []int64) ([]signature.Span, error) {
	var parts [someParams]signature.Part
	l := layoutOf(f, parts[:0])
	list, err := l.Spans(room, vals)
	if err != nil {
		return nil, fmt.Errorf("%s: %d values: %w", f.Name, len(vals), err)
	}
	return list, nil
}

// DefOf returns what the values of a span are.
func DefOf(f *model.Function, s *signature.Span) *model.ParamDef {
	if s.Param == signature.Result {
		return &model.ParamDef{Kind: f.Returns, Type: f.Result}
	}
	return &f.Params[s.Param]
}

// markRanks finds the values of a signature that are ranks, and those that say where these are.
func markRanks(f *model.Function, vals []int64, ranks []bool) (forms []int32, err error) {
	var room [SomeSpans]signature.Span
	spans, err := SpansOf(f, room[:0], vals)
	if err != nil {
		return nil, err
	}
	for i := range spans {
		s := &spans[i]
		if s.Param == signature.Made {
			continue
		}
		if s.Summed(vals) { // and could not be filled in
			return nil, fmt.Errorf("%s: %w", f.Name, signature.ErrLayout)
		}
		switch p := DefOf(f, s); {
		case p.Type == model.Status && s.Filled(vals):
			ranks[s.At+signature.StatusSource] = true
		case p.Type == model.Status && s.Dims > 0:
			for e := range s.Elements(vals) {
				if e.Filled(vals) {
					ranks[e.At+signature.StatusSource] = true
				}
			}
		case p.Type == model.Int && p.Kind == "rank":
			for at := s.At + min(s.Dims, 1); at < s.End; at++ {
				ranks[at] = true
			}
		}
	}
	var m lane.Moves
	m.Find(&signature.Layout{}, spans, vals)
	return m.Forms, nil
}
