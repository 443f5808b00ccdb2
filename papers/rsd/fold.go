package rsd

import (
	"errors"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/trace"
)

// ErrTooFewLoops is returned for a run in whose calls too few loops are found to show them.
var ErrTooFewLoops = errors.New("calls repeat in no order that would be short enough to show")

const (
	mostItems = 1 << 20 // largest number of items that a folder makes in total
	mostNodes = 1 << 14 // largest number of items after the sequences of all ranks were merged
	window    = 256     // largest number of items (without those in them) of a loop body that is looked for
	long      = 1 << 12 // a loop of the grammar with at least this many calls is kept as a loop
)

// An item is an event or a loop of one rank, or of ranks that did the same. Its counts are sums over all iterations of
// the loops around it.
type item struct {
	context int
	counts  map[int]uint64    // of an event: number of calls by terminal
	body    []*item           // of a loop: the items of one iteration
	over    map[uint64]uint64 // of a loop, by trip count: how often the loop is run with it
	hash    uint64            // hash of an event's context, or of the hashes in a loop's body, without trip counts
}

func (i *item) loop() bool { return i.counts == nil }

// rounds returns the trip count of a loop that has only one.
func (i *item) rounds() uint64 {
	for n := range i.over {
		return n
	}
	return 0
}

// bounds returns the least and the largest trip count of a loop.
func (i *item) bounds() (least, most uint64) {
	least = ^uint64(0)
	for n := range i.over {
		least, most = min(least, n), max(most, n)
	}
	return least, most
}

// A folder makes loops of a stream. A body that repeats with the same contexts, and with the same trip counts of the
// loops in it, is another iteration.
type folder struct {
	tolerance
	of      func(terminal int) int
	rules   map[int][]*item
	lengths map[int]uint64 // by rule: number of its calls, or long if there are more
	made    int
}

func newFolder(t tolerance, of func(terminal int) int) *folder {
	return &folder{of: of, tolerance: t, rules: make(map[int][]*item), lengths: make(map[int]uint64)}
}

// fold returns the items of a part of a stream: what repeats in it is folded into loops.
func (f *folder) fold(n trace.Node) ([]*item, error) {
	out, err := f.sequence(nil, n)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return f.closed(out), nil
}

