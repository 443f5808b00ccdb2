package rsd

import (
	"fmt"
	"slices"
	"strings"
)

// A StridedRange is equally spaced numbers, or equally spaced spans. Its text is start:stride:count, with :stride:count for
// each further dimension, the innermost first (e.g. 0:1:3:10:2 for 0, 1, 2, 10, 11, 12).
type StridedRange struct {
	Start int
	Dims  []Dim
}

// A Dim is one dimension of a span.
type Dim struct{ Stride, Count int }

func (s StridedRange) String() string {
	text := fmt.Sprint(s.Start)
	for _, d := range s.Dims {
		text += fmt.Sprintf(":%d:%d", d.Stride, d.Count)
	}
	return text
}

// StridedRanges returns few spans that contain exactly the numbers of a list, which must rise.
func StridedRanges(list []int) (out []StridedRange) {
	for i := 0; i < len(list); {
		n := 1
		if i+1 < len(list) {
			stride := list[i+1] - list[i]
			for n = 2; i+n < len(list) && list[i+n]-list[i+n-1] == stride; n++ {
			}
			if n > 2 || stride == 1 {
				out = append(out, StridedRange{list[i], []Dim{{stride, n}}})
				i += n
				continue
			}
		}
		out = append(out, StridedRange{Start: list[i]})
		i++
	}
	for {
		next := folded(out)
		if len(next) == len(out) {
			return out
		}
		out = next
	}
}

// folded merges neighbouring spans that differ only in Start, by equal distances, into one span with another dimension.
func folded(list []StridedRange) (out []StridedRange) {
	alike := func(a, b StridedRange) bool {
		return len(a.Dims) > 0 && slices.Equal(a.Dims, b.Dims)
	}
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && alike(list[i], list[i+n]) && list[i+n].Start-list[i+n-1].Start == list[i+1].Start-list[i].Start {
			n++
		}
		s := list[i]
		if n > 1 {
			s.Dims = append(s.Dims[:len(s.Dims):len(s.Dims)], Dim{list[i+1].Start - s.Start, n})
		}
		out = append(out, s)
		i += n
	}
	return out
}

// mostSpans is the largest number of spans that RanksText writes.
const mostSpans = 12

// RanksText writes rising ranks as text.
func RanksText(list []int) string {
	spans := StridedRanges(list)
	var parts []string
	for i, s := range spans {
		if i == mostSpans {
			return fmt.Sprintf("%s … (%d ranks)", strings.Join(parts, " "), len(list))
		}
		parts = append(parts, s.String())
	}
	return strings.Join(parts, " ")
}
