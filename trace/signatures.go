package trace

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// The table of signatures is shared by all classes. A signature is parametric:
// each of its values is a form, evaluated for the rank at hand. Signatures of
// the same function, call site and number of values make a group; within it,
// the forms stand in lists: one for each value, over the signatures, so that a
// series of similar calls takes no more room than its rule; or a single one of
// all values of all signatures, so that a long array does.
//
// Where calls were recorded with their stacks, groups are of the innermost frame alone: what a call is told
// from does not depend on who called the function around it. Then the distinct calls follow, each a signature
// with one of its stacks, and classes number these.
//
//	signatures = number of groups
//	             calls seq, sites seq, values seq, sizes seq, orders seq, over the groups
//	             per group, per list: kinds of forms
//	             per group, per list: coefficients of forms
//	             [number of distinct calls uvarint, how many each signature has seq, sites of all seq]
type signatureTable struct {
	groups []*group
	first  []int       // number of the first signature of each group
	total  int         // signatures
	calls  int         // that classes number: total, if there are no stacks
	firsts []int       // number of the first call of each signature
	sites  *column.Seq // nil: calls are signatures
}

type group struct {
	call     uint16
	site     int
	width    int            // number of values
	size     int            // number of signatures
	flat     bool           // one list of forms
	function *Function      // of a reader: if it may have sums
	forms    []column.Forms // the lists; what a reader has
	writing                 // what a writer has
}

type skeleton struct {
	call  uint16
	site  int
	width int
}

// decodeSignatures reads the table. note, if not nil, is told how many bytes the
// coefficients of a kind of forms in a list of a group take.
func decodeSignatures(r *wire.Reader, schema map[uint16]*Function, sites int, note func(g *group, list int, kind column.Kind, forms, bytes int)) *signatureTable {
	limit := maxValues + valuesPerByte*r.Rest()
	n := r.Count(1)
	var cols [5]*column.Seq
	for i := range cols {
		if cols[i] = column.DecodeSeq(r, n); cols[i] == nil {
			return nil
		}
	}
	t := &signatureTable{}
	lists := 0
	for i := range n {
		call, site := cols[0].At(i, 0), cols[1].At(i, 0)
		values, size, order := cols[2].At(i, 0), cols[3].At(i, 0), cols[4].At(i, 0)
		switch {
		case call < 0 || call > 1<<16-1 || schema[uint16(call)] == nil:
			r.Fail("function %d is not in the schema", call)
		case site < 0 || site >= int64(sites):
			r.Fail("site %d of %d", site, sites)
		case order < 0 || order > 1:
			r.Fail("unknown order of forms %d", order)
		case values < 1 || values > int64(limit):
			r.Fail("%d values", values)
		case size < 1 || size > maxSignatures-int64(t.total):
			r.Fail("%d signatures", size)
		}
		// Each list takes at least a byte for its kinds.
		if lists++; order == 0 {
			lists += int(values) - 1
		}
		if lists > r.Rest() {
			r.Fail("%d lists of forms in %d bytes", lists, r.Rest())
		}
		if r.Err() != nil {
			return nil
		}
		g := &group{call: uint16(call), site: int(site), width: int(values), size: int(size), flat: order == 1}
		if f := schema[uint16(call)]; haveSums(f) {
			g.function = f
		}
		t.groups = append(t.groups, g)
		t.first = append(t.first, t.total)
		t.total += int(size)
	}
	for _, g := range t.groups {
		n, each := g.width, g.size
		if g.flat {
			n, each = 1, g.width*g.size
		}
		g.forms = make([]column.Forms, n)
		for i := range g.forms {
			if g.forms[i] = column.DecodeForms(r, each); r.Err() != nil {
				return nil
			}
		}
	}
	for _, g := range t.groups {
		for i := range g.forms {
			if note == nil {
				g.forms[i].DecodeCoefficients(r)
				continue
			}
			g.forms[i].DecodeCoefficientsOf(r, func(kind column.Kind, forms, bytes int) { note(g, i, kind, forms, bytes) })
		}
	}
	if t.calls = t.total; r.Rest() > 0 && r.Err() == nil {
		t.decodeCalls(r)
	}
	return t
}

// decodeCalls reads which stacks signatures have.
func (t *signatureTable) decodeCalls(r *wire.Reader) {
	t.calls = r.Int(maxSignatures)
	sizes := column.DecodeSeq(r, t.total)
	if sizes == nil {
		return
	}
	if t.total > maxStacked {
		r.Fail("%d signatures with stacks", t.total)
		return
	}
	n := 0
	t.firsts = make([]int, t.total)
	for i := range t.firsts {
		t.firsts[i] = n
		size := sizes.At(i, 0)
		if size < 1 || size > int64(t.calls-n) {
			r.Fail("%d calls with signature %d", size, i)
			return
		}
		n += int(size)
	}
	if n != t.calls {
		r.Fail("%d calls of %d", n, t.calls)
		return
	}
	t.sites = column.DecodeSeq(r, t.calls)
}

// call returns the signature of a distinct call, as its group and the position there, and the call's site. Of a damaged
// file there may be no such.
func (t *signatureTable) call(n int, sites []Site) (g *group, sig, site int, ok bool) {
	if t.sites == nil {
		g, sig = t.find(n)
		return g, sig, g.site, true
	}
	at := t.sites.At(n, 0)
	if at < 0 || at >= int64(len(sites)) {
		return nil, 0, 0, false
	}
	g, sig = t.find(t.signature(n))
	return g, sig, int(at), sites[at].Alone() == sites[g.site]
}

// signature is the number of a distinct call's signature.
func (t *signatureTable) signature(n int) int {
	if t.sites == nil {
		return n
	}
	i, exact := slices.BinarySearch(t.firsts, n)
	if exact {
		return i
	}
	return i - 1
}

// find returns the group of a signature and its position there.
func (t *signatureTable) find(sig int) (*group, int) {
	lo, hi := 0, len(t.first)
	for lo+1 < hi {
		if mid := (lo + hi) / 2; t.first[mid] <= sig {
			lo = mid
		} else {
			hi = mid
		}
	}
	return t.groups[lo], sig - t.first[lo]
}

// list returns where the form of a value stands.
func (g *group) list(sig, value int) (*column.Forms, int) {
	if g.flat {
		return &g.forms[0], sig*g.width + value
	}
	return &g.forms[value], sig
}
