package diff

import (
	"slices"

	"spoor/trace"
)

// A matcher compares the distinct calls of two ranks, remembering what it
// found. Requests are compared by how many creations ago they were made: up to
// the first difference both ranks have made the same ones.
type matcher struct {
	a, b  *trace.Rank
	sites bool
	match []int32 // by terminal of a: the last one of b that was equal, plus 1
	miss  map[[2]int]bool
}

func newMatcher(a, b *trace.Rank, sites bool) *matcher {
	return &matcher{a: a, b: b, sites: sites, match: make([]int32, a.Terminals()), miss: make(map[[2]int]bool)}
}

func (m *matcher) equal(a, b int) (bool, error) {
	if m.match[a] == int32(b)+1 {
		return true, nil
	}
	if m.miss[[2]int{a, b}] {
		return false, nil
	}
	x, err := m.a.Terminal(a)
	if err != nil {
		return false, err
	}
	y, err := m.b.Terminal(b)
	if err != nil {
		return false, err
	}
	if equalCalls(x, y, m.sites) {
		m.match[a] = int32(b) + 1
		return true, nil
	}
	m.miss[[2]int{a, b}] = true
	return false, nil
}

func equalCalls(x, y *trace.Call, sites bool) bool {
	if x.Name() != y.Name() || x.Return != y.Return || len(x.Params) != len(y.Params) || sites && x.Site != y.Site {
		return false
	}
	if !equalValues(&x.Result, &y.Result, sites) {
		return false
	}
	for i := range x.Params {
		p, q := &x.Params[i], &y.Params[i]
		if p.Name() != q.Name() || !equalValues(&p.In, &q.In, sites) || !equalValues(&p.Out, &q.Out, sites) {
			return false
		}
	}
	return equalPointers(x.NewComm, y.NewComm) && equalPointers(x.NewType, y.NewType)
}

func equalValues(v, w *trace.Value, sites bool) bool {
	if v.Type != w.Type {
		return false
	}
	switch v.Type {
	case trace.FunctionRef:
		// A callback's number depends on where the linker put it.
		return !sites && (v.Num == 0) == (w.Num == 0) || v.Num == w.Num || v.Site != nil && equalPointers(v.Site, w.Site)
	case trace.Address:
		return v.Addr == w.Addr
	case trace.String:
		return v.Null == w.Null && v.Text == w.Text
	case trace.Status:
		return equalPointers(v.Status, w.Status)
	case trace.Request:
		return v.Form == w.Form && v.ID == w.ID
	case trace.Array:
		return v.Num == w.Num && slices.EqualFunc(v.Elems, w.Elems, func(a, b trace.Value) bool { return equalValues(&a, &b, sites) })
	}
	return v.Num == w.Num
}

func equalPointers[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
