package sections

import (
	"iter"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Displacements that are the sums of counts are left out of signatures (see
// signature.LeaveOut), and filled in wherever values leave this package.

// maySum reports whether a parameter may be filled in: an array of integers right
// behind another one.
func maySum(f *model.Function, i int) bool {
	return i > 0 && isNumbers(&f.Params[i]) && isNumbers(&f.Params[i-1])
}

func isNumbers(p *model.ParamDef) bool { return p.Type == model.Int && p.Dims == 1 && p.In && !p.Out }

func haveSums(f *model.Function) bool {
	for i := range f.Params {
		if maySum(f, i) {
			return true
		}
	}
	return false
}

// SumsOf yields the spans that may be filled in, each with the one of its counts.
func SumsOf(f *model.Function, spans []signature.Span) iter.Seq2[*signature.Span, *signature.Span] {
	return func(yield func(counts, displs *signature.Span) bool) {
		for i := range spans {
			if n := spans[i].Param; n != signature.Made && maySum(f, n) && !yield(&spans[i-1], &spans[i]) {
				return
			}
		}
	}
}

// FillIn fills in displacements that were left out. Values that don't fit the
// function stay as they are: who reads them finds that.
func FillIn(f *model.Function, vals []int64) {
	if len(vals) == 0 || !haveSums(f) {
		return
	}
	var room [SomeSpans]signature.Span
	spans, err := SpansOf(f, room[:0], vals)
	if err != nil {
		return
	}
	for counts, displs := range SumsOf(f, spans) {
		signature.FillIn(vals[counts.At:counts.End], vals[displs.At:displs.End])
	}
}
