package bysite

import (
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// requests tells values that follow from requests apart: a list at a site is the one of the call before there, without what
// that has completed, and a status has what the receive asked for. Where a value is what was expected it becomes 0.
type requests struct {
	made  int64
	asked []asked         // by request
	lists map[int][]int64 // by place: what it had last, one-shot requests by number as -10-n
}

// asked is what a call that made a request had.
type asked struct {
	source, tag, bytes int64 // bytes: as many as there was room for, -1 if that isn't known
	receives           bool
}

func newRequests() *requests { return &requests{lists: make(map[int][]int64)} }

// code replaces a value by 0 if it is as expected, or back again, and returns what it was at first.
func code(v *int64, expected int64, back bool) int64 {
	if back {
		switch {
		case *v == 0:
			*v = expected
		case *v > 0:
			*v--
		}
		return *v
	}
	was := *v
	switch {
	case was == expected:
		*v = 0
	case was >= 0:
		*v = was + 1
	}
	return was
}

const firstMade = -10

// step takes the next call, whose values it changes, or changes back.
func (q *requests) step(place int, f *model.Function, spans []signature.Span, vals []int64, back bool) {
	var list []int64 // as lists has them
	var states, index *signature.Span
	flag, many := int64(1), false
	made := asked{bytes: -1}
	count, new := int64(0), false
	for i := range spans {
		s := &spans[i]
		if s.Param < 0 || s.Param == signature.Made {
			continue
		}
		p := &f.Params[s.Param]
		switch {
		case p.Type == model.Request && s.Dims == 1 && !s.Out:
			many = true
			list = q.list(place, vals[s.At+1:s.End], back)
		case p.Type == model.Request && s.Dims == 0 && !s.Out:
			list = append(list, q.named(vals[s.At]))
		case p.Type == model.Request && s.Dims == 0 && vals[s.At] > 0 && vals[s.At]&1 == 0:
			new = true
		case p.Type == model.Status:
			states = s
		case p.Kind == "index" && s.Out:
			index = s
		case p.Kind == "flag" && s.Out:
			flag = vals[s.At]
		case p.Type == model.Int && s.Dims == 0 && p.Name == "source":
			made.source, made.receives = vals[s.At], true
		case p.Type == model.Int && s.Dims == 0 && p.Name == "tag":
			made.tag = vals[s.At]
		case p.Type == model.Int && s.Dims == 0 && p.Name == "count":
			count = vals[s.At]
		case p.Type == model.Handle && s.Dims == 0 && p.Kind == "datatype":
			if size, ok := mpi.TypeSize(vals[s.At]); ok {
				made.bytes = count * size
			}
		}
	}
	var over []int64 // by status: which of the list
	switch {
	case flag == 0:
	case index != nil && index.Dims == 1:
		over = append(over, vals[index.At+1:index.End]...)
	case index != nil:
		over = append(over, vals[index.At])
	default:
		for i := range list {
			over = append(over, int64(i))
		}
	}
	if states != nil && states.Dims == 1 {
		i := 0
		for e := range states.Elements(vals) {
			if i < len(over) {
				q.status(list, over[i], &e, vals, back)
			}
			i++
		}
	} else if states != nil && len(over) > 0 {
		q.status(list, over[0], states, vals, back)
	}
	if many {
		for _, i := range over {
			if i >= 0 && i < int64(len(list)) && list[i] <= firstMade {
				list[i] = 0
			}
		}
		q.lists[place] = list
	}
	if new {
		if made.source == mpi.ProcNull && made.receives {
			made.tag, made.bytes = mpi.AnyTag, 0
		}
		q.asked = append(q.asked, made)
		q.made++
	}
}

// named is how lists have a request.
func (q *requests) named(v int64) int64 {
	if v > 0 && v&1 == 0 {
		return firstMade - (q.made - v/2)
	}
	return v
}

// list takes the requests of a call.
func (q *requests) list(place int, vals []int64, back bool) []int64 {
	last := q.lists[place]
	out := make([]int64, len(vals))
	for i := range vals {
		expected := int64(-1)
		if len(last) == len(vals) {
			if expected = last[i]; expected <= firstMade {
				expected = 2 * (q.made - (firstMade - expected))
			}
		}
		out[i] = q.named(code(&vals[i], expected, back))
	}
	return out
}

// status takes the status of a request of the list.
func (q *requests) status(list []int64, at int64, s *signature.Span, vals []int64, back bool) {
	if at < 0 || at >= int64(len(list)) || !s.Filled(vals) {
		return
	}
	n := firstMade - list[at]
	if n < 0 || n >= int64(len(q.asked)) || list[at] > firstMade || !q.asked[n].receives {
		return
	}
	a := &q.asked[n]
	code(&vals[s.At+signature.StatusSource], a.source, back)
	code(&vals[s.At+signature.StatusTag], a.tag, back)
	code(&vals[s.At+signature.StatusCount], a.bytes, back)
}
