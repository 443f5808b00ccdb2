package when

import (
	"errors"
	"iter"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/trace"
)

// today is ns since 1970: of more than five ranks together more than 64 bits hold.
const today = 1_800_000_000_000_000_000

// logged is a run as ranks have it at its end: the trace without times of single calls, and these by rank.
func logged(t mergetest.TB, m made) (*trace.Reader, []*track.TimeLog) {
	t.Helper()
	tracks := m.tracks()
	logs := make([]*track.TimeLog, len(tracks))
	for rank, tr := range tracks {
		logs[rank], tr.TimeLog = tr.TimeLog, nil
		logs[rank].StartNs += today
		tr.Process.StartNs += today
	}
	return mergetest.Open(t, tracks, nil), logs
}

// What ranks find at the end of a run is, byte by byte, what is found in a trace with all their times.
func TestEndOfRun(t *testing.T) {
	for seed := range uint64(6) {
		ranks := []int{1, 2, 7, 9, 17, 70}[seed]
		m := noisyRun(rand.New(rand.NewPCG(seed, 5)), ranks, 60, 1)
		m[ranks-1][40] += 20 * typicalNs
		want, err := AnalyseUnlessStored(m.trace(t))
		if err != nil {
			t.Fatal(err)
		}
		r, logs := logged(t, m)
		w, got, err := AnalyseLogs(r, logs)
		if err != nil || w.Status != trace.WaitsKnown {
			t.Fatal(w, err)
		}
		if d := cmp.Diff(sections.AppendWhen(nil, want), sections.AppendWhen(nil, got)); d != "" || len(got.Findings) == 0 {
			t.Errorf("%d ranks: %s", ranks, cmp.Diff(want, got))
		}
	}
}

