package reduce

import (
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/trace"
)

// One-shot requests are numbered by creation on their thread. A signature has the number of creations since the
// request was made (docs/format.md). Within one piece of a part this number stays right. For requests of an earlier
// piece it decreases, as the creations in between are missing.
type requests struct {
	k       *trace.Rank
	made    *trace.Occurrences // the stream's calls that make a request
	kept    []kept
	uses    [][]use // by terminal; valid if looked is set
	looked  []bool
	several bool // the part has several pieces
}

// kept is the requests made in a piece of a part. In the trace they have the numbers first to end-1, in the part the
// numbers now, now+1 and so on.
type kept struct{ first, end, now int64 }

// A use is a request among a signature's values.
type use struct {
	at  int
	out bool
}

// unknownRequest is the value of a request whose creation was not recorded. The value of a one-shot request is the
// number of creations since it was made, shifted left by onceBits.
const (
	unknownRequest = -1
	onceBits       = 1
)

func newRequests(k *trace.Rank, stream int, spans []ops.CallRange) *requests {
	r := &requests{k: k, uses: make([][]use, k.Terminals()), looked: make([]bool, k.Terminals()), several: len(spans) > 1}
	makes := make([]bool, k.Terminals())
	for t := range makes {
		makes[t] = k.CallWithoutParams(t).Func.Has(trace.AttrNonblocking) && r.makesOne(t)
	}
	r.made = k.Occurrences(stream, func(t int) bool { return makes[t] })
	now := int64(0)
	for _, s := range spans {
		x := kept{int64(r.made.CountBefore(s.First)), int64(r.made.CountBefore(s.End)), now}
		r.kept = append(r.kept, x)
		now += x.end - x.first
	}
	return r
}

// makesOne reports whether a call that can make a one-shot request did.
func (r *requests) makesOne(terminal int) bool {
	vals := r.k.Signature(terminal)
	return slices.ContainsFunc(r.of(terminal), func(u use) bool { return u.out && vals[u.at] > 0 && vals[u.at]&1 == 0 })
}

// of returns the positions of requests in a terminal's values.
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

// usesOf returns the positions of requests in a call's values.
func usesOf(f *trace.Function, vals []int64) (list []use) {
	spans, err := sections.SpansOf(f, nil, vals)
	if err != nil {
		return nil
	}
	for _, s := range spans {
		if s.Param == signature.ParamNewObject || s.Param == signature.ParamResult || f.Params[s.Param].Type != trace.TypeRequest {
			continue
		}
		for at := s.First + min(s.Dims, 1); at < s.End; at++ {
			list = append(list, use{at, s.IsOutput})
		}
	}
	return list
}

// moves reports whether a terminal's requests may have different numbers in the part.
func (r *requests) moves(terminal int) bool {
	return r.several && (len(r.of(terminal)) > 0 || r.k.DependsOnEarlierCalls(terminal))
}

// renumber converts the requests of the call at a position to the part's numbers.
func (r *requests) renumber(terminal int, at uint64, vals []int64) {
	before := int64(r.made.CountBefore(at))
	after := int64(r.made.CountBefore(at + 1))
	uses := r.of(terminal)
	if r.k.DependsOnEarlierCalls(terminal) {
		uses = usesOf(r.k.CallWithoutParams(terminal).Func, vals)
	}
	for _, u := range uses {
		v := vals[u.at]
		if v <= 0 || v&1 != 0 {
			continue // null, unknown, another thread's, or persistent
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

// before returns how many of the first count requests of the trace are in the part.
func (r *requests) before(count int64) (n int64) {
	for _, x := range r.kept {
		n += min(max(count, x.first), x.end) - x.first
	}
	return n
}

// now returns a request's number in the part; false if it was made outside.
func (r *requests) now(id int64) (int64, bool) {
	i := sort.Search(len(r.kept), func(i int) bool { return r.kept[i].end > id })
	if i == len(r.kept) || id < r.kept[i].first {
		return 0, false
	}
	return r.kept[i].now + id - r.kept[i].first, true
}
