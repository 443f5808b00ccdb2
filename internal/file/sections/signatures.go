package sections

import (
	"sync"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A SignatureTable is shared by all classes. A signature is parametric: each of its values is a form, evaluated for the
// rank at hand. Signatures of the same function, call site and number of values make a group; within it, the forms are
// in lists: one for each value, over the signatures, so that a series of similar calls takes no more room than its
// rule; or a single one of all values of all signatures, so that a long array does.
//
// Where calls were recorded with their stacks, groups are by the innermost frame alone: how calls are predicted does
// not depend on the callers of the function around them. Then the distinct calls follow, each a signature with one of
// its stacks, and classes number these.
//
//	signatures = number of groups
//	             calls seq, sites seq, values seq, sizes seq, orders seq, over the groups
//	             per group, per list: kinds of forms
//	             per group, per list: coefficients of forms
//	             [distinct calls]
type SignatureTable struct {
	groups         []*SignatureGroup
	first          []int          // by group: number of its first signature
	SignatureCount int            // number of signatures
	DistinctCalls  int            // number of distinct calls; SignatureCount if there are no stacks
	stacked        []distinctCall // the distinct calls; nil: each signature is one

	sites    *SiteTable
	once     sync.Once
	followed *followed // result of follow
}

// A SignatureGroup is the signatures of one function from one site that have the same number of values.
type SignatureGroup struct {
	FunctionID     uint16
	Site           int
	ValueCount     int             // number of values of each signature
	size           int             // number of signatures; a writer sets it when they are written
	HasOneFormList bool            // forms has one list for all values of all signatures; else a list for each value
	Function       *model.Function // when reading: the function, if its values may have sums
	forms          []column.Forms  // lists of forms, when reading
	writing                        // used when writing
}

type skeleton struct {
	call  uint16
	site  int
	width int
}

// groupColumns are the groups of a SignatureTable, as columns.
type groupColumns struct{ calls, sites, values, sizes, orders []int64 }

func (x *groupColumns) code(c *wire.Coder) {
	n := len(x.calls)
	c.Count(&n, 1)
	for _, list := range []*[]int64{&x.calls, &x.sites, &x.values, &x.sizes, &x.orders} {
		if c.Reader != nil {
			*list = make([]int64, n)
		}
		column.CodeValues(c, *list)
	}
}

// DecodeSignatures reads the table. note, if not nil, is called with the bytes that the coefficients of a kind of forms
// take in a list of a group.
func DecodeSignatures(r *wire.Reader, schema map[uint16]*model.Function, sites *SiteTable, note func(g *SignatureGroup, list int, kind column.Kind, forms, bytes int)) *SignatureTable {
	limit := MaxCallValues + valuesPerByte*r.RemainingLen()
	var groups groupColumns
	if groups.code(&wire.Coder{Reader: r}); r.Err() != nil {
		return nil
	}
	t := &SignatureTable{sites: sites}
	lists := 0
	for i, call := range groups.calls {
		site, values, size, order := groups.sites[i], groups.values[i], groups.sizes[i], groups.orders[i]
		switch {
		case call < 0 || call > 1<<16-1 || schema[uint16(call)] == nil:
			r.Fail("function %d is not in the schema", call)
		case site < 0 || site >= int64(len(sites.List)):
			r.Fail("site %d of %d", site, len(sites.List))
		case order < 0 || order > 1:
			r.Fail("unknown order of forms %d", order)
		case values < 1 || values > int64(limit):
			r.Fail("%d values", values)
		case size < 1 || size > maxSignatures-int64(t.SignatureCount):
			r.Fail("%d signatures", size)
		}
		// Each list takes at least a byte for its kinds.
		if lists++; order == 0 {
			lists += int(values) - 1
		}
		if lists > r.RemainingLen() {
			r.Fail("%d lists of forms in %d bytes", lists, r.RemainingLen())
		}
		if r.Err() != nil {
			return nil
		}
		g := &SignatureGroup{FunctionID: uint16(call), Site: int(site), ValueCount: int(values), size: int(size), HasOneFormList: order == 1}
		if f := schema[uint16(call)]; haveSums(f) {
			g.Function = f
		}
		t.groups = append(t.groups, g)
		t.first = append(t.first, t.SignatureCount)
		t.SignatureCount += int(size)
	}
	for _, g := range t.groups {
		n, each := g.ValueCount, g.size
		if g.HasOneFormList {
			n, each = 1, g.ValueCount*g.size
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
			g.forms[i].DecodeNotedCoefficients(r, func(kind column.Kind, forms, bytes int) { note(g, i, kind, forms, bytes) })
		}
	}
	if t.DistinctCalls = t.SignatureCount; r.RemainingLen() > 0 && r.Err() == nil {
		t.decodeCalls(r)
		t.DistinctCalls = len(t.stacked)
	}
	return t
}

// DistinctCall returns the signature of a distinct call, as its group and the position there, and the call's site.
func (t *SignatureTable) DistinctCall(n int) (g *SignatureGroup, sig, site int) {
	g, sig = t.find(t.SignatureOfCall(n))
	if t.stacked == nil {
		return g, sig, g.Site
	}
	return g, sig, int(t.stacked[n].site)
}

// HasStacks reports whether distinct calls differ by their stacks, too.
func (t *SignatureTable) HasStacks() bool { return t.stacked != nil }

// SignatureOfCall returns the number of a distinct call's signature.
func (t *SignatureTable) SignatureOfCall(n int) int {
	if t.stacked == nil {
		return n
	}
	return int(t.stacked[n].sig)
}

// find returns the group of a signature and its position there.
func (t *SignatureTable) find(sig int) (*SignatureGroup, int) {
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

// FormsOf returns the list with the form of a value, and its index there.
func (g *SignatureGroup) FormsOf(sig, value int) (*column.Forms, int) {
	if g.HasOneFormList {
		return &g.forms[0], sig*g.ValueCount + value
	}
	return &g.forms[value], sig
}

// SampleValues is the values of a group's first signature on rank 0, where known. The values that determine the layout,
// lengths and forms of statuses, are constants.
func (g *SignatureGroup) SampleValues(ranks int) []int64 {
	vals := make([]int64, g.ValueCount)
	for i := range vals {
		list, at := g.FormsOf(0, i)
		if f := list.At(at); (f.Kind &^ column.KindFlagMasked).IsClosedForm() {
			vals[i] = f.Eval(0, int64(ranks))
		}
	}
	if g.Function != nil {
		RestoreDisplacements(g.Function, vals)
	}
	return vals
}
