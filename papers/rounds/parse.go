package rounds

import (
	"encoding/binary"
	"iter"

	"github.com/spoor-hpc/spoor/papers/rsd"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// mostBody is the largest number of calls of an iteration that a loop with synthetic trip counts may have.
const mostBody = 1 << 12

// A parser finds the executions of loops (type run) in the ranks' calls.
type parser struct {
	r       *trace.Reader
	sites   *rsd.Sites
	comms   *handles.Comms
	rounds  []uint64 // by loop: number of iterations on all ranks
	apart   []uint64 // by loop: number of iterations that differ from the one before
	chosen  []bool   // by loop: its trip counts may become synthetic
	threads bool
	wild    map[wildcard]bool
	odd     map[int]string // by communicator: why its messages can't be followed
}

// weigh counts a rank's iterations of each loop, and those whose calls differ from those of the iteration before.
func (p *parser) weigh(x *rank) error {
	places, err := p.sites.Places(x.k)
	if err != nil {
		return err
	}
	if p.rounds == nil {
		p.rounds, p.apart = make([]uint64, p.sites.Loops()), make([]uint64, p.sites.Loops())
	}
	type state struct{ this, last uint64 }
	states := make([]state, p.sites.Loops())
	end := func(l int) {
		p.rounds[l]++
		if states[l].this != states[l].last {
			p.apart[l]++
		}
		states[l] = state{last: states[l].this}
	}
	last := -1
	for t := range x.k.Sequence(0) {
		place := places[t]
		common := -1
		if last >= 0 {
			common = p.sites.CommonLoop(last, place)
			for l := p.sites.InnermostLoop(last); l != common; l = p.sites.OuterLoop(l) {
				end(l)
				states[l].last = 0 // the loop has ended: its next iteration has none before it
			}
			if common >= 0 && place <= last {
				end(common)
			}
		}
		for l := p.sites.InnermostLoop(place); l >= 0; l = p.sites.OuterLoop(l) {
			states[l].this = (states[l].this^uint64(t+1))*0x9e3779b97f4a7c15 + 1
		}
		last = place
	}
	if last >= 0 {
		for l := p.sites.InnermostLoop(last); l >= 0; l = p.sites.OuterLoop(l) {
			end(l)
		}
	}
	return nil
}

// choose selects loops of which at least half of the iterations equal the one before. Of nested ones, it selects the
// outermost.
func (p *parser) choose() {
	for l := range p.chosen {
		p.chosen[l] = p.rounds[l] >= 2*p.apart[l]
		for o := p.sites.OuterLoop(l); o >= 0; o = p.sites.OuterLoop(o) {
			if p.chosen[o] {
				p.chosen[l] = false
			}
		}
	}
}

// loop returns the number of the innermost chosen loop around a place (the number of a call site in p.sites); -1 if no
// chosen loop is around it.
func (p *parser) loop(place int) int {
	l := p.sites.InnermostLoop(place)
	for l >= 0 && !p.chosen[l] {
		l = p.sites.OuterLoop(l)
	}
	return l
}

// A walk goes through the calls of a rank, and splits them into iterations of the chosen loops.
type walk struct {
	*parser
	x        *rank
	original []int // the current iteration's calls, as terminals of the trace; in terminal, as terminals of the track
	terminal []int
	first    uint64 // index of the current iteration's first call
	key      []byte
	latest   int // index in x.runs of the run that the next iteration may continue; -1: it begins a new run
	pending  int64
	open     bool // requests were pending when the iteration began
	lost     bool // pending isn't reliable: a call may have completed requests that can't be identified
	posted   map[channel]uint64
	began    map[channel]uint64 // values of posted when the iteration began, for the channels that it uses
}

// parse finds the runs of the chosen loops in a rank's calls.
func (p *parser) parse(x *rank) error {
	places, err := p.sites.Places(x.k)
	if err != nil {
		return err
	}
	w := &walk{parser: p, x: x, latest: -1, posted: make(map[channel]uint64)}
	next, stop := iter.Pull(x.t.Streams[0].Grammar.All())
	defer stop()
	last, in := -1, -1
	at := uint64(0)
	for t := range x.k.Sequence(0) {
		now, _ := next()
		place := places[t]
		loop := p.loop(place)
		if in >= 0 && (loop != in || place <= last && p.sites.CommonLoop(last, place) == in) {
			w.round()
		}
		if loop != in {
			w.latest = -1
		}
		if loop >= 0 && len(w.terminal) == 0 {
			w.first, w.open = at, w.pending != 0
		}
		if loop >= 0 && len(w.terminal) <= mostBody {
			w.original, w.terminal = append(w.original, t), append(w.terminal, int(now))
		}
		w.call(t, at)
		in, last = loop, place
		at++
	}
	if in >= 0 {
		w.round()
	}
	return nil
}

// round ends an iteration: it continues the loop's run, or begins a new one if the iteration's calls differ.
func (w *walk) round() {
	defer func() { w.original, w.terminal, w.began = w.original[:0], w.terminal[:0], nil }()
	if len(w.terminal) > mostBody {
		w.latest = -1
		return
	}
	w.key = w.key[:0]
	for _, t := range w.terminal {
		w.key = binary.AppendUvarint(w.key, uint64(t))
	}
	b := w.x.bodies[string(w.key)]
	if b == nil {
		b = w.body(w.first)
		w.x.bodies[string(w.key)] = b
	}
	n := b.node
	if w.lost && b.makes {
		n.keep("requests are tested, or waited for one by one")
	}
	if w.open && b.makes {
		n.keep("requests are under way when the loop begins")
	}
	if w.latest >= 0 && w.x.runs[w.latest].body == b {
		w.x.runs[w.latest].rounds++
		n.rounds[len(n.rounds)-1]++
	} else {
		w.x.runs = append(w.x.runs, run{b, w.first, 1})
		w.latest = len(w.x.runs) - 1
		n.runs++
		n.rounds = append(n.rounds, 1)
	}
	n.passed(w)
}
