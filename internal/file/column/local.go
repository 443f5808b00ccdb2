package column

// A communicator may have members that follow no rule, such as those of a split by a hash. Then ranks in it are no
// form of the world rank. But a partner is a form of the own rank in it: a distance, modulo the size. Own ranks and
// sizes are recorded with the call that made the communicator, and a partner's column refers to them.

// Indices of the coefficients of KindOwnRankInColumn. The value is (value in column oOwn + oShift) modulo the value in
// column oSize - 1, or modulo oModulus if oSize is 0.
const (
	oOwn = iota
	oSize
	oModulus
	oShift
)

// ReferredColumns returns which of a class's stored columns a form of KindOtherColumn or KindOwnRankInColumn refers to;
// -1 for none.
func (f *Form) ReferredColumns() (of, size int64) {
	switch f.Kind {
	case KindOtherColumn:
		return f.Coefficients[lRef], -1
	case KindOwnRankInColumn:
		return f.Coefficients[oOwn], f.Coefficients[oSize] - 1
	}
	return -1, -1
}

// local returns the value of a form of KindOwnRankInColumn, given the values in the columns that it refers to.
func (f *Form) local(own, size int64) int64 {
	if f.Coefficients[oSize] == 0 {
		size = f.Coefficients[oModulus]
	}
	return mod(int64(uint64(own)+uint64(f.Coefficients[oShift])), max(size, 1))
}

// maxLocals is the largest number of stored columns that are kept as possible own ranks or sizes; those of
// communicators come early.
const maxLocals = 12

// A local is a stored column whose values are from 0 to the number of ranks, so that it may be own ranks or sizes.
type local struct {
	ref  int64
	vals []int64
	most int64
}

// findLocal looks for a form of KindOwnRankInColumn that gives the values.
func (f *Fitter) findLocal(vals []int64) (Form, bool) {
	most := int64(0)
	for _, v := range vals {
		if v < 0 || v >= f.size {
			return Form{}, false
		}
		most = max(most, v)
	}
	for _, own := range f.locals {
		if most > own.most {
			continue
		}
		form := Form{Kind: KindOwnRankInColumn}
		form.Coefficients[oOwn], form.Coefficients[oModulus] = own.ref, own.most+1
		if form.Coefficients[oShift] = mod(vals[0]-own.vals[0], own.most+1); f.givesLocal(&form, own, nil, vals) {
			return form, true
		}
		form.Coefficients[oModulus] = 0
		for _, size := range f.locals {
			if size == own || size.vals[0] < 1 {
				continue
			}
			form.Coefficients[oSize] = size.ref + 1
			// All ranks have the same distance to their partner. On the first rank it may lead beyond an end of the
			// communicator: then the difference seen there is off by the size.
			for _, shift := range [...]int64{vals[0] - own.vals[0], vals[0] - own.vals[0] + size.vals[0], vals[0] - own.vals[0] - size.vals[0]} {
				if form.Coefficients[oShift] = shift; f.givesLocal(&form, own, size, vals) {
					return form, true
				}
			}
		}
	}
	return Form{}, false
}

func (f *Fitter) givesLocal(form *Form, own, size *local, vals []int64) bool {
	for i, v := range vals {
		n := int64(0)
		if size != nil {
			n = size.vals[i]
		}
		if form.local(own.vals[i], n) != v {
			return false
		}
	}
	return true
}

// noteLocal notes a stored column that may be own ranks or sizes.
func (f *Fitter) noteLocal(ref int64, vals []int64) {
	if len(f.locals) == maxLocals {
		return
	}
	most := int64(0)
	for _, v := range vals {
		if v < 0 || v > f.size {
			return
		}
		most = max(most, v)
	}
	f.locals = append(f.locals, &local{ref, vals, most})
}
