package trace

import (
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/wire"
)

// A timeCoder writes or reads the numbers of a class: fields are pointers to them, so that both go the
// same way.
type timeCoder struct {
	b      []byte
	r      *wire.Reader // nil when writing
	base   *timeCodes   // nil: none
	common bool         // others refer to this class
	ranks  int          // of the run
}

func (t *timeCoder) uvarint(v *int, limit int) {
	if t.r == nil {
		t.b = wire.AppendUvarint(t.b, uint64(*v))
	} else {
		*v = t.r.Int(limit)
	}
}

func (t *timeCoder) varint(v *int) {
	if t.r == nil {
		t.b = wire.AppendVarint(t.b, int64(*v))
	} else if n := t.r.Varint(); n >= -1<<20 && n <= 1<<20 {
		*v = int(n)
	} else {
		t.r.Fail("a difference of %d", n)
	}
}

// maxCode is above the number of any time.
const maxCode = 70 << fineBits

// number is one that a base may have, too. 0 is the least unless signed.
func (t *timeCoder) number(v *int, base int, signed bool) {
	if t.base == nil && !signed {
		t.uvarint(v, maxCode)
		return
	}
	d := *v - base
	t.varint(&d)
	if *v = d + base; t.r != nil && (*v > maxCode || *v < -maxCode || !signed && *v < 0) {
		t.r.Fail("%d is no number of a time", *v)
		*v = 0
	}
}

// high are the upper bits of a number.
func (t *timeCoder) high(v *int) {
	const more = 255
	if t.r == nil {
		if *v < more {
			t.b = append(t.b, byte(*v))
		} else {
			t.b = wire.AppendUvarint(append(t.b, more), uint64(*v-more))
		}
		return
	}
	if *v = int(t.r.Byte()); *v == more {
		*v += t.r.Int(maxCode>>lowBits - more)
	}
}

// low are its lower bits.
func (t *timeCoder) low(v *int) {
	const mask = 1<<lowBits - 1
	if t.r == nil {
		t.b = append(t.b, byte(*v&mask))
	} else {
		*v = *v<<lowBits | int(t.r.Byte()&mask)
	}
}

func (t *timeCoder) flag(v *bool) {
	if t.r != nil {
		*v = t.r.Byte() == 0
	} else if *v {
		t.b = append(t.b, 0)
	} else {
		t.b = append(t.b, 1)
	}
}

// code writes or reads the times of a class, p having its pools.
func (t *timeCoder) code(p *pooled, c *timeCodes, took func(what string, n int)) {
	for k, what := range []string{"durations of a distinct call or of many alike", "gaps before these"} {
		t.stats(p, c, k)
		took(what, len(p.calls))
		t.extremes(p, c, k)
		took(extremesCost, p.rows)
	}
	if p.ranks > 1 {
		for k := range c.spreads {
			t.spreads(p, c, k)
		}
		took(spreadsCost, 2*len(p.lone))
	}
}

// What the bytes of a class are counted as, beside means.
const (
	extremesCost = "extremes of a call site's"
	spreadsCost  = "how ranks differ in a call site's"
)

func (t *timeCoder) failed() bool { return t.r != nil && t.r.Err() != nil }

func (t *timeCoder) stats(p *pooled, c *timeCodes, k int) {
	list := c.stats[k]
	for i := range list {
		if x := &list[i]; t.r == nil {
			t.b = wire.AppendVarint(t.b, x.missing)
		} else {
			x.missing = t.r.Varint()
			x.count = p.calls[i] + uint64(x.missing)
		}
	}
	each := func(code func(x, base *statCode)) {
		var none statCode
		for i := range list {
			if list[i].count == 0 || t.failed() {
				continue
			}
			base := &none
			if t.base != nil {
				if at, ok := t.base.byKey[p.keys[i]]; ok && t.base.stats[k][at].count > 0 {
					base = &t.base.stats[k][at]
				}
			}
			code(&list[i], base)
		}
	}
	if t.base != nil {
		each(func(x, base *statCode) { t.number(&x.mean, base.mean, false) })
	} else {
		each(func(x, _ *statCode) {
			high := x.mean >> lowBits
			if t.high(&high); t.r != nil {
				x.mean = high
			}
		})
		each(func(x, _ *statCode) { t.low(&x.mean) })
	}
	if t.r != nil {
		c.rows[k] = p.rowsOf(list)
	}
}

