package timing

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/trace/model"
)

// A net is virtual ranks whose messages take simulated time: each rank has a
// true time of its own, which sending, receiving and waiting move on.
type net struct {
	pipes [][]chan message
	delay func(from, to int) int64
}

type message struct {
	data    []byte
	arrival int64
}

type node struct {
	*net
	rank int
	at   int64
}

func newNet(n int, delay func(from, to int) int64) *net {
	w := &net{delay: delay, pipes: make([][]chan message, n)}
	for i := range w.pipes {
		for range n {
			w.pipes[i] = append(w.pipes[i], make(chan message, 64))
		}
	}
	return w
}

func (n *node) Rank() int { return n.rank }
func (n *node) Size() int { return len(n.pipes) }

func (n *node) Send(to int, data []byte) error {
	n.at += 50
	n.pipes[n.rank][to] <- message{slices.Clone(data), n.at + n.delay(n.rank, to)}
	return nil
}

func (n *node) Recv(from int, data []byte) error {
	m := <-n.pipes[from][n.rank]
	if len(m.data) != len(data) {
		return fmt.Errorf("%d bytes instead of %d", len(m.data), len(data))
	}
	copy(data, m.data)
	n.at = max(n.at, m.arrival) + 50
	return nil
}

// A skew is how a clock differs from true time.
type skew struct {
	offset int64
	drift  float64
}

func (s skew) read(at int64) int64 { return at + s.offset + int64(s.drift*float64(at)) }

// compare runs both comparisons, an hour apart, over ranks with clocks of[rank].
func compare(t *testing.T, skews []skew, of []int, delay func(from, to int) int64) []model.Clock {
	t.Helper()
	w := newNet(len(of), delay)
	var lines []model.Clock
	var found []int
	var wg sync.WaitGroup
	for rank := range of {
		wg.Go(func() {
			n := &node{net: w, rank: rank, at: 1e9 + int64(rank)*1000}
			now := func() int64 { n.at += 20; return skews[of[rank]].read(n.at) }
			c, err := FindSharedClocks(n, uint64(100+of[rank]))
			if err != nil {
				t.Error(err)
				return
			}
			first, err := c.Estimate(n, now)
			if err != nil {
				t.Error(err)
			}
			n.at = 3600e9 + int64(rank)*777
			last, err := c.Estimate(n, now)
			if err != nil {
				t.Error(err)
			}
			if rank == 0 {
				lines = ClocksFromEstimates(first, last)
				c.EachRankClock(func(clock int) bool { found = append(found, clock); return true })
			}
		})
	}
	wg.Wait()
	if !slices.Equal(found, of) {
		t.Errorf("clocks of ranks are %v, want %v", found, of)
	}
	return lines
}

// Whatever offsets, drifts and delays are, every time is on rank 0's clock within
// the bound that is stated, from the start of the run to its end.
func TestSkewedClocks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, ranks := range []int{2, 3, 4, 7, 16, 33} {
		for _, each := range []int{1, 3} { // ranks of one clock
			for name, slow := range map[string]int64{"symmetric": 0, "asymmetric": 40_000} {
				of := make([]int, ranks)
				skews := []skew{}
				for rank := range of {
					if of[rank] = rank / each; of[rank] == len(skews) {
						skews = append(skews, skew{random.Int64N(2e12) - 1e12, (random.Float64() - 0.5) * 4e-4})
					}
				}
				jitter := rand.New(rand.NewPCG(3, 4))
				var mu sync.Mutex
				delay := func(from, to int) int64 {
					mu.Lock()
					defer mu.Unlock()
					d := 2000 + int64(jitter.ExpFloat64()*1000)
					if from < to {
						d += slow
					}
					return d
				}
				lines := compare(t, skews, of, delay)
				if len(skews) == 1 {
					if len(lines) != 0 {
						t.Errorf("%d ranks, one clock: %v", ranks, lines)
					}
					continue
				}
				if len(lines) != len(skews) {
					t.Fatalf("%d ranks: %d lines for %d clocks", ranks, len(lines), len(skews))
				}
				for i, l := range lines {
					for _, at := range []int64{1e9, 2e9, 1800e9, 3600e9} {
						want, got := skews[0].read(at), l.ToTimeLine(skews[i].read(at))
						// Composing over the tree takes clocks as running at
						// one speed for as long as the comparison lasts.
						if off := max(got-want, want-got); off > l.ErrorNs+500 {
							t.Errorf("%d ranks, %s: clock %d is off by %d ns at %d, bound %d", ranks, name, i, off, at, l.ErrorNs)
						}
					}
					if depth := ones(i); l.ErrorNs > depth*(4000+slow) {
						t.Errorf("%d ranks, %s: bound of clock %d is %d", ranks, name, i, l.ErrorNs)
					}
				}
			}
		}
	}
}

func ones(i int) (n int64) {
	for ; i > 0; i &= i - 1 {
		n++
	}
	return n
}

// Ranks dealt out to nodes in turn are found as well as those in blocks.
func TestScattered(t *testing.T) {
	skews := []skew{{0, 0}, {5e6, 1e-5}, {-7e9, -2e-5}}
	of := make([]int, 14)
	for rank := range of {
		of[rank] = rank % 3
	}
	lines := compare(t, skews, of, func(int, int) int64 { return 1500 })
	for i, l := range lines {
		if off := l.ToTimeLine(skews[i].read(77e9)) - 77e9; off > l.ErrorNs+100 || off < -l.ErrorNs-100 {
			t.Errorf("clock %d is off by %d", i, off)
		}
	}
	if len(lines) != 3 || lines[0] != (model.Clock{}) {
		t.Errorf("lines %+v", lines)
	}
}

// One rank alone has nobody to compare with.
func TestAlone(t *testing.T) {
	if lines := compare(t, []skew{{5, 0}}, []int{0}, nil); len(lines) != 0 {
		t.Errorf("%v", lines)
	}
}
