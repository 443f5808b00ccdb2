package partners

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// An interval is the data on one interval, over all ranks.
type interval struct {
	fence       uint64
	balance     [2]uint64 // hash of the messages sent in it minus that of those received in it; 0: they are the same
	why         string
	comm        *handles.Comm
	closingComm int
	places      []int
	messages    uint64
	rounds      uint64
	group       *group
}

// A family is intervals whose messages are sent from the same call sites.
type family struct {
	intervals []int
	cost      uint64 // number of messages in the trace, where equal lists of messages from one call site count once
	bodies    int
	groups    []*group
	datatype  int64
	unit      int64
	mixed     bool // the messages have different datatypes
	ring      bool
	sent      []uint64 // by rank: number of messages that it sends; in received, number of those that it receives
	received  []uint64

	relative, sizes, tags, numbers stats.NumberDistribution
	send, receive, wait            sample
	exchanges                      int
	rounds                         uint64
	memory                         [2]int64 // numbers of the segments that synthetic calls send from, and receive into
}

// A sample is a recorded call. Synthetic calls are recorded with its call site.
type sample struct {
	rank  int
	at    uint64
	found bool
	site  uint64
}

// A group is the intervals of a family that get the same synthetic exchange.
type group struct {
	of        *family
	intervals int
	rounds    uint64 // number of exchanges over all intervals of the group
	kinds     map[kind]*drawnKind
	exchange  []drawnMessage
}

// A kind is the messages with one tag and with or without data. Synthetic messages of each kind are drawn from
// distributions of its own.
type kind struct {
	tag     int64 // manyTags: all tags that have no kind of their own
	nothing bool  // messages without data
}

// manyTags is the tag of the kinds of messages whose tags came after the first mostTags kinds of a group.
const manyTags = -1 << 60

// mostTags is the number of kinds in a group from which on further tags share a kind.
const mostTags = 32

// A drawnKind is the statistics of a kind's original messages.
type drawnKind struct {
	offsets, sizes, tags stats.NumberDistribution
}

// Criteria for drawing messages.
const (
	// fewBodies is the largest number of different lists of messages for which partners count as regular. The ranks of
	// an open three-dimensional grid send 27 different lists.
	fewBodies = 27
	unequal   = 4 // no messages are drawn if a rank has over unequal times the mean, and not by chance
	mostDrawn = 1 << 12
	mostTold  = 128 // approximate limit of messages in all exchanges of a family
	mostBody  = 1 << 20
	mostKinds = 16 // largest number of different synthetic exchanges of a family
)

// survey finds the intervals whose messages can be drawn.
func (d *PartnerDrawer) survey() error {
	for rank := range d.r.Ranks() {
		switch k, err := d.r.Rank(rank); {
		case err != nil:
			d.kept["a rank left no track"]++
			return nil
		case k.Streams() > 1:
			d.kept["ranks have several threads"]++
			return nil
		}
	}
	source, err := ops.NewSource(d.r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, IgnoreTimes: true})
	if err != nil {
		return err
	}
	if d.r.Ranks() < 2 {
		return nil
	}
	// bodies is the length of each different list of messages that a rank sends in an interval. The key is a hash of
	// the list's receivers and tags, and of its first call site.
	bodies := make(map[uint64]int)
	// cost is by call site of a list's first message: the number of messages in the different lists. Of a list that
	// repeats a shorter one, only the shorter one is counted.
	cost := make(map[int]uint64)
	count := make(map[int]int)
	apart := ""
	var intervals int
	for rank := range d.r.Ranks() {
		intervals = 0
		err := walkRank(d.r, source, rank, func(n int, s *share) {
			intervals++
			if rank == 0 {
				d.intervals = append(d.intervals, interval{fence: s.fence})
			}
			if n >= len(d.intervals) || d.intervals[n].fence != s.fence {
				apart = "ranks don't all make the same collective calls in one order"
				return
			}
			d.intervals[n].add(s)
			for i := s.crossedSince; i < n; i++ {
				d.intervals[i].keep(whyRequests)
				d.intervals[n].keep(whyRequests)
			}
			if len(s.sent) == 0 || len(bodies) >= mostBody {
				return
			}
			place := s.sent[0].place
			if h := grammar.DrawHash(body(s.sent), uint64(place)); bodies[h] == 0 {
				bodies[h] = len(s.sent)
				cost[place] += uint64(len(s.sent)) / s.rounds
				count[place]++
			}
		})
		if err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
		if intervals != len(d.intervals) {
			apart = "ranks don't all make as many collective calls"
		}
		d.progress(1)
	}
	for n := range d.intervals {
		if d.intervals[n].why == whyUnknown { // an unknown message might be received in any other interval
			apart = whyUnknown
		}
	}
	if apart != "" {
		d.kept[apart] = uint64(len(d.intervals))
		return nil
	}
	return d.group(source, cost, count)
}

func (l *interval) keep(why string) { l.why = cmp.Or(l.why, why) }

