package waits_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// A deed is one call of a rank, as the slow definition has it.
type deed struct {
	record     func(r *tracktest.Recorder)
	start, end int64
	kind       byte // 's' sends, 'r' receives, 'b' a barrier, 'a' an allreduce
	number     int  // of the message, or of the collective
}

// drawn is what ranks do, in an order in which it can be done.
func drawn(t *rapid.T, ranks int) [][]deed {
	list := make([][]deed, ranks)
	type channel struct{ from, to, tag int }
	under := make(map[channel][]int)
	var open []channel
	add := func(rank int, kind byte, number int, record func(r *tracktest.Recorder)) {
		list[rank] = append(list[rank], deed{record: record, kind: kind, number: number})
	}
	take := func(i int) {
		c := open[i]
		open = append(open[:i], open[i+1:]...)
		n := under[c][0]
		under[c] = under[c][1:]
		add(c.to, 'r', n, func(r *tracktest.Recorder) { r.Recv(2, 4, int64(c.from), int64(c.tag)) })
	}
	together := 0
	for n := range rapid.IntRange(1, 40).Draw(t, "steps") {
		switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
		case what < 5:
			from, to := rapid.IntRange(0, ranks-1).Draw(t, "from"), rapid.IntRange(0, ranks-2).Draw(t, "to")
			if to >= from {
				to++
			}
			c := channel{from, to, rapid.IntRange(0, 1).Draw(t, "tag")}
			under[c], open = append(under[c], n), append(open, c)
			add(from, 's', n, func(r *tracktest.Recorder) { r.Send(1, 4, int64(to), int64(c.tag)) })
		case what < 8:
			if len(open) > 0 {
				take(rapid.IntRange(0, len(open)-1).Draw(t, "which"))
			}
		default:
			for rank := range ranks {
				if what == 8 {
					add(rank, 'b', together, func(r *tracktest.Recorder) { r.Call("MPI_Barrier", 3, tracktest.World) })
				} else {
					add(rank, 'a', together, func(r *tracktest.Recorder) { r.Allreduce(4, 1) })
				}
			}
			together++
		}
	}
	for len(open) > 0 {
		take(0)
	}
	return list
}

// A total is what comes out.
type total struct {
	Kinds            map[waits.Kind]waits.KindSum
	Waited, Caused   []int64
	Compute, Matched int64
}

// slowWait says why a rank waited in a deed, for whom, and for how long; not above 0 if it did not.
func slowWait(list [][]deed, rank, i int) (kind waits.Kind, from int, waited int64) {
	other := func(kind byte, number int) (int, deed) {
		for rank := range list {
			for _, d := range list[rank] {
				if d.kind == kind && d.number == number {
					return rank, d
				}
			}
		}
		panic("no such deed")
	}
	d := list[rank][i]
	from, until := rank, d.start
	switch d.kind {
	case 's':
		by, r := other('r', d.number)
		if r.start < d.end {
			kind, from, until = waits.LateReceiver, by, r.start
		}
	case 'r':
		by, s := other('s', d.number)
		kind, from, until = waits.LateSender, by, s.start
		for _, later := range list[rank][i+1:] {
			if later.kind != 'r' {
				continue
			}
			if _, sent := other('s', later.number); sent.start < s.start {
				kind = waits.WrongOrder
			}
		}
	default:
		kind = waits.WaitAtBarrier
		if d.kind == 'a' {
			kind = waits.WaitAtNxN
		}
		for by := range list {
			for _, e := range list[by] {
				if e.kind == d.kind && e.number == d.number && e.start > until {
					from, until = by, e.start
				}
			}
		}
	}
	return kind, from, min(until, d.end) - d.start
}

// slow finds what ranks waited by looking at everything.
func slow(list [][]deed) total {
	x := total{make(map[waits.Kind]waits.KindSum), make([]int64, len(list)), make([]int64, len(list)), 0, 0}
	for rank := range list {
		for i, d := range list[rank] {
			if d.kind == 's' {
				x.Matched++
			}
			kind, from, waited := slowWait(list, rank, i)
			if waited <= 0 {
				continue
			}
			sum := x.Kinds[kind]
			x.Kinds[kind] = waits.KindSum{Kind: kind, Count: sum.Count + 1, WaitedNs: sum.WaitedNs + waited}
			x.Waited[rank] += waited
			x.Caused[from] += waited
			x.Compute += waited
			for _, e := range list[from] {
				x.Compute -= max(0, min(e.end, d.start+waited)-max(e.start, d.start))
			}
		}
	}
	return x
}

