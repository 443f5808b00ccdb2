package rsd

import "slices"

// A sharedItem is an event or a loop that units have in common: matching items, one of each. A unit is ranks with equal
// streams.
type sharedItem struct {
	context int
	body    []*sharedItem
	parts   []unitItem
	least   uint64 // of a loop: least trip count, in any unit; most is the largest
	most    uint64
	hash    uint64 // item.hash of the first of its items; 0 for a loop that split made
	isLoop  bool
	fence   bool // the item is, or contains, a collective call of several ranks
}

type unitItem struct {
	unit int
	item *item
}

// sharedItemsOf makes a shared item of each item of a unit. fence reports whether a context has collective calls of
// several ranks.
func sharedItemsOf(list []*item, unit int, fence func(context int) bool) []*sharedItem {
	out := make([]*sharedItem, len(list))
	for i, x := range list {
		j := &sharedItem{context: x.context, parts: []unitItem{{unit, x}}, hash: x.hash, isLoop: x.loop()}
		if j.isLoop {
			j.least, j.most = x.bounds()
			j.body = sharedItemsOf(x.body, unit, fence)
			j.fence = slices.ContainsFunc(j.body, func(y *sharedItem) bool { return y.fence })
		} else {
			j.fence = fence(x.context)
		}
		out[i] = j
	}
	return out
}

// An aligner merges sequences of items by their heaviest common subsequence. A pair of events with one context has
// weight 1. A pair of loops has the weight of what their bodies have in common, times the larger trip count: so loops
// matter more than the calls around them.
type aligner struct {
	tolerance
	known  map[weighing]float64
	splits map[splitting]*sharedItem
}

type splitting struct {
	j      *sharedItem
	rounds uint64
}

type weighing struct {
	a, b   *sharedItem
	fences bool
}

// merge merges two sequences. Items with collective calls (fences) are paired first, then the items between two pairs.
func (a *aligner) merge(x, y []*sharedItem) []*sharedItem {
	head, tail := 0, 0
	for head < min(len(x), len(y)) && a.alike(x[head], y[head]) {
		head++
	}
	for tail < min(len(x), len(y))-head && a.alike(x[len(x)-1-tail], y[len(y)-1-tail]) {
		tail++
	}
	var out []*sharedItem
	for i := range head {
		out = append(out, a.join(x[i], y[i]))
	}
	endX, endY := len(x)-tail, len(y)-tail
	i, j := head, head
	for _, p := range a.pairs(x[:endX], y[:endY], head, true) {
		out = a.between(out, x[i:p.i], y[j:p.j])
		out = append(out, a.join(x[p.i], y[p.j]))
		i, j = p.i+1, p.j+1
	}
	out = a.between(out, x[i:endX], y[j:endY])
	for n := range tail {
		out = append(out, a.join(x[endX+n], y[endY+n]))
	}
	return out
}

// between appends the merged items of x and y, which are between two pairs of fences. Items without a match go before
// the next match, those of x first.
func (a *aligner) between(out []*sharedItem, x, y []*sharedItem) []*sharedItem {
	i, j := 0, 0
	for _, p := range a.pairs(x, y, 0, false) {
		out = append(append(out, x[i:p.i]...), y[j:p.j]...)
		out = append(out, a.join(x[p.i], y[p.j]))
		i, j = p.i+1, p.j+1
	}
	return append(append(out, x[i:]...), y[j:]...)
}

// join makes one item of a matching pair of items.
func (a *aligner) join(x, y *sharedItem) *sharedItem {
	x, y, _ = a.matched(x, y)
	j := &sharedItem{context: x.context, hash: x.hash, isLoop: x.isLoop, fence: x.fence || y.fence, parts: slices.Concat(x.parts, y.parts)}
	if j.isLoop {
		j.least, j.most = min(x.least, y.least), max(x.most, y.most)
		j.body = a.merge(x.body, y.body)
	}
	return j
}

// matched returns whether two items match, and the items to be joined. Loops match in three cases: if their trip counts
// are equal, whatever their bodies; if alike says so; or if one trip count is a multiple of the other. In the last case
// the loop with more iterations is replaced by a loop around a loop: its ranks do nothing else in the outer one.
func (a *aligner) matched(x, y *sharedItem) (*sharedItem, *sharedItem, bool) {
	switch {
	case !x.isLoop && !y.isLoop:
		return x, y, x.context == y.context
	case x.isLoop != y.isLoop:
		return x, y, false
	case a.alike(x, y):
		return x, y, true
	case x.least != x.most || y.least != y.most:
		return x, y, false
	case x.least == y.least:
		return x, y, true
	case x.least > 1 && y.least%x.least == 0:
		return x, a.split(y, x.least), true
	case y.least > 1 && x.least%y.least == 0:
		return a.split(x, y.least), y, true
	}
	return x, y, false
}

