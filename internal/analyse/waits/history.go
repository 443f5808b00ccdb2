package waits

import "sort"

// remembered is how many calls of a thread are kept to tell what it did lately.
const remembered = 512

// A history is the time that a thread spent in MPI lately.
type history struct {
	calls [remembered]spell // a ring
	n     int
}

// A spell is a time within MPI.
type spell struct {
	start, end int64
	before     int64 // time in MPI up to its start
}

func (h *history) at(i int) *spell { return &h.calls[i%remembered] }

// add takes a call and returns how much longer the thread was in MPI than was known; of a call within a call that is nothing.
func (h *history) add(start, end int64) int64 {
	before := int64(0)
	if h.n > 0 {
		last := h.at(h.n - 1)
		if start = max(start, last.end); start >= end {
			return 0
		}
		before = last.before + last.end - last.start
	}
	*h.at(h.n) = spell{start, end, before}
	h.n++
	return end - start
}

// until returns the time in MPI up to a time, as far back as is remembered.
func (h *history) until(t int64) int64 {
	first := max(0, h.n-remembered)
	i := first + sort.Search(h.n-first, func(i int) bool { return h.at(first+i).start > t })
	if i == first {
		if h.n == first {
			return 0
		}
		return h.at(first).before
	}
	s := h.at(i - 1)
	return s.before + min(t, s.end) - s.start
}

// within returns how long the thread was in MPI between two times.
func (h *history) within(from, to int64) int64 { return h.until(to) - h.until(from) }
