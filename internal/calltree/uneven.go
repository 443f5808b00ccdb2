package calltree

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// A loop may have a different trip count at each entry, perhaps 1. Its surroundings then look different each time. So
// the body of such a loop is treated as a loop of one iteration wherever it occurs, if that makes the structure much
// shorter. A polling loop may also have no iteration: between two calls that once had such a loop between them, one
// is always assumed.

// An uneven is a loop that may have one iteration, or none.
type uneven struct {
	body []*node
	none *node           // the loop with no iteration
	gaps map[[2]int]bool // pairs of labels of calls that it was between
}

const (
	maxTried    = 16      // largest number of loops that are tried as uneven, one after the other
	maxUneven   = 8       // largest number of uneven loops
	maxLooked   = 1 << 16 // largest number of nodes examined while folding once, for trying loops one by one
	longestBody = 8       // largest number of nodes in the body of an uneven loop
	shortBody   = 2       // largest body of loops that are tried all at once
)

// evened folds a stream and searches for uneven loops in it.
func (f *nodeShaper) evened(root trace.Node) []*node {
	list := f.once(root)
	first, size := list, f.length(list)
	if !scattered(list) {
		return list
	}
	longest := size * 2 / 3
	try := func(more ...*uneven) bool {
		known := len(f.uneven)
		f.uneven = append(f.uneven, more...)
		other := f.once(root)
		if n := f.length(other); n < size {
			list, size = other, n
			return true
		}
		f.uneven = f.uneven[:known]
		return false
	}
	many := f.looked > maxLooked // trying loops one by one would take too long
	var short []*uneven
	polls := false
	for _, u := range f.loops(list) {
		if len(u.body) <= shortBody && u.innermost() && len(short) < maxUneven {
			short = append(short, u)
			polls = polls || u.polls(f)
		}
	}
	if short != nil && (polls || !many) {
		try(short...)
	}
	tried := make(map[int]bool)
	for again := !many; again; {
		again = false
		for _, u := range f.loops(list) {
			if tried[u.none.shape] || len(tried) == maxTried || len(f.uneven) == maxUneven {
				continue
			}
			tried[u.none.shape] = true
			if again = try(u); again {
				clear(tried) // with one more uneven loop, others may shorten the structure, too
				break
			}
		}
	}
	if size > longest {
		return first
	}
	return list
}

// scattered reports whether calls of one shape occur at several positions.
func scattered(list []*node) bool {
	seen := make(map[int]bool)
	var look func(list []*node) bool
	look = func(list []*node) bool {
		return slices.ContainsFunc(list, func(n *node) bool {
			if n.kind == partKind {
				return true
			}
			if !n.isRun() {
				return look(n.nodes())
			}
			again := seen[n.shape]
			seen[n.shape] = true
			return again && !n.isEntry()
		})
	}
	return look(list)
}

// nodes returns the nodes of the body.
func (n *node) nodes() []*node {
	list := make([]*node, len(n.body))
	for i, x := range n.body {
		list[i] = x.n
	}
	return list
}

// length counts the nodes of a list; those of a repeated part count once.
func (f *nodeShaper) length(list []*node) int {
	parts := make(map[int]bool)
	var count func(list []*node) int
	count = func(list []*node) (sum int) {
		for _, n := range list {
			sum++
			switch {
			case n.isRun():
			case n.kind == partKind && parts[n.rule]:
			default:
				if n.kind == partKind {
					parts[n.rule] = true
				}
				sum += count(n.nodes())
			}
		}
		return sum
	}
	return count(list)
}

// loops lists the loops in a structure that may be uneven, the shortest first, with the calls around them.
func (f *nodeShaper) loops(list []*node) (out []*uneven) {
	known := make(map[int]*uneven)
	for _, u := range f.uneven {
		known[u.none.shape] = u
	}
	parts := make(map[int]bool)
	var look func(list []*node, before, after []int)
	look = func(list []*node, before, after []int) {
		for i, n := range list {
			x, y := f.edge(list[:i], true), f.edge(list[i+1:], false)
			if !slices.ContainsFunc(list[:i], (*node).required) {
				x = append(x, before...)
			}
			if !slices.ContainsFunc(list[i+1:], (*node).required) {
				y = append(y, after...)
			}
			if n.kind != loopKind {
				if n.kind == partKind && !parts[n.rule] {
					parts[n.rule] = true
					look(n.nodes(), x, y)
				}
				continue
			}
			run := n.isRun()
			if len(n.body) <= longestBody && n.most > 1 {
				u := known[n.shape]
				if u == nil {
					u = &uneven{body: n.nodes(), gaps: make(map[[2]int]bool)}
					if run {
						n = f.asRun(n)
						u.body = n.nodes()
					}
					u.none = skipped(n)
					known[n.shape] = u
					out = append(out, u)
				}
				for _, a := range x {
					for _, b := range y {
						u.gaps[[2]int{a, b}] = u.polls(f)
					}
				}
			}
			if !run {
				body := n.nodes()
				look(body, slices.Concat(x, f.edge(body, true)), slices.Concat(y, f.edge(body, false)))
			}
		}
	}
	look(list, nil, nil)
	slices.SortStableFunc(out, func(a, b *uneven) int { return cmp.Compare(a.none.size, b.none.size) })
	return out
}

// innermost reports whether a loop contains no loops.
func (u *uneven) innermost() bool {
	return !slices.ContainsFunc(u.body, func(n *node) bool { return !n.isRun() })
}

// polls reports whether a loop repeatedly tests for messages or requests.
func (u *uneven) polls(f *nodeShaper) bool {
	return u.innermost() && (slices.ContainsFunc(f.edge(u.body, false), f.poll) || slices.ContainsFunc(f.edge(u.body, true), f.poll))
}

// required reports whether a node always contains a call.
func (n *node) required() bool { return n.kind != loopKind || n.least > 0 }

// edge returns the labels of the calls with which a list may begin, or end if last is set.
func (f *nodeShaper) edge(list []*node, last bool) (labels []int) {
	for i := range list {
		n := list[i]
		if last {
			n = list[len(list)-1-i]
		}
		if n.kind == callKind {
			if n.isEntry() {
				return labels
			}
			labels = append(labels, f.label[n.terms[0].leaf])
		} else {
			labels = append(labels, f.edge(n.nodes(), last)...)
		}
		if n.required() {
			break
		}
	}
	return labels
}

// junction returns the nodes to insert between two consecutive calls, given by their leaves; -1 is the beginning of
// the thread.
func (f *nodeShaper) junction(a, b int) (list []*node) {
	if b < 0 {
		return nil
	}
	if f.only != nil {
		if f.only.enters(a, b) {
			return []*node{f.entry()}
		}
		if a >= 0 && (!f.only.has(a) || !f.only.has(b)) {
			return nil
		}
	}
	if a < 0 {
		return nil
	}
	for _, u := range f.uneven {
		if u.gaps[[2]int{f.label[a], f.label[b]}] {
			list = append(list, u.none)
		}
	}
	return list
}

// wrapped converts occurrences of an uneven loop's body to loops of one iteration.
func (f *nodeShaper) wrapped(list []*node) []*node {
	for _, u := range f.uneven {
		k := len(u.body)
		if k == 1 {
			continue
		}
		var out []*node
		for i := 0; i < len(list); {
			if i+k <= len(list) && slices.EqualFunc(u.body, list[i:i+k], func(x, y *node) bool { return x.shape == y.shape }) {
				out = append(out, f.loop(list[i:i+k], 1))
				i += k
				continue
			}
			out = append(out, list[i])
			i++
		}
		list = out
	}
	return list
}
