package oracle

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A part is the calls of one thread, in the log and in a stream of the trace.
type part struct {
	stream int
	first  int // position in the stream
	calls  []*Call
	trace  []trace.Call
}

// assign finds out which thread made which calls of a trace. A stream holds
// the calls of a thread, and then perhaps those of threads that began after it
// had ended; threads that begin at once may be numbered in either order.
func assign(threads [][]*Call, streams [][]trace.Call) ([]part, error) {
	if len(threads) == 1 && len(streams) == 1 {
		return []part{{calls: threads[0], trace: streams[0]}}, nil
	}
	a := assignment{streams: streams, filled: make([]int, len(streams)), busy: make([]uint64, len(streams))}
	for _, calls := range threads {
		a.threads = append(a.threads, thread{calls, logKeys(calls)})
	}
	// The recorder looks for a stream during the first call, somewhere between
	// the two ends of it that are logged.
	sort.Slice(a.threads, func(i, j int) bool { return a.threads[i].began() < a.threads[j].began() })
	for _, s := range streams {
		a.keys = append(a.keys, traceKeys(s))
	}
	if !a.place(0) {
		return nil, fmt.Errorf("%d threads made calls, %d of them fit the trace's %d streams", len(threads), a.best, len(streams))
	}
	return a.parts, nil
}

type thread struct {
	calls []*Call
	keys  []string
}

// began is when the thread had a stream, at the latest.
func (t *thread) began() uint64 {
	if first := t.calls[0]; first.Done {
		return first.Left
	}
	return math.MaxUint64
}

type assignment struct {
	threads []thread
	streams [][]trace.Call
	keys    [][]string
	filled  []int    // calls of each stream that are assigned
	busy    []uint64 // when the last assigned call of each stream was left
	parts   []part
	best    int
}

// place assigns the threads from n on, trying the streams in turn.
func (a *assignment) place(n int) bool {
	a.best = max(a.best, n)
	if n == len(a.threads) {
		for i := range a.streams {
			if a.filled[i] != len(a.streams[i]) {
				return false
			}
		}
		return true
	}
	t := a.threads[n]
	for i := range a.streams {
		from := a.filled[i]
		to := from + len(t.calls)
		if t.began() < a.busy[i] || !prefix(a.keys[i][from:], t.keys) {
			continue
		}
		busy := a.busy[i]
		a.filled[i], a.busy[i] = to, t.calls[len(t.calls)-1].Left
		a.parts = append(a.parts, part{i, from, t.calls, a.streams[i][from:to]})
		if a.place(n + 1) {
			return true
		}
		a.filled[i], a.busy[i] = from, busy
		a.parts = a.parts[:len(a.parts)-1]
	}
	return false
}

func prefix(list, start []string) bool {
	return len(start) <= len(list) && slices.Equal(list[:len(start)], start)
}

// logKeys and traceKeys render what is the same in log and trace without any
// translation: names, counts and tags.
func logKeys(calls []*Call) []string {
	var keys []string
	for _, call := range calls {
		key := call.Name
		entry, _ := mpi.CallNamed(call.Name)
		for i := range entry.Params {
			p := &entry.Params[i]
			if plain(p.Kind) && !p.Array && p.Dir == mpi.DirIn && i < len(call.In) && call.In[i].Int > 0 {
				key += fmt.Sprintf(" %d", call.In[i].Int)
			}
		}
		keys = append(keys, key)
	}
	return keys
}

func traceKeys(calls []trace.Call) []string {
	var keys []string
	for i := range calls {
		key := calls[i].Name()
		for j := range calls[i].Params {
			p := &calls[i].Params[j]
			if plain(p.Def.Kind) && p.Def.Dims == 0 && p.Def.Dir == trace.DirIn && p.In.Num > 0 {
				key += fmt.Sprintf(" %d", p.In.Num)
			}
		}
		keys = append(keys, key)
	}
	return keys
}

func plain(kind mpi.Kind) bool { return kind == mpi.KindCount || kind == mpi.KindTag }
