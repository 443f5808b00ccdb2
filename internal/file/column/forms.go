package column

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// A FormList collects the forms of one value in several signatures. It stores only as many coefficients as each
// kind needs: there may be millions of forms.
type FormList struct {
	kinds []Kind
	coef  []int64
}

// Reset empties the list.
func (l *FormList) Reset() { l.kinds, l.coef = l.kinds[:0], l.coef[:0] }

// AddEncoded adds the form at the beginning of b, as Form.AppendKey wrote it, and returns its length in bytes.
func (l *FormList) AddEncoded(b []byte) int {
	kind, at := Kind(b[0]), 1
	l.kinds = append(l.kinds, kind)
	for range kind.CoefficientCount() {
		v, n := binary.Varint(b[at:])
		l.coef = append(l.coef, v)
		at += n
	}
	return at
}

// AppendKinds appends the kinds of the forms, AppendCoefficients the rest of them.
//
//	kinds        = kind uint8 if all are the same, else 255 and a Seq of kinds
//	coefficients = per kind that occurs, in rising order, per coefficient:
//	               a varint if one form is of that kind, else a Seq over them
func (l *FormList) AppendKinds(b []byte) []byte {
	if k, ok := l.same(); ok {
		return append(b, byte(k))
	}
	vals := make([]int64, len(l.kinds))
	for i, k := range l.kinds {
		vals[i] = int64(k)
	}
	return encodeValues(append(b, 255), vals, valueGrammars)
}

// AppendKindBytes appends the kinds as AppendKinds does, but with a byte for each form, even if all kinds are the same.
func (l *FormList) AppendKindBytes(b []byte) []byte {
	var c Column
	for _, k := range l.kinds {
		c.Append(int64(k))
	}
	return EncodeDeltas(append(b, 255), &c)
}

// same returns the kind of all forms; false if they have several.
func (l *FormList) same() (Kind, bool) {
	for _, k := range l.kinds {
		if k != l.kinds[0] {
			return 0, false
		}
	}
	return l.kinds[0], true
}

// AppendCoefficients writes the coefficients of forms; see AppendKinds.
func (l *FormList) AppendCoefficients(b []byte) []byte {
	var count [KindFlagMasked << 1]int
	for _, k := range l.kinds {
		count[k]++
	}
	var room []int64
	for kind := Kind(0); kind < KindFlagMasked<<1; kind++ {
		if !kind.ExistsInFiles() || count[kind] == 0 {
			continue
		}
		for k := range kind.CoefficientCount() {
			vals := room[:0]
			if len(l.coef) == count[kind] {
				vals = l.coef // all coefficients are of this kind
			} else {
				at := 0
				for _, x := range l.kinds {
					if x == kind {
						vals = append(vals, l.coef[at+k])
					}
					at += x.CoefficientCount()
				}
				room = vals
			}
			if len(vals) == 1 {
				b = wire.AppendVarint(b, vals[0])
			} else {
				b = EncodeValues(b, vals)
			}
		}
	}
	return b
}

// Forms are the forms of one value in several signatures. They stay encoded, as a few bytes may represent millions.
type Forms struct {
	n     int
	kind  Kind // kind of all forms, if rows is nil
	rows  kindRows
	lists []coefficientList // by kind, rising
}

// A coefficientList is the coefficients of all forms of a kind.
type coefficientList struct {
	kind Kind
	// The coefficients of one form after the other, if that takes less memory than seqs; else nil.
	few  []int64
	seqs []*Seq // one for each coefficient of the kind; nil if few is set
}

// fewForms is the largest number of forms whose coefficients take less memory expanded than as Seqs.
const fewForms = 16

// kindAt returns the kind of the i-th form, and how many before it are of that kind.
func (f *Forms) kindAt(i int) (Kind, int) {
	if f.rows == nil {
		return f.kind, i
	}
	return f.rows.at(i)
}

// Kind returns the kind of the i-th form.
func (f *Forms) Kind(i int) Kind {
	k, _ := f.kindAt(i)
	return k
}

// At returns the i-th form.
func (f *Forms) At(i int) Form {
	kind, i := f.kindAt(i)
	form := Form{Kind: kind}
	n := kind.CoefficientCount()
	for _, l := range f.lists {
		if l.kind != kind {
			continue
		}
		if l.seqs == nil {
			copy(form.Coefficients[:n], l.few[i*n:])
		}
		for c, s := range l.seqs {
			form.Coefficients[c] = s.At(i, 0)
		}
	}
	return form
}

// DecodeForms reads the kinds of n forms.
func DecodeForms(r *wire.Reader, n int) Forms {
	f := Forms{n: n, kind: Kind(r.Byte())}
	if f.kind != 255 {
		if !f.kind.ExistsInFiles() {
			r.Fail("unknown form %d", f.kind)
		}
		return f
	}
	if s := DecodeSeq(r, n); s != nil {
		f.rows = rowsOf(r, s)
	}
	return f
}

// DecodeCoefficients reads the coefficients of forms whose kinds are known.
func (f *Forms) DecodeCoefficients(r *wire.Reader) { f.DecodeNotedCoefficients(r, nil) }

