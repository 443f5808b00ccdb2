package sections

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A program first makes its calls about in the order in which they stand in its code, and new ones from a site in the order in
// which the table has them. So a list of calls is mostly that the next site follows, and of its calls the next one.
//
//	following = 250 uint8, sites seq, calls seq, over the list
//
// Sites, with all that is around them, are in the order of their places, outermost first: of each call it says how many further it is from the
// site of the call before, at first from -1; and how many further the call is, among those of its site, from the one behind that which was there last.
const (
	following     = 250
	fewFollowing  = 32      // calls: a shorter list is no shorter so
	mostFollowing = 1 << 17 // calls of a table
)

// A followed is the calls of a table by site.
type followed struct {
	site  []int32 // of each call
	at    []int32 // of each call, among those of its site
	calls [][]int32
}

// follow puts the calls of a table in order; nil if there are too many, or the table is damaged.
func (t *SignatureTable) follow() *followed {
	t.once.Do(func() { t.followed = t.inOrder() })
	return t.followed
}

func (t *SignatureTable) inOrder() *followed {
	if t.sites == nil || t.Calls > mostFollowing {
		return nil
	}
	f := &followed{site: make([]int32, t.Calls), at: make([]int32, t.Calls)}
	number := make(map[int]int32) // by site
	var order []int
	for n := range t.Calls {
		_, _, site, ok := t.Call(n, t.sites.List)
		if !ok || site < 0 || site >= len(t.sites.Place) {
			return nil
		}
		if _, known := number[site]; !known {
			number[site] = 0
			order = append(order, site)
		}
		f.site[n] = int32(site)
	}
	paths := make(map[int][]int, len(order))
	for _, site := range order {
		paths[site] = t.sites.path(site)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(slices.Compare(paths[a], paths[b]), cmp.Compare(a, b)) })
	for i, site := range order {
		number[site] = int32(i)
	}
	f.calls = make([][]int32, len(order))
	for n := range f.site {
		s := number[int(f.site[n])]
		f.site[n], f.at[n] = s, int32(len(f.calls[s]))
		f.calls[s] = append(f.calls[s], int32(n))
	}
	return f
}

// path is the places of a site and of those around it, outermost first.
func (t *Sites) path(site int) (list []int) {
	for {
		list = append(list, t.Place[site])
		if t.Outer[site] == 0 || len(list) > len(t.List) {
			slices.Reverse(list)
			return list
		}
		site = t.Outer[site]
	}
}

func (f *followed) append(b []byte, list []int) []byte {
	var sites, calls column.Column
	next := make([]int32, len(f.calls))
	last := int32(-1)
	for _, n := range list {
		s := f.site[n]
		sites.Append(int64(s - last))
		calls.Append(int64(f.at[n] - next[s]))
		last, next[s] = s, f.at[n]+1
	}
	b = column.EncodeSeq(append(b, following), &sites, nil)
	return column.EncodeSeq(b, &calls, nil)
}

// decode reads n calls, behind the byte that says what they are.
func (f *followed) decode(r *wire.Reader, n int) []int {
	if f == nil {
		r.Fail("calls that follow a table with more than %d, or a damaged one", mostFollowing)
		return nil
	}
	sites := column.DecodeSeq(r, n)
	if sites == nil {
		return nil
	}
	calls := column.DecodeSeq(r, n)
	if calls == nil {
		return nil
	}
	list := make([]int, n)
	next := make([]int64, len(f.calls))
	s := int64(-1)
	for i := range list {
		step := sites.At(i, 0)
		if step < -mostFollowing || step > mostFollowing || s+step < 0 || s+step >= int64(len(f.calls)) {
			r.Fail("a call from no site")
			return nil
		}
		s += step
		step = calls.At(i, 0)
		if step < -mostFollowing || step > mostFollowing || next[s]+step < 0 || next[s]+step >= int64(len(f.calls[s])) {
			r.Fail("no such call from a site")
			return nil
		}
		at := next[s] + step
		list[i], next[s] = int(f.calls[s][at]), at+1
	}
	return list
}

// followedOf is the calls of tables that were just written, nil if lists had better be numbers.
func followedOf(sites, signatures []byte, schema map[uint16]*model.Function, version int) *followed {
	s := DecodeSites(wire.NewReader(sites, "sites"), version)
	r := wire.NewReader(signatures, "signatures")
	t := DecodeSignatures(r, schema, s, version, nil)
	if t == nil || r.Err() != nil {
		return nil
	}
	return t.follow()
}
