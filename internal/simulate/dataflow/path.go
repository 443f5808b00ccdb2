package dataflow

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
)

// A CriticalPath is the chain of computations, calls and messages that determines the end of a run. If one of them
// takes less time and all else stays the same, the run is shorter, unless another chain is as long. Together they
// take the run time.
type CriticalPath struct {
	EndPs     int64
	EndRank   int32       // the rank on which the path ends
	Shares    []PathShare // sorted by rank, then by call
	WaitCount int         // number of waits on the path, mostly for another rank: at each the path goes on with what ended the wait
}

// A PathShare is the time in ps that a call of a rank adds to a path: the computation before it, its overhead, its
// waiting for messages, and time without a model.
type PathShare struct {
	Rank       int32
	CallIndex  int32 // Op.CallIndex: index of the call
	ComputePs  int64
	OverheadPs int64
	TransferPs int64
	RecordedPs int64
}

// A hop is the reason why a waiting rank continued: something that a rank, mostly another one, did earlier.
type hop struct {
	before     *hop  // the last hop of rank from, at time left
	from, at   int32 // the rank that did something, and the rank that waited for it
	left, came int64
}

// A trail is the hops that led to a message's send and to its receive.
type trail struct {
	sent, wanted *hop
	from, to     int32
	since        int64 // time since which the sender had sent without a pause, in ps
}

// A pathInterval is a time from one moment to another in which a rank is on the critical path. If waited is set, the
// path gets there by a wait for the rank of the interval before, which takes the time from left on.
type pathInterval struct {
	left, from, to int64
	waited         bool
}

// SimulateWithPath simulates programs twice, each time newly created: first to find the critical path, then to add up
// its times.
func SimulateWithPath(programs func() ([]Program, error), place *machine.Placement) (*Result, *CriticalPath, error) {
	list, err := programs()
	if err != nil {
		return nil, nil, err
	}
	_, e, err := simulate(list, place, Options{SimulateEachRank: true, SimulateEachRound: true}, nil, true)
	if err != nil {
		return nil, nil, err
	}
	w, p := e.follow()
	if list, err = programs(); err != nil {
		return nil, nil, err
	}
	result, _, err := simulate(list, place, Options{SimulateEachRank: true, SimulateEachRound: true}, w, false)
	if err != nil {
		return nil, nil, err
	}
	p.shares(w)
	return result, p, nil
}

// A watch adds up the times of calls on a critical path.
type watch struct {
	path [][]pathInterval // by rank: its intervals on the path, in order
	at   []int
	sums map[[2]int32]*PathShare
}

// leaves stores, for a message that rank x sends, the hop that led to the send.
func (e *engine) leaves(x *rank, t *trail) {
	if x.idle == x.now {
		x.idleHop = x.hop
	}
	t.sent, t.from, t.since = x.idleHop, x.number, x.idle
}

// trail returns the trail of a channel's message, by number. The trail lives as long as the message.
func (e *engine) trail(c *channel, number uint32) *trail {
	k := trailKey{c, number}
	t := e.trails[k]
	if t == nil {
		t = &trail{}
		e.trails[k] = t
	}
	return t
}

type trailKey struct {
	*channel
	number uint32
}

// wants stores, for a message whose receive rank x posts, the hop that led to the receive.
func (e *engine) wants(x *rank, t *trail) { t.wanted, t.to = x.hop, x.number }

// came records why waiting rank x continued: message m was sent or, if late is set, its receive was posted.
func (e *engine) came(x *rank, m *message, t *trail, late bool) {
	if late {
		x.jump(t.wanted, t.to, m.posted)
	} else {
		x.jump(t.sent, t.from, t.since)
	}
}

func (x *rank) jump(before *hop, from int32, left int64) {
	x.hop = &hop{before, from, x.number, left, x.now}
}

// spent adds the part of rank x's next action that is on the path. The action takes a time in ps, of kind p, in the
// call with index site.
func (w *watch) spent(x *rank, site int32, p timeKind, time int64) {
	if time == 0 {
		return
	}
	list, at := w.path[x.number], &w.at[x.number]
	for *at < len(list) && list[*at].to <= x.now {
		*at++
	}
	for i := *at; i < len(list) && list[i].from < x.now+time; i++ {
		on := min(list[i].to, x.now+time) - max(list[i].from, x.now)
		s := w.share(x.number, site)
		switch p {
		case compute:
			s.ComputePs += on
		case overhead:
			s.OverheadPs += on
		case recorded:
			s.RecordedPs += on
		case transfer:
			s.TransferPs += on
		}
	}
}

// arrived adds the wait of rank x, which continues now, if the wait is on the path.
func (w *watch) arrived(x *rank, site int32) {
	list, at := w.path[x.number], &w.at[x.number]
	for *at < len(list) && list[*at].from < x.now {
		*at++
	}
	for i := *at; i < len(list) && list[i].from == x.now; i++ {
		if list[i].waited {
			list[i].waited = false
			w.share(x.number, site).TransferPs += x.now - list[i].left
		}
	}
}

func (w *watch) share(rank, site int32) *PathShare {
	k := [2]int32{rank, site}
	if w.sums[k] == nil {
		w.sums[k] = &PathShare{Rank: rank, CallIndex: site}
	}
	return w.sums[k]
}

// follow finds the critical path after a run, from the last hop of the rank that ended last.
func (e *engine) follow() (w *watch, p *CriticalPath) {
	w, p = &watch{path: make([][]pathInterval, len(e.ranks)), at: make([]int, len(e.ranks)), sums: make(map[[2]int32]*PathShare)}, &CriticalPath{}
	for r := range e.ranks {
		if x := &e.ranks[r]; x.now > p.EndPs {
			p.EndPs, p.EndRank = x.now, int32(r)
		}
	}
	if len(e.ranks) == 0 {
		return w, p
	}
	r, to := p.EndRank, p.EndPs
	for h := e.ranks[r].hop; h != nil; h = h.before {
		w.path[r] = append(w.path[r], pathInterval{h.left, h.came, to, true})
		r, to = h.from, h.left
		p.WaitCount++
	}
	w.path[r] = append(w.path[r], pathInterval{0, 0, to, false})
	for _, list := range w.path {
		slices.Reverse(list)
	}
	return w, p
}

// shares sets p.Shares from the sums of a watch.
func (p *CriticalPath) shares(w *watch) {
	for _, s := range w.sums {
		p.Shares = append(p.Shares, *s)
	}
	slices.SortFunc(p.Shares, func(a, b PathShare) int {
		if a.Rank != b.Rank {
			return int(a.Rank - b.Rank)
		}
		return int(a.CallIndex - b.CallIndex)
	})
}
