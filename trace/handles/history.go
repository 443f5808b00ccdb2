package handles

import "sort"

// A binding is the call that bound a number to an object.
type binding[T any] struct {
	stream int
	index  uint64
	to     T
}

// A history is all bindings of one number on a rank, by stream and index.
type history[T any] []binding[T]

// at returns the binding that holds in a call of a stream; false if there is none. A thread's
// own hold from the call on. What another thread bound holds from the beginning, its last for all;
// where several did, that of the highest number counts.
func (h history[T]) at(stream int, index uint64) (b binding[T], ok bool) {
	for rest := h; len(rest) > 0; {
		last := rest[len(rest)-1]
		if last.stream != stream {
			return last, true
		}
		from := sort.Search(len(rest), func(i int) bool { return rest[i].stream >= stream })
		own := rest[from:]
		if n := sort.Search(len(own), func(i int) bool { return own[i].index > index }); n > 0 {
			return own[n-1], true
		}
		rest = rest[:from]
	}
	if len(h) > 0 {
		return h[0], true
	}
	return b, false
}
