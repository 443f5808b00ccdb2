package waits

import (
	"errors"
	"iter"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

var errBroken = errors.New("broken")

// A failing transport breaks after a number of messages.
type failing struct {
	Transport
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

// logged is a program's trace, and the logs of its ranks.
func logged(t *testing.T, ranks int) (*trace.Reader, []*track.TimeLog) {
	tracks := tracktest.RunAll(ranks, tracktest.Stencil(3))
	logs := make([]*track.TimeLog, ranks)
	for rank, tr := range tracks {
		tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) { return uint64(rank + 1), uint64(i%7 + 1) })
		logs[rank], tr.TimeLog = tr.TimeLog, nil
	}
	return mergetest.Open(t, tracks, nil), logs
}

// Whichever message of a rank doesn't come through, all ranks come to an end, and rank 0 has an answer or an error.
func TestBrokenTransport(t *testing.T) {
	for _, ranks := range []int{3, 2 * everybody} {
		r, logs := logged(t, ranks)
		for n := 0; ; n++ {
			list := LocalTransports(ranks)
			over := list[0].(*virtual).close // who waits has waited long enough
			f := &failing{list[1], n}
			list[1] = f
			out, errs := allAt(list, r, logs, true, over)
			if f.left >= 0 {
				if out == nil || out.Status != trace.WaitsKnown || len(out.Sites) == 0 {
					t.Errorf("%d ranks, all well: %+v, %v", ranks, out, errs)
				}
				break
			}
			if !errors.Is(errs[1], errBroken) {
				t.Errorf("%d ranks, message %d: %v", ranks, n, errs[1])
			}
		}
	}
}

// A rank whose times can't be read ends it for all, and none waits: whichever call it is.
func TestBrokenLog(t *testing.T) {
	for _, ranks := range []int{3, 2 * everybody} {
		r, logs := logged(t, ranks)
		whole := logs[1].Streams[0]
		k, err := r.Rank(1)
		if err != nil {
			t.Fatal(err)
		}
		for n := range k.CallCount(0) {
			for _, panics := range []bool{false, true} {
				broken := *logs[1]
				broken.Streams = []iter.Seq2[[]timing.CallTicks, error]{func(yield func([]timing.CallTicks, error) bool) {
					left := n
					for e, err := range whole {
						if left == 0 {
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
				out, err := AllAt(r, append(append([]*track.TimeLog{logs[0]}, &broken), logs[2:]...), true)
				if out == nil || out.Status != trace.WaitsAnalysisFailed || err != nil {
					t.Errorf("%d ranks, call %d: %+v, %v", ranks, n, out, err)
				}
			}
		}
	}
}
