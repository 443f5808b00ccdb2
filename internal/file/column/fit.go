package column

import "github.com/spoor-hpc/spoor/internal/file/wire"

// A Fitter finds closed forms for the columns of one class.
type Fitter struct {
	size  int64 // number of ranks of the world
	col   Column
	ranks []int64
	index map[int64]int // by rank: position in the class; nil if ranks are consecutive
	radix []int64       // divisors of the world size that are tried as widths of grids and as sizes of blocks
	memo  map[string]*fitted
	seen  map[identity]*entry
	vals  []int64 // buffer for the values of one column
	bases []*base // stored columns that others may refer to by KindOtherColumn
	refs  int64   // number of stored columns

	misses int // number of columns since a grammar was last the shortest coding

	shares []Form   // forms of KindBlockProduct found so far
	locals []*local // stored columns that may be own ranks in, or sizes of, communicators

	// ExcludeBlockSizes disables block sizes. If many columns are similar, but only some are block sizes, the latter would
	// interrupt the sequence of forms.
	ExcludeBlockSizes bool
}

type fitted struct {
	form    Form
	payload []byte
}

// NewFitter returns a Fitter for columns over the given ranks, in a world of the given size.
func NewFitter(ranks Column, size int) *Fitter {
	f := &Fitter{size: int64(size), col: ranks, ranks: ranks.Values(), memo: make(map[string]*fitted),
		seen: make(map[identity]*entry)}
	if len(f.ranks) > 2 {
		if !f.dense() {
			f.index = make(map[int64]int, len(f.ranks))
			for i, r := range f.ranks {
				f.index[r] = i
			}
		}
		for d := int64(1); d*d <= f.size; d++ {
			if f.size%d == 0 {
				f.radix = append(f.radix, d)
				if d*d != f.size {
					f.radix = append(f.radix, f.size/d)
				}
			}
		}
	}
	return f
}

// Fit returns the form in which to store a column, and the data that the class keeps for it, or nil. preferRank decides
// the form of a single value: whether it is more likely to be relative to the rank.
func (f *Fitter) Fit(c *Column, preferRank bool) (Form, []byte) {
	if v, ok := c.Uniform(); ok {
		if c.n == 1 && preferRank && v >= 0 {
			return Form{Kind: KindRankPlus, Coefficients: Coefficients{v - f.ranks[0]}}, nil
		}
		return Form{Kind: KindConst, Coefficients: Coefficients{v}}, nil
	}
	e := f.entry(c)
	if e.memo != nil {
		if e.memo.form.Kind == KindAsStored {
			f.refs++
		}
		return e.memo.form, e.memo.payload
	}
	key := string(c.AppendRuns(nil))
	if m, ok := f.memo[key]; ok {
		if m.form.Kind == KindAsStored {
			f.refs++
		}
		e.memo = m
		return m.form, m.payload
	}
	form, payload := f.search(c, int64(c.n) == f.size && c.n >= minLike && len(key) >= minLikeBytes)
	m := &fitted{form, payload}
	if form.Kind == KindAsStored && int64(c.n) == f.size && len(payload) >= minLikeBytes {
		again := f.again()
		m = &again
	}
	f.memo[key], e.memo = m, m
	return form, payload
}

func (f *Fitter) search(c *Column, like bool) (Form, []byte) {
	vals := c.Values()
	all := members{vals: vals}
	if form, ok := f.closed(&all); ok {
		return form, nil
	}
	var pat []int64
	var off, scale int64
	if like {
		if pat, off, scale, like = pattern(c); like {
			if form, ok := f.findLike(pat, off, scale); ok {
				return form, nil
			}
			if form, ok := f.findLocal(vals); ok {
				return form, nil
			}
		}
	}
	if form, ok := f.border(vals); ok {
		return form, nil
	}
	stored := f.encode(c)
	rest := members{vals: vals, skip: make([]bool, len(vals))}
	var mask Column
	for i, v := range vals {
		if v < 0 {
			rest.skip[i] = true
			rest.skipped++
			mask.Append(v)
		} else {
			mask.Append(0)
		}
	}
	// A form for fewer than three values may hold by chance.
	if rest.skipped > 0 && len(vals)-rest.skipped > 2 {
		if form, ok := f.closed(&rest); ok {
			payload := EncodeSeq(nil, &mask, nil)
			if len(payload)+form.cost() < len(stored) {
				form.Kind |= KindFlagMasked
				return form, payload
			}
		}
	}
	if like {
		f.noteLocal(f.refs, vals)
		f.stored(pat, off, scale)
	} else {
		f.refs++
	}
	return Form{Kind: KindAsStored}, stored
}

