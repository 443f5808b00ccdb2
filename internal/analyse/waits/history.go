package waits

import "sort"

// A history records when a thread was in MPI. It reaches back to the oldest call that isn't settled.
type history struct {
	calls []spell
	n     int // spells so far, forgotten ones included
	limit int // length at which old spells are forgotten next
}

// A spell is a time within MPI.
type spell struct {
	start, end int64
	before     int64 // time in MPI up to its start
}

const (
	fewSpells  = 512
	mostSpells = 1 << 20 // kept of one thread at most
)

// add takes a call and returns how much longer the thread was in MPI than was known; of a call within a call that is nothing.
func (h *history) add(start, end int64) int64 {
	before := int64(0)
	if n := len(h.calls); n > 0 {
		last := &h.calls[n-1]
		if start = max(start, last.end); start >= end {
			return 0
		}
		before = last.before + last.end - last.start
	}
	h.calls = append(h.calls, spell{start, end, before})
	h.n++
	return end - start
}

// forget drops the spells that no unsettled call of any rank can ask for, once a history has reached its limit.
func (a *analysis) forget(h *history) {
	if len(h.calls) < max(h.limit, fewSpells) {
		return
	}
	since := int64(0)
	for i, w := range a.here {
		for len(w.unsettled) > 0 && w.unsettled[0].settled {
			w.unsettled = w.unsettled[1:]
		}
		from := w.now
		if len(w.unsettled) > 0 {
			from = min(from, w.unsettled[0].at)
		}
		if i == 0 || from < since {
			since = from
		}
	}
	// The last earlier spell stays, as it holds the sum up to it.
	n := max(0, sort.Search(len(h.calls), func(i int) bool { return h.calls[i].end > since })-1, len(h.calls)-mostSpells)
	h.calls = h.calls[:copy(h.calls, h.calls[n:])]
	h.limit = 2 * len(h.calls)
}

// until returns the time in MPI up to a time.
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

// within returns how long the thread was in MPI between two times.
func (h *history) within(from, to int64) int64 { return h.until(to) - h.until(from) }
