// Package naming resolves names that stand for one thing early and for another late: handles,
// whose numbers are used again.
//
// A thread's calls say nothing of when another's were: what another thread bound holds from
// the beginning, its last binding for all. Where several threads bound a name, the one with the
// highest number counts; a thread's own bindings hold from the call on.
package naming

import "sort"

// A Binding is the call that bound a name.
type Binding[T any] struct {
	Stream int
	Index  uint64
	To     T
}

// A History is all bindings of one name on a rank, by stream and index.
type History[T any] []Binding[T]

// At returns the binding that holds in a call of a stream; false if there is none.
func (h History[T]) At(stream int, index uint64) (b Binding[T], ok bool) {
	for rest := h; len(rest) > 0; {
		last := rest[len(rest)-1]
		if last.Stream != stream {
			return last, true
		}
		from := sort.Search(len(rest), func(i int) bool { return rest[i].Stream >= stream })
		own := rest[from:]
		if n := sort.Search(len(own), func(i int) bool { return own[i].Index > index }); n > 0 {
			return own[n-1], true
		}
		rest = rest[:from]
	}
	if len(h) > 0 {
		return h[0], true
	}
	return b, false
}
