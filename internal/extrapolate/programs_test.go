package extrapolate

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/diff"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// A statement makes calls at up to ten sites, which have numbers from site on.
type statement struct {
	text string
	make func(r *tracktest.Recorder, site int)
}

// recv is a receive of what a rank sends, which says so in its status.
func recv(r *tracktest.Recorder, site int, count, source, tag int64) {
	r.Call("MPI_Recv", site, 1<<40, 0, count, tracktest.IntType, source, tag, tracktest.World, 1, source, tag, 4*count, 0)
}

// A sized is how much a rank has.
type sized struct {
	text string
	of   func(ranks, rank int64) int64
}

func sizeOf(r *rand.Rand) sized {
	c, m := 1+r.Int64N(300), 1+r.Int64N(8)
	total := 64 + r.Int64N(4000)
	k := 2 + r.Int64N(7)
	switch r.IntN(10) {
	case 0, 1:
		return sized{fmt.Sprint(c), func(_, _ int64) int64 { return c }}
	case 2:
		return sized{fmt.Sprintf("%d * share(%d)", m, total), func(n, i int64) int64 { return m * share(total, n, i) }}
	case 3:
		return sized{fmt.Sprintf("%d * block of %d between rounded bounds", m, total), func(n, i int64) int64 { return m * ((i+1)*total/n - i*total/n) }}
	case 4:
		return sized{fmt.Sprintf("%d * block of %d, the last has the rest", m, total), func(n, i int64) int64 {
			if i == n-1 {
				return m * (total - total/n*(n-1))
			}
			return m * (total / n)
		}}
	case 5:
		return sized{fmt.Sprintf("blocks of %d as long as there is something", total), func(n, i int64) int64 {
			each := (total + n - 1) / n
			return min(each*(i+1), total) - min(each*i, total)
		}}
	case 6:
		return sized{fmt.Sprintf("%d * ranks + %d", m, c), func(n, _ int64) int64 { return m*n + c }}
	case 7:
		return sized{fmt.Sprintf("%d * rank + %d", m, c), func(_, i int64) int64 { return m*i + c }}
	case 8:
		return sized{fmt.Sprintf("%d, or %d on the first of %d", c, 2*c+7, k), func(_, i int64) int64 {
			if i%k == 0 {
				return 2*c + 7
			}
			return c
		}}
	}
	return sized{fmt.Sprintf("a hash of %d", c), func(n, i int64) int64 { return 1 + (i*2654435761+n*40503+c*97)>>3%509 }}
}

// An exchanger says which rank a rank exchanges with in a step; negative: none.
type exchanger struct {
	text  string
	steps func(ranks int64) int64
	with  func(ranks, rank, i int64) int64
}

func exchanges(r *rand.Rand) exchanger {
	d := 1 + r.Int64N(3)
	log := func(n int64) int64 { return int64(bits.Len64(uint64(n - 1))) }
	one := func(int64) int64 { return 1 }
	inside := func(n, at int64) int64 {
		if at < 0 || at >= n {
			return -1
		}
		return at
	}
	switch r.IntN(8) {
	case 0:
		return exchanger{"mirror", one, func(n, i, _ int64) int64 { return n - 1 - i }}
	case 1:
		return exchanger{"pairs", one, func(n, i, _ int64) int64 { return inside(n, i^1) }}
	case 2:
		return exchanger{"doubling", log, func(n, i, k int64) int64 { return inside(n, i^1<<k) }}
	case 3:
		return exchanger{"exclusive or", func(n int64) int64 { return n - 1 }, func(n, i, k int64) int64 { return inside(n, i^(k+1)) }}
	case 4:
		return exchanger{"odd and even", func(n int64) int64 { return n }, func(n, i, k int64) int64 {
			if (i+k)%2 == 0 {
				return inside(n, i+1)
			}
			return inside(n, i-1)
		}}
	case 5:
		return exchanger{"opposite, on even numbers", one, func(n, i, _ int64) int64 {
			if n%2 != 0 {
				return -1
			}
			return (i + n/2) % n
		}}
	case 6:
		return exchanger{"sum of ranks", func(n int64) int64 { return n }, func(n, i, k int64) int64 { return (k - i + n) % n }}
	}
	return exchanger{fmt.Sprintf("blocks of %d", 2*d), one, func(n, i, _ int64) int64 { // halves of a block
		return inside(n, i/(2*d)*2*d+(i+d)%(2*d))
	}}
}

