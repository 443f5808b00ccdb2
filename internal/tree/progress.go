package tree

// A tripCountPattern is the trip counts of a loop, entry by entry, as a few arithmetic progressions. A loop whose trip
// count grows with an outer loop's iterations has one progression. If that outer loop is itself in a third loop,
// the progression repeats.
type tripCountPattern struct {
	list [4]linearRun
	n    int // number of elements of list in use
	none bool
}

// A linearRun is entries whose iterations grow by step from each to the next; all of that is repeated times times.
type linearRun struct {
	first, last uint64
	step        int64
	entries     uint64
	times       uint64
}

func entry(rounds uint64) linearRun { return linearRun{rounds, rounds, 0, 1, 1} }

// then returns a run of the entries of both runs, if these form an arithmetic progression; false if they don't.
func (p linearRun) then(q linearRun) (linearRun, bool) {
	step := int64(q.first - p.last)
	if p.times > 1 || q.times > 1 || p.entries > 1 && p.step != step || q.entries > 1 && q.step != step {
		return p, false
	}
	return linearRun{p.first, q.last, step, p.entries + q.entries, 1}, true
}

// add appends a run of entries.
func (p *tripCountPattern) add(x linearRun) {
	if p.none {
		return
	}
	if p.n == 0 {
		p.list[0], p.n = x, 1
		return
	}
	last := &p.list[p.n-1]
	if y, ok := last.then(x); ok {
		p.n--
		p.append(y)
		return
	}
	// Any two entries form a progression, so the second one may instead begin the next.
	if last.entries == 2 && last.times == 1 {
		if y, ok := entry(last.last).then(x); ok {
			before := entry(last.first)
			p.n--
			p.add(before)
			p.append(y)
			return
		}
	}
	p.append(x)
}

// append appends a run of entries that does not continue the last one.
func (p *tripCountPattern) append(x linearRun) {
	if p.none {
		return
	}
	if p.n > 0 {
		last := &p.list[p.n-1]
		times := last.times + x.times
		x.times = last.times
		if *last == x {
			last.times = times
			return
		}
		x.times = times - last.times
	}
	if p.n == len(p.list) {
		*p = tripCountPattern{none: true}
		return
	}
	p.list[p.n] = x
	p.n++
}

// join appends the trip counts of the next part.
func (p *tripCountPattern) join(q tripCountPattern) {
	if q.none {
		*p = q
	}
	for _, x := range q.list[:q.n] {
		p.add(x)
	}
}

// repeated returns the trip counts of n repetitions.
func (p tripCountPattern) repeated(n uint64) (out tripCountPattern) {
	for ; n > 0; n >>= 1 {
		if n&1 > 0 {
			out.join(p)
		}
		p.join(p)
	}
	return out
}

// step returns the constant difference between consecutive entries; 0 if it varies, or if there are fewer than
// three entries.
func (p *tripCountPattern) step() int64 {
	if p.none || p.n != 1 || p.list[0].entries < 3 {
		return 0
	}
	return p.list[0].step
}