func (t *timeCoder) extremes(p *pooled, c *timeCodes, k int) {
	each := func(has func(x kept) bool, code func(x, base *extremeCode)) {
		var none extremeCode
		for i := range c.extremes[k] {
			if t.failed() || !has(p.keeps(&c.rows[k][i], t.common)) {
				continue
			}
			base := &none
			if t.base != nil {
				if _, ok := t.base.commonRow(p, k, i); ok {
					continue
				}
				if at, ok := t.base.byRow[p.rowKey(i)]; ok && p.former && t.base.rows[k][at].count > 0 {
					base = &t.base.extremes[k][at]
				}
			}
			code(&c.extremes[k][i], base)
		}
	}
	// Only rows that the base doesn't have stand here: nothing is known of them, but up to version 4.
	number := func(v *int, base int) {
		if p.former {
			t.number(v, base, false)
		} else {
			t.uvarint(v, maxCode)
		}
	}
	each(func(x kept) bool { return x.least }, func(x, base *extremeCode) { number(&x.least, base.least) })
	each(func(x kept) bool { return x.most }, func(x, base *extremeCode) { number(&x.most, base.most) })
	each(func(x kept) bool { return x.most }, func(x, base *extremeCode) { number(&x.dev, base.dev) })
	ranks := p.ranks
	if t.common {
		ranks = t.ranks
	}
	each(func(x kept) bool { return x.minRank }, func(x, _ *extremeCode) { t.uvarint(&x.minRank, ranks-1) })
	each(func(x kept) bool { return x.maxRank }, func(x, _ *extremeCode) { t.uvarint(&x.maxRank, ranks-1) })
}

func (t *timeCoder) spreads(p *pooled, c *timeCodes, k int) {
	list, means := c.spreads[k], p.means(c.stats[k])
	if t.base == nil && !t.common || p.former {
		for i := range list {
			if n := p.lone[i]; n >= 0 && c.stats[k][n].count == uint64(p.ranks) {
				t.flag(&list[i].alone)
			}
		}
	}
	var none spreadCode
	each := func(code func(x, base *spreadCode, mean, baseMean int)) {
		for i := range list {
			if list[i].alone || t.failed() {
				continue
			}
			base, baseMean := &none, 0
			if t.base != nil {
				if at, ok := t.base.bySite[p.sites[i]]; ok && len(t.base.spreads[k]) > 0 {
					base, baseMean = &t.base.spreads[k][at], t.base.means[k][at]
				}
			}
			code(&list[i], base, means[i], baseMean)
		}
	}
	// below codes how far a number is below another one.
	below := func(v *int, of, base int) {
		d := of - *v
		t.number(&d, base, true)
		if *v = of - d; t.r != nil && (*v < 0 || *v > maxCode) {
			t.r.Fail("%d is no number of a total", *v)
			*v = 0
		}
	}
	member := func(v *int) { t.uvarint(v, p.ranks-1) }
	each(func(x, base *spreadCode, mean, baseMean int) { below(&x.most, mean, baseMean-base.most) })
	if p.ranks == 2 {
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

// cost is about how many bits the numbers of a class take with a base, nil for none.
func (p *pooled) cost(c, base *timeCodes) int {
	t := timeCoder{base: base}
	t.code(p, c, func(string, int) {})
	n := 0
	for _, b := range t.b {
		n += bits.Len8(b)
	}
	return n
}
