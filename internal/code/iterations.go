package code

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/show"
)

// IterationPattern are equally spaced iterations of a loop, counted from 0. With Count 0 there are none. With
// Irregular they are not equally spaced.
type IterationPattern struct {
	First       uint64 `json:"first"`
	Last        uint64 `json:"last"`
	Stride      uint64 `json:"stride,omitempty"`
	Count       uint64 `json:"count"`
	IsIrregular bool   `json:"-"`
}

// ShiftedBy returns the same iterations, with `by` added to each number, as counting begins that much earlier.
func (i IterationPattern) ShiftedBy(by uint64) IterationPattern {
	if i.Count > 0 && !i.IsIrregular {
		i.First, i.Last = i.First+by, i.Last+by
	}
	return i
}

// Append returns the union with next, whose iterations are later. It is irregular if the union is not equally spaced.
func (i IterationPattern) Append(next IterationPattern) IterationPattern {
	switch {
	case next.Count == 0:
		return i
	case i.Count == 0:
		return next
	case i.IsIrregular || next.IsIrregular:
		return IterationPattern{Count: i.Count + next.Count, IsIrregular: true}
	}
	stride := next.First - i.Last
	if i.Count > 1 && i.Stride != stride || next.Count > 1 && next.Stride != stride || stride == 0 {
		return IterationPattern{Count: i.Count + next.Count, IsIrregular: true}
	}
	return IterationPattern{First: i.First, Last: next.Last, Stride: stride, Count: i.Count + next.Count}
}

func (i *IterationPattern) String() string {
	switch {
	case i.Count == 1:
		return show.FormatGrouped(i.First)
	case i.Count == 2:
		return show.FormatGrouped(i.First) + ", " + show.FormatGrouped(i.Last)
	case i.Stride == 1:
		return show.FormatGrouped(i.First) + "–" + show.FormatGrouped(i.Last)
	case i.Count == 3:
		return fmt.Sprintf("%s, %s, %s", show.FormatGrouped(i.First), show.FormatGrouped(i.First+i.Stride), show.FormatGrouped(i.Last))
	}
	return fmt.Sprintf("%s, %s … %s", show.FormatGrouped(i.First), show.FormatGrouped(i.First+i.Stride), show.FormatGrouped(i.Last))
}
