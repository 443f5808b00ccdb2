package trace

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/wire"
)

// The times of a class in a file. All are rounded: means to fineBits bits behind the first one,
// so that what they add up to over the pools of a class stays what it was; extremes
// and deviations to coarseBits, or fineBits where there are as many times as ranks, as
// differences of their numbers to that of the mean, which are small whatever the unit of the times.
//
//	times = base uvarint, stats of durations, stats of gaps,
//	        if the class has more than one rank: spreads of durations, spreads of gaps
//	stats = per pool: (count - calls) varint,
//	        per pool with count > 0: high bits of mean, then per such pool: its low 7 bits uint8;
//	        per pool with count > 1: (mean - min); then per such pool: (max - mean)
//	        if count > 2, then per such pool: (max - deviation),
//	        if the class has more than one rank, per pool with count > 0: rank of min uvarint,
//	        then per pool with count > 1: rank of max uvarint
//	spreads = per group that is one pool with as many times as there are ranks: apart uint8,
//	        then per group, unless that is 0: (mean - (max - mean));
//	        of two ranks: rank of max uvarint,
//	        else ((max - mean) - (mean - min)); ((max - mean) - deviation); rank of max uvarint; rank of min uvarint
//
// A base of 0 says that numbers stand as they are: high bits of mean uint8, or 255 and a uvarint where they are
// more, the others as uvarint, those of spreads as varint. Else it is 1 + the number of a class before,
// and all are differences to those of the pool or group with the same signature there, as
// varint, means without their low bits apart; what is not there counts as if it had none.
// That class has base 0, so that two pieces are all that is read for one.
//
// apart is 0 where totals of ranks are the calls. Sums are counts times means.
const (
	coarseBits = 5
	fineBits   = 10
	meanParts  = 64 // of a nanosecond: what a mean is counted in
	lowBits    = 7
)

// SumWithin is how far the sum of a Stat that was read, or of a Spread, may be from the true one, as a part of
// it: less than a step of the mean. Sums of all calls of a class are nearer.
const SumWithin = 1.0 / (1 << fineBits)

// A statCode is a Stat as its numbers in a file.
type statCode struct {
	count            uint64
	missing          int64
	mean             int
	least, most, dev int
	minRank, maxRank int
}

// A spreadCode is a Spread as its numbers in a file.
type spreadCode struct {
	alone            bool
	most, least, dev int
	maxRank, minRank int
}

// timeCodes are the times of a class as their numbers in a file.
type timeCodes struct {
	stats   [2][]statCode
	spreads [2][]spreadCode
	// What others refer to that have this one as base.
	byKey  map[poolKey]int
	bySite map[any]int
	means  [2][]int
}

func newTimeCodes(p *pooled) *timeCodes {
	c := &timeCodes{}
	for k := range c.stats {
		c.stats[k] = make([]statCode, len(p.calls))
		if p.ranks > 1 {
			c.spreads[k] = make([]spreadCode, len(p.lone))
		}
	}
	return c
}

// encode rounds the times. index is the number of each rank in the class, nil if it is one.
func (p *pooled) encode(index map[int32]uint64) *timeCodes {
	c := newTimeCodes(p)
	for k, stats := range p.stats {
		p.roundMeans(c.stats[k], stats)
		for i := range stats {
			c.stats[k][i].extremes(&stats[i], p.ranks, index)
		}
		if p.ranks < 2 {
			continue
		}
		for i, s := range p.spreads[k] { // in order of groups
			c.spreads[k][i] = p.spread(i, &s, stats, c.stats[k], index)
		}
	}
	return c
}

// roundMeans rounds the means, those of the largest sums first: what one loses the next
// makes up for, by a step of its own at most.
func (p *pooled) roundMeans(codes []statCode, stats []Stat) {
	order := make([]int, len(stats))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(stats[b].Sum, stats[a].Sum) })
	lost := 0.0
	for _, i := range order {
		s, x := &stats[i], &codes[i]
		x.count, x.missing = s.Count, int64(s.Count-p.calls[i])
		if s.Count == 0 {
			continue
		}
		n := float64(s.Count)
		own := s.Mean() * meanParts
		x.mean = rounded(own+lost/n*meanParts, fineBits)
		nearest := rounded(own, fineBits)
		switch low := unrounded(nearest, fineBits); {
		case low == own:
			x.mean = nearest // it is exact, and whoever reads it would find it off
		case low > own:
			x.mean = min(max(x.mean, nearest-1), nearest)
		default:
			x.mean = min(max(x.mean, nearest), nearest+1)
		}
		lost += float64(s.Sum) - x.meanNs()*n
	}
}

