package traced

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/spoor-hpc/spoor/trace"
)

// manyRanks is how many ranks are simulated at a time, in all predictions together: each rank takes memory.
const manyRanks = 1 << 16

// PredictAll predicts a run with several options, as many at a time as there are cores. Where that fails it
// tells with which options: of several the first.
func PredictAll(r *trace.Reader, list []Options) (all []*Prediction, failed int, err error) {
	all = make([]*Prediction, len(list))
	errs := make([]error, len(list))
	var mu sync.Mutex
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(list), runtime.GOMAXPROCS(0), max(1, manyRanks/max(1, r.Ranks()))) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				o := list[i]
				if tell := o.Progress; tell != nil {
					o.Progress = func(calls uint64) {
						mu.Lock()
						defer mu.Unlock()
						tell(calls)
					}
				}
				if all[i], errs[i] = Predict(r, o); errs[i] != nil {
					next.Store(int64(len(list))) // the rest is of no use
				}
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, i, err
		}
	}
	return all, 0, nil
}
