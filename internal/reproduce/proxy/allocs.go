package proxy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A trace records between which calls memory was freed. If that happens at every passage of a point in the program,
// the proxy frees the memory there. Memory that was freed only at some passages is kept until its segment number is
// used again.

// A boundary is a point between calls: after all repetitions of a step of a rule or, with between set, between two of
// them. Step -1 means before the rule's first step.
type boundary struct {
	stream, rule, step int
	between            bool
}

func (s boundary) compare(o boundary) int {
	if c := cmp.Or(cmp.Compare(s.stream, o.stream), cmp.Compare(s.rule, o.rule), cmp.Compare(s.step, o.step)); c != 0 || s.between == o.between {
		return c
	}
	if s.between {
		return -1
	}
	return 1
}

// A ruleInfo is the data to find a call in a rule.
type ruleInfo struct {
	steps []trace.Node
	start []uint64 // number of the rule's calls before each step; the last element: number of all its calls
	one   []uint64 // number of calls in one repetition of each step
	times uint64   // how often the rule occurs in the stream
}

// survey returns the data on all rules of a stream by number; root is the first rule.
func survey(root trace.Node) map[int]*ruleInfo {
	rules := make(map[int]*ruleInfo)
	var order []int // children before parents
	var visit func(n trace.Node) uint64
	visit = func(n trace.Node) uint64 {
		if r := rules[n.Rule]; r != nil {
			return r.start[len(r.steps)]
		}
		r := &ruleInfo{steps: n.Children()}
		rules[n.Rule] = r
		at := uint64(0)
		for _, s := range r.steps {
			one := uint64(1)
			if s.Rule >= 0 {
				one = visit(s)
			}
			r.start, r.one = append(r.start, at), append(r.one, one)
			at += one * s.Count
		}
		r.start = append(r.start, at)
		order = append(order, n.Rule)
		return at
	}
	visit(root)
	rules[root.Rule].times = 1
	for _, n := range slices.Backward(order) {
		for _, s := range rules[n].steps {
			if s.Rule >= 0 {
				rules[s.Rule].times += rules[n].times * s.Count
			}
		}
	}
	return rules
}

// find returns the boundary before the call of a stream with index at, and how often the stream passes that boundary.
func find(rules map[int]*ruleInfo, root, stream int, at uint64) (boundary, uint64) {
	if at == 0 {
		return boundary{stream, root, -1, false}, 1
	}
	for n := root; ; {
		r := rules[n]
		k, _ := slices.BinarySearch(r.start, at)
		k-- // the step with the last of these calls
		if k >= len(r.steps) {
			return boundary{stream, root, -1, false}, 0
		}
		if at == r.start[k+1] {
			return boundary{stream, n, k, false}, r.times
		}
		if at = (at - r.start[k]) % r.one[k]; at == 0 {
			return boundary{stream, n, k, true}, r.times * (r.steps[k].Count - 1)
		}
		n = r.steps[k].Rule
	}
}

// A visit is the allocation events of one member at a boundary.
type visit struct {
	allocs []int // indices of the events in the member's trace.RankAllocs.List
	hits   uint64
	times  uint64
	mixed  bool // the events differ between passages
}

// maxWalk is the largest number of a rank's allocation events for which the boundaries are looked for.
const maxWalk = 1 << 23

// visits finds the boundaries at which a member has allocation events; nil if it has too many events.
func (v *variant) visits(k *trace.Rank, allocs *trace.RankAllocs) map[boundary]*visit {
	found := make(map[boundary]*visit)
	walked := 0
	// Two passages differ if their events differ; different calls before them don't matter.
	type what struct {
		free    bool
		segment trace.SymbolicAddress
		size    uint64
	}
	first := make(map[what]int)
	like := make([]int, len(allocs.List))
	for n, l := range allocs.List {
		like[n] = once.GetOrMake(first, what{l.IsFree, l.Segment, l.Size}, func() int { return n })
	}
	for stream := range k.Streams() {
		root := v.structure(k, stream)
		rules := survey(root)
		var now []int
		at := uint64(0)
		note := func() {
			if len(now) == 0 {
				return
			}
			s, times := find(rules, root.Rule, stream, v.step(k, stream, at))
			x := found[s]
			switch {
			case x == nil:
				x = &visit{allocs: slices.Clone(now), times: times}
				found[s] = x
			case !slices.Equal(x.allocs, now):
				x.mixed = true
				x.allocs = append(x.allocs, now...)
			}
			x.hits++
			now = now[:0]
		}
		for n := range allocs.IndicesInOrder(stream) {
			if walked++; walked > maxWalk {
				return nil
			}
			if d := allocs.List[n].CallsSincePrevious; d > 0 {
				note()
				at += d
			}
			now = append(now, like[n])
		}
		note()
	}
	return found
}

