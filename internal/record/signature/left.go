package signature

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A loop over MPI_Waitany passes the same array of requests in each iteration, as the previous call left it. Such
// an array is not stored: its length is LengthFromEarlierCall, and no elements follow.
//
// The previous array is that of a call that may leave some of its requests unfinished: MPI_Waitany, MPI_Waitsome,
// MPI_Testany, MPI_Testsome or MPI_Testall. An array is as left if it equals that of the thread's last such call,
// with null in place of the requests which that call completed. If MPI failed in that call, or some request was
// persistent, unknown or another thread's, no array is as left.
//
// An array that is as left is stored nevertheless if it repeats a stored one with the same names: so a poll remains
// one distinct call.

// LengthFromEarlierCall is the length of an omitted array of requests.
const LengthFromEarlierCall = -6

// LeavesRequestArray reports whether calls of the function leave an array of requests for later calls.
func (l *Layout) LeavesRequestArray() bool {
	x := &l.Completion
	return x.Completes && x.Requests >= 0 && (x.Flag >= 0 || x.Index >= 0 || x.Indices >= 0)
}

// RequestsSpan returns the array of requests that a call passes.
func (l *Layout) RequestsSpan(spans []Span) (Span, bool) {
	for i := range spans {
		if s := &spans[i]; s.Param == l.Completion.Requests && !s.IsOutput {
			return *s, true
		}
	}
	return Span{}, false
}

// A RequestArrayState is the array of requests as the last call that leaves one left it.
type RequestArrayState struct {
	// Requests is the array. Each element is the number of one-shot requests that the thread had made including
	// this one; 0 for null.
	Requests []int64
	Known    bool // Requests is known; false: the next call's array must be stored

	kept    bool  // the last call's array was stored
	changed bool  // the last call completed some requests of its array
	made    int64 // number of one-shot requests that the thread had made before the last call
}

// RequestOfName converts the name of a request, in the values of a call, to an element of Requests. made is how many
// one-shot requests the thread made before that call. It returns false for a request that is not such an element.
func RequestOfName(name, made int64) (request int64, ok bool) {
	if name <= 0 || name&1 != 0 {
		return 0, name == 0
	}
	request = made - name>>1 + 1
	return request, request > 0
}

// NameOfRequest reverses RequestOfName.
func NameOfRequest(request, made int64) int64 {
	if request == 0 {
		return 0
	}
	return 2 * (made - request + 1)
}

// ForgetArray makes the array unknown.
func (x *RequestArrayState) ForgetArray() { x.Known = false }

// CanLeaveOut reports whether the array that a call passes is omitted. made is how many one-shot requests the thread
// has made.
func (x *RequestArrayState) CanLeaveOut(requests []int64, made int64) bool {
	return x.Known && slices.Equal(requests, x.Requests) && (!x.kept || x.changed || x.made != made)
}

// PassArray records the array that a call passes. Which requests it leaves is unknown until EndCall at its end.
func (x *RequestArrayState) PassArray(requests []int64, made int64, leftOut bool) {
	if !leftOut {
		x.Requests = append(x.Requests[:0], requests...)
	}
	x.Known, x.kept, x.changed, x.made = false, !leftOut, false, made
}

// An EndedRequests is which requests of its array a call completed.
type EndedRequests struct {
	Known   bool // it is known which requests were completed
	All     bool
	Indices []int
}

// EndCall records which requests the call that passed the array has completed.
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

// EndedRequests returns which requests a call completed.
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

// requestsOf appends to list what RequestOfName returns for each name. It returns false if RequestOfName does for any.
func requestsOf(list, names []int64, made int64) ([]int64, bool) {
	all := true
	for _, name := range names {
		r, ok := RequestOfName(name, made)
		list, all = append(list, r), all && ok
	}
	return list, all
}

// LeaveOutArray appends a call's values to a list. It omits the array of requests if that is as an earlier call left
// it. made is how many one-shot requests the thread made before the call.
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

// A RequestArray is a call's array of requests, as far as the file has it.
type RequestArray struct {
	IsLeftOut bool    // the file omits it
	Names     []int64 // names of the requests, if not omitted
	Ended     EndedRequests
}

// RequestArrayOf returns the array of a call that leaves one.
func (l *Layout) RequestArrayOf(spans []Span, vals []int64) (a RequestArray) {
	if s, ok := l.RequestsSpan(spans); ok && vals[s.First] == LengthFromEarlierCall {
		a.IsLeftOut = true
	} else if ok {
		a.Names = vals[s.First+1 : s.End]
	}
	a.Ended = l.EndedRequests(spans, vals)
	return a
}

// TakeArray records the array of a call and the call's end. made is how many one-shot requests the thread had made
// before. If the array is left out, the requests must be known.
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

// FillInArray appends a call's values to a list, with the array of requests that LeaveOutArray omitted. It returns
// false if LeaveOutArray cannot have produced them.
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

// Code codes the state.
func (x *RequestArrayState) Code(c *wire.Coder) {
	c.Integers(&x.Requests)
	c.Bool(&x.Known)
	c.Bool(&x.kept)
	c.Bool(&x.changed)
	wire.CodeIntegers(c, &x.made)
}
