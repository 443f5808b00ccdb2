package ops

import "github.com/spoor-hpc/spoor/trace"

// An idle walk passes over long stretches of calls that do nothing which matters to a sink: a
// loop that asks for messages makes any number of them.
type idle struct {
	k      *trace.Rank
	is     []bool             // by terminal
	others *trace.Occurrences // the calls that are not idle
	run    int                // so many idle calls were told in a row
}

// Of a stretch of idle calls so many are told at least; shorter stretches are told as a whole.
const (
	idleTold  = 64
	idleShort = 4096
)

func newIdle(k *trace.Rank, stream int, is []bool) *idle {
	return &idle{k: k, is: is, others: k.Occurrences(stream, func(t int) bool { return !is[t] })}
}

// passes returns the position of the next call to tell after one, the stream's length if there is
// none; false if it is the next of all.
func (x *idle) passes(c *trace.Call) (to uint64, ok bool) {
	if x.run++; !x.is[c.Terminal] {
		x.run = 0
	}
	if x.run < idleTold {
		return 0, false
	}
	x.run = 0
	to = x.k.Len(c.Stream)
	if n := x.others.Before(c.Index); n < x.others.Total() {
		to, _ = x.others.Nth(n)
	}
	return to, to > c.Index+idleShort
}

// idleCalls tells which terminals of a rank are idle, nil if none is.
func (s *Source) idleCalls(k *trace.Rank) ([]bool, error) {
	if s.o.Idle == nil {
		return nil, nil
	}
	var is []bool
	for t := range k.Terminals() {
		idle := s.o.Idle(k.Called(t).Func)
		if idle == nil || k.Lane(t) != nil {
			continue
		}
		c, err := k.Terminal(t)
		if err != nil {
			return nil, err
		}
		if idle(c) {
			if is == nil {
				is = make([]bool, k.Terminals())
			}
			is[t] = true
		}
	}
	return is, nil
}
