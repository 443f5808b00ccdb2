package ops

import (
	"cmp"
	"container/heap"

	"github.com/spoor-hpc/spoor/trace"
)

// stride is how many calls of a rank are told before another rank's turn comes.
const stride = 32

// Together goes through the calls of all ranks at once, each rank's to a sink of its own: always
// those of the rank that is farthest behind in time. What one rank tells stands so close to what
// others tell of the same time that a sink which brings the two together has little to remember;
// ranks are not in step to the call.
func (s *Source) Together(sink func(k *trace.Rank) Sink) error {
	var all together
	for _, rank := range s.Ranks {
		k, err := s.rank(rank)
		if err != nil {
			return err
		}
		if k == nil {
			s.Losses.Add("ranks that left no track", 1)
			continue
		}
		p, err := s.process(k)
		if err != nil {
			return err
		}
		x := &running{p: p, sink: sink(k)}
		if err := x.sink.Begin(k); err != nil {
			return err
		}
		if err := p.begin(); err != nil {
			return err
		}
		x.look()
		all = append(all, x)
	}
	heap.Init(&all)
	for len(all) > 0 {
		x := all[0]
		for n := 0; n < stride && x.next != nil; n++ {
			if err := x.p.step(x.next, x.sink); err != nil {
				return err
			}
			x.look()
		}
		if x.next != nil {
			heap.Fix(&all, 0)
			continue
		}
		heap.Pop(&all)
		if err := x.p.finish(x.sink); err != nil {
			return err
		}
		if err := x.sink.End(x.p.k); err != nil {
			return err
		}
	}
	return nil
}

// A running rank is one of which calls are still to be told.
type running struct {
	p    *process
	sink Sink
	next *thread // whose turn it is, nil: there is no call left
	at   int64   // when its call began
}

func (x *running) look() {
	if x.next = x.p.earliest(); x.next != nil {
		x.at = x.p.start(x.next)
	}
}

// together is a heap of ranks, on top the one that is farthest behind; those without calls come first.
type together []*running

func (t together) Len() int { return len(t) }

func (t together) Less(i, j int) bool {
	a, b := t[i], t[j]
	if (a.next == nil) != (b.next == nil) {
		return a.next == nil
	}
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.p.k.Number(), b.p.k.Number())) < 0
}

func (t together) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

func (t *together) Push(x any) { *t = append(*t, x.(*running)) }

func (t *together) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	*t = (*t)[:last]
	return x
}
