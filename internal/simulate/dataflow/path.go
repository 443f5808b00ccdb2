package dataflow

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
)

// A CriticalPath is the chain of computations, calls and messages that the end of a run depends on: had
// one of them been shorter, others being as they were, the run would not have taken longer, and
// without slack elsewhere it would have taken less. Its parts add up to the end.
type CriticalPath struct {
	End    int64
	Rank   int32       // on which it ends
	Shares []PathShare // by rank and call, in that order
	Hops   int         // from rank to rank, or over a time in which the rank did something else
}

// A PathShare is what a call of a rank adds to a path, in ps: what was computed before it, its
// overhead, messages that it waited for, and time without a model.
type PathShare struct {
	Rank     int32
	Site     int32 // the call
	Compute  int64
	Overhead int64
	Transfer int64
	Recorded int64
}

// A hop is why a rank that had waited continued: something that a rank did earlier.
type hop struct {
	before     *hop  // of that rank, at that time
	from, at   int32 // that rank, and the one that waited
	left, came int64
}

// A trail has the hops that led to a message's sending and to its receive.
type trail struct {
	sent, wanted *hop
	from, to     int32
	since        int64 // from when on the sender sent without a pause
}

// A pathInterval of the path is what a rank does from one time to another. It had waited from a
// third on, for the rank that the stretch before is on.
type pathInterval struct {
	left, from, to int64
	waited         bool
}

// SimulateWithPath simulates programs twice, each time anew: to find the critical path, and what it is made of.
func SimulateWithPath(programs func() ([]Program, error), place *machine.Placement) (*Result, *CriticalPath, error) {
	list, err := programs()
	if err != nil {
		return nil, nil, err
	}
	_, e, err := simulate(list, place, Options{EachRank: true, EachRound: true}, nil, true)
	if err != nil {
		return nil, nil, err
	}
	w, p := e.follow()
	if list, err = programs(); err != nil {
		return nil, nil, err
	}
	result, _, err := simulate(list, place, Options{EachRank: true, EachRound: true}, w, false)
	if err != nil {
		return nil, nil, err
	}
	p.shares(w)
	return result, p, nil
}

// A watch adds up what is on a path.
type watch struct {
	path [][]pathInterval // by rank
	at   []int
	sums map[[2]int32]*PathShare
}

// leaves notes the hop that led to a message's sending.
func (e *engine) leaves(x *rank, t *trail) {
	if x.idle == x.now {
		x.idleHop = x.hop
	}
	t.sent, t.from, t.since = x.idleHop, x.number, x.idle
}

// trail is that of a message. It is forgotten with it.
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

// wants notes the hop that led to a message's receive.
func (e *engine) wants(x *rank, t *trail) { t.wanted, t.to = x.hop, x.number }

// came notes what a rank waited for: that a message was sent, or that it was wanted.
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

// spent adds to the path what is on it of what a rank is about to do.
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
			s.Compute += on
		case overhead:
			s.Overhead += on
		case recorded:
			s.Recorded += on
		case transfer:
			s.Transfer += on
		}
	}
}

// arrived adds what a rank waited for that goes on now, if that is on the path.
func (w *watch) arrived(x *rank, site int32) {
	list, at := w.path[x.number], &w.at[x.number]
	for *at < len(list) && list[*at].from < x.now {
		*at++
	}
	for i := *at; i < len(list) && list[i].from == x.now; i++ {
		if list[i].waited {
			list[i].waited = false
			w.share(x.number, site).Transfer += x.now - list[i].left
		}
	}
}

func (w *watch) share(rank, site int32) *PathShare {
	k := [2]int32{rank, site}
	if w.sums[k] == nil {
		w.sums[k] = &PathShare{Rank: rank, Site: site}
	}
	return w.sums[k]
}

// follow finds the path of a run that is over.
func (e *engine) follow() (w *watch, p *CriticalPath) {
	w, p = &watch{path: make([][]pathInterval, len(e.ranks)), at: make([]int, len(e.ranks)), sums: make(map[[2]int32]*PathShare)}, &CriticalPath{}
	for r := range e.ranks {
		if x := &e.ranks[r]; x.now > p.End {
			p.End, p.Rank = x.now, int32(r)
		}
	}
	if len(e.ranks) == 0 {
		return w, p
	}
	r, to := p.Rank, p.End
	for h := e.ranks[r].hop; h != nil; h = h.before {
		w.path[r] = append(w.path[r], pathInterval{h.left, h.came, to, true})
		r, to = h.from, h.left
		p.Hops++
	}
	w.path[r] = append(w.path[r], pathInterval{0, 0, to, false})
	for _, list := range w.path {
		slices.Reverse(list)
	}
	return w, p
}

// shares has what the watch has added up.
func (p *CriticalPath) shares(w *watch) {
	for _, s := range w.sums {
		p.Shares = append(p.Shares, *s)
	}
	slices.SortFunc(p.Shares, func(a, b PathShare) int {
		if a.Rank != b.Rank {
			return int(a.Rank - b.Rank)
		}
		return int(a.Site - b.Site)
	})
}
