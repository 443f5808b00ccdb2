package waits

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
)

type rowKey struct {
	place callSite
	kind  Kind
}

func (k rowKey) compare(o rowKey) int {
	return cmp.Or(cmp.Compare(k.place, o.place), cmp.Compare(k.kind, o.kind))
}

// A row is the waits of one kind at one place.
type row struct {
	count  uint64
	waited int64
	ranks  map[int32]int64 // by rank: the time that it waited
	late   map[int32]int64
	causes map[callSite]*cause
}

// A cause is a call at which ranks arrived late.
type cause struct{ waited, compute int64 }

func (r *row) cause(p callSite) *cause {
	return once.GetOrMake(r.causes, p, func() *cause { return &cause{} })
}

// A span is the beginning of a thread's first call and the end of its last one, in ns.
type span struct{ start, end int64 }

// sums is the result of the analysis: of one rank at first, of all in the end.
type sums struct {
	rows      map[rowKey]*row
	Threads   []span // by stream of the rank
	MPINs     int64
	WaitedNs  int64
	Other     map[string]int64 // by function: ns in calls that the analysis does not understand
	Messages  uint64           // messages with both ends known
	Backwards uint64           // messages received before they were sent, by their times
	OffNs     int64            // largest time by which a message seems received before it was sent
	losses    ops.Losses
	threads   int // largest number of threads of a rank
	ranks     []RankSum
	caused    map[int32]int64 // by rank: the time that others waited for it
}

func newSums() sums {
	return sums{rows: make(map[rowKey]*row), Other: make(map[string]int64), losses: make(ops.Losses), caused: make(map[int32]int64)}
}

func (s *sums) row(k rowKey) *row {
	return once.GetOrMake(s.rows, k, func() *row {
		return &row{ranks: make(map[int32]int64), late: make(map[int32]int64), causes: make(map[callSite]*cause)}
	})
}

// own returns the rank's sums.
func (w *rankAnalysis) own() *sums {
	s := &w.sums
	for what, n := range w.s.Losses {
		s.losses.Add(what, n)
	}
	if w.k == nil {
		return s
	}
	run := int64(0)
	for _, t := range s.Threads {
		run += t.end - t.start
	}
	// Neither spoor's own time nor time with tracing off is run time.
	if p, err := w.k.Process(); err == nil && w.part == 1 {
		run = max(0, run-p.FirstThreadRecorderNs()-p.FirstThreadTracingOffNs())
	}
	s.threads = len(s.Threads)
	s.ranks = []RankSum{{w.Rank(), run, s.MPINs, s.WaitedNs, 0}}
	for _, r := range s.rows {
		for rank, ns := range r.late {
			s.caused[rank] += ns
		}
	}
	return s
}

// keep is the largest number of ranks, those with the most time, that a row keeps when ranks exchange rows over MPI. A
// rank knows all of its own time, so the ranks with the most time are the right ones.
const keep = 64

func (r *row) bound(most int) {
	for _, of := range []map[int32]int64{r.ranks, r.late} {
		if len(of) <= most {
			continue
		}
		list := slices.SortedFunc(maps.Keys(of), func(a, b int32) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
		for _, rank := range list[most:] {
			delete(of, rank)
		}
	}
}

// join adds the sums of ranks with higher numbers. most limits the ranks that each row lists.
func (s *sums) join(o *sums, most int) {
	for key, r := range o.rows {
		into := s.row(key)
		into.count += r.count
		into.waited += r.waited
		for rank, ns := range r.ranks {
			into.ranks[rank] += ns
		}
		for rank, ns := range r.late {
			into.late[rank] += ns
		}
		for p, c := range r.causes {
			x := into.cause(p)
			x.waited += c.waited
			x.compute += c.compute
		}
		into.bound(most)
	}
	for name, ns := range o.Other {
		s.Other[name] += ns
	}
	for what, n := range o.losses {
		s.losses.Add(what, n)
	}
	for rank, ns := range o.caused {
		s.caused[rank] += ns
	}
	s.Messages += o.Messages
	s.Backwards += o.Backwards
	s.OffNs = max(s.OffNs, o.OffNs)
	s.threads = max(s.threads, o.threads)
	s.ranks = append(s.ranks, o.ranks...)
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func readSums(b []byte) (*sums, error) {
	s := newSums()
	return &s, wire.DecodeAll(b, "sums of waits", s.code)
}

// code encodes or decodes sums.
func (s *sums) code(c *wire.Coder) {
	ranks := func(of map[int32]int64) {
		wire.CodeMap(c, of, 2, func(rank *int32, ns *int64) {
			wire.CodeBounded(c, rank, math.MaxInt32)
			wire.CodeRelative(c, ns, 0)
		})
	}
	rows := slices.SortedFunc(maps.Keys(s.rows), rowKey.compare)
	wire.CodeList(c, &rows, 7, func(_ int, key *rowKey) {
		wire.CodeUints(c, &key.place)
		wire.CodeBounded(c, &key.kind, int(kinds)-1)
		r := s.row(*key)
		wire.CodeUints(c, &r.count)
		wire.CodeRelative(c, &r.waited, 0)
		ranks(r.ranks)
		ranks(r.late)
		causes := sorted(r.causes)
		wire.CodeList(c, &causes, 3, func(_ int, p *callSite) {
			wire.CodeUints(c, p)
			x := r.cause(*p)
			wire.CodeRelative(c, &x.waited, 0)
			wire.CodeRelative(c, &x.compute, 0)
		})
	})
	wire.CodeMap(c, s.Other, 2, func(name *string, ns *int64) {
		c.String(name)
		wire.CodeNaturals(c, ns)
	})
	wire.CodeMap(c, s.losses, 2, func(what *string, n *uint64) {
		c.String(what)
		wire.CodeNaturals(c, n)
	})
	ranks(s.caused)
	wire.CodeUints(c, &s.Messages, &s.Backwards)
	wire.CodeNaturals(c, &s.OffNs)
	wire.CodeNaturals(c, &s.threads)
	wire.CodeList(c, &s.ranks, 4, func(_ int, r *RankSum) {
		wire.CodeNaturals(c, &r.Rank)
		wire.CodeNaturals(c, &r.ThreadRunNs, &r.MPINs, &r.WaitedNs)
	})
}

// waited returns the waiting time at each place.
func (s *sums) waited() map[callSite]int64 {
	of := make(map[callSite]int64)
	for key, row := range s.rows {
		of[key.place] += row.waited
	}
	return of
}