// split replaces loop j, whose trip count is a multiple of rounds, by a loop of rounds iterations around a loop.
func (a *aligner) split(j *sharedItem, rounds uint64) *sharedItem {
	at := splitting{j, rounds}
	if out := a.splits[at]; out != nil {
		return out
	}
	inner := *j
	inner.least, inner.most, inner.parts = j.least/rounds, j.most/rounds, nil
	out := &sharedItem{body: []*sharedItem{&inner}, least: rounds, most: rounds, isLoop: true, fence: j.fence}
	for _, p := range j.parts {
		in := *p.item
		times := in.over[j.least]
		in.over = map[uint64]uint64{inner.least: rounds * times}
		inner.parts = append(inner.parts, unitItem{p.unit, &in})
		out.parts = append(out.parts, unitItem{p.unit, &item{body: []*item{&in}, over: map[uint64]uint64{rounds: times}}})
	}
	a.splits[at] = out
	return out
}

// alike reports whether two items are equal with all items in them. The tolerance decides which trip counts are equal.
func (a *aligner) alike(x, y *sharedItem) bool {
	if x.isLoop != y.isLoop || x.context != y.context || len(x.body) != len(y.body) {
		return false
	}
	if x.isLoop && !a.merges(x.hash, min(x.least, y.least), max(x.most, y.most)) {
		return false
	}
	return slices.EqualFunc(x.body, y.body, a.alike)
}

// weight returns the weight of what two items have in common, 0 if they don't match. If fences is set, only collective
// calls of several ranks count.
func (a *aligner) weight(x, y *sharedItem, fences bool) float64 {
	if x.isLoop != y.isLoop || fences && (!x.fence || !y.fence) {
		return 0
	}
	at := weighing{x, y, fences}
	w, ok := a.known[at]
	if !ok {
		if x, y, ok := a.matched(x, y); ok && !x.isLoop {
			w = 1
		} else if ok {
			for _, p := range a.pairs(x.body, y.body, 0, fences) {
				w += p.weight
			}
			w *= float64(max(x.most, y.most))
		}
		a.known[at] = w
	}
	return w
}

// A pair is two matching items: item i of the first sequence and item j of the second.
type pair struct {
	i, j   int
	weight float64
}

// mostCells is the largest number of pairs of items for which the heaviest common subsequence is computed. For longer
// sequences, each item is paired with its first match.
const mostCells = 1 << 20

// pairs returns the heaviest common subsequence of x[from:] and y[from:], of fences only if fences is set.
func (a *aligner) pairs(x, y []*sharedItem, from int, fences bool) (out []pair) {
	var xs, ys []int
	for i := from; i < len(x); i++ {
		if !fences || x[i].fence {
			xs = append(xs, i)
		}
	}
	for j := from; j < len(y); j++ {
		if !fences || y[j].fence {
			ys = append(ys, j)
		}
	}
	if len(xs)*len(ys) > mostCells {
		return a.first(x, y, xs, ys, fences)
	}
	// best[i][j] is the largest weight of a common subsequence of xs[i:] and ys[j:]. own[i][j] is the weight of the
	// pair xs[i], ys[j] alone.
	best := make([][]float64, len(xs)+1)
	own := make([][]float64, len(xs))
	best[len(xs)] = make([]float64, len(ys)+1)
	for i := len(xs) - 1; i >= 0; i-- {
		best[i], own[i] = make([]float64, len(ys)+1), make([]float64, len(ys))
		for j := len(ys) - 1; j >= 0; j-- {
			own[i][j] = a.weight(x[xs[i]], y[ys[j]], fences)
			best[i][j] = max(best[i+1][j], best[i][j+1], own[i][j]+best[i+1][j+1])
		}
	}
	for i, j := 0, 0; i < len(xs) && j < len(ys); {
		switch w := own[i][j]; {
		case w > 0 && best[i][j] == w+best[i+1][j+1]:
			out = append(out, pair{xs[i], ys[j], w})
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return out
}

// first pairs each item of xs with the first item of ys that matches it and comes after those paired before.
func (a *aligner) first(x, y []*sharedItem, xs, ys []int, fences bool) (out []pair) {
	next := 0
	for _, i := range xs {
		for k := next; k < len(ys); k++ {
			if w := a.weight(x[i], y[ys[k]], fences); w > 0 {
				out = append(out, pair{i, ys[k], w})
				next = k + 1
				break
			}
		}
	}
	return out
}
