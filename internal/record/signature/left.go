package signature

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A loop over MPI_Waitany passes the same array of requests again and again, each time as the call before left it. Such
// an array is not kept: its length is AsLeft, and nothing follows.
//
// The array before is that of a call that may leave some of its requests under way: MPI_Waitany, MPI_Waitsome,
// MPI_Testany, MPI_Testsome or MPI_Testall. An array is as left if it equals that of the thread's last such call,
// with null in place of the requests which that call completed. If MPI failed in that call,
// or some request was persistent, of another thread or isn't known, nothing is left.
//
// An array that is as left is kept nevertheless if it repeats one that was kept, by the same names: a poll stays one call.

// LengthFromEarlierCall is the length of such an array.
const LengthFromEarlierCall = -6

// LeavesRequestArray reports whether calls of the function leave an array of requests.
func (l *Layout) LeavesRequestArray() bool {
	x := &l.Completion
	return x.Completes && x.Requests >= 0 && (x.Flag >= 0 || x.Index >= 0 || x.Indices >= 0)
}

// RequestsSpan returns the array of requests that a call is given.
func (l *Layout) RequestsSpan(spans []Span) (Span, bool) {
	for i := range spans {
		if s := &spans[i]; s.Param == l.Completion.Requests && !s.IsOutput {
			return *s, true
		}
	}
	return Span{}, false
}

// A RequestArrayState is what the last call that leaves an array of requests left of it.
type RequestArrayState struct {
	// Requests are those of the array: how many one-shot requests the thread had made with each, 0 for null.
	Requests []int64
	Known    bool // else nothing is left

	kept    bool  // the last call kept its array
	changed bool  // and ended some of them
	made    int64 // one-shot requests before it
}

// RequestOfName returns the request that has a name for the next call, made one-shot requests into the thread; false if it
// can't be left.
func RequestOfName(name, made int64) (request int64, ok bool) {
	if name <= 0 || name&1 != 0 {
		return 0, name == 0
	}
	request = made - name>>1 + 1
	return request, request > 0
}

// NameOfRequest undoes RequestOf.
func NameOfRequest(request, made int64) int64 {
	if request == 0 {
		return 0
	}
	return 2 * (made - request + 1)
}

// ForgetArray forgets what is left.
func (x *RequestArrayState) ForgetArray() { x.Known = false }

// CanLeaveOut reports whether an array is left out that a call passes, made one-shot requests into the thread.
func (x *RequestArrayState) CanLeaveOut(requests []int64, made int64) bool {
	return x.Known && slices.Equal(requests, x.Requests) && (!x.kept || x.changed || x.made != made)
}

// PassArray takes in such an array. Nothing is known then until the call has ended: see Leave.
func (x *RequestArrayState) PassArray(requests []int64, made int64, leftOut bool) {
	if !leftOut {
		x.Requests = append(x.Requests[:0], requests...)
	}
	x.Known, x.kept, x.changed, x.made = false, !leftOut, false, made
}

// An EndedRequests says which requests of its array a call ended.
type EndedRequests struct {
	Known   bool // else the state is unknown
	All     bool
	Indices []int
}

// EndCall says that the call has ended.
func (x *RequestArrayState) EndCall(e EndedRequests) {
	end := func(k int) {
		if k < len(x.Requests) && x.Requests[k] != 0 {
			x.Requests[k], x.changed = 0, true
		}
	}
	for _, k := range e.Indices {
		end(k)
	}
	for k := range x.Requests {
		if e.All {
			end(k)
		}
	}
	x.Known = e.Known
}

