package main

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/nests"
	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/trace"
)

// A kind says what a node's column has: one number for each time that there is what is around the node.
type kind uint8

const (
	root   kind = iota // 1 if a rank has the thread
	loop               // how many rounds
	call               // 1 if it is made in a round
	option             // 1 if there is what is in it
	list               // of a parameter: how many elements
	status             // its form
	filled             // no column: what a status has if its form says that it is filled in
	ofSend             // no column: what it has if it is that of a send
	value              // a number of the signature
)

// A node is a part of what all ranks did: a loop, a call site, a parameter, a value. Each stands behind the one around it.
type node struct {
	kind   kind
	around int // -1: none
	path   []int
	cols   [][]int64 // by rank
}

// column reports whether a node's column has to be kept.
func (k kind) column() bool { return k != filled && k != ofSend }

// counts returns how often there is what is in a node, for each time that there is what is around it.
func (t *tree) counts(n, rank int) []int64 {
	x := &t.nodes[n]
	switch x.kind {
	case filled, ofSend:
		of := t.nodes[x.around].cols[rank]
		out := make([]int64, len(of))
		for i, form := range of {
			if x.kind == ofSend && form == signature.StatusOfSend ||
				x.kind == filled && (form == signature.StatusFilled || form == signature.StatusIgnored) {
				out[i] = 1
			}
		}
		return out
	case status:
		out := make([]int64, len(x.cols[rank]))
		for i := range out {
			out[i] = 1
		}
		return out
	case list:
		out := make([]int64, len(x.cols[rank]))
		for i, v := range x.cols[rank] {
			out[i], _ = signature.Length(v)
			out[i] = max(out[i], 0)
		}
		return out
	}
	return x.cols[rank]
}

// A site is a function called from a place.
type site struct {
	function *trace.Function
	where    trace.Site
	place    int // in the section of sites, from 1
	call     int // node
	outputs  int // node
	parts    []part
}

// A part is values that belong together: one side of a parameter, the result, or what was made.
type part struct {
	param  int
	out    bool
	option bool  // it may be missing though other outputs are there
	nodes  []int // an address has two
}

// A tree is the shape of one thread's calls.
type tree struct {
	nodes []node
	items [][]item // of what is in no loop, then of each loop
	loops []span
	sites []site // by place
	ranks int
}

// An item of a loop is a place, or another loop.
type item struct {
	place, loop int // -1
	node        int
}

// newTree makes the nodes. first and last place of loops are those of nests.
func newTree(ranks int, sites []site, loops []span) *tree {
	t := &tree{ranks: ranks, sites: sites, loops: loops, items: make([][]item, len(loops)+1)}
	t.add(root, -1)
	t.within(0, len(sites)-1, -1, 0)
	return t
}

// A span is the places of a loop.
type span struct{ first, last int }

func (s span) has(place int) bool { return s.first <= place && place <= s.last }

// within adds what stands in a loop, of which later ones are within or behind it.
func (t *tree) within(first, last, at, around int) {
	loops := t.loops
	next := at + 1
	for place := first; place <= last; place++ {
		if next < len(loops) && loops[next].first == place && loops[next].last <= last {
			n := t.add(loop, around)
			t.items[at+1] = append(t.items[at+1], item{-1, next, n})
			t.within(loops[next].first, loops[next].last, next, n)
			place = loops[next].last
			for next++; next < len(loops) && loops[next].first <= place; next++ {
			}
			continue
		}
		t.site(place, around)
		t.items[at+1] = append(t.items[at+1], item{place, -1, t.sites[place].call})
	}
}

func (t *tree) add(k kind, around int) int {
	n := len(t.nodes)
	x := node{kind: k, around: around, cols: make([][]int64, t.ranks)}
	if around >= 0 {
		x.path = append(append(x.path, t.nodes[around].path...), around)
	}
	t.nodes = append(t.nodes, x)
	return n
}

