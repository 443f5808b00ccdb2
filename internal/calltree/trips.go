package calltree

// trips are the trip counts of a loop, entry by entry, if they follow an arithmetic progression.
type trips struct {
	first, last uint64
	step        int64
	entries     uint64 // 0: no progression
}

func constant(n, entries uint64) trips { return trips{n, n, 0, entries} }

// steps reports whether trip counts change between entries.
func (t trips) steps() bool { return t.entries > 1 && t.step != 0 }

// each returns the step between entries; 0 if there are fewer than three entries.
func (t trips) each() int64 {
	if t.entries < 3 {
		return 0
	}
	return t.step
}

// times returns the trip counts of n repetitions.
func (t trips) times(n uint64) trips {
	if t.entries == 1 {
		t.entries = n
	}
	return t // every repetition has the same trip counts
}

// then appends trip counts: there is no progression unless they continue it or repeat it.
func (t trips) then(u trips) trips {
	step := int64(u.first - t.last)
	switch {
	case t.entries == 0 || u.entries == 0:
		return trips{}
	case t.steps() && t == u:
		return t
	case t.entries > 1 && t.step != step, u.entries > 1 && u.step != step:
		return trips{}
	}
	return trips{t.first, u.last, step, t.entries + u.entries}
}

// complete adds to loops adjacent nodes that are a further iteration in a different form. An inner loop with one
// iteration appears as its body, and one with none does not appear. It runs last, as what looks like a loop is
// better evidence.
func (f *nodeShaper) complete(list []*node) (out []*node) {
	for i := 0; i < len(list); i++ {
		loop, before, after := f.completed(list[i], out, list[i+1:])
		if loop == nil {
			loop = list[i]
		}
		out = append(out[:len(out)-before], loop)
		i += after
	}
	return out
}

// completed checks whether the nodes around a loop are a further iteration of it. It returns the new loop and how
// many nodes before and after it contains.
func (f *nodeShaper) completed(loop *node, out, next []*node) (whole *node, before, after int) {
	if loop.kind != loopKind || loop.isRun() {
		return nil, 0, 0
	}
	m := len(loop.body)
	for split := range m + 1 {
		head, after, few := f.round(loop.body[:split], next, false)
		tail, before, fewer := f.round(loop.body[split:], out, true)
		if !few && !fewer || len(head)+len(tail) < m || before+after == 0 {
			continue
		}
		body, lead := make([]item, 0, m), loop.lead
		for i, x := range tail {
			body = append(body, f.add(x, loop.body[split+i]))
		}
		for i, x := range head {
			body = append(body, f.add(loop.body[i], x))
		}
		if before > 0 {
			lead = out[len(out)-before].leads()
		}
		return f.newLoop(body, loop.rounds+1, lead), before, after
	}
	return nil, 0, 0
}

// round matches a part of a loop's body with the nodes at the beginning or the end of a list. It returns the
// matched items, how many nodes they cover, and whether an inner loop has fewer than two iterations. items is empty
// if the nodes do not match.
func (f *nodeShaper) round(body []item, list []*node, atEnd bool) (items []item, n int, few bool) {
	want := make([]uint64, len(body)) // trip count of each inner loop in this iteration; 2: the item has its usual form
	for i, x := range body {
		want[i] = 2
		t := x.n.trips.times(x.times)
		if x.n.kind != loopKind || !t.steps() {
			continue
		}
		if want[i] = t.last + uint64(t.step); atEnd {
			want[i] = t.first - uint64(t.step)
		}
		switch {
		case want[i] == 0:
			few = true
			n--
		case want[i] == 1 && !x.n.isRun():
			few = true
			n += len(x.n.body) - 1
		}
	}
	if n += len(body); n > len(list) {
		return nil, 0, false
	}
	if atEnd {
		list = list[len(list)-n:]
	}
	for i, x := range body {
		switch {
		case want[i] == 0:
			items = append(items, item{skipped(x.n), 1})
		case want[i] == 1 && !x.n.isRun():
			k := len(x.n.body)
			if !sameAs(x.n.body, list[:k]) {
				return nil, 0, false
			}
			once := f.loop(list[:k], 1)
			if once.shape != x.n.shape {
				return nil, 0, false
			}
			items, list = append(items, item{once, 1}), list[k:]
		case x.n.shape != list[0].shape:
			return nil, 0, false
		default:
			items, list = append(items, item{list[0], 1}), list[1:]
		}
	}
	return items, n, few
}

// skipped returns a loop node with no iteration.
func skipped(n *node) *node {
	out := *n
	out.body = make([]item, len(n.body))
	for i, x := range n.body {
		out.body[i] = item{x.n, 0}
	}
	out.entered, out.rounds, out.least, out.most, out.lead, out.trips = 1, 0, 0, 0, nil, constant(0, 1)
	return &out
}
