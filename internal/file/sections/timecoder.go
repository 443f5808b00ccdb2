package sections

import (
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A TimeCoder codes the numbers of a class's times. It takes pointers to fields, so that writing and reading share
// the code.
type TimeCoder struct {
	wire.Coder
	BaseClass       *TimeCodes // times of the class to which this one refers; nil: to none
	IsBaseForOthers bool       // other classes refer to this one
	Ranks           int        // number of ranks of the run
}

func (t *TimeCoder) uvarint(v *int, limit int) { wire.CodeBounded(&t.Coder, v, limit) }

func (t *TimeCoder) varint(v *int) {
	n := *v
	if wire.CodeRelative(&t.Coder, &n, 0); t.Reader != nil && (n < -1<<20 || n > 1<<20) {
		t.Reader.Fail("a difference of %d", n)
		return
	}
	*v = n
}

// maxCode exceeds the code of any time.
const maxCode = 70 << FineMantissaBits

// number codes *v: as its difference from base if the class has a base class or signed is set, else as it is. It
// refuses negative numbers unless signed is set.
func (t *TimeCoder) number(v *int, base int, signed bool) {
	if t.BaseClass == nil && !signed {
		t.uvarint(v, maxCode)
		return
	}
	d := *v - base
	t.varint(&d)
	if *v = d + base; t.Reader != nil && (*v > maxCode || *v < -maxCode || !signed && *v < 0) {
		t.Reader.Fail("%d is no number of a time", *v)
		*v = 0
	}
}

// high codes the upper bits of the code of a mean: all but the lowest lowBits.
func (t *TimeCoder) high(v *int) {
	const more = 255
	if t.Reader == nil {
		if *v < more {
			t.Buf = append(t.Buf, byte(*v))
		} else {
			t.Buf = wire.AppendUvarint(append(t.Buf, more), uint64(*v-more))
		}
		return
	}
	if *v = int(t.Reader.Byte()); *v == more {
		*v += t.Reader.Int(maxCode>>lowBits - more)
	}
}

// low codes the lowest lowBits of the code of a mean. When reading, *v has the upper bits before.
func (t *TimeCoder) low(v *int) {
	const mask = 1<<lowBits - 1
	if t.Reader == nil {
		t.Buf = append(t.Buf, byte(*v&mask))
	} else {
		*v = *v<<lowBits | int(t.Reader.Byte()&mask)
	}
}

func (t *TimeCoder) flag(v *bool) {
	if t.Reader != nil {
		*v = t.Reader.Byte() == 0
	} else if *v {
		t.Buf = append(t.Buf, 0)
	} else {
		t.Buf = append(t.Buf, 1)
	}
}

// code codes the times of a class, whose pools are in p. After each part it calls took with the part's number of values.
func (t *TimeCoder) code(p *ClassPools, c *TimeCodes, took func(what string, n int)) {
	for k, what := range []string{"durations of a distinct call or of many equal ones", "gaps before these"} {
		t.stats(p, c, k)
		took(what, len(p.Calls))
		t.extremes(p, c, k)
		took(TimesPartExtremes, p.ExtremesRowCount)
	}
	if p.Ranks > 1 {
		for k := range c.spreads {
			t.spreads(p, c, k)
		}
		took(TimesPartSpreads, 2*len(p.OnlyPoolOfGroup))
	}
}

// Names with which TimeCoder.code calls took, besides those for means.
const (
	TimesPartExtremes = "extremes of a call site's"
	TimesPartSpreads  = "how ranks differ in a call site's"
)

func (t *TimeCoder) stats(p *ClassPools, c *TimeCodes, k int) {
	list := c.PoolCodes[k]
	for i := range list {
		x := &list[i]
		if wire.CodeRelative(&t.Coder, &x.missing, 0); t.Reader != nil {
			x.count = p.Calls[i] + uint64(x.missing)
		}
	}
	each := func(code func(x, base *statCode)) {
		var none statCode
		for i := range list {
			if list[i].count == 0 || t.Failed() {
				continue
			}
			base := &none
			if t.BaseClass != nil {
				if at, ok := t.BaseClass.byKey[p.keys[i]]; ok && t.BaseClass.PoolCodes[k][at].count > 0 {
					base = &t.BaseClass.PoolCodes[k][at]
				}
			}
			code(&list[i], base)
		}
	}
	if t.BaseClass != nil {
		each(func(x, base *statCode) { t.number(&x.mean, base.mean, false) })
	} else {
		each(func(x, _ *statCode) {
			high := x.mean >> lowBits
			if t.high(&high); t.Reader != nil {
				x.mean = high
			}
		})
		each(func(x, _ *statCode) { t.low(&x.mean) })
	}
	if t.Reader != nil {
		c.rows[k] = p.rowsOf(list)
	}
}

func (t *TimeCoder) extremes(p *ClassPools, c *TimeCodes, k int) {
	each := func(has func(x kept) bool, code func(x, base *extremeCode)) {
		var none extremeCode
		for i := range c.extremes[k] {
			if t.Failed() || !has(p.keeps(&c.rows[k][i], t.IsBaseForOthers)) {
				continue
			}
			base := &none
			if t.BaseClass != nil {
				if _, ok := t.BaseClass.commonRow(p, k, i); ok {
					continue
				}
			}
			code(&c.extremes[k][i], base)
		}
	}
	// The rows that are left have no counterpart in the base class, so they are coded without it.
	number := func(v *int) { t.uvarint(v, maxCode) }
	each(func(x kept) bool { return x.least }, func(x, base *extremeCode) { number(&x.least) })
	each(func(x kept) bool { return x.most }, func(x, base *extremeCode) { number(&x.most) })
	each(func(x kept) bool { return x.most }, func(x, base *extremeCode) { number(&x.dev) })
	ranks := p.Ranks
	if t.IsBaseForOthers {
		ranks = t.Ranks
	}
	each(func(x kept) bool { return x.minRank }, func(x, _ *extremeCode) { t.uvarint(&x.minRank, ranks-1) })
	each(func(x kept) bool { return x.maxRank }, func(x, _ *extremeCode) { t.uvarint(&x.maxRank, ranks-1) })
}

func (t *TimeCoder) spreads(p *ClassPools, c *TimeCodes, k int) {
	list, means := c.spreads[k], p.means(c.PoolCodes[k])
	if t.BaseClass == nil && !t.IsBaseForOthers {
		for i := range list {
			if n := p.OnlyPoolOfGroup[i]; n >= 0 && c.PoolCodes[k][n].count == uint64(p.Ranks) {
				t.flag(&list[i].alone)
			}
		}
	}
	var none spreadCode
	each := func(code func(x, base *spreadCode, mean, baseMean int)) {
		for i := range list {
			if list[i].alone || t.Failed() {
				continue
			}
			base, baseMean := &none, 0
			if t.BaseClass != nil {
				if at, ok := t.BaseClass.bySite[p.sites[i]]; ok && len(t.BaseClass.spreads[k]) > 0 {
					base, baseMean = &t.BaseClass.spreads[k][at], t.BaseClass.means[k][at]
				}
			}
			code(&list[i], base, means[i], baseMean)
		}
	}
	// below codes by how much a number is below another one.
	below := func(v *int, of, base int) {
		d := of - *v
		t.number(&d, base, true)
		if *v = of - d; t.Reader != nil && (*v < 0 || *v > maxCode) {
			t.Reader.Fail("%d is no number of a total", *v)
			*v = 0
		}
	}
	member := func(v *int) { t.uvarint(v, p.Ranks-1) }
	each(func(x, base *spreadCode, mean, baseMean int) { below(&x.most, mean, baseMean-base.most) })
	if p.Ranks == 2 {
		each(func(x, _ *spreadCode, _, _ int) {
			member(&x.maxRank)
			x.followed()
		})
		return
	}
	each(func(x, base *spreadCode, _, _ int) { below(&x.least, x.most, base.most-base.least) })
	each(func(x, base *spreadCode, _, _ int) { below(&x.dev, x.most, base.most-base.dev) })
	each(func(x, _ *spreadCode, _, _ int) { member(&x.maxRank) })
	each(func(x, _ *spreadCode, _, _ int) { member(&x.minRank) })
}

// cost returns approximately how many bits the times of a class take if they refer to those of the class base; nil: to
// none.
func (p *ClassPools) cost(c, base *TimeCodes) int {
	t := TimeCoder{BaseClass: base}
	t.code(p, c, func(string, int) {})
	n := 0
	for _, b := range t.Buf {
		n += bits.Len8(b)
	}
	return n
}
