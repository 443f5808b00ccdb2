package proxy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A graph search posts a wildcard receive, sends its findings, and tests in between. The order of sends, arrivals and
// tests differs in each run. A stretch is consecutive calls of this sort, up to where all their requests are finished.
// Each stretch becomes one step of the proxy, EXCHANGE. It makes the same sends in the same order, and receives as many
// messages. Values that vary from call to call are in tables.

// A role is the part of a call in an exchange.
type role uint8

const (
	noRole role = iota // the call can't be in an exchange
	inVain             // a test or probe that found nothing
	makes              // a call that begins a message, with or without a request
	tests              // a call that finishes those of its requests that have completed
	waits              // a call that finishes all requests that it gets
	probes             // a probe that found a message
	takes              // a receive of the message that the last probe found
	asks               // a call that reads a status
)

// A kind is messages of an exchange that are begun, or received after a probe, by calls that differ only in numbers.
type kind struct {
	key         string
	makers      []int // terminals, in order, of the calls that begin the messages; if probes find them, of the receives
	found       int   // terminal of the test, wait or probe that finds its messages; -1: none is needed
	asks, later []int // terminals of calls that read the status: of found, and of the receive after a probe
	answered    bool  // asks and later are set
	open        int   // largest number of the kind's requests that are unfinished at a time
	overlaps    bool  // some unfinished requests of the kind use the same address
}

// An exchange is all stretches of a stream that share kinds of messages, directly or through other stretches. They
// become the same step.
type exchange struct {
	v      *variant
	kinds  []*kind
	counts [][]int64 // by stretch: number of calls of each kind
}

// An exchanging is the exchange of one member of a variant.
type exchanging struct {
	*exchange
	member int // the member's index in the variant
}

// An exchanger finds the exchanges of a stream.
type exchanger struct {
	g     *generator
	v     *variant
	roles []role
	done  [][]int64                 // by terminal: how many creations ago the requests were made that its calls finish
	array []*signature.RequestArray // by terminal: the array if its calls leave one (done is then not used); else nil
	left  signature.RequestArrayState
	kinds map[string]*kind
	of    []*kind // by terminal: the kind of the messages that its calls begin, or receive after a probe; nil: none

	made   int64          // number of one-shot requests so far
	region []item         // calls of the current stretch
	open   map[int64]item // unfinished requests of the stretch, by number: the calls that made them
	probe  *item          // the probe of a message that was not received yet; nil: none
	closed int            // largest number of region's first calls that finish all requests they make
	finds  bool           // region has a test or probe

	stretches []map[*kind]int64 // by stretch: number of calls of each kind
	list      []int             // the stream's steps so far: each a terminal, or ^n for stretch n
	runs      []stepCalls
	next      uint64 // index of the first call without a step
	failed    bool
}

type item struct {
	terminal int
	at       uint64
	made     int64
	done     []int64 // numbers of the requests that the call finishes, as finishes returns them
	index    int     // index of the call in exchanger.region
}

// maxExchanged is the largest number of steps of a stream with exchanges. mostKinds is the largest number of kinds of
// an exchange: KINDS in runtime/exchange.c.
const (
	maxExchanged = 1 << 22
	mostKinds    = 32
)

// fewRecorded is the number of symbols in the structures of all variants up to which exchanges are not looked for.
const fewRecorded = 250

// exchanges looks for streams that become much shorter with exchanges.
func (g *generator) exchanges() {
	if g.o.KeepRecordedOrder || g.o.GapModel == GapsRecorded || g.ends != nil || g.turns != nil {
		return
	}
	n := 0
	for _, v := range g.list {
		for stream := range v.stepwise {
			n += v.recorded(v.ranks[0], stream).SymbolCount()
		}
	}
	var found []candidate
	for _, v := range g.list {
		for stream := range v.stepwise {
			if n <= fewRecorded || v.generalised {
				continue
			}
			if s := g.exchange(v, stream); s != nil {
				found = append(found, candidate{v, stream, s, v.finishes})
			}
		}
		for i := range found {
			if found[i].v == v {
				found[i].finishes = v.finishes
			}
		}
	}
	g.take(found)
}