// meanNs is the mean as it is read.
func (x *statCode) meanNs() float64 { return unrounded(x.mean, fineBits) / meanParts }

// around are the numbers of the mean that those of extremes are differences to.
func (x *statCode) around(keep int) (below, above int) {
	m := x.meanNs()
	return rounded(math.Floor(m), keep), rounded(math.Ceil(m), keep)
}

// bits is how many bits extremes keep. Where each rank made one call, they are two ranks' own times.
func (x *statCode) bits(ranks int) int {
	if ranks > 1 && x.count == uint64(ranks) {
		return fineBits
	}
	return coarseBits
}

func (x *statCode) extremes(s *Stat, ranks int, index map[int32]uint64) {
	if x.count == 0 {
		return
	}
	x.minRank = int(index[s.MinRank])
	if x.count == 1 {
		return
	}
	x.maxRank = int(index[s.MaxRank])
	keep := x.bits(ranks)
	below, above := x.around(keep)
	x.least = max(below-rounded(float64(s.Min), keep), 0)
	if x.count == 2 {
		return // the rest follows from the mean
	}
	x.most = max(rounded(float64(s.Max), keep)-above, 0)
	x.dev = max(above+x.most-rounded(s.Deviation(), keep), 0)
}

// stat is the reverse.
func (x *statCode) stat(ranks int, member func(i int) int32) (s Stat) {
	if s.Count = x.count; s.Count == 0 {
		return s
	}
	whole := func(f float64) uint64 { return uint64(math.Min(f, 1<<64-1<<12)) }
	keep := x.bits(ranks)
	mean := x.meanNs()
	s.Sum = whole(mean*float64(s.Count) + 0.5)
	s.Min, s.Max = whole(math.Floor(mean)), whole(math.Ceil(mean))
	dev := 0.0
	switch {
	case s.Count == 1:
		s.Min, s.Max = s.Sum, s.Sum
	case s.Count == 2:
		below, _ := x.around(keep)
		s.Min = min(s.Min, whole(unrounded(below-x.least, keep)))
		s.Max = max(s.Max, s.Sum-min(s.Min, s.Sum))
		dev = float64(s.Max-s.Min) / 2
	default:
		below, above := x.around(keep)
		s.Min = min(s.Min, whole(unrounded(below-x.least, keep)))
		s.Max = max(s.Max, whole(unrounded(above+x.most, keep)))
		// No set deviates more than one that is all extremes.
		dev = min(unrounded(above+x.most-x.dev, keep), float64(s.Max-s.Min)/2)
	}
	s.SetDeviation(dev)
	if s.MinRank, s.MaxRank = member(x.minRank), member(x.maxRank); s.Count == 1 {
		s.MaxRank = s.MinRank
	}
	return s
}

// spread rounds the totals of the ranks in the i-th group.
func (p *pooled) spread(i int, s *Spread, stats []Stat, codes []statCode, index map[int32]uint64) (x spreadCode) {
	mean := s.Mean()
	if p.mayBeAlone(i, stats) {
		t := &stats[p.lone[i]]
		read := codes[p.lone[i]].stat(p.ranks, func(int) int32 { return 0 })
		// As near as a spread of its own would be, a part of the distance to the mean.
		near := func(got, want uint64) bool {
			return math.Abs(float64(got)-float64(want)) <= 1+math.Abs(float64(want)-mean)/(2<<coarseBits)
		}
		x.alone = t.Min == s.Min && t.Max == s.Max && t.MinRank == s.MinRank && t.MaxRank == s.MaxRank && t.Sum == s.Sum &&
			near(read.Min, t.Min) && near(read.Max, t.Max)
		if x.alone {
			return x
		}
	}
	x.most = rounded(float64(s.Max)-mean, coarseBits)
	x.least = rounded(mean-float64(s.Min), coarseBits)
	x.dev = rounded(s.Deviation(), coarseBits)
	x.maxRank, x.minRank = int(index[s.MaxRank]), int(index[s.MinRank])
	if p.ranks == 2 {
		x.followed()
	}
	return x
}

