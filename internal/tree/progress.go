package tree

// A tripCountPattern is how often a loop ran, entry by entry, as far as few arithmetic progressions say it: loops that run once more in each
// round of the loop around have one, again and again if that loop lies in a third.
type tripCountPattern struct {
	list [4]linearRun
	n    int // pieces
	none bool
}

// A linearRun is a number of entries, each with step iterations more than the one before, the whole times over.
type linearRun struct {
	first, last uint64
	step        int64
	entries     uint64
	times       uint64
}

func entry(rounds uint64) linearRun { return linearRun{rounds, rounds, 0, 1, 1} }

// then appends a run, if both together are one.
func (p linearRun) then(q linearRun) (linearRun, bool) {
	step := int64(q.first - p.last)
	if p.times > 1 || q.times > 1 || p.entries > 1 && p.step != step || q.entries > 1 && q.step != step {
		return p, false
	}
	return linearRun{p.first, q.last, step, p.entries + q.entries, 1}, true
}

// add appends a piece.
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
	// Two entries are a progression whatever they are: the second may begin what follows.
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

// append appends a piece that doesn't go on where the last one ends.
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

// join appends the next part.
func (p *tripCountPattern) join(q tripCountPattern) {
	if q.none {
		*p = q
	}
	for _, x := range q.list[:q.n] {
		p.add(x)
	}
}

// repeated is a progress n times.
func (p tripCountPattern) repeated(n uint64) (out tripCountPattern) {
	for ; n > 0; n >>= 1 {
		if n&1 > 0 {
			out.join(p)
		}
		p.join(p)
	}
	return out
}

// step is how many more rounds each entry has than the one before; 0 if it isn't the same for three or more.
func (p *tripCountPattern) step() int64 {
	if p.none || p.n != 1 || p.list[0].entries < 3 {
		return 0
	}
	return p.list[0].step
}
