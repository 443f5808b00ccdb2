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
	return x.Completes && x.RequestsPosition >= 0 && (x.FlagPosition >= 0 || x.IndexPosition >= 0 || x.IndicesPosition >= 0)
}

// RequestsSpan returns the array of requests that a call passes.
func (l *Layout) RequestsSpan(spans []Span) (Span, bool) {
	for i := range spans {
		if s := &spans[i]; s.Param == l.Completion.RequestsPosition && !s.IsOutput {
			return *s, true
		}
	}
	return Span{}, false
}

// A RequestArrayState is the array of requests as the last call that leaves one left it.
type RequestArrayState struct {
	// RequestNumbers is the array. Each element is the number of one-shot requests that the thread had made including
	// this one; 0 for null.
	RequestNumbers []int64
	IsKnown        bool // Requests is known; false: the next call's array must be stored

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
func (x *RequestArrayState) ForgetArray() { x.IsKnown = false }

// CanOmitArray reports whether the array that a call passes is omitted. made is how many one-shot requests the thread
// has made.
func (x *RequestArrayState) CanOmitArray(requests []int64, made int64) bool {
	return x.IsKnown && slices.Equal(requests, x.RequestNumbers) && (!x.kept || x.changed || x.made != made)
}

// SetPassedArray records the array that a call passes. Which requests it leaves is unknown until EndCall at its end.
func (x *RequestArrayState) SetPassedArray(requests []int64, made int64, leftOut bool) {
	if !leftOut {
		x.RequestNumbers = append(x.RequestNumbers[:0], requests...)
	}
	x.IsKnown, x.kept, x.changed, x.made = false, !leftOut, false, made
}

// An EndedRequests is which requests of its array a call completed.
type EndedRequests struct {
	AreKnown bool // it is known which requests were completed
	AreAll   bool
	Indices  []int
}

// EndCall records which requests the call that passed the array has completed.
func (x *RequestArrayState) EndCall(e EndedRequests) {
	end := func(k int) {
		if k < len(x.RequestNumbers) && x.RequestNumbers[k] != 0 {
			x.RequestNumbers[k], x.changed = 0, true
		}
	}
	for _, k := range e.Indices {
		end(k)
	}
	for k := range x.RequestNumbers {
		if e.AreAll {
			end(k)
		}
	}
	x.IsKnown = e.AreKnown
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
	flag, flagged := found(x.FlagPosition)
	index, single := found(x.IndexPosition)
	indices, several := found(x.IndicesPosition)
	if e.AreKnown = vals[0] == 0 && flagged && single && several; !e.AreKnown {
		return e
	}
	end := func(k int64) {
		if k >= 0 && k <= math.MaxInt32 {
			e.Indices = append(e.Indices, int(k))
		}
	}
	switch {
	case x.FlagPosition >= 0 && vals[flag.First] == 0:
	case x.IndexPosition >= 0:
		end(vals[index.First])
	case x.IndicesPosition >= 0:
		for _, k := range vals[min(indices.First+1, indices.End):indices.End] {
			end(k)
		}
	default:
		e.AreAll = true
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

// AppendOmittingArray appends a call's values to a list. It omits the array of requests if that is as an earlier call left
// it. made is how many one-shot requests the thread made before the call.
func (x *RequestArrayState) AppendOmittingArray(to []int64, l *Layout, spans []Span, vals []int64, made int64) []int64 {
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
	leftOut := x.CanOmitArray(requests, made)
	if x.SetPassedArray(requests, made, leftOut); leftOut {
		to = append(append(append(to, vals[:s.First]...), LengthFromEarlierCall), vals[s.End:]...)
	} else {
		to = append(to, vals...)
	}
	x.EndCall(l.EndedRequests(spans, vals))
	return to
}

// A RequestArray is a call's array of requests, as far as the file has it.
type RequestArray struct {
	IsOmitted bool    // the file omits it
	Names     []int64 // names of the requests, if not omitted
	Ended     EndedRequests
}

// RequestArrayOf returns the array of a call that leaves one.
func (l *Layout) RequestArrayOf(spans []Span, vals []int64) (a RequestArray) {
	if s, ok := l.RequestsSpan(spans); ok && vals[s.First] == LengthFromEarlierCall {
		a.IsOmitted = true
	} else if ok {
		a.Names = vals[s.First+1 : s.End]
	}
	a.Ended = l.EndedRequests(spans, vals)
	return a
}

// SetArrayAfterCall records the array of a call and the call's end. made is how many one-shot requests the thread had made
// before. If the array is left out, the requests must be known.
func (x *RequestArrayState) SetArrayAfterCall(a *RequestArray, made int64) {
	ok := len(a.Names) > 0
	if a.IsOmitted {
		ok = x.IsKnown
	} else {
		var named bool
		x.RequestNumbers, named = requestsOf(x.RequestNumbers[:0], a.Names, made)
		ok = ok && named
	}
	if x.EndCall(a.Ended); !ok {
		x.ForgetArray()
	}
}

// AppendRestoringArray appends a call's values to a list, with the array of requests that AppendOmittingArray omitted. It returns
// false if AppendOmittingArray cannot have produced them.
func (x *RequestArrayState) AppendRestoringArray(to []int64, l *Layout, spans []Span, vals []int64, made int64) ([]int64, bool) {
	s, ok := l.RequestsSpan(spans)
	if !ok || vals[s.First] != LengthFromEarlierCall {
		return append(to, vals...), true
	}
	to = append(append(to, vals[:s.First]...), int64(len(x.RequestNumbers)))
	for _, r := range x.RequestNumbers {
		to = append(to, NameOfRequest(r, made))
	}
	return append(to, vals[s.End:]...), x.IsKnown
}

// Code codes the state.
func (x *RequestArrayState) Code(c *wire.Coder) {
	c.Integers(&x.RequestNumbers)
	c.Bool(&x.IsKnown)
	c.Bool(&x.kept)
	c.Bool(&x.changed)
	wire.CodeIntegers(c, &x.made)
}
