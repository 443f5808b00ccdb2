package extrapolate

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/trace"
)

// A cut is a part of a call's values that is fitted separately: a single value, or a list with elements of width values
// each. one is the value, or the number of the list's elements.
type cut struct {
	one   int64
	width int
	list  []int64
	many  bool
}

func (p *place) cut(vals []int64) ([]cut, error) {
	var out []cut
	at := 0
	take := func(n int) ([]int64, error) {
		if at+n > len(vals) {
			return nil, fmt.Errorf("%s: %d values are not those of its fields", p.function.Name, len(vals))
		}
		v := vals[at : at+n]
		at += n
		return v, nil
	}
	for _, f := range p.fields {
		switch f.kind {
		case words, absent:
			v, err := take(f.width)
			if err != nil {
				return nil, err
			}
			for _, x := range v {
				out = append(out, cut{one: x})
			}
		case list, requests, completes:
			v, err := take(1)
			if err != nil {
				return nil, err
			}
			c := cut{one: v[0], width: f.width, many: true}
			if c.list, err = take(int(v[0]) * f.width); err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	for ; at < len(vals); at++ { // a call that makes a request ends with the request's final status
		out = append(out, cut{one: vals[at]})
	}
	return out, nil
}

var (
	statusNames = []string{"form", "source", "tag", "bytes", "cancelled", "error"}
	commNames   = []string{"number", "first rank", "own rank", "size", "remote first rank", "remote size", "members"}
	typeNames   = []string{"size", "lower bound", "extent", "true lower bound", "true extent"}
)

const whichComplete = "completed requests"

// labels returns names for the parts of a place's values into which cut divides them (e.g. "count", "status.bytes").
func (p *place) labels(cells int) (list []string) {
	for i, f := range p.fields {
		name, parts := "return code", []string(nil)
		switch {
		case f.param == signature.ParamNewObject && p.function.Has(trace.AttrCreatesComm):
			name, parts = "new communicator", commNames
		case f.param == signature.ParamNewObject:
			name, parts = "new datatype", typeNames
		case f.param >= 0 && f.param < len(p.function.Params):
			def := &p.function.Params[f.param]
			name = def.Name
			switch def.Type {
			case trace.TypeStatus:
				parts = statusNames
			case trace.TypeAddress:
				parts = []string{segmentPart[1:], "offset"}
			}
		case f.kind == completes:
			name = whichComplete
		case i > 0:
			name = "result"
		}
		switch {
		case f.kind == pending || f.kind == statuses || f.kind == determined:
		case f.kind == words && f.width == len(parts) || f.kind == words && f.width == statusWords:
			for k := range f.width {
				list = append(list, name+"."+parts[k])
			}
		case f.kind == words:
			for k := range f.width {
				list = append(list, name)
				if f.width > 1 {
					list[len(list)-1] += fmt.Sprintf("[%d]", k)
				}
			}
		default:
			list = append(list, name)
		}
	}
	for k := 0; len(list) < cells; k++ { // a call that makes a request ends with the request's final status
		list = append(list, "status."+statusNames[min(k, len(statusNames)-1)])
	}
	return list
}

// sumsOf finds an earlier list of the call such that each element of list c is a factor times the sum of the preceding
// elements of that list. It returns the zero sum if no list fits.
func sumsOf(cuts [][]cut, c int) sum {
	for other := range c {
		s, ok := sum{cell: other}, true
		for i := 0; i < len(cuts) && ok; i++ {
			a, b := &cuts[i][other], &cuts[i][c]
			if ok = a.many && a.width == 1 && len(a.list) == len(b.list); !ok {
				break
			}
			before := int64(0)
			for k, v := range b.list {
				if s.factor == 0 && before != 0 {
					s.factor = v / before
				}
				if ok = v == s.factor*before; !ok {
					break
				}
				before += a.list[k]
			}
		}
		if ok && s.factor != 0 {
			return s
		}
	}
	return sum{}
}
