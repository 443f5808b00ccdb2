package waits

import "sort"

// A history records when a thread was in MPI, back to the earliest time that a question may still be about.
type history struct {
	calls []spell
	n     int // number of spells so far, including those dropped from calls
}

// A spell is the time of an MPI call that isn't within another call, in ns.
type spell struct {
	start, end int64
	before     int64    // sum of the thread's time in MPI before start
	place      callSite // call site of the call
}

// mostSpells is the largest number of spells kept for a thread.
const mostSpells = 1 << 20

// free returns how long the thread had been outside of MPI before a time; 0 if it was inside, or had made no call.
func (h *history) free(at int64) int64 {
	if n := len(h.calls); n > 0 {
		return max(0, at-h.calls[n-1].end)
	}
	return 0
}

// add adds a call. It returns the time that the call adds to the time in MPI, which is 0 for a call within a call.
func (h *history) add(start, end int64, at callSite) int64 {
	before := int64(0)
	if n := len(h.calls); n > 0 {
		last := &h.calls[n-1]
		if start = max(start, last.end); start >= end {
			return 0
		}
		before = last.before + last.end - last.start
	}
	h.calls = append(h.calls, spell{start, end, before, at})
	h.n++
	return end - start
}

// forget drops the spells before a time. The last one stays, as it holds the sum up to that time.
func (h *history) forget(since int64) {
	n := max(0, sort.Search(len(h.calls), func(i int) bool { return h.calls[i].end > since })-1, len(h.calls)-mostSpells)
	h.calls = h.calls[:copy(h.calls, h.calls[n:])]
}

// until returns the sum of the thread's time in MPI, in ns, up to a time.
func (h *history) until(t int64) int64 {
	i := sort.Search(len(h.calls), func(i int) bool { return h.calls[i].start > t })
	if i == 0 {
		if len(h.calls) == 0 {
			return 0
		}
		return h.calls[0].before
	}
	s := &h.calls[i-1]
	return s.before + min(t, s.end) - s.start
}

// next returns the first spell that begins after a time, or nil; inside: the thread was in MPI at that time.
func (h *history) next(t int64) (s *spell, inside bool) {
	i := sort.Search(len(h.calls), func(i int) bool { return h.calls[i].start > t })
	if i > 0 && h.calls[i-1].end > t {
		return nil, true
	}
	if i < len(h.calls) {
		s = &h.calls[i]
	}
	return s, false
}

// within returns how long the thread was in MPI between two times.
func (h *history) within(from, to int64) int64 { return h.until(to) - h.until(from) }
