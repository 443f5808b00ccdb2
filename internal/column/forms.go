package column

import (
	"encoding/binary"

	"spoor/internal/wire"
)

// A FormList collects the forms that one value has in several signatures. It keeps no
// more coefficients of each than its kind needs: there may be millions.
type FormList struct {
	kinds []Kind
	coef  []int64
}

// Reset empties the list.
func (l *FormList) Reset() { l.kinds, l.coef = l.kinds[:0], l.coef[:0] }

// Add puts a form at the end.
func (l *FormList) Add(f *Form) {
	l.kinds = append(l.kinds, f.Kind)
	l.coef = append(l.coef, f.C[:f.Kind.Coefficients()]...)
}

// Take adds a form that Form.Append wrote, and returns how many bytes it is.
func (l *FormList) Take(b []byte) int {
	kind, at := Kind(b[0]), 1
	l.kinds = append(l.kinds, kind)
	for range kind.Coefficients() {
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
	return EncodeValues(append(b, 255), vals)
}

// same returns the kind of all forms, if they are of one.
func (l *FormList) same() (Kind, bool) {
	for _, k := range l.kinds {
		if k != l.kinds[0] {
			return 0, false
		}
	}
	return l.kinds[0], true
}

// AppendCoefficients is described with AppendKinds.
func (l *FormList) AppendCoefficients(b []byte) []byte {
	var count [Masked << 1]int
	for _, k := range l.kinds {
		count[k]++
	}
	var room []int64
	for kind := Kind(0); kind < Masked<<1; kind++ {
		if !kind.Valid() || count[kind] == 0 {
			continue
		}
		for k := range kind.Coefficients() {
			vals := room[:0]
			if len(l.coef) == count[kind] {
				vals = l.coef // there are no others
			} else {
				at := 0
				for _, x := range l.kinds {
					if x == kind {
						vals = append(vals, l.coef[at+k])
					}
					at += x.Coefficients()
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

// Forms are the forms that one value has in several signatures, unpacked no
// further than needed: a table of signatures may hold millions.
type Forms struct {
	n     int
	kind  Kind // of all, if kinds is nil
	kinds []Kind
	at    []uint32 // parallel to kinds: where the coefficients start
	coef  []int64
}

// Kind returns the kind of the i-th form.
func (f *Forms) Kind(i int) Kind {
	if f.kinds != nil {
		return f.kinds[i]
	}
	return f.kind
}

// At returns the i-th form.
func (f *Forms) At(i int) Form {
	form := Form{Kind: f.Kind(i)}
	k := form.Kind.Coefficients()
	at := i * k
	if f.kinds != nil {
		at = int(f.at[i])
	}
	copy(form.C[:k], f.coef[at:])
	return form
}

// DecodeForms reads the kinds of n forms; the caller bounds n.
func DecodeForms(r *wire.Reader, n int) Forms {
	f := Forms{n: n, kind: Kind(r.Byte())}
	if f.kind != 255 {
		if !f.kind.Valid() {
			r.Fail("unknown form %d", f.kind)
		}
		return f
	}
	s := DecodeSeq(r, n)
	if s == nil {
		return Forms{}
	}
	if !s.Bounds(0, int64(Masked<<1-1)) {
		r.Fail("unknown form")
		return Forms{}
	}
	f.kinds, f.at = make([]Kind, n), make([]uint32, n)
	for i := range n {
		k := Kind(s.At(i, 0))
		if !k.Valid() {
			r.Fail("unknown form %d", k)
			return Forms{}
		}
		f.kinds[i] = k
	}
	return f
}

// DecodeCoefficients reads the coefficients of forms whose kinds are known.
func (f *Forms) DecodeCoefficients(r *wire.Reader) { f.DecodeCoefficientsOf(r, nil) }

// DecodeCoefficientsOf does the same and tells how many bytes those of each kind
// of form took.
func (f *Forms) DecodeCoefficientsOf(r *wire.Reader, note func(kind Kind, forms, bytes int)) {
	decode := func(kind Kind, n int) {
		rest := r.Rest()
		f.decodeKind(r, kind, n)
		if note != nil {
			note(kind, n, rest-r.Rest())
		}
	}
	if f.kinds == nil {
		decode(f.kind, f.n)
		return
	}
	var count [Masked << 1]int
	for _, k := range f.kinds {
		count[k]++
	}
	var start [Masked << 1]int
	total := 0
	for k, n := range count {
		start[k] = total
		if n > 0 {
			total += n * Kind(k).Coefficients()
		}
	}
	for i, k := range f.kinds {
		f.at[i] = uint32(start[k])
		start[k] += k.Coefficients()
	}
	for k, n := range count {
		if n > 0 {
			decode(Kind(k), n)
		}
	}
}

// decodeKind reads the coefficients of n forms of one kind.
func (f *Forms) decodeKind(r *wire.Reader, kind Kind, n int) {
	if r.Err() != nil || n == 0 {
		return
	}
	k := kind.Coefficients()
	base := len(f.coef)
	f.coef = append(f.coef, make([]int64, n*k)...)
	coef := f.coef[base:]
	for c := range k {
		if n == 1 {
			coef[c] = r.Varint()
			continue
		}
		s := DecodeSeq(r, n)
		if s == nil {
			return
		}
		for i := range n {
			coef[i*k+c] = s.At(i, 0)
		}
	}
	for i := range n {
		form := Form{Kind: kind}
		copy(form.C[:k], coef[i*k:])
		form.Check(r)
	}
}