// add adds a rank's share of the interval.
func (l *interval) add(s *share) {
	l.keep(s.why)
	l.balance[0] += s.balance[0]
	l.balance[1] += s.balance[1]
	l.messages += uint64(len(s.sent))
	l.rounds = stats.GCD(l.rounds, s.rounds)
	if !s.closed {
		l.keep("no collective call ends it")
	}
	l.closingComm = s.closingComm
	if s.comm != nil {
		if l.comm != nil && l.comm != s.comm {
			l.keep("messages are in several communicators")
		}
		if l.comm = s.comm; l.comm.Number != 0 && l.comm.Number != s.closingComm {
			l.keep("messages are in another communicator than the collective call after them")
		}
	}
	l.places = places(l.places, s.sent)
}

// group groups the suitable intervals into families, and records why the others are unsuitable.
func (d *PartnerDrawer) group(source *ops.Source, cost map[int]uint64, count map[int]int) error {
	var sum [2]uint64
	apart := stats.NumberDistribution{KeepAllExact: true}
	known := make(map[string]*family)
	var list []*family
	for n := range d.intervals {
		l := &d.intervals[n]
		before := sum
		sum[0] += l.balance[0]
		sum[1] += l.balance[1]
		if before != [2]uint64{} || sum != [2]uint64{} {
			l.keep("messages of one interval are received in another, or by nobody")
		}
		if l.messages == 0 {
			continue
		}
		if l.why != "" {
			d.kept[l.why]++
			continue
		}
		f := once.GetOrAppend(known, fmt.Sprint(l.places), &list, func() *family {
			f := &family{sent: make([]uint64, d.r.Ranks()), received: make([]uint64, d.r.Ranks()), unit: 1, relative: apart, sizes: apart, tags: apart, numbers: apart}
			for _, p := range l.places {
				f.cost += cost[p]
				f.bodies += count[p]
			}
			return f
		})
		f.intervals = append(f.intervals, n)
	}
	list = slices.DeleteFunc(list, func(f *family) bool {
		if f.bodies > fewBodies {
			f.split(d)
			return false
		}
		d.kept["partners are regular, or few"] += uint64(len(f.intervals))
		return true
	})
	if len(list) == 0 {
		return nil
	}
	for rank := range d.r.Ranks() {
		err := walkRank(d.r, source, rank, func(n int, s *share) {
			if g := d.intervals[n].group; g != nil {
				g.add(rank, s)
			}
		})
		if err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
		d.progress(1)
	}
	for _, f := range list {
		if why := f.draw(d, len(d.families)); why != "" {
			d.kept[why] += uint64(len(f.intervals))
			continue
		}
		d.families = append(d.families, f)
	}
	slices.SortStableFunc(d.families, func(a, b *family) int { return cmp.Compare(b.cost, a.cost) })
	return nil
}

// split divides a family's intervals into groups. If they are few, each interval is a group. Otherwise, intervals with
// similar numbers of messages form a group.
func (f *family) split(d *PartnerDrawer) {
	messages, rounds := uint64(0), uint64(0)
	for _, n := range f.intervals {
		l := &d.intervals[n]
		messages, rounds = messages+l.messages, rounds+max(l.rounds, 1)*uint64(d.r.Ranks())
	}
	groups := min(len(f.intervals), mostKinds, max(1, int(mostTold*rounds/messages)))
	order := slices.Clone(f.intervals)
	if groups < len(f.intervals) {
		each := func(n int) float64 { return float64(d.intervals[n].messages) / float64(d.intervals[n].rounds) }
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(each(a), each(b)), cmp.Compare(mixedAll(d.seed, uint64(a)), mixedAll(d.seed, uint64(b))))
		})
	}
	for i, n := range order {
		if at := i * groups / len(order); at == len(f.groups) {
			f.groups = append(f.groups, &group{of: f, kinds: make(map[kind]*drawnKind)})
		}
		g := f.groups[len(f.groups)-1]
		g.intervals++
		g.rounds += d.intervals[n].rounds
		d.intervals[n].group = g
	}
}

// add adds the messages that a rank sends in an interval of the group.
func (g *group) add(rank int, s *share) {
	f := g.of
	f.sent[rank] += uint64(len(s.sent))
	f.received[rank] += s.got
	f.numbers.Add(int64(len(s.sent)), 1, rank)
	take := func(x *sample, at uint64, any bool) {
		if any && !x.found {
			*x = sample{rank: rank, at: at, found: true}
		}
	}
	take(&f.receive, s.receive.at, s.receive.any)
	take(&f.wait, s.wait.at, s.wait.any)
	for i := range s.sent {
		x := &s.sent[i]
		take(&f.send, x.at, true)
		f.relative.Add(int64(x.offset), 1, rank)
		f.sizes.Add(int64(x.bytes), 1, rank)
		f.tags.Add(x.tag, 1, rank)
		f.datatype = cmp.Or(f.datatype, x.datatype)
		f.mixed = f.mixed || f.datatype != x.datatype || x.datatype <= 0 || x.datatype >= trace.FirstCreatedHandle
		k := kind{x.tag, x.bytes == 0}
		if len(g.kinds) >= mostTags && g.kinds[k] == nil {
			k.tag = manyTags
		}
		of := once.GetOrMake(g.kinds, k, func() *drawnKind {
			apart := stats.NumberDistribution{KeepAllExact: true}
			return &drawnKind{apart, apart, apart}
		})
		of.offsets.Add(int64(x.offset), 1, rank)
		of.sizes.Add(int64(x.bytes), 1, rank)
		of.tags.Add(x.tag, 1, rank)
	}
}
