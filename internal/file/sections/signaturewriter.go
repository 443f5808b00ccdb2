package sections

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A signatureWriter collects the signatures of all classes while a file is written.
type signatureWriter struct {
	groups []*SignatureGroup
	index  map[skeleton]int32
	class  int // number of the current class in order of encoding, from 1
	left   int // number of this class's terminals still to come
	forms  []column.Form
	key    formKey
	packed []byte
}

// A formKey is the encoded forms of the values of one signature, for comparison with those of others.
type formKey struct {
	forms []byte
	end   []uint32 // by form: the index in forms at which it ends
}

// add appends the encoded form f to the key.
func (k *formKey) add(f *column.Form) {
	k.forms = f.AppendKey(k.forms)
	k.end = append(k.end, uint32(len(k.forms)))
}

// form returns the encoded form of the signature's i-th value, from 0.
func (k *formKey) form(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = k.end[i-1]
	}
	return k.forms[from:k.end[i]]
}

// pack appends to b what distinguishes k from the key base, which has as many values: a bit for each value, set if
// its forms differ, and k's forms of the values whose bit is set.
func (k *formKey) pack(b []byte, base *formKey) []byte {
	at := len(b)
	b = append(b, make([]byte, maskSize(len(k.end)))...)
	for i := range k.end {
		if f := k.form(i); !bytes.Equal(f, base.form(i)) {
			b[at+i/8] |= 1 << (i % 8)
			b = append(b, f...)
		}
	}
	return b
}

func maskSize(width int) int { return (width + 7) / 8 }

// A writing is the part of a SignatureGroup that exists only while a file is written. As there may be millions of
// signatures, each is stored as its difference from the group's first one.
type writing struct {
	base       formKey  // the forms of the group's first signature
	keys       []byte   // by signature, concatenated: its difference from base, as formKey.pack returns it
	start      []uint32 // by signature: the index in keys at which it begins; at last len(keys)
	slots      []uint32 // hash table with open addressing: 1 + a signature's number in the group; 0: empty
	candidates []candidate
	shape      formed
}

// A candidate is a signature whose forms are tried on the terminals of later classes.
type candidate struct {
	class int
	forms []column.Form
}

// A signatureRef names a terminal's signature by its group and its number within the group, before numbers within
// the file are known. With it is the call's site including its stack.
type signatureRef struct {
	group int32
	sig   uint32
	site  int32
}

// maxCandidates is the largest number of candidates of a group. maxCandidateValues is the largest number of values
// that a candidate may have.
const (
	maxCandidates      = 64
	maxCandidateValues = 1 << 16
)

var (
	errKeys    = errors.New("signatures of one call site take more than 4 GiB")
	errStacked = fmt.Errorf("more than %d distinct calls with stacks", maxStacked)
)

// begin must be called before the terminals of each class are added; terminals is their number.
func (w *signatureWriter) begin(terminals int) {
	w.class++
	w.left = terminals
}

// group returns the number of a terminal's group, which it creates if necessary.
func (w *signatureWriter) group(t *Terminal, site int, f *model.Function) int32 {
	key := skeleton{t.FunctionID, site, len(t.Values)}
	n, fresh := once.NumberOf(w.index, key)
	if fresh {
		w.groups = append(w.groups, &SignatureGroup{FunctionID: t.FunctionID, Site: site, ValueCount: len(t.Values), Function: f})
	}
	return n
}

// add returns the number of the terminal's signature within its group g. Columns without a closed form are appended to
// stored, which the class has for itself.
func (w *signatureWriter) add(g *SignatureGroup, f *column.Fitter, t *Terminal, ranks []bool, stored *[]byte) (uint32, error) {
	alone := len(t.Values) == 0 || t.Values[0].Len() == 1
	for i, c := range g.candidates {
		if alone && c.class == w.class {
			// The rest are of this class, too. With a single rank, equal values have equal forms, which number finds.
			break
		}
		if holdsAll(f, c.forms, t.Values) {
			return uint32(i), nil
		}
	}
	// A candidate takes about a hundred bytes of memory for each value, too much for calls with very many values.
	candidates := len(g.candidates) < maxCandidates && len(t.Values) <= maxCandidateValues
	w.key.forms, w.key.end, w.forms = w.key.forms[:0], w.key.end[:0], w.forms[:0]
	for i := range t.Values {
		form, payload := f.Fit(&t.Values[i], ranks[i])
		*stored = append(*stored, payload...)
		w.key.add(&form)
		if candidates {
			w.forms = append(w.forms, form)
		}
	}
	w.left--
	if len(g.start) == 0 {
		g.base = formKey{slices.Clone(w.key.forms), slices.Clone(w.key.end)}
		g.start = append(g.start, 0)
	}
	w.packed = w.key.pack(w.packed[:0], &g.base)
	n, known := g.number(w.packed, w.left)
	if !known && len(g.keys) > math.MaxUint32 {
		return 0, errKeys
	}
	if !known && candidates {
		g.candidates = append(g.candidates, candidate{w.class, append([]column.Form(nil), w.forms...)})
	}
	return n, nil
}

