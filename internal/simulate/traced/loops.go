package traced

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/trace"
)

// A PathLoop is what the calls in a loop add to a path, on all ranks. Loops within it follow it. A loop is known by its
// rounds, and by the first call in it; a call that occurs in several loops counts for those around all of these.
type PathLoop struct {
	Depth    int        `json:"depth"` // 0: in no other loop
	Rounds   uint64     `json:"rounds"`
	Function string     `json:"function"` // first call
	Site     trace.Site `json:"-"`
	Place    string     `json:"place"`
	PathParts
}

// A loopKey is what a loop is known by on all ranks.
type loopKey struct {
	rounds   uint64
	function string
	site     trace.Site
}

// A loopTree adds up parts of loops.
type loopTree struct {
	PathParts
	within map[loopKey]*loopTree
}

func (t *loopTree) add(chain []loopKey, s *dataflow.Share) {
	for _, k := range chain {
		if t.within == nil {
			t.within = make(map[loopKey]*loopTree)
		}
		if t.within[k] == nil {
			t.within[k] = &loopTree{}
		}
		t = t.within[k]
		t.PathParts.add(s)
	}
}

// list appends the loops, those that add most first.
func (t *loopTree) list(out []PathLoop, depth int) []PathLoop {
	keys := make([]loopKey, 0, len(t.within))
	for k := range t.within {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b loopKey) int {
		return cmp.Or(cmp.Compare(t.within[b].Sum(), t.within[a].Sum()), cmp.Compare(a.rounds, b.rounds), cmp.Compare(a.function, b.function), cmp.Compare(a.site.Offset, b.site.Offset))
	})
	for _, k := range keys {
		x := t.within[k]
		out = append(out, PathLoop{Depth: depth, Rounds: k.rounds, Function: k.function, Site: k.site, PathParts: x.PathParts})
		out = x.list(out, depth+1)
	}
	return out
}

// loops finds the loops around each distinct call of a rank, the outermost first. What is in a rule
// is looked at once, however often the rule is used.
type loops struct {
	k     *trace.Rank
	rules map[int]map[int][]loopKey // by rule: what is in it
	err   error
}

func loopsOf(k *trace.Rank, stream int) (map[int][]loopKey, error) {
	l := &loops{k: k, rules: make(map[int]map[int][]loopKey)}
	return l.in(k.Structure(stream)), l.err
}

// in returns the chains of the calls in a node.
func (l *loops) in(n trace.Node) map[int][]loopKey {
	if n.Kind == trace.CallNode {
		return map[int][]loopKey{n.Terminal: nil}
	}
	body := l.rules[n.Rule]
	if n.Rule < 0 || body == nil {
		body = make(map[int][]loopKey)
		for _, c := range n.Children() {
			for t, chain := range l.in(c) {
				if before, ok := body[t]; ok {
					chain = common(before, chain)
				}
				body[t] = chain
			}
		}
		if n.Rule >= 0 {
			l.rules[n.Rule] = body
		}
	}
	if n.Kind != trace.LoopNode {
		return body
	}
	key := loopKey{rounds: n.Count}
	if c, err := l.k.Terminal(first(n)); err != nil {
		l.err = err
	} else {
		key.function, key.site = c.Name(), c.Site
	}
	out := make(map[int][]loopKey, len(body))
	for t, chain := range body {
		out[t] = append([]loopKey{key}, chain...)
	}
	return out
}

// first is the first call of a node.
func first(n trace.Node) int {
	for n.Kind != trace.CallNode {
		n = n.Children()[0]
	}
	return n.Terminal
}

func common(a, b []loopKey) []loopKey {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
