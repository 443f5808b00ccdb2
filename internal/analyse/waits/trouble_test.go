package waits

import (
	"errors"
	"iter"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/internal/merge/mergetest"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/track/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

var errBroken = errors.New("broken")

// A failing transport works for so many messages.
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
func logged(t *testing.T, ranks int) (*trace.Reader, []*track.Log) {
	tracks := tracktest.RunAll(ranks, tracktest.Stencil(3))
	logs := make([]*track.Log, ranks)
	for rank, tr := range tracks {
		tracktest.Timed(tr, timing.Lossless, func(i int) (gap, duration uint64) { return uint64(rank + 1), uint64(i%7 + 1) })
		logs[rank], tr.Log = tr.Log, nil
	}
	return mergetest.Open(t, tracks, nil), logs
}

// answers has all ranks find out who waited, and returns what rank 0 got.
func answers(ranks []Transport, r *trace.Reader, logs []*track.Log) (*trace.Waits, []error) {
	errs := make([]error, len(ranks))
	var out *trace.Waits
	var wait sync.WaitGroup
	for i, t := range ranks {
		wait.Add(1)
		go func() {
			defer wait.Done()
			w, err := At(t, Finish{Trace: r, Log: logs[i], Always: true})
			if i == 0 {
				out = w
			}
			if errs[i] = err; err != nil {
				for _, x := range ranks { // they have waited long enough
					if v, ok := x.(*virtual); ok {
						v.close()
						break
					}
				}
			}
		}()
	}
	wait.Wait()
	return out, errs
}

// Whichever message of a rank doesn't come through, all ranks come to an end, and rank 0 has an answer or an error.
func TestBrokenTransport(t *testing.T) {
	for _, ranks := range []int{3, 2 * everybody} {
		r, logs := logged(t, ranks)
		for n := 0; ; n++ {
			list := memory(ranks)
			f := &failing{list[1], n}
			list[1] = f
			out, errs := answers(list, r, logs)
			if f.left >= 0 {
				if out == nil || out.Left != trace.WaitsKnown || len(out.Sites) == 0 {
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
		for n := range k.Len(0) {
			for _, panics := range []bool{false, true} {
				broken := *logs[1]
				broken.Streams = []iter.Seq2[[]timing.Entry, error]{func(yield func([]timing.Entry, error) bool) {
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
				out, errs := answers(memory(ranks), r, append(append([]*track.Log{logs[0]}, &broken), logs[2:]...))
				if out == nil || out.Left != trace.LeftFailed || errors.Join(errs...) != nil {
					t.Errorf("%d ranks, call %d: %+v, %v", ranks, n, out, errs)
				}
			}
		}
	}
}
