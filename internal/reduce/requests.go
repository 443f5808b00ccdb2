package reduce

import (
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/trace"
)

// One-shot requests are numbered by creation on their thread, and a signature says how many creations ago the request
// was made (docs/format.md). Within one piece of a part that stays right; a request that another piece made is fewer
// creations ago, as those between are gone.
type requests struct {
	k       *trace.Rank
	made    *trace.Occurrences // the calls of the stream that make one
	kept    []kept
	uses    [][]use // by terminal; nil: not looked for yet
	looked  []bool
	several bool // pieces
}

// kept are the requests that a piece makes: from first to before end in the trace, from now on in the part.
type kept struct{ first, end, now int64 }

// A use is a value of a signature that is a request.
type use struct {
	at  int
	out bool
}

// Values in signatures that mark requests whose creation was not recorded, and what distinguishes these.
const (
	unknownRequest = -1
	onceBits       = 1
)

func newRequests(k *trace.Rank, stream int, spans []ops.Span) *requests {
	r := &requests{k: k, uses: make([][]use, k.Terminals()), looked: make([]bool, k.Terminals()), several: len(spans) > 1}
	makes := make([]bool, k.Terminals())
	for t := range makes {
		makes[t] = k.CallWithoutParams(t).Func.Has(trace.AttrNonblocking) && r.makesOne(t)
	}
	r.made = k.Occurrences(stream, func(t int) bool { return makes[t] })
	now := int64(0)
	for _, s := range spans {
		x := kept{int64(r.made.Before(s.First)), int64(r.made.Before(s.End)), now}
		r.kept = append(r.kept, x)
		now += x.end - x.first
	}
	return r
}

// makesOne reports whether a one-shot request comes out of a call that can make one.
func (r *requests) makesOne(terminal int) bool {
	vals := r.k.Signature(terminal)
	return slices.ContainsFunc(r.of(terminal), func(u use) bool { return u.out && vals[u.at] > 0 && vals[u.at]&1 == 0 })
}

// of returns where a terminal's values have requests.
func (r *requests) of(terminal int) []use {
	if r.looked[terminal] {
		return r.uses[terminal]
	}
	r.looked[terminal] = true
	c := r.k.CallWithoutParams(terminal)
	if !slices.ContainsFunc(c.Func.Params, func(p trace.ParamDef) bool { return p.Type == trace.TypeRequest }) {
		return nil
	}
	r.uses[terminal] = usesOf(c.Func, r.k.Signature(terminal))
	return r.uses[terminal]
}

// usesOf returns where a call's values have requests.
func usesOf(f *trace.Function, vals []int64) (list []use) {
	spans, err := sections.SpansOf(f, nil, vals)
	if err != nil {
		return nil
	}
	for _, s := range spans {
		if s.Param == signature.ParamMade || s.Param == signature.ParamResult || f.Params[s.Param].Type != trace.TypeRequest {
			continue
		}
		for at := s.First + min(s.Dims, 1); at < s.End; at++ {
			list = append(list, use{at, s.IsOutput})
		}
	}
	return list
}

// moves reports whether a terminal's requests may have other numbers in the part.
func (r *requests) moves(terminal int) bool {
	return r.several && (len(r.of(terminal)) > 0 || r.k.DependsOnEarlierCalls(terminal))
}

// renumber changes the requests of the call at a position to what they are in the part.
func (r *requests) renumber(terminal int, at uint64, vals []int64) {
	before := int64(r.made.Before(at))
	after := int64(r.made.Before(at + 1))
	uses := r.of(terminal)
	if r.k.DependsOnEarlierCalls(terminal) {
		uses = usesOf(r.k.CallWithoutParams(terminal).Func, vals)
	}
	for _, u := range uses {
		v := vals[u.at]
		if v <= 0 || v&1 != 0 {
			continue // none, unknown, another thread's, or persistent
		}
		count := before
		if u.out {
			count = after
		}
		if id, known := r.now(count - v>>onceBits); known {
			vals[u.at] = (r.before(count) - id) << onceBits
		} else {
			vals[u.at] = unknownRequest
		}
	}
}

// before returns how many of the first requests of the trace are in the part.
func (r *requests) before(count int64) (n int64) {
	for _, x := range r.kept {
		n += min(max(count, x.first), x.end) - x.first
	}
	return n
}

// now returns the number in the part of a request; false if it was made elsewhere.
func (r *requests) now(id int64) (int64, bool) {
	i := sort.Search(len(r.kept), func(i int) bool { return r.kept[i].end > id })
	if i == len(r.kept) || id < r.kept[i].first {
		return 0, false
	}
	return r.kept[i].now + id - r.kept[i].first, true
}