// memory is where, and with which sizes, a variant allocates and frees its segments.
type memory struct {
	size  []map[reissue.MemorySegment]uint64 // by member: the largest size of each segment, in bytes
	stays map[reissue.MemorySegment]bool     // in the proxy, the segment has its largest size in each allocation
	at    map[boundary]events
}

// events are the statements at a boundary: first the frees, then the allocations.
type events struct{ frees, begins []string }

func (e events) all() []string { return slices.Concat(e.frees, e.begins) }

// allocations determines where a variant allocates and frees memory.
func (g *generator) allocations(v *variant) error {
	m := &memory{stays: make(map[reissue.MemorySegment]bool), at: make(map[boundary]events)}
	v.allocs = m
	all := make([]*trace.RankAllocs, len(v.ranks))
	found := make([]map[boundary]*visit, len(v.ranks))
	boundaries := make(map[boundary]bool)
	for i, k := range v.ranks {
		size := make(map[reissue.MemorySegment]uint64)
		m.size = append(m.size, size)
		allocs, err := k.Allocs()
		if err != nil {
			return err
		}
		if allocs == nil {
			allocs = &trace.RankAllocs{}
		}
		all[i] = allocs
		for n := range allocs.List {
			l := &allocs.List[n]
			if l.IsFree {
				continue
			}
			p := reissue.SegmentOf(&l.Segment)
			old, seen := size[p]
			stays, known := m.stays[p]
			m.stays[p] = (stays || !known) && (!seen || old == l.Size)
			size[p] = max(old, l.Size)
		}
		if found[i] = v.visits(k, allocs); found[i] == nil {
			for p := range size {
				m.stays[p] = true
			}
		}
		for s := range found[i] {
			boundaries[s] = true
		}
	}
	given := make(map[reissue.MemorySegment]bool)
	for _, s := range v.plan.Segments {
		given[s.MemorySegment] = s.FromMPI || s.Class != trace.AddressHeap && s.Class != trace.AddressDevice
	}
	// Where an allocation has no statement, its segment always has its largest size.
	order := slices.SortedFunc(maps.Keys(boundaries), boundary.compare)
	for again := true; again; {
		again = false
		clear(m.at)
		for _, s := range order {
			e, ok := v.statements(s, all, found, given)
			if ok {
				m.at[s] = e
				continue
			}
			for i := range v.ranks {
				if x := found[i][s]; x != nil {
					again = m.settle(all[i], x.allocs) || again
				}
			}
		}
	}
	return nil
}

// settle treats segments that a boundary without statements allocates as if their sizes never changed. It reports
// whether any of them was not treated so before.
func (m *memory) settle(r *trace.RankAllocs, allocs []int) (changed bool) {
	for _, n := range allocs {
		if l := &r.List[n]; !l.IsFree && !m.stays[reissue.SegmentOf(&l.Segment)] {
			m.stays[reissue.SegmentOf(&l.Segment)], changed = true, true
		}
	}
	return changed
}