// randomStatement is one of those that programs are made of.
func randomStatement(r *rand.Rand, depth int) statement {
	s := sizeOf(r)
	size := func(x *tracktest.Recorder, rank int64) int64 { return s.of(int64(x.Size), rank) }
	switch r.IntN(9) {
	case 0:
		n := sizeOf(r)
		return statement{"allreduce of rank 0's " + n.text, func(x *tracktest.Recorder, site int) {
			x.Allreduce(site, n.of(int64(x.Size), 0))
		}}
	case 1:
		d := 1 + r.Int64N(3)
		return statement{fmt.Sprintf("ring by %d of %s", d, s.text), func(x *tracktest.Recorder, site int) {
			n, i := int64(x.Size), int64(x.Rank)
			x.Send(site, size(x, i), (i+d)%n, 1)
			from := ((i-d)%n + n) % n
			recv(x, site+1, size(x, from), from, 1)
		}}
	case 2:
		d := 1 + r.Int64N(3)
		return statement{fmt.Sprintf("chain by %d of %s", d, s.text), func(x *tracktest.Recorder, site int) {
			n, i := int64(x.Size), int64(x.Rank)
			if i+d < n {
				x.Send(site, size(x, i), i+d, 1)
			}
			if i >= d {
				recv(x, site+1, size(x, i-d), i-d, 1)
			}
		}}
	case 3, 4:
		e := exchanges(r)
		return statement{fmt.Sprintf("exchange by %s of %s", e.text, s.text), func(x *tracktest.Recorder, site int) {
			n, i := int64(x.Size), int64(x.Rank)
			for k := range e.steps(n) {
				if o := e.with(n, i, k); o >= 0 && o != i {
					x.Send(site, size(x, i), o, 2)
					recv(x, site+1, size(x, o), o, 2)
				}
			}
		}}
	case 5:
		root := []func(n int64) int64{func(int64) int64 { return 0 }, func(n int64) int64 { return n - 1 }, func(n int64) int64 { return n / 2 }}[r.IntN(3)]
		nonempty := r.IntN(2) == 0
		return statement{fmt.Sprintf("gather of %s, nonempty: %v", s.text, nonempty), func(x *tracktest.Recorder, site int) {
			n, i := int64(x.Size), int64(x.Rank)
			if i != root(n) {
				if !nonempty || size(x, i) > 0 {
					x.Send(site, size(x, i), root(n), 3)
				}
				return
			}
			for o := range n {
				if o != i && (!nonempty || size(x, o) > 0) {
					recv(x, site+1, size(x, o), o, 3)
				}
			}
		}}
	case 6:
		k := 2 + r.Int64N(5)
		return statement{fmt.Sprintf("groups of %d gather %s", k, s.text), func(x *tracktest.Recorder, site int) {
			n, i := int64(x.Size), int64(x.Rank)
			if i%k != 0 {
				x.Send(site, size(x, i), i/k*k, 4)
				return
			}
			for o := i + 1; o < min(n, i+k); o++ {
				recv(x, site+1, size(x, o), o, 4)
			}
		}}
	case 7:
		if depth > 0 {
			inner, times := randomStatement(r, depth-1), 2+r.IntN(4)
			return statement{fmt.Sprintf("%d times (%s)", times, inner.text), func(x *tracktest.Recorder, site int) {
				for range times {
					inner.make(x, site)
				}
			}}
		}
		fallthrough
	default: // a binomial tree from rank 0, or one with k children
		k := r.Int64N(4)
		c := s.of(7, 3) + 1
		return statement{fmt.Sprintf("tree %d", k), func(x *tracktest.Recorder, site int) {
			n, i := int64(x.Size), int64(x.Rank)
			if k < 2 {
				m := int64(1)
				for m < n && i&m == 0 {
					m *= 2
				}
				if i > 0 {
					recv(x, site, c, i-m, 5)
				}
				for m /= 2; m > 0; m /= 2 {
					if i+m < n {
						x.Send(site+1, c, i+m, 5)
					}
				}
				return
			}
			if i > 0 {
				recv(x, site, c, (i-1)/k, 5)
			}
			for o := k*i + 1; o <= k*i+k && o < n; o++ {
				x.Send(site+1, c, o, 5)
			}
		}}
	}
}

// Whole programs of what programs do, some of it by chance: their traces on more ranks are as they would be, or refused.
func TestRandomPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 2))
	exact := 0
	for range *programs {
		var list []statement
		var text []string
		for range 1 + r.IntN(3) {
			list = append(list, randomStatement(r, 1))
			text = append(text, list[len(list)-1].text)
		}
		program := func(x *tracktest.Recorder) {
			x.Begin()
			for i, s := range list {
				s.make(x, 10*(i+1))
			}
			x.End()
		}
		on := [][]int{{4, 6, 8, 9, 12}, {4, 5, 6, 8, 10, 12}, {3, 4, 6, 9, 12}, {4, 6, 8, 9, 12, 16}}[r.IntN(4)]
		m, err := Learn(known(t, program, on...), nil)
		if err != nil {
			continue
		}
		ranks := []int{15, 18, 20, 24, 25}[r.IntN(5)]
		if _, err := m.Extrapolate(ranks, Options{}); err != nil {
			continue
		}
		exact++
		for d, err := range diff.CompareTraces(extrapolated(t, m, ranks), mergetest.Run(t, ranks, program), diff.Options{}) {
			exact--
			t.Errorf("%s: from %v to %d ranks: %+v, %v", strings.Join(text, "; "), on, ranks, d, err)
			break
		}
	}
	t.Logf("%d of %d are exact, the others are refused", exact, *programs)
	if exact < *programs/3 {
		t.Errorf("only %d of %d are exact", exact, *programs)
	}
}