// Where it would take too long to find out who waited, the times alone are looked at.
func TestWithoutWaits(t *testing.T) {
	m := noisyRun(rand.New(rand.NewPCG(1, 5)), 4, 60, 0)
	m[2][40] += 20 * typicalNs
	r, logs := logged(t, m)
	var got *trace.When
	err := waits.RunRanks(4, func(tr waits.Transport) error {
		f := waits.RunEndInput{Trace: r, Log: logs[tr.Rank()]}
		clock, _, err := f.Clock(tr.Rank())
		if err != nil {
			return err
		}
		x, err := BeginRankAnalysis(tr, r, clock)
		if err != nil {
			return err
		}
		x.WalkCalls()
		w, err := x.Conclude()
		if tr.Rank() == 0 {
			got = w
		}
		return err
	})
	if err != nil || len(got.Findings) != 1 || !oneRank(got.Findings[0], 2) {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range got.Rows {
		for column := range got.ColumnWidthNs {
			if ns := got.StateNs(i, trace.WhenStateWaiting, column); ns != 0 {
				t.Fatalf("row %d waits %d ns", i, ns)
			}
		}
	}
}

var errBroken = errors.New("broken")

// A failing transport breaks after a number of messages.
type failing struct {
	waits.Transport
	left int
}

func (f *failing) Send(to int, msg []byte) error {
	if f.left--; f.left < 0 {
		return errBroken
	}
	return f.Transport.Send(to, msg)
}

func (f *failing) Recv(from int) ([]byte, error) {
	if f.left--; f.left < 0 {
		return nil, errBroken
	}
	return f.Transport.Recv(from)
}

// Whichever message of a rank doesn't come through, all ranks come to an end, and hear of it if they need one of that rank.
func TestBrokenTransport(t *testing.T) {
	for _, ranks := range []int{3, 70} {
		r, logs := logged(t, noisyRun(rand.New(rand.NewPCG(1, 5)), ranks, 20, 0))
		for n := 0; ; n++ {
			f := &failing{left: n}
			err := waits.RunRanks(ranks, func(tr waits.Transport) error {
				own := tr
				if tr.Rank() == 1 {
					f.Transport = tr
					own = f
				}
				_, _, err := AnalyseRun(own, waits.RunEndInput{Trace: r, Log: logs[tr.Rank()]}, timing.Options{Waits: timing.WaitsAlways})
				return err
			})
			if f.left >= 0 {
				if err != nil {
					t.Errorf("%d ranks, all well: %v", ranks, err)
				}
				break
			}
			if !errors.Is(err, errBroken) {
				t.Errorf("%d ranks, message %d: %v", ranks, n, err)
			}
			if ranks > 3 {
				n += 6
			}
		}
	}
}

// A rank whose times can't be read ends it for all, and none waits: whichever call it is, in whichever pass over its times.
func TestBrokenLog(t *testing.T) {
	r, logs := logged(t, noisyRun(rand.New(rand.NewPCG(1, 5)), 3, 3, 0))
	whole := logs[1].Streams[0]
	k, err := r.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, passes := range []int{0, 1, 2} { // that go well
		for n := range k.CallCount(0) {
			for _, panics := range []bool{false, true} {
				broken, seen := *logs[1], 0
				broken.Streams = []iter.Seq2[[]timing.CallTicks, error]{func(yield func([]timing.CallTicks, error) bool) {
					left := n
					seen++
					for e, err := range whole {
						if left == 0 && seen > passes {
							if panics {
								panic(errBroken)
							}
							yield(nil, errBroken)
							return
						}
						if left--; !yield(e, err) {
							return
						}
					}
				}}
				_, found, err := AnalyseLogs(r, []*track.TimeLog{logs[0], &broken, logs[2]})
				if found != nil || err != nil {
					t.Errorf("pass %d, call %d: %+v, %v", passes, n, found, err)
				}
			}
		}
	}
}

// A counting transport counts what comes to a rank.
type counting struct {
	waits.Transport
	bytes, messages *atomic.Int64
}

func (c *counting) Recv(from int) ([]byte, error) {
	msg, err := c.Transport.Recv(from)
	c.bytes.Add(int64(len(msg)))
	c.messages.Add(1)
	return msg, err
}

// With many ranks none has to take much, and what the trace keeps stays within its bound.
func TestManyRanks(t *testing.T) {
	for _, x := range []struct {
		ranks                    int
		bytes, messages, section int64
	}{{16, 100_000, 30, 1100}, {256, 800_000, 60, 2200}, {1024, 800_000, 80, 4300}} {
		m := noisyRun(rand.New(rand.NewPCG(1, 5)), x.ranks, 30, 1)
		scale(m[x.ranks/2], func(int) bool { return true }, 3)
		r, logs := logged(t, m)
		list := make([]*counting, x.ranks)
		var found *trace.When
		err := waits.RunRanks(x.ranks, func(tr waits.Transport) error {
			c := &counting{tr, &atomic.Int64{}, &atomic.Int64{}}
			list[tr.Rank()] = c
			f := waits.RunEndInput{Trace: r, Log: logs[tr.Rank()]}
			clock, _, err := f.Clock(tr.Rank())
			if err != nil {
				return err
			}
			rank, err := BeginRankAnalysis(c, r, clock)
			if err != nil {
				return err
			}
			rank.WalkCalls()
			w, err := rank.Conclude()
			if tr.Rank() == 0 {
				found = w
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		bytes, messages := int64(0), int64(0)
		for _, c := range list {
			bytes, messages = max(bytes, c.bytes.Load()), max(messages, c.messages.Load())
		}
		size := int64(wire.EstimatePackedSize(sections.AppendWhen(nil, found)))
		t.Logf("%d ranks: at most %d bytes and %d messages to one; %d bytes of the trace", x.ranks, bytes, messages, size)
		if bytes > x.bytes || messages > x.messages || size > x.section {
			t.Errorf("%d ranks: %d bytes and %d messages to one, want %d and %d; %d bytes of the trace, want %d", x.ranks, bytes, messages, x.bytes, x.messages, size, x.section)
		}
		last := found.Rows[len(found.Rows)-1]
		if x.ranks > mostRows && (last.FirstRank != x.ranks/2 || last.RankCount != 1) {
			t.Errorf("%d ranks: the last row is of %d from %d on, not of the one that computes longer", x.ranks, last.RankCount, last.FirstRank)
		}
	}
}