// sequence appends the items of a sequence of symbols. Rules are expanded, as their boundaries are unrelated to the
// program's loops. If trip counts may differ, repeated symbols are expanded, too, unless they have long calls or more:
// the repetitions may begin and end in the middle of iterations.
func (f *folder) sequence(out []*item, n trace.Node) ([]*item, error) {
	for _, c := range n.Children() {
		var err error
		switch {
		case c.Count == 1 && c.Rule >= 0:
			out, err = f.sequence(out, c)
		case c.Count == 1:
			out, err = f.event(out, c.Terminal)
		case c.Count > 1 && f.precision < 100 && f.length(c) < long:
			for range c.Count {
				if c.Rule < 0 {
					out, err = f.event(out, c.Terminal)
				} else {
					out, err = f.sequence(out, c)
				}
				if err != nil {
					return nil, err
				}
			}
		case c.Count > 1:
			var body []*item
			if c.Rule < 0 {
				body, err = f.event(nil, c.Terminal)
			} else {
				body, err = f.body(c)
			}
			if err == nil {
				out = f.append(out, repeated(body, c.Count))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// length returns the number of calls of a symbol with all repetitions, or long if there are more.
func (f *folder) length(n trace.Node) uint64 {
	one := uint64(1)
	if n.Rule >= 0 {
		var ok bool
		if one, ok = f.lengths[n.Rule]; !ok {
			one = 0
			for _, c := range n.Children() {
				one = min(one+f.length(c), long)
			}
			f.lengths[n.Rule] = one
		}
	}
	return min(one*min(n.Count, long), long)
}

func (f *folder) event(out []*item, terminal int) ([]*item, error) {
	if f.made++; f.made > mostItems {
		return nil, ErrTooFewLoops
	}
	c := f.of(terminal)
	x := &item{context: c, counts: map[int]uint64{terminal: 1}, hash: mixed(1, uint64(c))}
	if reduce.CanMerge(1, 2, f.precision) {
		x = newLoop([]*item{x}, 1) // a loop of one iteration equals, at this precision, one of several
	}
	return f.append(out, x), nil
}

// body returns the items of one iteration of a repeated rule, as a copy that the caller may change.
func (f *folder) body(n trace.Node) ([]*item, error) {
	list, ok := f.rules[n.Rule]
	if !ok {
		var err error
		if list, err = f.fold(n); err != nil {
			return nil, err
		}
		f.rules[n.Rule] = list
	}
	return f.clone(list)
}

func (f *folder) clone(list []*item) ([]*item, error) {
	if f.made += len(list); f.made > mostItems {
		return nil, ErrTooFewLoops
	}
	out := make([]*item, len(list))
	for i, x := range list {
		y := *x
		y.counts, y.over = maps.Clone(x.counts), maps.Clone(x.over)
		if x.loop() {
			var err error
			if y.body, err = f.clone(x.body); err != nil {
				return nil, err
			}
		}
		out[i] = &y
	}
	return out, nil
}

// repeated makes a loop of rounds iterations of a body. If the body is nothing but a loop, that loop gets rounds times
// as many iterations instead.
func repeated(body []*item, rounds uint64) *item {
	for _, x := range body {
		x.scale(rounds)
	}
	if len(body) == 1 && body[0].loop() {
		x := body[0]
		x.over = map[uint64]uint64{x.rounds() * rounds: 1}
		return x
	}
	return newLoop(body, rounds)
}

func newLoop(body []*item, rounds uint64) *item {
	x := &item{body: body, over: map[uint64]uint64{rounds: 1}, hash: 2}
	for _, y := range body {
		x.hash = mixed(x.hash, y.hash)
	}
	return x
}

// scale multiplies the counts of an item, and of all items in it, by the iterations of a new loop around it.
func (i *item) scale(rounds uint64) {
	for t := range i.counts {
		i.counts[t] *= rounds
	}
	for n := range i.over {
		i.over[n] *= rounds
	}
	for _, x := range i.body {
		x.scale(rounds)
	}
}

// add adds to an item's counts those of o, the same item in another iteration.
func (i *item) add(o *item) {
	for t, count := range o.counts {
		i.counts[t] += count
	}
	for n, times := range o.over {
		i.over[n] += times
	}
	addAll(i.body, o.body)
}

func addAll(list, more []*item) {
	for i := range list {
		list[i].add(more[i])
	}
}

func mixed(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// A tolerance decides which trip counts of a loop count as equal. At precision 100 (percent) only identical ones do.
// Below that, two trip counts do if each one known between them is near the next (e.g. 39, 40, 41 and 42 at 97).
type tolerance struct {
	precision int
	known     map[uint64][]uint64 // by item.hash of a loop: the trip counts that occur, rising
}

// merges reports whether the known trip counts from least to most of the loops with a hash count as equal.
func (t *tolerance) merges(hash, least, most uint64) bool {
	if least == most {
		return true
	}
	list := t.known[hash]
	i, _ := slices.BinarySearch(list, least+1)
	for ; i < len(list) && list[i] < most; i++ {
		if !reduce.CanMerge(int64(least), int64(list[i]), t.precision) {
			return false
		}
		least = list[i]
	}
	return reduce.CanMerge(int64(least), int64(most), t.precision)
}

// learn adds the trip counts of all loops in list to t.known.
func (t *tolerance) learn(list []*item) {
	for _, x := range list {
		for n := range x.over {
			if at, ok := slices.BinarySearch(t.known[x.hash], n); !ok {
				t.known[x.hash] = slices.Insert(t.known[x.hash], at, n)
			}
		}
		t.learn(x.body)
	}
}

// same reports whether two items are equal with all items in them. The tolerance decides which trip counts are equal.
func (t *tolerance) same(a, b *item) bool {
	if a.hash != b.hash || a.loop() != b.loop() {
		return false
	}
	if !a.loop() {
		return a.context == b.context
	}
	l1, m1 := a.bounds()
	l2, m2 := b.bounds()
	return t.merges(a.hash, min(l1, l2), max(m1, m2)) && t.sameAll(a.body, b.body)
}

func (t *tolerance) sameAll(a, b []*item) bool { return slices.EqualFunc(a, b, t.same) }

// append adds an item to a sequence. A repetition at the end of it becomes a loop only when x can't continue the loop
// there. Otherwise a loop with few iterations would be found, and the others would be taken for the next loop.
func (f *folder) append(out []*item, x *item) []*item {
	if k := len(out); k > 0 && !f.goesOn(out[k-1], x) {
		out = f.closed(out)
	}
	out = append(out, x)
	for {
		next, ok := f.longer(out, false)
		if !ok {
			return out
		}
		out = next
	}
}

// goesOn reports whether item x may begin another iteration of last, which is then a loop.
func (f *folder) goesOn(last, x *item) bool {
	return last.loop() && (f.same(last.body[0], x) || x.loop() && f.sameAll(last.body, x.body))
}

// closed folds the repetitions at the end of a sequence into loops.
func (f *folder) closed(out []*item) []*item {
	for {
		next, ok := f.longer(out, true)
		if !ok {
			next, ok = f.folded(out)
		}
		if !ok {
			return out
		}
		out = next
	}
}

// longer adds an iteration to a loop at the end of a sequence; it returns false if that isn't possible. An iteration
// that ends with a loop is added only if over says that this inner loop has ended.
func (f *folder) longer(out []*item, over bool) ([]*item, bool) {
	k := len(out)
	last := out[k-1]
	if last.loop() {
		// Another iteration of the loop at the end may be in front of it: as single items, or as a loop with the same
		// body.
		if n := len(last.body); n < k && f.sameAll(out[k-1-n:k-1], last.body) {
			addAll(last.body, out[k-1-n:k-1])
			last.over = map[uint64]uint64{last.rounds() + 1: 1}
			return append(out[:k-1-n], last), true
		}
		if k > 1 && out[k-2].loop() && f.sameAll(out[k-2].body, last.body) {
			x := out[k-2]
			x.over = map[uint64]uint64{x.rounds() + last.rounds(): 1}
			addAll(x.body, last.body)
			return out[:k-1], true
		}
		if !over {
			return out, false
		}
	}
	for n := 1; n < k && n <= window; n++ {
		x, tail := out[k-1-n], out[k-n:]
		if x.loop() && len(x.body) == n && f.sameAll(x.body, tail) {
			addAll(x.body, tail)
			x.over = map[uint64]uint64{x.rounds() + 1: 1}
			return out[:k-n], true
		}
	}
	return out, false
}

// folded replaces the end of a sequence by a loop of two iterations. It returns false if nothing is there twice.
func (f *folder) folded(out []*item) ([]*item, bool) {
	k := len(out)
	last := out[k-1]
	for n := 1; 2*n <= k && n <= window; n++ {
		if out[k-1-n].hash == last.hash && f.sameAll(out[k-2*n:k-n], out[k-n:]) {
			body := slices.Clone(out[k-2*n : k-n])
			addAll(body, out[k-n:])
			return append(out[:k-2*n], newLoop(body, 2)), true
		}
	}
	return out, false
}
