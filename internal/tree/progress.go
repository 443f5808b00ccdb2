package tree

// A tripCountPattern is the trip counts of a loop, entry by entry, as at most four arithmetic progressions. One
// suffices for a loop whose trip count grows with the iterations of an outer loop. If that outer loop is itself in a
// third loop, the progression repeats.
type tripCountPattern struct {
	list [4]linearRun
	n    int // number of elements of list in use
	none bool
}

// A linearRun is consecutive entries of a loop: trip counts from first to last, each step more than the one before.
// All these entries occur times times.
type linearRun struct {
	first, last uint64
	step        int64
	entries     uint64
	times       uint64
}

func entry(rounds uint64) linearRun { return linearRun{rounds, rounds, 0, 1, 1} }

// then returns the entries of p and q as one run. It returns false if their trip counts form no arithmetic
// progression.
func (p linearRun) then(q linearRun) (linearRun, bool) {
	step := int64(q.first - p.last)
	if p.times > 1 || q.times > 1 || p.entries > 1 && p.step != step || q.entries > 1 && q.step != step {
		return p, false
	}
	return linearRun{p.first, q.last, step, p.entries + q.entries, 1}, true
}

// add appends a run of entries to the pattern, if possible as part of its last progression.
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
	// The last progression has two entries, which is true of any two. So its second entry may instead begin the next
	// one.
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

// append appends a run of entries that does not continue the last progression, but may repeat it.
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

// join appends the trip counts of pattern q, which follows p in the stream.
func (p *tripCountPattern) join(q tripCountPattern) {
	if q.none {
		*p = q
	}
	for _, x := range q.list[:q.n] {
		p.add(x)
	}
}

// repeated returns the pattern of n repetitions of p.
func (p tripCountPattern) repeated(n uint64) (out tripCountPattern) {
	for ; n > 0; n >>= 1 {
		if n&1 > 0 {
			out.join(p)
		}
		p.join(p)
	}
	return out
}

// step returns by how much each entry's trip count exceeds that of the entry before. It returns 0 if that varies, or
// with fewer than three entries.
func (p *tripCountPattern) step() int64 {
	if p.none || p.n != 1 || p.list[0].entries < 3 {
		return 0
	}
	return p.list[0].step
}