// exchange looks for exchanges in one stream. Its steps must be the same on all members.
func (g *generator) exchange(v *variant, stream int) *stepwise {
	kept := slices.Clip(v.finishes)
	var first *stepwise
	var list []finish
	for m, k := range v.ranks {
		v.finishes = kept
		s := g.exchanged(v, k, stream)
		if s == nil || m > 0 && (!first.g.Equal(s.g) || !slices.Equal(first.runs, s.runs)) {
			v.finishes = kept
			return nil
		}
		if m == 0 {
			first, list = s, v.finishes
		}
	}
	v.finishes = list
	return first
}

// exchanged finds the steps of a stream on a rank; nil if it has no exchange.
func (g *generator) exchanged(v *variant, k *trace.Rank, stream int) *stepwise {
	x := &exchanger{g: g, v: v, kinds: make(map[string]*kind), open: make(map[int64]item),
		roles: make([]role, len(v.calls)), done: make([][]int64, len(v.calls)), array: make([]*signature.RequestArray, len(v.calls)), of: make([]*kind, len(v.calls))}
	some := false
	for t := range v.calls {
		x.array[t] = v.calls[t].array()
		x.roles[t] = x.role(t)
		some = some || x.roles[t] == tests || x.roles[t] == probes
	}
	if !some || k.CallCount(stream) > maxStepwise {
		return nil
	}
	at := uint64(0)
	for t := range k.Sequence(stream) {
		done := x.finishes(t)
		if x.roles[t] != inVain {
			x.take(item{terminal: t, at: at, done: done})
		}
		if at++; x.failed || len(x.list) > maxExchanged {
			return nil
		}
	}
	for len(x.region) > 0 {
		x.flush()
	}
	x.vain(at)
	if x.failed || len(x.stretches) == 0 {
		return nil
	}
	return x.steps()
}

// kind sets the kind of the messages that a terminal's calls begin or receive. It makes the kind if needed.
func (x *exchanger) kind(t int, as role) {
	c := x.v.calls[t]
	key := fmt.Sprint(as, " ", c.f.Name, c.shape)
	if x.kinds[key] == nil {
		x.kinds[key] = &kind{key: key, found: -1}
	}
	x.of[t] = x.kinds[key]
}

// created returns the number of one-shot requests that a call makes.
func (c *call) created() (n int64) {
	for i := range c.out {
		if o := &c.out[i]; o.typ == trace.TypeRequest && c.f.Params[i].Dir == trace.DirOut && c.vals[0][o.at] == 2 {
			n++
		}
	}
	return n
}

// fits reports whether a call can belong to the current stretch.
func (x *exchanger) fits(i item) bool {
	switch r := x.roles[i.terminal]; {
	case r == noRole:
		return false
	case r == asks:
		if len(x.region) == 0 {
			return false
		}
		last := x.region[len(x.region)-1].terminal
		return x.roles[last] == asks || x.roles[last] == probes || x.roles[last] == takes || (x.roles[last] == tests || x.roles[last] == waits) && len(x.region[len(x.region)-1].done) == 1
	case r == takes:
		return x.probe != nil
	case x.probe != nil:
		return false
	case r == tests, r == waits:
		for _, r := range i.done {
			if _, ours := x.open[r]; !ours {
				return false
			}
		}
	}
	return true
}

