package sections

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A program first makes its calls about in the order of its code, and new ones from a site in the order in which the
// table has them. So the next call in a list mostly is from the next site, and the next one of that site.
//
//	following = 250 uint8, per call: site varint, per call: call varint
//
// Each call has two differences. One is from the site of the call before it, at first from the first site; sites are in
// the order of their places. The other is, among the calls of its site, from the successor of the last call there.
// Tables of calls with stacks are in the order of the code. Then the first difference is left out, and each call is
// written as the difference from the successor of the call before.
const (
	following     = 250
	fewFollowing  = 32      // least number of calls; shorter lists are no shorter in this form
	mostFollowing = 1 << 17 // largest number of calls of a table without stacks
)

// A followed is the calls of a table, by site, with the sites in the order of their places. It is empty if calls have
// stacks.
type followed struct {
	site  []int32 // by call: number of its site, in the order of places
	at    []int32 // by call: index among the calls of its site
	calls [][]int32
}

// follow arranges the calls of the table as a followed; nil if there are too many, or the table is damaged.
func (t *SignatureTable) follow() *followed {
	t.once.Do(func() { t.followed = t.inOrder() })
	return t.followed
}

func (t *SignatureTable) inOrder() *followed {
	if t.stacked != nil {
		return &followed{}
	}
	if t.sites == nil || t.DistinctCalls > mostFollowing {
		return nil
	}
	f := &followed{site: make([]int32, t.DistinctCalls), at: make([]int32, t.DistinctCalls)}
	number := make(map[int]int32) // by site: its number, in the order of places
	var order []int
	for n := range t.DistinctCalls {
		_, _, site := t.DistinctCall(n)
		if _, known := number[site]; !known {
			number[site] = 0
			order = append(order, site)
		}
		f.site[n] = int32(site)
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(t.sites.InnermostFrameOf[a], t.sites.InnermostFrameOf[b]), cmp.Compare(a, b))
	})
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

// code writes or reads a list for a table with this number of calls, after the byte for its form. A reader knows the
// list's length.
func (f *followed) code(c *wire.Coder, list []int, calls int) {
	if f.calls == nil {
		next := 0
		for i := range list {
			if codeFurther(c, &list[i], next, calls); c.Failed() {
				return
			}
			next = list[i] + 1
		}
		return
	}
	sites := make([]int, len(list))
	last := 0
	for i, n := range list {
		if c.Reader == nil {
			sites[i] = int(f.site[n])
		}
		if codeFurther(c, &sites[i], last, len(f.calls)); c.Failed() {
			return
		}
		last = sites[i]
	}
	next := make([]int, len(f.calls))
	for i, s := range sites {
		at := 0
		if c.Reader == nil {
			at = int(f.at[list[i]])
		}
		if codeFurther(c, &at, next[s], len(f.calls[s])); c.Failed() {
			return
		}
		list[i], next[s] = int(f.calls[s][at]), at+1
	}
}

func (f *followed) append(b []byte, list []int) []byte {
	return wire.AppendEncoded(append(b, following), func(c *wire.Coder) { f.code(c, list, 0) })
}

// decode reads n calls of a table with the given number of calls, after the byte for the form.
func (f *followed) decode(r *wire.Reader, n, calls int) []int {
	if f == nil {
		r.Fail("calls that follow a table with more than %d", mostFollowing)
		return nil
	}
	if n > r.RemainingLen() {
		r.Fail("%d calls in %d bytes", n, r.RemainingLen())
		return nil
	}
	list := make([]int, n)
	if f.code(&wire.Coder{Reader: r}, list, calls); r.Err() != nil {
		return nil
	}
	return list
}

// codeFurther writes or reads a number as its difference from another, and refuses it when read if it is not below the
// limit.
func codeFurther(c *wire.Coder, v *int, than, limit int) {
	wire.CodeRelative(c, v, than)
	if c.Reader != nil && (*v < 0 || *v >= limit) {
		c.Reader.Fail("number %d and %d more of %d", than, *v-than, limit)
		*v = 0
	}
}

// followedOf arranges the calls of tables that were just written as a followed; nil if lists are better coded as
// numbers.
func followedOf(sites, signatures []byte, schema map[uint16]*model.Function) *followed {
	s := DecodeSites(wire.NewReader(sites, "sites"))
	r := wire.NewReader(signatures, "signatures")
	t := DecodeSignatures(r, schema, s, nil)
	if t == nil || r.Err() != nil {
		return nil
	}
	return t.follow()
}
