package bysite

import (
	"bytes"

	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// append writes the sites and loops. Sites follow each other about as they do in the order of the code, and from a place mostly one function is called.
//
//	tree = sites uvarint, per site: (numbers - 1) uvarint, per number: (its number in the order - that before) varint,
//	       per site: 0, or 1 + function id uvarint, loops uvarint, per loop: (first - that before) uvarint, per loop: (last - first) uvarint
//
// 0 is the function of the last site before with the same place.
func (t *tree) append(b []byte, order *sections.SiteOrder) []byte {
	b = wire.AppendUvarint(b, uint64(len(t.sites)))
	for i := range t.sites {
		b = wire.AppendUvarint(b, uint64(len(t.sites[i].Numbers)-1))
	}
	last := 0
	for i := range t.sites {
		for _, n := range t.sites[i].Numbers {
			b = wire.AppendVarint(b, int64(order.Number[n]-last))
			last = order.Number[n]
		}
	}
	at := make(map[int]uint16)
	for i := range t.sites {
		s := &t.sites[i]
		place, id := order.Place[s.Numbers[0]], s.Function.ID
		if before, known := at[place]; known && before == id {
			b = append(b, 0)
			continue
		}
		at[place] = id
		b = wire.AppendUvarint(b, uint64(id)+1)
	}
	b = wire.AppendUvarint(b, uint64(len(t.loops)))
	last = 0
	for _, l := range t.loops {
		b = wire.AppendUvarint(b, uint64(l.First-last))
		last = l.First
	}
	for _, l := range t.loops {
		b = wire.AppendUvarint(b, uint64(l.Last-l.First))
	}
	return b
}

// decodeTree reads what append wrote.
func decodeTree(r *wire.Reader, ranks int, schema map[uint16]*model.Function, order *sections.SiteOrder, room *budget) *tree {
	sites := make([]Site, r.Count(3))
	numbers := 0
	for i := range sites {
		n := 1 + r.Int(len(order.Sites))
		if numbers += n; numbers > r.Rest() {
			r.Fail("%d numbers in %d bytes", numbers, r.Rest())
		}
		if r.Err() != nil {
			return nil
		}
		sites[i].Numbers = make([]int, n)
	}
	last := int64(0)
	for i := range sites {
		for k := range sites[i].Numbers {
			if last += r.Varint(); last < 0 || last >= int64(len(order.Sites)) {
				r.Fail("site %d of %d", last, len(order.Sites))
			}
			if r.Err() != nil {
				return nil
			}
			sites[i].Numbers[k] = order.Sites[last]
		}
	}
	at := make(map[int]uint16)
	for i := range sites {
		place := order.Place[sites[i].Numbers[0]]
		if id := r.Int(1 << 16); id > 0 {
			at[place] = uint16(id - 1)
		}
		if sites[i].Function = schema[at[place]]; sites[i].Function == nil {
			r.Fail("function %d is not in the schema", at[place])
		}
		if r.Err() != nil {
			return nil
		}
	}
	loops := make([]Span, r.Count(2))
	first := 0
	for i := range loops {
		first += r.Int(len(sites) - 1 - first)
		loops[i].First = first
	}
	for i := range loops {
		loops[i].Last = loops[i].First + r.Int(len(sites)-1-loops[i].First)
	}
	if r.Err() != nil {
		return nil
	}
	t, err := newTree(ranks, sites, loops, room)
	if err != nil {
		r.Check(err)
		return nil
	}
	return t
}

// Where a program calls one library from many places, what the calls are stands at few: most sites have the formulas of another one with the function.
//
//	formulas = of the thread and of each loop and call, in their order: formula, per site: how uvarint, per new list: formula of each column of the site
//	how      = 0: a new list; n: the n-th last one of the function, each counted once
const recent = 64

// A listed is the formulas of sites with one function, as bytes, the last ones last.
type listed map[uint16][][]byte

// came makes a list the last one. It was the how manieth from the end, or is new if that is 0.
func (x listed) came(s *site, how int, list []byte) {
	l := x[s.Function.ID]
	switch {
	case how > 0:
		at := len(l) - how
		copy(l[at:], l[at+1:])
		l[len(l)-1] = list
		return
	case len(l) == recent:
		copy(l, l[1:])
		l[len(l)-1] = list
		return
	}
	x[s.Function.ID] = append(l, list)
}

// appendFormulas writes those of all nodes.
func (t *tree) appendFormulas(b []byte, of []formula) []byte {
	for n := range t.nodes {
		if t.nodes[n].kind.when() {
			b = of[n].append(b, n, len(t.nodes[n].path))
		}
	}
	lists := make(listed)
	var news []byte
	for i := range t.sites {
		s := &t.sites[i]
		var list []byte
		for n := range t.columns(s) {
			list = of[n].append(list, n, len(t.nodes[n].path))
		}
		l, how := lists[s.Function.ID], 1
		for how <= len(l) && !bytes.Equal(l[len(l)-how], list) {
			how++
		}
		if how > len(l) {
			how = 0
			news = append(news, list...)
		}
		b = wire.AppendUvarint(b, uint64(how))
		lists.came(s, how, list)
	}
	return append(b, news...)
}

// columns yields the nodes of a site that have one, behind that of the call.
func (t *tree) columns(s *site) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for n := s.call + 1; n < s.end; n++ {
			if t.nodes[n].kind.column() && !yield(n) {
				return
			}
		}
	}
}

// Formulas are those of a tree as bytes say them.
type formulas struct {
	when  []formula // of the nodes that say when, in their order
	lists [][]byte  // of each site
}

// decodeFormulas reads what appendFormulas wrote, of which all can be read then; nil if that can't be.
func (t *tree) decodeFormulas(r *wire.Reader) *formulas {
	x := &formulas{lists: make([][]byte, len(t.sites))}
	for n := range t.nodes {
		if t.nodes[n].kind.when() {
			x.when = append(x.when, decodeFormula(r, n, len(t.nodes[n].path)))
		}
	}
	how := make([]int, len(t.sites))
	for i := range how {
		how[i] = r.Int(recent)
	}
	if r.Err() != nil {
		return nil
	}
	lists := make(listed)
	for i := range t.sites {
		s := &t.sites[i]
		l := lists[s.Function.ID]
		if how[i] > len(l) {
			r.Fail("list %d from the end of %d", how[i], len(l))
		}
		if r.Err() != nil {
			return nil
		}
		from := r
		list := r.Remaining()
		if how[i] > 0 {
			list = l[len(l)-how[i]]
			from = wire.NewReader(list, "formulas")
		}
		for n := range t.columns(s) {
			decodeFormula(from, n, len(t.nodes[n].path))
		}
		if how[i] > 0 {
			r.Check(from.Done())
		} else {
			list = list[:len(list)-r.Rest()]
		}
		if r.Err() != nil {
			return nil
		}
		lists.came(s, how[i], list)
		x.lists[i] = list
	}
	return x
}

// all yields the formula of each node, nil where it has none.
func (x *formulas) all(t *tree) func(yield func(int, *formula) bool) {
	return func(yield func(int, *formula) bool) {
		when, site := 0, 0
		var r *wire.Reader
		for n := range t.nodes {
			var m *formula
			switch k := t.nodes[n].kind; {
			case k.when():
				m = &x.when[when]
				if when++; k == call {
					r = wire.NewReader(x.lists[site], "formulas")
					site++
				}
			case k.column():
				of := decodeFormula(r, n, len(t.nodes[n].path))
				m = &of
			}
			if !yield(n, m) {
				return
			}
		}
	}
}
