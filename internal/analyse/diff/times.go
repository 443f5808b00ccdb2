package diff

import (
	"cmp"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/timing/gaps"
	"github.com/spoor-hpc/spoor/trace"
)

// A Spent is what a rank spent on the calls at one place of the structure, in the first trace and in the second, in
// nanoseconds: what it computed before them, and what they took. The first of its calls identifies the place. If the
// structures differ, though the calls are equal, a function's calls are one place.
type Spent struct {
	Stream  int         `json:"thread"`
	Index   uint64      `json:"index"` // of the first call
	Calls   uint64      `json:"calls"`
	Call    *trace.Call `json:"call"`
	Compute [2]float64  `json:"compute_ns"`
	MPI     [2]float64  `json:"mpi_ns"`
}

// off is how much that differs.
func (s *Spent) off() float64 {
	return math.Abs(s.Compute[1]-s.Compute[0]) + math.Abs(s.MPI[1]-s.MPI[0])
}

// TimesDiffer reports whether two times differ by more than their error: a percent.
func TimesDiffer(ns [2]float64) bool { return math.Abs(ns[1]-ns[0]) >= 0.01*max(ns[0], ns[1], 1) }

// times compares statistics; distinct calls are known to be equal by value but
// may be numbered differently, which is a difference here.
func (c *comparison) times(a, b *trace.Rank) (*Difference, error) {
	x, err := a.Times()
	if err != nil {
		return nil, err
	}
	y, err := b.Times()
	if err != nil {
		return nil, err
	}
	if slices.Equal(x, y) {
		return nil, nil
	}
	d := &Difference{Rank: a.Number(), What: "times differ"}
	for stream := range min(a.Streams(), b.Streams()) {
		first, own, err := placesOf(c.a, a, stream)
		if err != nil {
			return nil, err
		}
		second, ownToo, err := placesOf(c.b, b, stream)
		if err != nil {
			return nil, err
		}
		if !slices.EqualFunc(first, second, samePlace) {
			first, second = byFunction(first), byFunction(second)
		}
		for i, p := range first {
			if i == len(second) || !samePlace(p, second[i]) {
				break // calls in another order
			}
			s := Spent{stream, p.index, p.calls, p.call, [2]float64{p.compute, second[i].compute}, [2]float64{p.mpi, second[i].mpi}}
			if own && ownToo && s.off() > 0 || TimesDiffer(s.Compute) || TimesDiffer(s.MPI) {
				d.Times = append(d.Times, s)
			}
		}
	}
	slices.SortStableFunc(d.Times, func(a, b Spent) int { return cmp.Compare(b.off(), a.off()) })
	return d, nil
}

// A spent is what a rank spent at one place of a trace.
type spent struct {
	index, calls uint64
	call         *trace.Call
	compute, mpi float64
}

func samePlace(a, b spent) bool {
	return a.index == b.index && a.calls == b.calls && a.call.Name() == b.call.Name()
}

// placesOf returns those of a stream, in order of their first calls, and whether they are sums of calls' own times.
func placesOf(r *trace.Reader, k *trace.Rank, stream int) (list []spent, own bool, err error) {
	leaves := k.Leaves(stream)
	times, own, err := gaps.Of(r, k, leaves)
	if err != nil {
		return nil, false, err
	}
	for leaf, index := range leaves.First(k) {
		t := &times[leaf]
		if t.Calls == 0 {
			continue
		}
		call, err := k.Terminal(leaves.Terminal(leaf))
		if err != nil {
			return nil, false, err
		}
		list = append(list, spent{index, t.Calls, call, t.Total(), t.Duration * float64(t.Calls)})
	}
	slices.SortFunc(list, func(a, b spent) int { return cmp.Compare(a.index, b.index) })
	return list, own, nil
}

// byFunction puts the places of each function together.
func byFunction(list []spent) (out []spent) {
	for _, p := range list {
		at := slices.IndexFunc(out, func(o spent) bool { return o.call.Name() == p.call.Name() })
		if at < 0 {
			out = append(out, p)
			continue
		}
		o := &out[at]
		o.calls, o.compute, o.mpi = o.calls+p.calls, o.compute+p.compute, o.mpi+p.mpi
	}
	return out
}