// take adds the stream's next call to the current stretch. If the call can't belong to it, take ends the stretch first.
func (x *exchanger) take(i item) {
	if i.made == 0 {
		x.made += x.v.calls[i.terminal].created()
		i.made = x.made
	}
	if !x.fits(i) {
		for len(x.region) > 0 {
			x.flush()
		}
		if !x.fits(i) {
			x.single(i)
			return
		}
	}
	i.index = len(x.region)
	x.region = append(x.region, i)
	switch x.roles[i.terminal] {
	case makes:
		if x.v.calls[i.terminal].created() > 0 {
			x.open[i.made] = i
		}
	case tests, waits:
		for _, r := range i.done {
			delete(x.open, r)
		}
	case probes:
		x.probe = &i
	case takes:
		x.probe = nil
	}
	x.finds = x.finds || x.roles[i.terminal] == tests || x.roles[i.terminal] == probes
	if len(x.open) > 0 || x.probe != nil {
		return
	}
	if x.closed = len(x.region); !x.finds && x.roles[i.terminal] == waits {
		x.flush() // a stretch without tests or probes needs no EXCHANGE, as its calls have the same order in each run
	}
}

// flush ends the current stretch after its last call without open requests, and processes the remaining calls again.
func (x *exchanger) flush() {
	region, n := x.region, x.closed
	finds := slices.ContainsFunc(region[:n], func(i item) bool { return x.roles[i.terminal] == tests || x.roles[i.terminal] == probes })
	if n == 0 {
		for _, i := range x.open {
			n = max(n, i.index+1)
		}
		if x.probe != nil {
			n = max(n, x.probe.index+1)
		}
	}
	x.region, x.closed, x.probe, x.finds = nil, 0, nil, false
	clear(x.open)
	if finds {
		x.exchange(region[:n])
	} else {
		for _, i := range region[:n] {
			x.single(i)
		}
	}
	for _, i := range region[n:] {
		x.take(i)
	}
}

// vain skips tests that found nothing, up to a call.
func (x *exchanger) vain(at uint64) {
	if at > x.next {
		x.runs = append(x.runs, stepCalls{first: x.next, calls: at - x.next, step: uint64(len(x.list)), none: true})
		x.next = at
	}
}

func (x *exchanger) single(i item) {
	x.vain(i.at)
	x.list = append(x.list, i.terminal)
	x.next++
}

// exchange makes one step of the calls of a stretch.
func (x *exchanger) exchange(list []item) {
	x.vain(list[0].at)
	end := list[len(list)-1].at + 1
	x.runs = append(x.runs, stepCalls{first: x.next, calls: end - x.next, step: uint64(len(x.list))})
	x.next = end
	x.list = append(x.list, ^len(x.stretches))
	calls := make(map[*kind]int64)
	x.stretches = append(x.stretches, calls)
	type place struct{ segment, offset int64 }
	open := make(map[int64]*kind)
	now, used := make(map[*kind]int), make(map[*kind]map[place]int)
	where := make(map[int64]place)
	var probe item
	for n, i := range list {
		t, c := i.terminal, x.v.calls[i.terminal]
		k := x.of[t]
		switch x.roles[t] {
		case makes:
			calls[k]++
			k.makers = append(k.makers, t)
			if c.created() == 0 {
				break
			}
			open[i.made] = k
			now[k]++
			k.open = max(k.open, now[k])
			if b := c.buffer(); b != nil {
				if used[k] == nil {
					used[k] = make(map[place]int)
				}
				p := place{c.vals[0][b.at], c.vals[0][b.at+1]}
				where[i.made] = p
				used[k][p]++
				k.overlaps = k.overlaps || used[k][p] > 1
			}
		case tests, waits:
			for _, made := range i.done {
				k = open[made]
				now[k]--
				if p, ok := where[made]; ok {
					used[k][p]--
				}
				if k.found < 0 || x.roles[k.found] == waits && x.roles[t] == tests {
					k.found = t
				}
				x.answer(k, &k.asks, list[n+1:])
			}
			k.answered = true
		case probes:
			probe = i
		case takes:
			calls[k]++
			k.makers = append(k.makers, t)
			if k.found < 0 {
				k.found = probe.terminal
			}
			p := x.v.calls[probe.terminal]
			source := c.vals[0][c.in[c.def.Index("source")].at]
			if s := p.out[p.def.Index("status")]; source >= 0 && (s.typ != trace.TypeStatus || source != p.vals[0][s.at+signature.StatusSourcePosition]) {
				x.failed = true
			}
			x.answer(k, &k.asks, list[probe.index+1-list[0].index:])
			x.answer(k, &k.later, list[n+1:])
			k.answered = true
		}
	}
}