// After patience consecutive columns for which no grammar was shorter, grammars are tried for one column in pace.
// Data-dependent values have many columns, and trying all takes minutes.
const (
	patience = 256
	pace     = 16
)

// encode returns a column that is stored, encoded as a Seq.
func (f *Fitter) encode(c *Column) []byte {
	tries := noGrammars
	if f.misses < patience || f.misses%pace == 0 {
		tries = allGrammars
	}
	b := encodeSeq(nil, c, &f.col, tries)
	if codec := b[0] &^ relative; codec == codecValues || codec == codecDeltas {
		f.misses = 0
	} else if len(c.runs) >= minGrammarRuns {
		f.misses++
	}
	return b
}

// cost is about how many bytes the coefficients take in a file.
func (f *Form) cost() int {
	n := 0
	for _, c := range f.Coefficients[:f.Kind.CoefficientCount()] {
		n += wire.UvarintLen(uint64(c)<<1 ^ uint64(c>>63))
	}
	return n
}

// members are the values that a form must reproduce, except those in skip.
type members struct {
	vals    []int64
	skip    []bool
	skipped int
}

func (m *members) has(i int) bool { return m.skip == nil || !m.skip[i] }

// closed finds a closed form that all members fit, simple ones first.
func (f *Fitter) closed(m *members) (Form, bool) {
	first := 0
	for first < len(m.vals) && !m.has(first) {
		first++
	}
	if first == len(m.vals) {
		return Form{}, false
	}
	v, r := m.vals[first], f.ranks[first]
	for kind := KindConst; kind <= KindXor; kind++ {
		if form := simple(kind, v, r, f.size); f.holds(&form, m) {
			return form, true
		}
	}
	if len(m.vals)-m.skipped < 3 {
		return Form{}, false
	}
	if form, ok := f.wrap(m, first); ok {
		return form, true
	}
	if form, ok := f.blocks(m, first); ok {
		return form, true
	}
	low := v
	for i, v := range m.vals {
		if m.has(i) && v < low {
			low = v
		}
	}
	bases := []int64{low}
	if low > 0 {
		bases = []int64{0, low}
	}
	for _, d := range f.radix {
		o, ok := f.corner(m, d)
		if !ok {
			continue
		}
		for _, base := range bases {
			for _, m1 := range []int64{d, f.size / d} {
				if form := f.digits(m, o, d, base, m1); f.holds(&form, m) {
					return form, true
				}
			}
		}
	}
	return Form{}, false
}

// holds reports whether the form gives every member's value. It tries a few distant members first, as most wrong
// forms fail there.
func (f *Fitter) holds(form *Form, m *members) bool {
	n := len(m.vals)
	for _, i := range []int{n - 1, n / 2, n / 3, 1} {
		if i < n && m.has(i) && form.Eval(f.ranks[i], f.size) != m.vals[i] {
			return false
		}
	}
	for i, v := range m.vals {
		if m.has(i) && form.Eval(f.ranks[i], f.size) != v {
			return false
		}
	}
	return true
}

// A corner is three members from which the coefficients of KindMixedRadix follow: one,
// its successor in x and its successor in y. Where a digit has one value only,
// that direction's successor is missing (-1) and its coefficient 0.
type corner struct{ at, right, down int }

// corner searches the members for a corner of a grid d wide.
func (f *Fitter) corner(m *members, d int64) (corner, bool) {
	const tries = 256
	step := max(len(m.vals)/tries, 1)
	for i := 0; i < len(m.vals); i += step {
		if !m.has(i) {
			continue
		}
		r := f.ranks[i]
		o := corner{i, -1, -1}
		var ok bool
		if d > 1 {
			if o.right, ok = f.position(r + 1); !ok || (r+1)%d == 0 || !m.has(o.right) {
				continue
			}
		}
		if d < f.size {
			if o.down, ok = f.position(r + d); !ok || !m.has(o.down) {
				continue
			}
		}
		return o, true
	}
	return corner{}, false
}