// slowPath goes the critical path backwards, and returns how much of it lies on each rank.
func slowPath(list [][]deed) (run int64, hops int, on map[int]int64) {
	on = make(map[int]int64)
	rank, first, end := -1, int64(0), int64(0)
	for r := range list {
		if n := len(list[r]); n > 0 {
			if rank < 0 || list[r][0].start < first {
				first = list[r][0].start
			}
			if rank < 0 || list[r][n-1].end > end {
				end, rank = list[r][n-1].end, r
			}
		}
	}
	for to := end; ; hops++ {
		at, next := first-1, -1
		for i, d := range list[rank] {
			if _, from, waited := slowWait(list, rank, i); waited > 0 && d.start+waited < to && d.start+waited > at {
				at, next = d.start+waited, from
			}
		}
		if next < 0 {
			on[rank] += to - first
			return end - first, hops, on
		}
		on[rank] += to - at
		rank, to = next, at
	}
}

// Whatever ranks do, and whenever, who waited for whom is what the definition says that looks at everything.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.OneOf(rapid.IntRange(2, 4), rapid.IntRange(waits.Everybody+1, 2*waits.Everybody)).Draw(rt, "ranks")
		defer waits.Windows(rapid.SampledFrom([]uint64{1, 3, 1 << 18}).Draw(rt, "calls of a window"))()
		list := drawn(rt, ranks)
		gaps := make([][]uint64, ranks)
		tracks := tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
			for i := range list[r.Rank] {
				list[r.Rank][i].record(r)
			}
			if len(list[r.Rank]) == 0 {
				r.Begin()
			}
		})
		first := int64(0)
		for rank, tr := range tracks {
			at := tr.Process.StartNs
			if rank == 0 {
				first = at
			}
			first = min(first, at)
			for i := range list[rank] {
				d := &list[rank][i]
				// Times that differ by no more than a few make ranks come at once, and messages arrive before they are sent.
				gap, took := rapid.Int64Range(0, 60).Draw(rt, "gap"), rapid.Int64Range(1, 90).Draw(rt, "took")
				if i == 0 {
					gap = 0
				}
				d.start = at + gap
				d.end = d.start + took
				at = d.end
				gaps[rank] = append(gaps[rank], uint64(gap))
			}
			tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) {
				if len(list[rank]) == 0 {
					return 0, 1
				}
				return gaps[rank][i], uint64(list[rank][i].end - list[rank][i].start)
			})
		}
		rep, err := waits.Analyse(mergetest.Open(t, tracks, nil), waits.Options{WithPath: true})
		if err != nil {
			rt.Fatal(err)
		}
		got := total{make(map[waits.Kind]waits.KindSum), make([]int64, ranks), make([]int64, ranks), 0, int64(rep.Messages)}
		for _, k := range rep.Kinds {
			got.Kinds[k.Kind] = k
		}
		for _, r := range rep.ByRank {
			got.Waited[r.Rank], got.Caused[r.Rank] = r.WaitedNs, r.CausedWaitNs
		}
		for _, s := range rep.Sites {
			for _, c := range s.Causes {
				got.Compute += c.LateComputeNs
			}
		}
		if diff := cmp.Diff(slow(list), got); diff != "" {
			rt.Fatalf("by definition, and found:\n%s", diff)
		}
		for rank := range list {
			if len(list[rank]) == 0 {
				return // its only call is not of the list
			}
		}
		run, hops, on := slowPath(list)
		found, sites := make(map[int]int64), int64(0)
		for _, r := range rep.Path.Ranks {
			found[r.Rank] = r.ComputeNs + r.MPINs
		}
		for _, s := range rep.Path.Sites {
			sites += s.ComputeNs + s.MPINs
		}
		if diff := cmp.Diff(on, found); diff != "" || run != rep.Path.LengthNs || hops != rep.Path.Hops || sites != run {
			rt.Fatalf("a path of %d ns over %d hops, found %d over %d, at sites %d\n%s", run, hops, rep.Path.LengthNs, rep.Path.Hops, sites, diff)
		}
	})
}

// Of means nobody can tell who came late.
func TestMeans(t *testing.T) {
	r := mergetest.Run(t, 2, tracktest.Stencil(2))
	if _, err := waits.Analyse(r, waits.Options{}); !errors.Is(err, waits.ErrNoSingleTimes) {
		t.Errorf("times that are means: %v", err)
	}
}
