package proxy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// request writes the argument for parameter i: one request, or an array of requests.
func (w *writer) request(i int) string {
	p := &w.c.f.Params[i]
	in, out := &w.c.in[i], &w.c.out[i]
	if p.Dims > 0 {
		return w.requestArray(p)
	}
	if p.Dir == trace.DirOut {
		if out.typ != trace.TypeRequest || w.c.vals[0][out.at] == 0 {
			return "no_request()"
		}
		if w.c.vals[0][out.at]&1 == 0 {
			return "new_request()"
		}
		return "&" + w.kept(out.at)
	}
	place := w.requests(p.Name)
	flag, hasFlag := w.out("flag")
	choice := meaning.WaitBehaviourOf(w.c.def).Choice
	if choice == meaning.ChooseOneRequest && hasFlag && flag != 0 {
		place = "done(" + place + ")"
	}
	if p.Dir == trace.DirIn {
		if choice == meaning.ChooseNoRequest && in.typ == trace.TypeRequest && w.c.vals[0][in.at]&1 == 1 {
			return w.kept(in.at)
		}
		return "*" + place
	}
	return place
}

func (w *writer) kept(at int) string { return "kept[" + w.distance(at) + "]" }

// requests writes the address of a request, or of the first of an array.
func (w *writer) requests(param string) string {
	i := w.param(param)
	n := &w.c.in[i]
	if from := w.c.from[i]; from != "" {
		return from
	}
	if n.typ != trace.TypeArray {
		v := w.c.vals[0][n.at]
		switch {
		case v == 0:
			return "no_request()"
		case v&1 == 1:
			return "&" + w.kept(n.at)
		}
		return "request(" + w.distance(n.at) + ")"
	}
	switch {
	case n.n == trace.ArrayFromEarlierCall:
		return fmt.Sprintf("as_left(%s)", w.expr(mpi.KindInt, w.c.in[0].at))
	case n.n < 0:
		return "NULL"
	case n.n == 0:
		return "no_request()"
	}
	// Requests made consecutively are neighbours in memory.
	inRow, keptRow := true, true
	for m := range w.c.vals {
		vals := w.c.vals[m]
		for k := range n.elems {
			v := vals[n.elems[k].at]
			inRow = inRow && v > 0 && v&1 == 0 && v == vals[n.elems[0].at]-2*int64(k)
			keptRow = keptRow && v&1 == 1 && v == vals[n.elems[0].at]+2*int64(k)
		}
	}
	var place string
	switch {
	case inRow:
		place = "window(" + w.distance(n.elems[0].at) + ")"
	case keptRow:
		return "&" + w.kept(n.elems[0].at)
	default:
		place = fmt.Sprintf("these(%d, %s)", n.n, w.numbers(mpi.KindNone, n, true))
	}
	return w.g.passes(w.c, n.n, place)
}

// passes has the program keep the array of requests as this call leaves it, for the next call.
func (g *generator) passes(c *call, n int64, place string) string {
	if g.left && c.def != nil && c.layout().LeavesRequestArray() {
		return fmt.Sprintf("passes(%d, %s)", n, place)
	}
	return place
}

func (c *call) layout() *signature.Layout {
	l := signature.LayoutOf(c.def)
	return &l
}

// asLeft reports whether a call gets the requests that the previous call left.
func (c *call) asLeft() bool {
	i := c.def.Index("array_of_requests")
	return i >= 0 && c.in[i].n == trace.ArrayFromEarlierCall
}

func (w *writer) distance(at int) string {
	return w.from(at, ">> 1", func(v int64) int64 { return v >> 1 })
}

func (w *writer) requestArray(p *trace.ParamDef) string {
	i := w.param(p.Name)
	place := w.requests(p.Name)
	if n := w.c.in[i].n; n <= 0 && n != trace.ArrayFromEarlierCall {
		return place
	}
	count := w.expr(mpi.KindInt, w.c.in[0].at)
	flag, hasFlag := w.out("flag")
	switch meaning.WaitBehaviourOf(w.c.def).Choice {
	case meaning.ChooseAllRequests:
		if hasFlag && flag != 0 {
			return fmt.Sprintf("all_done(%s, %s)", count, place)
		}
		if done, some := w.leavesPending(); some {
			return fmt.Sprintf("some(%d, (const int32_t[]){%s}, %s, %s)", len(done), strings.Join(append(done, "-1"), ", "), count, place)
		}
	case meaning.ChooseAnyRequest:
		index := &w.c.out[w.param("index")]
		if (!hasFlag || flag != 0) && index.typ == trace.TypeInt && w.c.vals[0][index.at] >= 0 {
			return fmt.Sprintf("only(%s, %s, %s)", w.expr(mpi.KindIndex, index.at), count, place)
		}
	case meaning.ChooseSomeRequests:
		indices := &w.c.out[w.param("array_of_indices")]
		if indices.typ == trace.TypeArray && indices.n > 0 {
			return fmt.Sprintf("some(%d, %s, %s, %s)", indices.n, w.numbers(mpi.KindIndex, indices, false), count, place)
		}
	}
	return place
}

// leavesPending lists the indices of the requests that completed in a call for all requests. some is false unless the
// call left others pending.
func (w *writer) leavesPending() (done []string, some bool) {
	at := w.param("array_of_statuses")
	if at < 0 || w.c.vals[0][0] != mpi.ErrInStatus {
		return nil, false
	}
	for i, e := range w.c.out[at].elems {
		pending := int64(0)
		if v := w.c.vals[0]; v[e.at] == signature.StatusFormFilled || v[e.at] == signature.StatusFormIgnored {
			if pending = v[e.at+signature.StatusErrorPosition]; !w.c.same(e.at + signature.StatusErrorPosition) {
				return nil, false
			}
		}
		if pending == mpi.ErrPending {
			some = true
		} else {
			done = append(done, strconv.Itoa(i))
		}
	}
	return done, some
}