// site adds a call with its values in the order of signatures.
func (t *tree) site(place, around int) {
	s := &t.sites[place]
	s.call = t.add(call, around)
	s.parts = append(s.parts, part{param: nothingParam, nodes: []int{t.add(value, s.call)}})
	s.outputs = t.add(option, s.call)
	f := s.function
	add := func(param int, of trace.Type, dims int, out bool) {
		if of == trace.None && dims == 0 {
			return
		}
		in := s.call
		if out {
			in = s.outputs
		}
		s.parts = append(s.parts, part{param: param, out: out, nodes: t.values(in, of, dims)})
	}
	add(signature.Result, f.Result, 0, true)
	for i := range f.Params {
		if p := &f.Params[i]; p.In {
			add(i, p.Type, p.Dims, false)
		}
		if p := &f.Params[i]; p.Out {
			add(i, p.Type, p.Dims, true)
		}
	}
	words := 0
	switch {
	case f.Has(trace.CreatesComm):
		words = signature.CommWords
	case f.Has(trace.CreatesType):
		words = signature.TypeWords
	}
	if words > 0 {
		made := t.add(option, s.outputs)
		p := part{param: signature.Made, out: true, option: true, nodes: []int{made}}
		for range words {
			p.nodes = append(p.nodes, t.add(value, made))
		}
		s.parts = append(s.parts, p)
	}
}

// nothingParam is the part that has the return code.
const nothingParam = -2

// values adds the nodes of a parameter.
func (t *tree) values(around int, of trace.Type, dims int) []int {
	switch {
	case dims > 0:
		n := t.add(list, around)
		t.values(n, of, dims-1)
		return []int{n}
	case of == trace.None:
		return nil
	case of == trace.Address:
		return []int{t.add(value, around), t.add(value, around)}
	case of == trace.Status:
		n := t.add(status, around)
		x := t.add(filled, n)
		for range signature.StatusCancelled {
			t.add(value, x)
		}
		t.add(value, t.add(option, x)) // an error
		t.add(value, t.add(ofSend, n))
		return []int{n}
	}
	return []int{t.add(value, around)}
}

// below returns the nodes right in one.
func (t *tree) below(n int) (out []int) {
	for m := n + 1; m < len(t.nodes) && t.nodes[m].around >= n; m++ {
		if t.nodes[m].around == n {
			out = append(out, m)
		}
	}
	return out
}

// A shaper finds the shape of a trace's threads.
type shaper struct {
	r     *trace.Reader
	ranks []int
}

// tree makes that of a thread, without columns.
func (s *shaper) tree(thread int) (*tree, *nests.Sites, error) {
	n, err := nests.SitesOf(s.r, s.ranks, thread)
	if err != nil {
		return nil, nil, err
	}
	var sites []site
	for _, rank := range s.ranks {
		k, err := s.r.Rank(rank)
		if err != nil {
			return nil, nil, err
		}
		if thread >= k.Streams() {
			continue
		}
		places, err := n.Places(k)
		if err != nil {
			return nil, nil, err
		}
		for t, count := range k.Counts(thread) {
			if count == 0 {
				continue
			}
			for places[t] >= len(sites) {
				sites = append(sites, site{})
			}
			x := &sites[places[t]]
			if x.function != nil {
				continue
			}
			c, err := k.Called(t)
			if err != nil {
				return nil, nil, err
			}
			if c.Phase != "" || c.Turn != 0 || c.Thread != nil {
				return nil, nil, fmt.Errorf("rank %d: %s: calls with phases, turns or places of threads aren't measured", rank, c.Name())
			}
			if x.place, err = k.Place(t); err != nil {
				return nil, nil, err
			}
			x.function, x.where = c.Func, c.Site
		}
	}
	loops := make([]span, n.Loops())
	for l := range loops {
		loops[l] = span{-1, -1}
		for place := range sites {
			if n.Has(l, place) {
				if loops[l].first < 0 {
					loops[l].first = place
				}
				loops[l].last = place
			}
		}
	}
	return newTree(s.r.Ranks(), sites, loops), n, nil
}

// take puts the calls of a rank into the columns.
func (t *tree) take(k *trace.Rank, thread int, at []int, requests bool) error {
	rank := k.Number()
	p := &parser{t: t, rank: rank, requests: newRequests(requests)}
	if thread >= k.Streams() {
		t.put(0, rank, 0)
		return nil
	}
	t.put(0, rank, 1)
	plain := make([][]int64, k.Terminals())
	for n, vals := range k.Signatures(thread) {
		if k.Lane(n) != nil || plain[n] == nil {
			var err error
			if plain[n], err = left(t.sites[at[n]].function, vals); err != nil {
				return err
			}
		}
		p.places, p.in = append(p.places, at[n]), append(p.in, plain[n])
	}
	if err := p.round(-1); err != nil {
		return err
	}
	if p.at != len(p.places) {
		return fmt.Errorf("rank %d: call %d of %d comes in no order that the shape has", rank, p.at, len(p.places))
	}
	return nil
}