// followed sets what follows from the rest where there are two ranks.
func (x *spreadCode) followed() {
	x.least, x.dev, x.minRank = x.most, x.most, 1-x.maxRank
	if x.most == 0 {
		x.minRank = x.maxRank
	}
}

// mayBeAlone reports whether a group is one pool with as many times as there are ranks.
func (p *pooled) mayBeAlone(i int, stats []Stat) bool {
	return p.lone[i] >= 0 && stats[p.lone[i]].Count == uint64(p.ranks)
}

// spreadOf is the reverse.
func (x *spreadCode) spreadOf(p *pooled, i int, sum uint64, stats []Stat, member func(i int) int32) Spread {
	s := Spread{Ranks: p.ranks, Sum: sum}
	if x.alone {
		t := &stats[p.lone[i]]
		s.Min, s.Max, s.MinRank, s.MaxRank, s.Squares = t.Min, t.Max, t.MinRank, t.MaxRank, t.Squares
		return s
	}
	s.Max = uint64(math.Min(s.Mean()+unrounded(x.most, coarseBits)+0.5, math.MaxInt64))
	s.Min = uint64(math.Max(s.Mean()-unrounded(x.least, coarseBits)+0.5, 0))
	s.SetDeviation(unrounded(x.dev, coarseBits))
	s.MaxRank, s.MinRank = member(x.maxRank), member(x.minRank)
	return s
}

