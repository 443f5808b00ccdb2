package code

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/show"
)

// Iterations are some of a loop's, counted from 0, that are equally far apart. None: Count is 0; Odd: they are not.
type Iterations struct {
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Stride uint64 `json:"stride,omitempty"`
	Count  uint64 `json:"count"`
	Odd    bool   `json:"-"`
}

// Shifted are the same iterations, counted from that many earlier.
func (i Iterations) Shifted(by uint64) Iterations {
	if i.Count > 0 && !i.Odd {
		i.First, i.Last = i.First+by, i.Last+by
	}
	return i
}

// Then are these and later ones.
func (i Iterations) Then(next Iterations) Iterations {
	switch {
	case next.Count == 0:
		return i
	case i.Count == 0:
		return next
	case i.Odd || next.Odd:
		return Iterations{Count: i.Count + next.Count, Odd: true}
	}
	stride := next.First - i.Last
	if i.Count > 1 && i.Stride != stride || next.Count > 1 && next.Stride != stride || stride == 0 {
		return Iterations{Count: i.Count + next.Count, Odd: true}
	}
	return Iterations{First: i.First, Last: next.Last, Stride: stride, Count: i.Count + next.Count}
}

func (i *Iterations) String() string {
	switch {
	case i.Count == 1:
		return show.Grouped(i.First)
	case i.Count == 2:
		return show.Grouped(i.First) + ", " + show.Grouped(i.Last)
	case i.Stride == 1:
		return show.Grouped(i.First) + "–" + show.Grouped(i.Last)
	case i.Count == 3:
		return fmt.Sprintf("%s, %s, %s", show.Grouped(i.First), show.Grouped(i.First+i.Stride), show.Grouped(i.Last))
	}
	return fmt.Sprintf("%s, %s … %s", show.Grouped(i.First), show.Grouped(i.First+i.Stride), show.Grouped(i.Last))
}
