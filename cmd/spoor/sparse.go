package main

import "github.com/spoor-hpc/spoor/trace"

// A finder finds the positions of wanted calls in a thread's structure. It
// passes over parts that have none without expanding them, so that a few calls
// among billions are found at once.
type finder struct {
	wanted     []bool
	first, end uint64 // positions of interest
	parts      map[int]extent
}

// An extent is what a rule comes to.
type extent struct {
	length uint64
	wanted uint64
}

func newFinder(wanted []bool, first, end uint64) *finder {
	return &finder{wanted, first, end, make(map[int]extent)}
}

// sparse reports whether few enough calls are wanted that finding each one
// costs less than going through all.
func (f *finder) sparse(root trace.Node) bool {
	const each = 16 // about what finding one costs, in calls
	p := f.of(root)
	return p.wanted*each < p.length
}

// of measures a node; those of a rule once.
func (f *finder) of(n trace.Node) extent {
	if n.Kind == trace.CallNode {
		if f.wanted[n.Terminal] {
			return extent{1, 1}
		}
		return extent{1, 0}
	}
	body, known := f.parts[n.Rule]
	if !known || n.Rule < 0 {
		for _, c := range n.Children() {
			p := f.of(c)
			body.length += p.length
			body.wanted += p.wanted
		}
		if n.Rule >= 0 {
			f.parts[n.Rule] = body
		}
	}
	return extent{body.length * n.Count, body.wanted * n.Count}
}

// find yields the positions of wanted calls below n, which begins at a position.
func (f *finder) find(n trace.Node, at uint64, yield func(position uint64) bool) bool {
	p := f.of(n)
	if p.wanted == 0 || at >= f.end || at+p.length <= f.first {
		return true
	}
	if n.Kind == trace.CallNode {
		return yield(at)
	}
	round := p.length / n.Count
	children := n.Children()
	skip := uint64(0)
	if at < f.first {
		skip = (f.first - at) / round
	}
	for i := skip; i < n.Count; i++ {
		pos := at + i*round
		if pos >= f.end {
			break
		}
		for _, c := range children {
			if !f.find(c, pos, yield) {
				return false
			}
			pos += f.of(c).length
		}
	}
	return true
}