// left returns values without displacements that are sums, as files have them.
func left(f *trace.Function, vals []int64) ([]int64, error) {
	out := append([]int64(nil), vals...)
	spans, err := sections.SpansOf(f, nil, out)
	if err != nil {
		return nil, err
	}
	for counts, displs := range sections.SumsOf(f, spans) {
		signature.LeaveOut(out[counts.At:counts.End], out[displs.At:displs.End])
	}
	return out, nil
}

func (t *tree) put(n, rank int, v int64) { t.nodes[n].cols[rank] = append(t.nodes[n].cols[rank], v) }

// A parser takes the calls of a rank apart.
type parser struct {
	t      *tree
	rank   int
	places []int
	in     [][]int64
	at     int

	requests *requests
	vals     []int64
}

// round takes a round of a loop, or all if it is -1.
func (p *parser) round(loop int) error {
	for _, x := range p.t.items[loop+1] {
		n := int64(0)
		if x.loop >= 0 {
			for ; p.at < len(p.places) && p.t.loops[x.loop].has(p.places[p.at]); n++ {
				before := p.at
				if err := p.round(x.loop); err != nil {
					return err
				}
				if p.at == before {
					return fmt.Errorf("rank %d: call %d is in no round", p.rank, p.at)
				}
			}
		} else if p.at < len(p.places) && p.places[p.at] == x.place {
			n = 1
			if err := p.call(x.place, p.in[p.at]); err != nil {
				return err
			}
			p.at++
		}
		p.t.put(x.node, p.rank, n)
	}
	return nil
}

// call puts the values of a call into their columns.
func (p *parser) call(place int, vals []int64) error {
	s := &p.t.sites[place]
	p.vals = append(p.vals[:0], vals...)
	vals = p.vals
	if err := p.requests.step(place, s.function, vals, false); err != nil {
		return err
	}
	spans, err := sections.SpansOf(s.function, nil, vals)
	if err != nil {
		return err
	}
	t := p.t
	t.put(s.parts[0].nodes[0], p.rank, vals[0])
	outputs := int64(0)
	for _, x := range s.parts[1:] {
		var of *signature.Span
		for i := range spans {
			if spans[i].Param == x.param && spans[i].Out == x.out {
				of = &spans[i]
			}
		}
		switch {
		case of != nil && x.option:
			t.put(x.nodes[0], p.rank, 1)
			for i, n := range x.nodes[1:] {
				t.put(n, p.rank, vals[of.At+i])
			}
		case of != nil:
			p.span(x.nodes, of, vals)
		case !x.out:
			return fmt.Errorf("%s: parameter %d is missing", s.function.Name, x.param)
		}
		if x.out && of != nil {
			outputs = 1
		}
	}
	t.put(s.outputs, p.rank, outputs)
	if outputs > 0 {
		if last := &s.parts[len(s.parts)-1]; last.option && spans[len(spans)-1].Param != signature.Made {
			t.put(last.nodes[0], p.rank, 0)
		}
	}
	return nil
}

func (p *parser) span(nodes []int, s *signature.Span, vals []int64) {
	t := p.t
	if len(nodes) == 0 {
		return
	}
	n := nodes[0]
	switch t.nodes[n].kind {
	case list:
		t.put(n, p.rank, vals[s.At])
		below := t.below(n)
		if s.Summed(vals) {
			for _, v := range vals[s.At+1 : s.End] {
				t.put(below[0], p.rank, v)
			}
			return
		}
		for e := range s.Elements(vals) {
			p.span(below, &e, vals)
		}
	case status:
		t.put(n, p.rank, vals[s.At])
		below := t.below(n)
		if s.Filled(vals) {
			fields := t.below(below[0])
			for i := range signature.StatusCancelled {
				t.put(fields[i], p.rank, vals[s.At+1+i])
			}
			if s.At+signature.StatusError < s.End {
				t.put(fields[signature.StatusCancelled], p.rank, 1)
				t.put(fields[signature.StatusCancelled]+1, p.rank, vals[s.At+signature.StatusError])
			} else {
				t.put(fields[signature.StatusCancelled], p.rank, 0)
			}
		} else if vals[s.At] == signature.StatusOfSend {
			t.put(below[1]+1, p.rank, vals[s.At+1])
		}
	default:
		for i, n := range nodes {
			t.put(n, p.rank, vals[s.At+i])
		}
	}
}
