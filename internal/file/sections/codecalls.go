package sections

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/trace/model"
)

// A CodeCall is a function called from a site of a trace.
type CodeCall struct {
	FunctionID uint16
	SiteIndex  int // number of the site in the trace's table minus one
	Name       string
	Location   model.Site
	turn       int
	path       []int32 // numbers of the places of the frames, from the outermost frame to the site
}

// CodeCalls lists the calls of functions from sites, in the order of addresses. Calls that a function makes are listed
// where the function is called.
func CodeCalls(t *SignatureTable, sites *SiteTable, schema map[uint16]*model.Function) []CodeCall {
	type pair struct {
		function uint16
		site     int
	}
	known := make(map[pair]bool)
	var list []CodeCall
	place := make(map[model.Site]int32, len(sites.List))
	for i := range sites.List {
		if s := sites.List[i].WithoutCallers(); place[s] == 0 {
			place[s] = int32(len(place) + 1)
		}
	}
	for n := range t.DistinctCalls {
		g, _, site := t.DistinctCall(n)
		if site == 0 {
			continue // an unknown site
		}
		p := pair{g.FunctionID, sites.CanonicalSite(site)}
		f := schema[g.FunctionID]
		if known[p] || f == nil {
			continue
		}
		known[p] = true
		list = append(list, CodeCall{FunctionID: p.function, SiteIndex: p.site - 1, Name: f.Name, Location: sites.List[p.site], turn: sites.Turns[p.site]})
	}
	SortCalls(list, func(s model.Site) int32 { return place[s] })
	return list
}

// SortCalls sorts calls by the numbers, from 1 on, that place returns for their frames.
func SortCalls(list []CodeCall, place func(model.Site) int32) {
	paths := make(map[int][]int32)
	for i := range list {
		c := &list[i]
		if c.path = paths[c.SiteIndex]; c.path != nil {
			continue
		}
		for s := &c.Location; s != nil; s = s.Caller {
			c.path = append(c.path, place(s.WithoutCallers()))
		}
		slices.Reverse(c.path)
		paths[c.SiteIndex] = c.path
	}
	slices.SortFunc(list, func(a, b CodeCall) int {
		return cmp.Or(slices.Compare(a.path, b.path), cmp.Compare(a.turn, b.turn), cmp.Compare(a.FunctionID, b.FunctionID))
	})
}

// A callTree arranges calls by the places of their frames: the calls made through a place are below it. A node is a
// function's body, reached through the places above it.
type callTree struct {
	calls []CodeCall
	nodes []callNode // the first one is the root, for outermost frames
	below map[placeIn]int32
	// by call: itself if it is not yet coded; else a later call, on the way to the next one that is not yet coded
	next []int32

	// followed is the order of places in earlier bodies, as a body has the same order wherever it occurs. By place: the
	// next place in the body; by callNode.first: the place that began the body.
	followed map[int32]int32
}

type callNode struct {
	place, parent int32
	depth         int
	from, to      int   // range of the indices of calls in the node and below it
	first         int32 // minus the lowest place in it, which identifies the body wherever it is called from
}

type placeIn struct{ node, place int32 }

func newCallTree(calls []CodeCall) *callTree {
	t := &callTree{calls: calls, nodes: []callNode{{to: len(calls)}}, below: make(map[placeIn]int32), followed: make(map[int32]int32)}
	t.next = make([]int32, len(calls)+1)
	for i := range t.next {
		t.next[i] = int32(i)
	}
	for i := range calls {
		at := int32(0)
		for _, place := range calls[i].path {
			n, known := t.below[placeIn{at, place}]
			if !known {
				n = int32(len(t.nodes))
				t.below[placeIn{at, place}] = n
				t.nodes = append(t.nodes, callNode{place: place, parent: at, depth: t.nodes[at].depth + 1, from: i})
				if parent := &t.nodes[at]; parent.first == 0 {
					parent.first = -place
				}
			}
			at = n
			t.nodes[at].to = i + 1
		}
	}
	return t
}

// has reports whether a call is in or below a node.
func (t *callTree) has(node int32, call int) bool {
	return node >= 0 && t.nodes[node].from <= call && call < t.nodes[node].to
}

// placeOf returns the place in a node on the path to a call; 0: the call is in the node.
func (t *callTree) placeOf(node int32, call int) int32 {
	if path := t.calls[call].path; t.nodes[node].depth < len(path) {
		return path[t.nodes[node].depth]
	}
	return 0
}

// free returns the first call from i on that is not yet coded.
func (t *callTree) free(i int) int {
	for t.next[i] != int32(i) {
		t.next[i] = t.next[t.next[i]]
		i = int(t.next[i])
	}
	return i
}

func (t *callTree) taken(i int) bool { return t.next[i] != int32(i) }

// take records that call follows before in the order of the code; before = -1: it is the first one.
func (t *callTree) take(call, before int) {
	t.next[call] = int32(call + 1)
	node := int32(0) // the innermost node that contains both
	if before >= 0 {
		for {
			place := t.placeOf(node, before)
			if place == 0 || place != t.placeOf(node, call) {
				break
			}
			node = t.below[placeIn{node, place}]
		}
	}
	key := t.nodes[node].first
	if before >= 0 {
		key = cmp.Or(t.placeOf(node, before), key)
	}
	for {
		place := t.placeOf(node, call)
		if place == 0 {
			return
		}
		t.followed[key] = place
		node = t.below[placeIn{node, place}]
		key = t.nodes[node].first
	}
}

// expected predicts the call that follows another; len(calls) if none remains.
func (t *callTree) expected(before int) int {
	if t.free(0) == len(t.calls) {
		return len(t.calls)
	}
	if before < 0 {
		return t.within(0, t.nodes[0].first)
	}
	node := int32(0)
	for place := t.placeOf(node, before); place != 0; place = t.placeOf(node, before) {
		node = t.below[placeIn{node, place}]
	}
	key, behind := t.nodes[node].first, t.nodes[node].from
	for {
		n := &t.nodes[node]
		if t.free(n.from) < n.to {
			if place, known := t.followed[key]; known {
				if c, ok := t.below[placeIn{node, place}]; ok && t.free(t.nodes[c].from) < t.nodes[c].to {
					return t.within(c, t.nodes[c].first)
				}
			}
			at := t.free(behind)
			if at >= n.to {
				at = t.free(n.from)
			}
			return t.along(node, at)
		}
		key, behind, node = n.place, n.to, n.parent
	}
}

// within returns the predicted first of the remaining calls in a node or below it. key is the node's first.
func (t *callTree) within(node, key int32) int {
	for {
		n := &t.nodes[node]
		at := t.free(n.from)
		place := t.placeOf(node, at)
		if place == 0 {
			return at
		}
		if p, known := t.followed[key]; known {
			if c, ok := t.below[placeIn{node, p}]; ok && t.free(t.nodes[c].from) < t.nodes[c].to {
				place = p
			}
		}
		node = t.below[placeIn{node, place}]
		key = t.nodes[node].first
	}
}

// along returns the predicted first of the remaining calls that are below the same place of a node as the given call.
func (t *callTree) along(node int32, call int) int {
	if place := t.placeOf(node, call); place != 0 {
		c := t.below[placeIn{node, place}]
		return t.within(c, t.nodes[c].first)
	}
	return call
}