// A timeCoder writes or reads numbers: fields are pointers to them, so that both go the
// same way.
type timeCoder struct {
	b    []byte
	r    *wire.Reader // nil when writing
	base *timeCodes   // nil: none
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

// member is the number of a rank in the class.
func (t *timeCoder) member(v *int, ranks int) { t.uvarint(v, ranks-1) }

// code writes or reads the times of a class, p having its pools.
func (t *timeCoder) code(p *pooled, c *timeCodes, took func(what string, n int)) {
	for k, what := range []string{"durations of a distinct call or of many alike", "gaps before these"} {
		t.stats(p, c, k)
		took(what, len(p.calls))
	}
	if p.ranks > 1 {
		for k := range c.spreads {
			t.spreads(p, c, k)
		}
		took("how ranks differ in a call site's", 2*len(p.lone))
	}
}

func (t *timeCoder) stats(p *pooled, c *timeCodes, k int) {
	list := c.stats[k]
	least := func(n uint64, code func(x, base *statCode)) {
		var none statCode
		for i := range list {
			if list[i].count < n || t.r != nil && t.r.Err() != nil {
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
	least(0, func(x, _ *statCode) {
		if t.r == nil {
			t.b = wire.AppendVarint(t.b, x.missing)
		} else {
			x.missing = t.r.Varint()
		}
	})
	if t.r != nil {
		for i := range list {
			list[i].count = p.calls[i] + uint64(list[i].missing)
		}
	}
	if t.base != nil {
		least(1, func(x, base *statCode) { t.number(&x.mean, base.mean, false) })
	} else {
		least(1, func(x, _ *statCode) {
			high := x.mean >> lowBits
			if t.high(&high); t.r != nil {
				x.mean = high
			}
		})
		least(1, func(x, _ *statCode) { t.low(&x.mean) })
	}
	least(2, func(x, base *statCode) { t.number(&x.least, base.least, false) })
	least(3, func(x, base *statCode) { t.number(&x.most, base.most, false) })
	least(3, func(x, base *statCode) { t.number(&x.dev, base.dev, false) })
	if p.ranks > 1 {
		least(1, func(x, _ *statCode) { t.member(&x.minRank, p.ranks) })
		least(2, func(x, _ *statCode) { t.member(&x.maxRank, p.ranks) })
	}
}

func (t *timeCoder) spreads(p *pooled, c *timeCodes, k int) {
	list, means := c.spreads[k], p.means(c.stats[k])
	for i := range list {
		if n := p.lone[i]; n >= 0 && c.stats[k][n].count == uint64(p.ranks) {
			t.flag(&list[i].alone)
		}
	}
	var none spreadCode
	each := func(code func(x, base *spreadCode, mean, baseMean int)) {
		for i := range list {
			if list[i].alone || t.r != nil && t.r.Err() != nil {
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
	each(func(x, base *spreadCode, mean, baseMean int) { below(&x.most, mean, baseMean-base.most) })
	if p.ranks == 2 {
		each(func(x, _ *spreadCode, _, _ int) {
			t.member(&x.maxRank, p.ranks)
			x.followed()
		})
		return
	}
	each(func(x, base *spreadCode, _, _ int) { below(&x.least, x.most, base.most-base.least) })
	each(func(x, base *spreadCode, _, _ int) { below(&x.dev, x.most, base.most-base.dev) })
	each(func(x, _ *spreadCode, _, _ int) { t.member(&x.maxRank, p.ranks) })
	each(func(x, _ *spreadCode, _, _ int) { t.member(&x.minRank, p.ranks) })
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

// means are the numbers of the means over the ranks of what the calls of groups come to.
func (p *pooled) means(codes []statCode) []int {
	sums := make([]float64, len(p.lone))
	for i := range codes {
		sums[p.site[i]] += codes[i].meanNs() * float64(codes[i].count)
	}
	list := make([]int, len(sums))
	for i, s := range sums {
		list[i] = rounded(s/float64(p.ranks), coarseBits)
	}
	return list
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

// maxBases is how many classes are tried as the one that another refers to.
const maxBases = 4

// appendAll writes the times of all classes, in order of the numbers of bases: a class refers only to
// one that stands before it.
func appendAll(list []*pooled, codes []*timeCodes) [][]byte {
	blobs := make([][]byte, len(list))
	var bases []int
	for i, p := range list {
		if p == nil {
			continue
		}
		c := codes[i]
		best, least := -1, p.cost(c, nil)
		for _, n := range bases {
			if cost := p.cost(c, codes[n]); cost < least {
				best, least = n, cost
			}
		}
		t := timeCoder{}
		if best < 0 {
			t.b = append(t.b, 0)
			if len(bases) < maxBases {
				c.index(p)
				bases = append(bases, i)
			}
		} else {
			t.b, t.base = wire.AppendUvarint(t.b, uint64(1+best)), codes[best]
		}
		t.code(p, c, func(string, int) {})
		blobs[i] = t.b
	}
	return blobs
}

// index makes the class one that others can refer to.
func (c *timeCodes) index(p *pooled) {
	c.byKey, c.bySite = make(map[poolKey]int, len(p.keys)), make(map[any]int, len(p.sites))
	for i, k := range slices.Backward(p.keys) {
		c.byKey[k] = i
	}
	for i, g := range p.sites {
		c.bySite[g] = i
	}
	for k := range c.means {
		c.means[k] = p.means(c.stats[k])
	}
}

// decode reads the times of a class, and returns their numbers too.
func (p *pooled) decode(r *wire.Reader, base *timeCodes, ranks []int, took func(what string, n int)) *timeCodes {
	c := newTimeCodes(p)
	t := timeCoder{r: r, base: base}
	t.code(p, c, took)
	if r.Err() != nil {
		return c
	}
	member := func(i int) int32 {
		if i >= len(ranks) {
			return 0
		}
		return int32(ranks[i])
	}
	for k := range c.stats {
		p.stats[k] = make([]Stat, len(p.calls))
		sums := make([]uint64, len(p.lone))
		for i := range p.stats[k] {
			p.stats[k][i] = c.stats[k][i].stat(p.ranks, member)
			sums[p.site[i]] += p.stats[k][i].Sum
		}
		for i := range c.spreads[k] {
			p.spreads[k] = append(p.spreads[k], c.spreads[k][i].spreadOf(p, i, sums[i], p.stats[k], member))
		}
	}
	return c
}
