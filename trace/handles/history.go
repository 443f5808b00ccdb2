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
		own := rest.of(stream)
		if b, ok := own.last(index); ok {
			return b, true
		}
		rest = rest[:len(rest)-len(own)]
	}
	if len(h) > 0 {
		return h[0], true
	}
	return b, false
}

// of returns the part of a stream.
func (h history[T]) of(stream int) history[T] {
	from := sort.Search(len(h), func(i int) bool { return h[i].stream >= stream })
	return h[from:sort.Search(len(h), func(i int) bool { return h[i].stream > stream })]
}

// last returns the last binding of a stream's up to a position.
func (h history[T]) last(index uint64) (b binding[T], ok bool) {
	n := sort.Search(len(h), func(i int) bool { return h[i].index > index })
	if n == 0 {
		return b, false
	}
	return h[n-1], true
}