// statements returns the statements at a boundary; ok is false if they differ between passages.
func (v *variant) statements(s boundary, all []*trace.RankAllocs, found []map[boundary]*visit, given map[reissue.MemorySegment]bool) (e events, ok bool) {
	type group struct {
		members, ranks []int
		lists          [][]*trace.AllocEvent // by member of the group: its allocation events at the boundary
	}
	var groups []*group
	of := make(map[string]*group)
	for i := range v.ranks {
		var key strings.Builder
		var list []*trace.AllocEvent
		if x := found[i][s]; x != nil {
			if x.mixed || x.hits != x.times {
				return e, false
			}
			for _, n := range x.allocs {
				l := &all[i].List[n]
				p := reissue.SegmentOf(&l.Segment)
				if given[p] || !l.IsFree && v.allocs.stays[p] {
					continue
				}
				list = append(list, l)
				fmt.Fprint(&key, l.IsFree, p.Class, p.Device, ";")
			}
		}
		b := once.GetOrAppend(of, key.String(), &groups, func() *group { return new(group) })
		b.members, b.ranks, b.lists = append(b.members, i), append(b.ranks, v.members[i]), append(b.lists, list)
	}
	for _, b := range groups {
		first := b.lists[0]
		if len(first) == 0 {
			continue
		}
		who := ""
		if len(groups) > 1 {
			c, ok := v.fitter.condition(b.ranks, v.fitter.others(b.ranks))
			if !ok {
				return e, false
			}
			who = "if (" + c.String() + ") "
		}
		for n, event := range first {
			// Ranks without this event get the values of the first rank with it.
			id, size := make([]int64, len(v.ranks)), make([]int64, len(v.ranks))
			for i := range id {
				id[i], size[i] = event.Segment.ID, int64(event.Size)
			}
			for k, i := range b.members {
				id[i], size[i] = b.lists[k][n].Segment.ID, int64(b.lists[k][n].Size)
			}
			class := strings.ToUpper(segments[event.Segment.Class])
			// A segment is allocated for the call after the boundary, and a freed segment was allocated before: the
			// order matters only within one segment.
			if event.IsFree {
				e.frees = append(e.frees, fmt.Sprintf("%srelease(%s, %s);", who, class, v.fitter.expr(mpi.KindNone, id)))
			} else {
				e.begins = append(e.begins, fmt.Sprintf("%sblock(%s, %s, %s);", who, class, v.fitter.expr(mpi.KindNone, id), v.fitter.expr(mpi.KindNone, size)))
			}
		}
	}
	return e, true
}

// arrange moves statements into a loop's body. Segments allocated before the loop and between its repetitions are
// allocated at the body's beginning. Segments freed between and after the repetitions are freed at its end. before is
// the statements before the step.
func (s *step) arrange(before *[]string) {
	n := len(s.between.begins)
	if k := len(*before) - n; n > 0 && k >= 0 && slices.Equal((*before)[k:], s.between.begins) {
		*before = (*before)[:k]
		s.head, s.between.begins = s.between.begins, nil
	}
	n = len(s.between.frees)
	if n > 0 && n <= len(s.after) && slices.Equal(s.after[:n], s.between.frees) {
		s.after = s.after[n:]
		s.tail, s.between.frees = s.between.frees, nil
	}
}

// Displacements that are addresses of recorded processes are written as relocate(0x7ffd3a2c1040). The program
// reserves memory for each 4 GiB window that such numbers point into, at the same place on all ranks. relocate
// converts an address to its place there.

// hasAddresses reports whether a parameter's values are addresses that relocate has to convert, on any rank.
func (w *writer) hasAddresses(i int) bool {
	if len(w.g.windows) == 0 || !reissue.IsAbsolute(w.c.c, &w.c.c.Params[i]) {
		return false
	}
	any := func(n *node) bool {
		return n.typ == trace.TypeInt && slices.ContainsFunc(w.c.column(n.at), reissue.IsAddress)
	}
	for k := range w.c.in[i].elems {
		if any(&w.c.in[i].elems[k]) {
			return true
		}
	}
	return any(&w.c.in[i])
}

// attachRelocated attaches the memory that relocate reserves to a new dynamic window.
func (w *writer) attachRelocated(i int) {
	if out := &w.c.out[i]; len(w.g.windows) > 0 && w.c.f.Name == "MPI_Win_create_dynamic" && out.typ == trace.TypeHandle && w.c.vals[0][out.at] >= trace.FirstCreatedHandle {
		w.after = append(w.after, fmt.Sprintf("attach_relocated(win[%s]);", w.slot(out.at)))
	}
}

// setAside returns the statement that reserves memory for relocate; "" if no address is converted.
func (g *generator) setAside() string {
	if len(g.windows) == 0 {
		return ""
	}
	list := make([]string, len(g.windows))
	for i, w := range g.windows {
		list[i] = fmt.Sprintf("%#x", int64(w))
	}
	return fmt.Sprintf("    relocate_regions(%d, (const int64_t[]){%s});\n", len(list), strings.TrimSpace(wrap(list, "        ")))
}
