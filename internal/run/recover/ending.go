package recover

import (
	"github.com/spoor-hpc/spoor/internal/analyse/summary"
	"github.com/spoor-hpc/spoor/trace"
)

// An Ending is how one rank of a recovered trace ended.
type Ending struct {
	Rank    int        `json:"rank"`
	End     string     `json:"end"` // summary.Finished, Unfinished or Missing
	Host    string     `json:"host,omitempty"`
	PID     int        `json:"pid,omitempty"`
	Calls   int64      `json:"calls"`
	SpanNs  int64      `json:"span_ns"`
	Threads []LastCall `json:"threads"`
	Damage  string     `json:"damage,omitempty"`
	Alive   bool       `json:"alive,omitempty"` // the process still runs, and may have made more calls since
	Process *Process   `json:"-"`
}

// A LastCall is the last call of a thread.
type LastCall struct {
	Thread int         `json:"thread"`
	Inside bool        `json:"inside"` // it had not returned
	Call   *trace.Call `json:"call"`
}

// Endings tells how each rank of the world ended, as its trace has it.
func (w *World) Endings(r *trace.Reader) ([]Ending, error) {
	list := make([]Ending, r.Ranks())
	for i := range list {
		list[i] = Ending{Rank: i, End: summary.Missing, Threads: []LastCall{}}
	}
	for _, p := range w.Processes {
		e := &list[p.Context.Rank]
		e.Process, e.Host, e.PID = p, p.Context.Host, p.Context.PID
		e.Alive = Alive(p.Context)
		if p.Damage != nil {
			e.Damage = p.Damage.Error()
		}
		if p.Track == nil {
			continue
		}
		k, err := r.Rank(p.Context.Rank)
		if err != nil {
			return nil, err
		}
		about, err := k.Process()
		if err != nil {
			return nil, err
		}
		e.End, e.Calls, e.SpanNs = summary.End(about), about.Calls, about.SpanNs
		if e.Threads, err = lastCalls(k); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func lastCalls(k *trace.Rank) ([]LastCall, error) {
	list := []LastCall{}
	for stream := range k.Streams() {
		n := k.Len(stream)
		if n == 0 {
			continue
		}
		c, err := k.Call(stream, n-1)
		if err != nil {
			return nil, err
		}
		list = append(list, LastCall{Thread: stream, Inside: c.Return == trace.NeverReturned, Call: c})
	}
	return list, nil
}
