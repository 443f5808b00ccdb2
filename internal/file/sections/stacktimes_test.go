package sections

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// given is what a reader has of the time of such calls, those apart having their own.
func (s *stackless) given(apart map[int]bool) []callTime {
	var rest callTime
	n := 0.0
	for i, x := range s.calls {
		rest.add(x.pooled, x.calls)
		if n += x.calls; apart[i] {
			rest.add(x.own.rounded(), -x.calls)
			n -= x.calls
		}
	}
	list := make([]callTime, len(s.calls))
	for i, x := range s.calls {
		if list[i] = (callTime{max(rest.gap, 0) / n, max(rest.duration, 0) / n}); apart[i] {
			list[i] = x.own.rounded()
		}
	}
	return list
}

// However calls through different callers differ, each has its time but for the little that may be elsewhere, and of n alike at most n - 1
// have a mean of their own.
func TestTimesApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &stackless{left: true}
		var sum callTime
		n, total := 0.0, 0.0
		for i := range rapid.IntRange(2, 8).Draw(t, "stacks") {
			mean := rapid.SampledFrom([]float64{0, 100, 101, 130, 5000, 1e6})
			x := stackCalls{terminal: i, calls: float64(rapid.IntRange(1, 1000).Draw(t, "calls")), own: callTime{mean.Draw(t, "gap"), mean.Draw(t, "duration")}, known: true}
			sum.add(x.own, x.calls)
			n += x.calls
			total += x.time()
			s.calls = append(s.calls, x)
		}
		for i := range s.calls {
			s.calls[i].pooled = callTime{sum.gap / n, sum.duration / n}
		}
		enough := far * total
		apart := make(map[int]bool)
		for _, i := range s.apart(enough) {
			apart[i] = true
		}
		for i, got := range s.given(apart) {
			x := s.calls[i]
			if off := got.from(x.own) * x.calls; off > enough && !apart[i] || off > x.time()*math.Ldexp(1, -meanBits) && apart[i] {
				t.Fatalf("%d: %v, want %v: %g of %g", i, got, x.own, off, total)
			}
		}
	})
}

// Of two that differ one is known apart, of three that are like each other none is.
func TestTimesApartAreFew(t *testing.T) {
	calls := func(means ...float64) *stackless {
		s := &stackless{left: true}
		sum := 0.0
		for i, m := range means {
			s.calls = append(s.calls, stackCalls{terminal: i, calls: 10, own: callTime{duration: m}, known: true})
			sum += m
		}
		for i := range s.calls {
			s.calls[i].pooled.duration = sum / float64(len(means))
		}
		return s
	}
	if list := calls(100, 5000).apart(51); len(list) != 1 || list[0] != 0 {
		t.Errorf("apart are %v", list)
	}
	if list := calls(1000, 1001, 1002).apart(30); len(list) != 0 {
		t.Errorf("apart are %v", list)
	}
	s := calls(100, 5000)
	s.left = false // another thread makes such calls, too
	if list := s.apart(51); len(list) != 2 {
		t.Errorf("apart are %v", list)
	}
}