// dense reports whether each rank is one more than the one before.
func (f *Fitter) dense() bool {
	for i, r := range f.ranks {
		if r-f.ranks[0] != int64(i) {
			return false
		}
	}
	return true
}

// position returns a rank's index in the class; false if it is not a member.
func (f *Fitter) position(rank int64) (int, bool) {
	if f.index != nil {
		i, ok := f.index[rank]
		return i, ok
	}
	i := rank - f.ranks[0]
	return int(i), i >= 0 && i < int64(len(f.ranks))
}

// digits derives the coefficients of KindMixedRadix from a corner of a grid d wide.
func (f *Fitter) digits(m *members, o corner, d, base, m1 int64) Form {
	m2 := f.size / m1
	x, y := f.ranks[o.at]%d, f.ranks[o.at]/d
	form := Form{Kind: KindMixedRadix}
	form.Coefficients[cD], form.Coefficients[cBase], form.Coefficients[cM1], form.Coefficients[cM2] = d, base, m1, m2
	digit := func(i int) (lo, hi int64) {
		v := m.vals[i] - base
		return mod(v, m1), mod((v-mod(v, m1))/m1, m2)
	}
	lo, hi := digit(o.at)
	if o.right >= 0 {
		l, h := digit(o.right)
		form.Coefficients[cA1], form.Coefficients[cA2] = mod(l-lo, m1), mod(h-hi, m2)
	}
	if o.down >= 0 {
		l, h := digit(o.down)
		form.Coefficients[cB1], form.Coefficients[cB2] = mod(l-lo, m1), mod(h-hi, m2)
	}
	form.Coefficients[cC1] = mod(lo-form.Coefficients[cA1]*x-form.Coefficients[cB1]*y, m1)
	form.Coefficients[cC2] = mod(hi-form.Coefficients[cA2]*x-form.Coefficients[cB2]*y, m2)
	return form
}

// Reproduces reports whether a form that was found for another class gives all values of a column, too.
func (f *Fitter) Reproduces(form *Form, c *Column) bool {
	if form.Kind == KindConst {
		v, ok := c.Uniform()
		return ok && v == form.Coefficients[0]
	}
	if len(c.runs) == 0 || form.Eval(f.ranks[0], f.size) != c.runs[0].Start {
		return false
	}
	if c.n == 1 {
		return true // no entry is made: entries are found by the address of a run, whose memory may be reused here
	}
	e := f.entry(c)
	for i, at := range f.probes() {
		if form.Eval(f.ranks[at], f.size) != e.probes[i] {
			return false
		}
	}
	for i := range e.tested {
		if e.tested[i].form == *form {
			return e.tested[i].ok
		}
	}
	f.vals = f.vals[:0]
	for v := range c.All() {
		f.vals = append(f.vals, v)
	}
	m := members{vals: f.vals}
	t := tested{*form, f.holds(form, &m)}
	e.tested = append(e.tested, t)
	return t.ok
}

// An entry caches what was found for a column. Columns of one class are often the same slice of runs, because the merge
// stores equal ones once.
type entry struct {
	probes [probes]int64
	memo   *fitted
	tested []tested
}

type identity struct {
	run  *Run
	runs int
	n    uint64
}

type tested struct {
	form Form
	ok   bool
}

// probes is how many members' values suffice to reject most wrong forms.
const probes = 6

func (f *Fitter) probes() [probes]int {
	n := len(f.ranks)
	return [probes]int{n - 1, n / 2, n / 3, min(1, n-1), n / 5, n - 1 - n/7}
}

func (f *Fitter) entry(c *Column) *entry {
	id := identity{&c.runs[0], len(c.runs), c.n}
	e := f.seen[id]
	if e == nil {
		e = &entry{}
		for i, at := range f.probes() {
			e.probes[i] = c.At(at)
		}
		f.seen[id] = e
	}
	return e
}