// answer records in known which calls, at the beginning of rest, read the status of a message. They must be the same
// for each message of the kind.
func (x *exchanger) answer(k *kind, known *[]int, rest []item) {
	n := 0
	for n < len(rest) && x.roles[rest[n].terminal] == asks {
		n++
	}
	same := func(t int, i item) bool {
		a, b := x.v.calls[t], x.v.calls[i.terminal]
		return a.f == b.f && slices.Equal(a.shape, b.shape)
	}
	switch {
	case k.answered:
		x.failed = x.failed || !slices.EqualFunc(*known, rest[:n], same)
	case n > 0:
		*known = nil
		for _, i := range rest[:n] {
			*known = append(*known, i.terminal)
		}
	}
}

// buffer returns the input with the address of a call's message; nil if it has none.
func (c *call) buffer() *node {
	for i := range c.in {
		if c.f.Params[i].Kind == mpi.KindBuffer && c.in[i].typ == trace.TypeAddress {
			return &c.in[i]
		}
	}
	return nil
}

// steps returns the stream's structure.
func (x *exchanger) steps() *stepwise {
	group := make(map[*kind]*exchange)
	var groups []*exchange
	for _, s := range x.stretches {
		var to *exchange
		for k := range s {
			switch e := group[k]; {
			case e == nil:
				if to == nil {
					to = &exchange{v: x.v}
					groups = append(groups, to)
				}
				group[k] = to
				to.kinds = append(to.kinds, k)
			case to == nil:
				to = e
			case to != e:
				for _, k := range e.kinds {
					group[k] = to
				}
				to.kinds, e.kinds = append(to.kinds, e.kinds...), nil
			}
		}
	}
	step := make(map[*exchange]int)
	for _, e := range groups {
		if len(e.kinds) == 0 {
			continue
		}
		if len(e.kinds) > mostKinds {
			return nil
		}
		slices.SortFunc(e.kinds, func(a, b *kind) int { return cmp.Compare(a.key, b.key) })
		f := finish{terminal: e.kinds[0].makers[0], what: "exchange"}
		for _, k := range e.kinds {
			if !x.regular(k) {
				return nil
			}
			f.what += fmt.Sprint(" ", k.key, k.overlaps)
			for _, t := range slices.Concat([]int{k.found}, k.asks, []int{-1}, k.later) {
				if t >= 0 {
					f.what += " " + x.v.calls[t].f.Name
				}
			}
		}
		for m := range x.v.members {
			f.exchange = append(f.exchange, exchanging{e, m})
		}
		step[e] = len(x.v.calls) + len(x.v.finishes)
		x.v.finishes = append(x.v.finishes, f)
	}
	b := grammar.NewBuilder()
	for _, t := range x.list {
		if t < 0 {
			s := x.stretches[^t]
			var e *exchange
			for k := range s {
				e = group[k]
			}
			var counts []int64
			for _, k := range e.kinds {
				counts = append(counts, s[k])
			}
			e.counts = append(e.counts, counts)
			t = step[e]
		}
		b.Append(uint32(t))
	}
	return &stepwise{g: b.Grammar(), runs: x.runs, steps: uint64(len(x.list))}
}

// regular reports whether the calls of a kind differ only in numbers, so that they are one line.
func (x *exchanger) regular(k *kind) bool {
	first := x.v.calls[k.makers[0]]
	for _, t := range k.makers {
		for m, vals := range x.v.calls[t].vals {
			for i := range first.in {
				n := &first.in[i]
				switch n.typ {
				case trace.TypeNone, trace.TypeInt:
				case trace.TypeAddress, trace.TypeHandle, trace.TypeMPITObject:
					if vals[n.at] != first.vals[m][n.at] {
						return false
					}
				default:
					return false
				}
			}
		}
	}
	return true
}