// manySignatures is the number of signatures of a group from which on their average length predicts that of its later
// ones.
const manySignatures = 1 << 12

var seed = maphash.MakeSeed()

// number returns the number within the group of the signature with a packed key, which it adds if it is new. left is
// an upper bound for the number of signatures that may follow.
func (g *SignatureGroup) number(key []byte, left int) (n uint32, known bool) {
	if 4*len(g.start) > 3*len(g.slots) {
		g.rehash()
	}
	at := g.slot(key)
	if n = g.slots[at]; n > 0 {
		return n - 1, true
	}
	n = uint32(len(g.start) - 1)
	g.slots[at] = n + 1
	if n := len(g.start); n > manySignatures && len(g.keys)+len(key) > cap(g.keys) {
		// Room for all signatures that may follow, estimated by the average length. Growing step by step would leave
		// old copies of keys as garbage, together as large as keys.
		g.keys = slices.Grow(g.keys, len(key)+len(g.keys)/n*max(left, 0)*9/8)
		g.start = slices.Grow(g.start, max(left, 0)+1)
	}
	g.keys = append(g.keys, key...)
	g.start = append(g.start, uint32(len(g.keys)))
	return n, false
}

// slot returns the index in slots at which the signature with a packed key is, or would be if it were added.
func (g *SignatureGroup) slot(key []byte) uint64 {
	mask := uint64(len(g.slots) - 1)
	at := maphash.Bytes(seed, key) & mask
	for n := g.slots[at]; n > 0 && string(g.keys[g.start[n-1]:g.start[n]]) != string(key); n = g.slots[at] {
		at = (at + 1) & mask
	}
	return at
}

func (g *SignatureGroup) rehash() {
	g.slots = make([]uint32, max(16, 2*len(g.slots)))
	mask := uint64(len(g.slots) - 1)
	for n := range g.signatures() {
		at := maphash.Bytes(seed, g.keys[g.start[n]:g.start[n+1]]) & mask
		for g.slots[at] > 0 {
			at = (at + 1) & mask
		}
		g.slots[at] = uint32(n) + 1
	}
}

// signatures returns the number of signatures of the group.
func (w *writing) signatures() int { return max(0, len(w.start)-1) }

func holdsAll(f *column.Fitter, forms []column.Form, vals []column.Column) bool {
	for i := range forms {
		if forms[i].Kind == column.KindOtherColumn || forms[i].Kind == column.KindOwnRankInColumn || forms[i].Kind.NeedsColumn() || !f.Reproduces(&forms[i], &vals[i]) {
			return false
		}
	}
	return true
}

// One list of the forms of all values is not tried for a group with more than manyValues values in all, as it would
// take too much memory. It is nevertheless tried if a signature has at least longSignature values (arrays), as it is
// then shorter.
const (
	longSignature = 64
	manyValues    = 1 << 18
)