// DecodeNotedCoefficients is DecodeCoefficients, and calls note with the number of forms and of bytes of each kind.
func (f *Forms) DecodeNotedCoefficients(r *wire.Reader, note func(kind Kind, forms, bytes int)) {
	decode := func(kind Kind, n int) {
		if n == 0 || r.Err() != nil {
			return
		}
		rest := r.RemainingLen()
		f.lists = append(f.lists, decodeCoefficients(r, kind, n))
		if note != nil {
			note(kind, n, rest-r.RemainingLen())
		}
	}
	if f.rows == nil {
		decode(f.kind, f.n)
		return
	}
	for kind := range KindFlagMasked << 1 {
		decode(kind, f.rows.count(kind))
	}
}

// decodeCoefficients reads the coefficients of n forms of one kind.
func decodeCoefficients(r *wire.Reader, kind Kind, n int) coefficientList {
	l := coefficientList{kind: kind}
	each := kind.CoefficientCount()
	if n <= fewForms {
		l.few = make([]int64, n*each)
	}
	for c := range each {
		lo, hi := kind.bounds(c)
		if n == 1 {
			if l.few[c] = r.Varint(); l.few[c] < lo || l.few[c] > hi {
				r.Fail("form with coefficients that make no sense")
			}
			continue
		}
		s := DecodeSeq(r, n)
		if s == nil {
			return l
		}
		if s.relative || (lo != math.MinInt64 || hi != math.MaxInt64) && !s.IsBoundedBy(lo, hi) {
			r.Fail("form with coefficients that make no sense")
			return l
		}
		if l.few == nil {
			l.seqs = append(l.seqs, s)
			continue
		}
		for i := range n {
			l.few[i*each+c] = s.At(i, 0)
		}
	}
	return l
}

// maxListed is the number of forms up to which kinds may be coded by their differences. Files are no longer written so,
// as the number of a kind was known only after reading all.
const maxListed = 1 << 12

// kindRows are the kinds of several forms.
type kindRows interface {
	at(i int) (kind Kind, before int) // before: how many forms of that kind precede the i-th
	count(kind Kind) int
}

// rowsOf returns the kinds that a Seq has as values. It returns nil and sets the reader's error if some value is no
// kind.
func rowsOf(r *wire.Reader, s *Seq) kindRows {
	valid := func(v int64) bool { return v >= 0 && v < int64(KindFlagMasked<<1) && Kind(v).ExistsInFiles() }
	fail := func(v int64) kindRows {
		r.Fail("unknown form %d", v)
		return nil
	}
	switch {
	case s.relative || s.deltas && s.n > maxListed:
		r.Fail("kinds of %d forms coded as %s", s.n, s.Coding())
		return nil
	case s.sums != nil && !s.deltas:
		g := &grammarRows{seq: s}
		for _, v := range s.dict {
			if !valid(v) {
				return fail(v)
			}
			if g.of[v] == nil {
				g.of[v] = s.sums.WithWeights(func(t uint32) int64 {
					if s.dict[t] == v {
						return 1
					}
					return 0
				})
			}
		}
		return g
	}
	l := &listedRows{}
	put := func(v int64, count int) bool {
		if !valid(v) {
			fail(v)
			return false
		}
		l.add(Kind(v), count)
		return true
	}
	for _, run := range s.runs {
		if run.Stride == 0 || run.Count == 1 {
			if !put(run.Start, int(run.Count)) {
				return nil
			}
			continue
		}
		for i := range run.Count { // few iterations, as a long run with a stride soon leaves the valid kinds
			if !put(run.At(i), 1) {
				return nil
			}
		}
	}
	for i := range s.n {
		if s.runs == nil && !put(s.At(i, 0), 1) {
			return nil
		}
	}
	return l
}

// listedRows are the kinds of several forms, as rows of equal ones.
type listedRows struct {
	rows []kindRow
	sum  [KindFlagMasked << 1]int
}

type kindRow struct {
	kind   Kind
	end    int // number of forms up to the row's last one
	before int // forms of the kind before the row
}

func (l *listedRows) add(kind Kind, count int) {
	end := count
	if n := len(l.rows); n > 0 {
		last := &l.rows[n-1]
		if end += last.end; last.kind == kind {
			last.end = end
			l.sum[kind] += count
			return
		}
	}
	l.rows = append(l.rows, kindRow{kind, end, l.sum[kind]})
	l.sum[kind] += count
}

func (l *listedRows) at(i int) (Kind, int) {
	k := sort.Search(len(l.rows), func(k int) bool { return l.rows[k].end > i })
	begin := 0
	if k > 0 {
		begin = l.rows[k-1].end
	}
	return l.rows[k].kind, l.rows[k].before + i - begin
}

func (l *listedRows) count(kind Kind) int { return l.sum[kind] }

// grammarRows are the kinds of several forms, coded as a grammar.
type grammarRows struct {
	seq *Seq
	of  [KindFlagMasked << 1]*grammar.WeightSums // by kind: a sum with weight 1 for each of its forms
}

func (g *grammarRows) at(i int) (Kind, int) {
	t, _ := g.seq.sums.TerminalAt(uint64(i))
	kind := Kind(g.seq.dict[t])
	_, before := g.of[kind].TerminalAt(uint64(i))
	return kind, int(before)
}

func (g *grammarRows) count(kind Kind) int {
	if g.of[kind] == nil {
		return 0
	}
	return int(g.of[kind].Total())
}