// EndedRequests returns that of a call.
func (l *Layout) EndedRequests(spans []Span, vals []int64) (e EndedRequests) {
	x := &l.Completion
	found := func(param int) (Span, bool) {
		for i := range spans {
			if s := &spans[i]; param >= 0 && s.Param == param && s.IsOutput {
				return *s, true
			}
		}
		return Span{}, param < 0
	}
	flag, flagged := found(x.Flag)
	index, single := found(x.Index)
	indices, several := found(x.Indices)
	if e.Known = vals[0] == 0 && flagged && single && several; !e.Known {
		return e
	}
	end := func(k int64) {
		if k >= 0 && k <= math.MaxInt32 {
			e.Indices = append(e.Indices, int(k))
		}
	}
	switch {
	case x.Flag >= 0 && vals[flag.First] == 0:
	case x.Index >= 0:
		end(vals[index.First])
	case x.Indices >= 0:
		for _, k := range vals[min(indices.First+1, indices.End):indices.End] {
			end(k)
		}
	default:
		e.All = true
	}
	return e
}

// requestsOf appends the requests with names for the next call; false if there is one that can't be left.
func requestsOf(list, names []int64, made int64) ([]int64, bool) {
	all := true
	for _, name := range names {
		r, ok := RequestOfName(name, made)
		list, all = append(list, r), all && ok
	}
	return list, all
}

// LeaveOutArray appends a call's values to a list, without an array of requests that is as left.
func (x *RequestArrayState) LeaveOutArray(to []int64, l *Layout, spans []Span, vals []int64, made int64) []int64 {
	s, ok := l.RequestsSpan(spans)
	if !ok || vals[s.First] <= 0 {
		x.ForgetArray()
		return append(to, vals...)
	}
	var room [16]int64
	requests, ok := requestsOf(room[:0], vals[s.First+1:s.End], made)
	if !ok {
		x.ForgetArray()
		return append(to, vals...)
	}
	leftOut := x.CanLeaveOut(requests, made)
	if x.PassArray(requests, made, leftOut); leftOut {
		to = append(append(append(to, vals[:s.First]...), LengthFromEarlierCall), vals[s.End:]...)
	} else {
		to = append(to, vals...)
	}
	x.EndCall(l.EndedRequests(spans, vals))
	return to
}

// A RequestArray is what there is of a call's array of requests, for who fills it in.
type RequestArray struct {
	IsLeftOut bool    // it isn't there
	Names     []int64 // of the requests, else
	Ended     EndedRequests
}

// RequestArrayOf returns that of a call that leaves one.
func (l *Layout) RequestArrayOf(spans []Span, vals []int64) (a RequestArray) {
	if s, ok := l.RequestsSpan(spans); ok && vals[s.First] == LengthFromEarlierCall {
		a.IsLeftOut = true
	} else if ok {
		a.Names = vals[s.First+1 : s.End]
	}
	a.Ended = l.EndedRequests(spans, vals)
	return a
}

// TakeArray takes in the array of a call, made one-shot requests into the thread, before which what was left has been filled in.
func (x *RequestArrayState) TakeArray(a *RequestArray, made int64) {
	ok := len(a.Names) > 0
	if a.IsLeftOut {
		ok = x.Known
	} else {
		var named bool
		x.Requests, named = requestsOf(x.Requests[:0], a.Names, made)
		ok = ok && named
	}
	if x.EndCall(a.Ended); !ok {
		x.ForgetArray()
	}
}

// FillInArray appends a call's values to a list, with the array of requests that LeaveOut left out. It is false if that can't have made them.
func (x *RequestArrayState) FillInArray(to []int64, l *Layout, spans []Span, vals []int64, made int64) ([]int64, bool) {
	s, ok := l.RequestsSpan(spans)
	if !ok || vals[s.First] != LengthFromEarlierCall {
		return append(to, vals...), true
	}
	to = append(append(to, vals[:s.First]...), int64(len(x.Requests)))
	for _, r := range x.Requests {
		to = append(to, NameOfRequest(r, made))
	}
	return append(to, vals[s.End:]...), x.Known
}

// Code is the state.
func (x *RequestArrayState) Code(c *wire.Coder) {
	c.Integers(&x.Requests)
	c.Bool(&x.Known)
	c.Bool(&x.kept)
	c.Bool(&x.changed)
	wire.CodeIntegers(c, &x.made)
}
