package timing

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/trace"
)

// Six ranks on three hosts whose clocks are seconds apart and drift, two ranks on each:
// on the reader's one time line every message is sent before it is received, and
// asked for before a synchronous send ends, give or take the error that is stated.
// The hosts have names of their own where the system allows that.
func TestHosts(t *testing.T) {
	onEach(t, "token.c", 6, func(t *testing.T, a *app) {
		now := time.Now().UnixNano()
		skews := []skew{{}, {2e9, 300, now}, {-7e7, -450, now}}
		t.Setenv("SPOOR_CLOCK_SKEW", fmt.Sprintf("2:%[1]v,3:%[1]v,4:%[2]v,5:%[2]v", skews[1], skews[2]))
		t.Setenv("HOSTS", "3")
		r := a.trace("--timing", "lossless")
		clocks, err := r.Clocks()
		if err != nil || len(clocks) != 3 {
			t.Fatalf("clocks %v, error %v", clocks, err)
		}
		for i, l := range clocks {
			skews[i].check(t, i, l)
		}
		named := strings.Count(a.printed, "hosts")
		t.Logf("%d of 6 ranks could take another host name", named)
		for rank := range 6 {
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			if l, err := k.Clock(); err != nil || l != clocks[rank/2] {
				t.Errorf("rank %d has the clock %v, error %v", rank, l, err)
			}
			if p, err := k.Process(); named == 6 && (err != nil || p.Host != fmt.Sprint("node", rank/2)) {
				t.Errorf("rank %d was on %q, error %v", rank, p.Host, err)
			}
		}
		inOrder(t, r, true)
		// Without the comparison nothing would be in order.
		if raw := starts(t, r, false); raw[2]-raw[0] < 1e9 {
			t.Errorf("processes start at %v: no skew", raw)
		}
	})
}

// Other host names alone are no other clocks: one kernel has one.
func TestNamesOfHosts(t *testing.T) {
	onEach(t, "token.c", 4, func(t *testing.T, a *app) {
		t.Setenv("HOSTS", "2")
		r := a.trace("--timing", "lossless")
		if strings.Count(a.printed, "hosts") != 4 {
			t.Skip("the system gives ranks no host names of their own (unshare CLONE_NEWUTS); clocks that differ are tested all the same")
		}
		p, err := r.Processes()
		if err != nil {
			t.Fatal(err)
		}
		for rank, want := range []string{"node0", "node0", "node1", "node1"} {
			if got := p.At(rank).Host; got != want {
				t.Errorf("rank %d was on %q, want %q", rank, got, want)
			}
		}
		if clocks, err := r.Clocks(); err != nil || len(clocks) != 1 {
			t.Errorf("clocks %v, error %v", clocks, err)
		}
		inOrder(t, r, false)
	})
}

// inOrder holds each message's times at its two ends against each other.
func inOrder(t *testing.T, r *trace.Reader, apart bool) {
	t.Helper()
	type span struct{ start, end int64 }
	sends, recvs := make([][]span, r.Ranks()), make([][]span, r.Ranks())
	// What the comparison says its error is, and what each process's calibration of its
	// ticks has, for which nothing is stated: two looks at two clocks.
	room := int64(10_000)
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		l, err := k.Clock()
		if err != nil || apart && rank > 1 && l.ErrorNs <= 0 {
			t.Fatalf("rank %d: clock %+v, error %v", rank, l, err)
		}
		room = max(room, 10_000+2*l.ErrorNs)
		for c, err := range k.TimedCalls(0) {
			if err != nil {
				t.Fatal(err)
			}
			switch c.Name() {
			case "MPI_Ssend":
				sends[rank] = append(sends[rank], span{c.StartNs, c.EndNs()})
			case "MPI_Recv":
				recvs[rank] = append(recvs[rank], span{c.StartNs, c.EndNs()})
			}
		}
	}
	worst, n := int64(math.MinInt64), 0
	for rank, list := range sends {
		to := recvs[(rank+1)%r.Ranks()]
		if len(list) != 50 || len(to) != 50 {
			t.Fatalf("rank %d sends %d messages, the next one gets %d", rank, len(list), len(to))
		}
		for i := range list {
			worst = max(worst, list[i].start-to[i].end, to[i].start-list[i].end)
			n++
		}
	}
	t.Logf("of %d messages, the worst is %d ns out of order, %d allowed", n, worst, room)
	if worst > room {
		t.Errorf("a message is %d ns out of order, more than %d", worst, room)
	}
}
