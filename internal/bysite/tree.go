package bysite

import (
	"errors"
	"slices"

	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/trace/model"
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

// column reports whether there are numbers.
func (k kind) column() bool { return k != filled && k != ofSend }

// when reports whether the numbers say how often there is something that isn't a site's own.
func (k kind) when() bool { return k == root || k == loop || k == call }

// A node is a part of what all ranks did: a loop, a call site, a parameter, a value. Each stands behind the one around it.
type node struct {
	kind   kind
	around int // -1: none
	before int // of a call: that before it in the same loop, -1: none
	path   []int
	below  []int    // nodes right in it
	cols   []column // by rank
	// How often there is what is in the node, each time that there is the node: the same on all ranks, or -1; then starts are, by rank,
	// where these begin, and the end.
	each   int64
	starts [][]int32
}

// A column is numbers of a rank, one v for all while they are the same.
type column struct {
	n    int
	v    int64
	list []int64
}

func (c *column) at(i int) int64 {
	if c.list == nil {
		return c.v
	}
	return c.list[i]
}

// put adds a number.
func (c *column) put(v int64, room *budget) error {
	switch {
	case c.list != nil:
		c.list = append(c.list, v)
	case c.n == 0 || c.v == v:
		c.v = v
		c.n++
		return nil
	default:
		c.list = make([]int64, c.n, 2*c.n+2)
		for i := range c.list {
			c.list[i] = c.v
		}
		c.list = append(c.list, v)
		if err := take(&room.stored, int64(c.n)); err != nil {
			return err
		}
	}
	c.n++
	return take(&room.stored, 1)
}

// A site is what is around a call's values.
type site struct {
	Site
	call    int // node
	end     int // the first node that isn't of the site
	where   int // node of its number, -1 if it has one only
	outputs int // node
	parts   []part
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
	loops []Span
	sites []site // by place
	ranks int
	room  *budget
	taken int64 // calls, when they are taken apart
	err   error
}

// An item of a loop is a place, or another loop.
type item struct {
	place, loop int // -1
	node        int
}

var (
	errLarge = errors.New("too many sites on too many ranks")
	errLoops = errors.New("loops that are neither within each other nor apart")
	errRound = errors.New("a number of rounds, or a length, that can't be")
)

// newTree makes the nodes.
func newTree(ranks int, sites []Site, loops []Span, room *budget) (*tree, error) {
	t := &tree{ranks: ranks, loops: loops, items: make([][]item, len(loops)+1), room: room, sites: make([]site, len(sites))}
	for i := range sites {
		t.sites[i].Site = sites[i]
	}
	t.add(root, -1)
	if next := t.within(0, len(sites)-1, -1, 0); next != len(loops) && t.err == nil {
		t.err = errLoops
	}
	return t, t.err
}

// within adds what stands in a loop, and returns the first loop behind it.
func (t *tree) within(first, last, at, around int) (next int) {
	next = at + 1
	for place := first; place <= last && t.err == nil; place++ {
		if next < len(t.loops) && t.loops[next].First == place {
			if t.loops[next].Last > last {
				t.err = errLoops
				return next
			}
			n, l := t.add(loop, around), next
			t.items[at+1] = append(t.items[at+1], item{-1, l, n})
			next = t.within(place, t.loops[l].Last, l, n)
			place = t.loops[l].Last
			continue
		}
		t.site(place, around)
		t.sites[place].end = len(t.nodes)
		t.items[at+1] = append(t.items[at+1], item{place, -1, t.sites[place].call})
	}
	return next
}

func (t *tree) add(k kind, around int) int {
	n := len(t.nodes)
	x := node{kind: k, around: around, before: -1, each: 1}
	if around >= 0 {
		outer := &t.nodes[around]
		for i := len(outer.below) - 1; k == call && x.before < 0 && i >= 0; i-- {
			if m := outer.below[i]; t.nodes[m].kind == call {
				x.before = m
			}
		}
		x.path = append(append(x.path, outer.path...), around)
		outer.below = append(outer.below, n)
	}
	if len(x.path) > mostDepth || (n+1)*t.ranks > mostCells {
		t.err = errLarge
		return 0
	}
	x.cols = make([]column, t.ranks)
	t.nodes = append(t.nodes, x)
	return n
}

// nothingParam is the part that has the return code.
const nothingParam = -2

// site adds a call with its values in the order of signatures.
func (t *tree) site(place, around int) {
	s := &t.sites[place]
	s.call, s.where = t.add(call, around), -1
	if len(s.Numbers) > 1 {
		s.where = t.add(value, s.call)
	}
	s.parts = append(s.parts, part{param: nothingParam, nodes: []int{t.add(value, s.call)}})
	s.outputs = t.add(option, s.call)
	f := s.Function
	add := func(param int, of model.Type, dims int, out bool) {
		if of == model.None && dims == 0 || t.err != nil {
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
	case f.Has(model.CreatesComm):
		words = signature.CommWords
	case f.Has(model.CreatesType):
		words = signature.TypeWords
	}
	if words > 0 && t.err == nil {
		made := t.add(option, s.outputs)
		p := part{param: signature.Made, out: true, option: true, nodes: []int{made}}
		for range words {
			p.nodes = append(p.nodes, t.add(value, made))
		}
		s.parts = append(s.parts, p)
	}
}

// values adds the nodes of a parameter.
func (t *tree) values(around int, of model.Type, dims int) []int {
	switch {
	case dims > 0:
		n := t.add(list, around)
		t.values(n, of, dims-1)
		return []int{n}
	case of == model.None:
		return nil
	case of == model.Address:
		return []int{t.add(value, around), t.add(value, around)}
	case of == model.Status:
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

// start is how often there was what is in a node before the i-th time that there was the node.
func (t *tree) start(n, rank, i int) int {
	if x := &t.nodes[n]; x.each < 0 {
		return int(x.starts[rank][i])
	} else {
		return i * int(x.each)
	}
}

// length is how many numbers a column has, as what is around it says.
func (t *tree) length(n, rank int) int {
	if n = t.nodes[n].around; n < 0 {
		return 1
	}
	return t.start(n, rank, t.length(n, rank))
}

// count is how often there is what is in a node, the i-th time that there is the node.
func (t *tree) count(n, rank, i int) (int64, bool) {
	x := &t.nodes[n]
	switch x.kind {
	case status:
		return 1, true
	case filled, ofSend:
		form := t.nodes[x.around].cols[rank].at(i)
		if x.kind == ofSend && form == signature.StatusOfSend ||
			x.kind == filled && (form == signature.StatusFilled || form == signature.StatusIgnored) {
			return 1, true
		}
		return 0, true
	case list:
		c, _ := signature.Length(x.cols[rank].at(i))
		return max(c, 0), c <= mostNumbers
	case loop:
		c := x.cols[rank].at(i)
		return c, c >= 0 && c <= mostNumbers
	}
	c := x.cols[rank].at(i)
	return c, c == 0 || c == 1
}

// measure finds where what is in a node begins, once its column is known.
func (t *tree) measure(n int) error {
	x := &t.nodes[n]
	for rank := range t.ranks {
		if err := take(&t.room.numbers, int64(t.length(n, rank))); err != nil {
			return err
		}
	}
	if x.kind == value {
		return nil
	}
	each, same := int64(-1), true
	for rank := range t.ranks {
		size := t.length(n, rank)
		if size > 0 && x.kind.column() && x.cols[rank].list == nil {
			size = 1 // that stands for all
		}
		for i := range size {
			c, ok := t.count(n, rank, i)
			if !ok {
				return errRound
			}
			if each < 0 {
				each = c
			}
			same = same && c == each
		}
	}
	if same {
		if x.each = max(each, 0); x.kind == call {
			return t.calls(n)
		}
		return nil
	}
	x.each, x.starts = -1, make([][]int32, t.ranks)
	for rank := range t.ranks {
		size := t.length(n, rank)
		if err := take(&t.room.stored, int64(size+1)); err != nil {
			return err
		}
		list := make([]int32, size+1)
		sum := int64(0)
		for i := range size {
			c, _ := t.count(n, rank, i)
			if sum += c; sum > mostNumbers {
				return errBudget
			}
			list[i+1] = int32(sum)
		}
		x.starts[rank] = list
	}
	if x.kind == call {
		return t.calls(n)
	}
	return nil
}

// calls takes those from a site off the budget.
func (t *tree) calls(n int) error {
	for rank := range t.ranks {
		if err := take(&t.room.calls, int64(t.start(n, rank, t.length(n, rank)))); err != nil {
			return err
		}
	}
	return nil
}

// numbered is the how manieth number of a site it is.
func (s *site) numbered(number int) int64 { return int64(slices.Index(s.Numbers, number)) }