// encode returns the kinds and the coefficients of the group's forms. They are in one list for each value position, or
// in one list for all, signature by signature. The latter is chosen for signatures of more than MaxCallValues values,
// else only if it takes less than a third: the lists for each position are compressed better, together with those of
// similar groups.
func (g *SignatureGroup) encode() (kinds, coefficients []byte) {
	n := g.signatures()
	// By signature: the index in keys of the form that is taken next.
	next := append([]uint32(nil), g.start[:n]...)
	mask := uint32(maskSize(g.ValueCount))
	for i := range next {
		next[i] += mask
	}
	var list column.FormList
	take := func(i, value int) {
		if g.keys[int(g.start[i])+value/8]&(1<<(value%8)) == 0 {
			list.AddEncoded(g.base.form(value))
			return
		}
		next[i] += uint32(list.AddEncoded(g.keys[next[i]:]))
	}
	for value := range g.ValueCount {
		list.Reset()
		for i := range next {
			take(i, value)
		}
		kinds = list.AppendKinds(kinds)
		coefficients = list.AppendCoefficients(coefficients)
	}
	if g.ValueCount < longSignature && n*g.ValueCount > manyValues {
		return kinds, coefficients
	}
	list.Reset()
	for i := range next {
		next[i] = g.start[i] + mask
		for value := range g.ValueCount {
			take(i, value)
		}
	}
	if g.ValueCount > MaxCallValues {
		g.HasOneFormList = true
		return list.AppendKindBytes(nil), list.AppendCoefficients(nil)
	}
	a := list.AppendKinds(nil)
	if b := list.AppendCoefficients(nil); 3*(len(a)+len(b)) < len(kinds)+len(coefficients) {
		kinds, coefficients, g.HasOneFormList = a, b, true
	}
	return kinds, coefficients
}

// append appends the table of signatures to b. first is, by group, the number of the group's first signature in the
// file.
func (w *signatureWriter) append(b []byte) (_ []byte, first []int) {
	var groups groupColumns
	var kinds, coefficients []byte
	total := 0
	for _, g := range w.groups {
		g.slots, g.candidates = nil, nil
		k, c := g.encode()
		kinds, coefficients = append(kinds, k...), append(coefficients, c...)
		g.size = g.signatures()
		groups.calls, groups.sites = append(groups.calls, int64(g.FunctionID)), append(groups.sites, int64(g.Site))
		groups.values, groups.sizes = append(groups.values, int64(g.ValueCount)), append(groups.sizes, int64(g.size))
		groups.orders = append(groups.orders, int64(bit(g.HasOneFormList)))
		first = append(first, total)
		total += g.size
		g.base, g.keys, g.start = formKey{}, nil, nil
	}
	b = wire.AppendEncoded(b, groups.code)
	return append(append(b, kinds...), coefficients...), first
}

// sort renumbers the signatures of each group in the order in which they first occur in calls.
func (w *signatureWriter) sort(calls []signatureRef) {
	number := make([][]uint32, len(w.groups)) // by group and old number: 1 + the new number; 0: it has not occurred yet
	order := make([][]uint32, len(w.groups))
	for i := range calls {
		c := &calls[i]
		if number[c.group] == nil {
			number[c.group] = make([]uint32, w.groups[c.group].signatures())
		}
		n := &number[c.group][c.sig]
		if *n == 0 {
			order[c.group] = append(order[c.group], c.sig)
			*n = uint32(len(order[c.group]))
		}
		c.sig = *n - 1
	}
	for i, g := range w.groups {
		if slices.IsSorted(order[i]) {
			continue
		}
		keys, start := make([]byte, 0, len(g.keys)), make([]uint32, 0, len(g.start))
		for _, n := range order[i] {
			start = append(start, uint32(len(keys)))
			keys = append(keys, g.keys[g.start[n]:g.start[n+1]]...)
		}
		g.keys, g.start = keys, append(start, uint32(len(keys)))
	}
}

// A formed remembers, for one signature of a group, which of its values are ranks, and the values (e.g. counts) on
// which this depends. Most other signatures of the group have the same of these, so that it holds for them, too.
type formed struct {
	at    []int32 // indices in the signature of the values on which rank depends
	vals  []int64 // by index in at: that value
	rank  []bool
	known bool
}

// ranks returns, by value of a signature of function f, whether the value is a rank.
func (x *formed) ranks(f *model.Function, vals []int64) ([]bool, error) {
	if x.known && x.fits(vals) {
		return x.rank, nil
	}
	x.rank = make([]bool, len(vals))
	x.known = !haveSums(f)
	if !x.known {
		RestoreDisplacements(f, vals)
	}
	forms, err := markRanks(f, vals, x.rank)
	if err != nil {
		x.known = false
		return nil, err
	}
	x.at, x.vals = forms, x.vals[:0]
	for _, i := range forms {
		x.vals = append(x.vals, vals[i])
	}
	return x.rank, nil
}

func (x *formed) fits(vals []int64) bool {
	for i, at := range x.at {
		if vals[at] != x.vals[i] {
			return false
		}
	}
	return true
}
