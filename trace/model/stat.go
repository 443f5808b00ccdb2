package model

import (
	"math"
	"math/big"
	"math/bits"
)

// A Stat is a summary of a set of non-negative samples in nanoseconds. The zero value is an empty set. All fields are
// integers, so that the result of merging several Stats does not depend on their order.
type Stat struct {
	Count    uint64
	Sum      uint64
	Min, Max uint64
	Squares  Uint128 // sum of the samples' squares
	// MinRank and MaxRank are the lowest ranks that had a sample of Min, and of Max. Add does not set them: see OfRank.
	MinRank, MaxRank int32
}

// A Uint128 is an unsigned integer of 128 bits: Hi<<64 + Lo.
type Uint128 struct{ Hi, Lo uint64 }

// Add puts one sample into the set.
func (s *Stat) Add(ns uint64) {
	if s.Count == 0 || ns < s.Min {
		s.Min = ns
	}
	if ns > s.Max {
		s.Max = ns
	}
	s.Count++
	s.Sum += ns
	hi, lo := bits.Mul64(ns, ns)
	var carry uint64
	s.Squares.Lo, carry = bits.Add64(s.Squares.Lo, lo, 0)
	s.Squares.Hi += hi + carry
}

// AddEveryNth puts the samples with the indices 0, step, 2·step and so on into the set.
func (s *Stat) AddEveryNth(samples []uint64, step int) {
	if s.Count == 0 {
		s.Min = samples[0]
	}
	count, sum, least, most, squares, more := s.Count, s.Sum, s.Min, s.Max, s.Squares.Lo, s.Squares.Hi
	for i := 0; i < len(samples); i += step {
		v := samples[i]
		least, most = min(least, v), max(most, v)
		count++
		sum += v
		hi, lo := bits.Mul64(v, v)
		var carry uint64
		squares, carry = bits.Add64(squares, lo, 0)
		more += hi + carry
	}
	s.Count, s.Sum, s.Min, s.Max, s.Squares.Lo, s.Squares.Hi = count, sum, least, most, squares, more
}

// OfRank returns the summary with MinRank and MaxRank set to a rank, which had all of the samples.
func (s Stat) OfRank(rank int) Stat {
	s.MinRank, s.MaxRank = int32(rank), int32(rank)
	return s
}

// Merge adds all samples of t to s.
func (s *Stat) Merge(t Stat) {
	if t.Count == 0 {
		return
	}
	if s.Count == 0 {
		*s = t
		return
	}
	s.MinRank = least(s.Min, t.Min, s.MinRank, t.MinRank)
	s.MaxRank = least(t.Max, s.Max, s.MaxRank, t.MaxRank)
	s.Min, s.Max = min(s.Min, t.Min), max(s.Max, t.Max)
	s.Count += t.Count
	s.Sum += t.Sum
	s.Squares = s.Squares.Plus(t.Squares)
}

// least returns the rank of the smaller one of two numbers: ra of a, or rb of b. Of equal numbers it returns the lower
// rank.
func least(a, b uint64, ra, rb int32) int32 {
	switch {
	case a < b:
		return ra
	case a > b:
		return rb
	}
	return min(ra, rb)
}

// Mean returns the average sample in nanoseconds, 0 for an empty set.
func (s Stat) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Sum) / float64(s.Count)
}

// Variance returns the mean square distance of the samples from their mean, in ns², 0 for an empty set. It computes
// with integers: floating-point numbers would round away the small variance of large and similar samples.
func (s Stat) Variance() float64 {
	if s.Count == 0 {
		return 0
	}
	n := new(big.Int).SetUint64(s.Count)
	m := moment(n, s.Sum, s.Squares)
	if m.Sign() <= 0 {
		return 0
	}
	v, _ := new(big.Float).SetInt(m).Float64()
	return v / float64(s.Count) / float64(s.Count)
}

// Deviation returns the standard deviation of the samples, in ns.
func (s Stat) Deviation() float64 { return math.Sqrt(s.Variance()) }

// SetDeviation sets Squares so that the standard deviation of the samples is about d ns.
func (s *Stat) SetDeviation(d float64) { s.Squares = squares(s.Count, s.Sum, d*d) }

// Scale converts the summary to another unit: it multiplies all samples by f.
func (s Stat) Scale(f float64) Stat {
	to := func(v uint64) uint64 { return uint64(float64(v)*f + 0.5) }
	if s.Count == 1 {
		s.Sum, s.Min, s.Max = to(s.Sum), to(s.Min), to(s.Max)
		s.Squares.Hi, s.Squares.Lo = bits.Mul64(s.Sum, s.Sum)
		return s
	}
	variance := s.Variance() * f * f
	s.Sum, s.Min, s.Max = to(s.Sum), to(s.Min), to(s.Max)
	s.Squares = squares(s.Count, s.Sum, variance)
	return s
}

// moment returns n·squares − sum²: n² times the variance of n samples with this sum and sum of squares.
func moment(n *big.Int, sum uint64, squares Uint128) *big.Int {
	m := new(big.Int).Mul(n, squares.big())
	t := new(big.Int).SetUint64(sum)
	return m.Sub(m, t.Mul(t, t))
}

// squares returns the sum of squares of n samples that have this sum and this variance.
func squares(n, sum uint64, variance float64) Uint128 {
	if n == 0 {
		return Uint128{}
	}
	count, s := new(big.Int).SetUint64(n), new(big.Int).SetUint64(sum)
	m := new(big.Int)
	if v := variance * float64(n) * float64(n); v > 0 && !math.IsInf(v, 0) {
		m, _ = big.NewFloat(v).Int(m)
	}
	s.Mul(s, s).Add(s, m)
	// The quotient is rounded up, so that the variance computed from it is not negative.
	s.Add(s, count).Sub(s, big.NewInt(1)).Div(s, count)
	return wide(s)
}

func (w Uint128) big() *big.Int {
	b := new(big.Int).SetUint64(w.Hi)
	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(w.Lo))
}

// wide converts b to a Uint128. It returns the largest Uint128 if b does not fit.
func wide(b *big.Int) Uint128 {
	if b.BitLen() > 128 {
		return Uint128{math.MaxUint64, math.MaxUint64}
	}
	lo := new(big.Int).And(b, new(big.Int).SetUint64(math.MaxUint64))
	return Uint128{new(big.Int).Rsh(b, 64).Uint64(), lo.Uint64()}
}

// Plus returns w + v, modulo 2¹²⁸.
func (w Uint128) Plus(v Uint128) Uint128 {
	lo, carry := bits.Add64(w.Lo, v.Lo, 0)
	return Uint128{w.Hi + v.Hi + carry, lo}
}

// Fraction returns the summary of a part of the samples: num/den of their number, rounded down, and the same fraction
// of their sum. num must not exceed den. The extremes are those of all samples. The part's variance is that of all, or
// larger by up to 1/Count. The variance of the remaining samples, which WithoutPart returns, is at most that of all.
func (s Stat) Fraction(num, den uint64) Stat {
	if num == den {
		return s
	}
	p := s
	p.Count = muldiv(s.Count, num, den)
	if p.Count == 0 {
		return Stat{}
	}
	if p.Count == s.Count {
		return s
	}
	p.Sum = muldiv(s.Sum, p.Count, s.Count)
	p.Squares = partOfSquares(s, p)
	return p
}

// PartWithCountAndSum returns the summary of a part of the samples, with this number and sum. Its variance and extremes are
// those of all samples.
func (s Stat) PartWithCountAndSum(count, sum uint64) Stat {
	p := s
	p.Count, p.Sum = count, sum
	p.Squares = partOfSquares(s, p)
	return p
}

// partOfSquares returns the sum of squares that a part p of the samples of s must have to get the variance of s.
func partOfSquares(s, p Stat) Uint128 {
	if s.Count < smallCount {
		return partOfSmall(s, p)
	}
	return partOfLarge(s, p)
}

// smallCount is the number of samples below which the denominator of partOfSquares fits into 64 bits.
const smallCount = 1 << 21

// partOfSmall is partOfSquares for fewer than smallCount samples. It does not allocate memory, as a merge of tracks
// calls it very often.
func partOfSmall(s, p Stat) Uint128 {
	n, k := s.Count, p.Count
	m := words{s.Squares.Lo, s.Squares.Hi}.times(n)
	all, part := square(s.Sum), square(p.Sum)
	if m.less(all) {
		m = words{}
	} else {
		m = m.minus(all)
	}
	den := k * n * n
	sum := m.times(k * k).plus(part.times(n * n)).plus(words{den - 1})
	rest := uint64(0)
	for i := len(sum) - 1; i >= 0; i-- {
		sum[i], rest = bits.Div64(rest, sum[i], den)
	}
	if sum[2]|sum[3] != 0 {
		return Uint128{math.MaxUint64, math.MaxUint64}
	}
	return Uint128{sum[1], sum[0]}
}

// words is an unsigned integer of 256 bits, its least significant word first.
type words [4]uint64

func square(v uint64) (w words) {
	w[1], w[0] = bits.Mul64(v, v)
	return w
}

func (w words) times(f uint64) words {
	carry := uint64(0)
	for i, v := range w {
		hi, lo := bits.Mul64(v, f)
		var c uint64
		w[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	return w
}

func (w words) plus(v words) words {
	carry := uint64(0)
	for i := range w {
		w[i], carry = bits.Add64(w[i], v[i], carry)
	}
	return w
}

func (w words) minus(v words) words {
	borrow := uint64(0)
	for i := range w {
		w[i], borrow = bits.Sub64(w[i], v[i], borrow)
	}
	return w
}

func (w words) less(v words) bool {
	for i := len(w) - 1; i >= 0; i-- {
		if w[i] != v[i] {
			return w[i] < v[i]
		}
	}
	return false
}

// partOfLarge is partOfSquares for any number of samples.
func partOfLarge(s, p Stat) Uint128 {
	n, k := new(big.Int).SetUint64(s.Count), new(big.Int).SetUint64(p.Count)
	m := moment(n, s.Sum, s.Squares)
	if m.Sign() < 0 {
		m.SetInt64(0)
	}
	// The result is k·(m/n² + (sum/k)²) = (k²·m + n²·sum²) / (k·n²), rounded up. sum is that of the part.
	sum := new(big.Int).SetUint64(p.Sum)
	n.Mul(n, n)
	m.Mul(m, k).Mul(m, k)
	m.Add(m, sum.Mul(sum, sum).Mul(sum, n))
	n.Mul(n, k)
	m.Add(m, n).Sub(m, big.NewInt(1)).Div(m, n)
	return wide(m)
}

// WithoutPart returns the summary of the samples that are not in p, which Fraction or Proportion returned.
func (s Stat) WithoutPart(p Stat) Stat {
	if p.Count == 0 {
		return s
	}
	s.Count -= p.Count
	s.Sum -= p.Sum
	lo, borrow := bits.Sub64(s.Squares.Lo, p.Squares.Lo, 0)
	hi, below := bits.Sub64(s.Squares.Hi, p.Squares.Hi, borrow)
	s.Squares = Uint128{hi, lo}
	if below != 0 { // p.Squares was rounded up, so that it can exceed s.Squares
		s.Squares = Uint128{}
	}
	if s.Count == 0 {
		return Stat{}
	}
	return s
}

// muldiv returns a·b/c, rounded down. b must not exceed c.
func muldiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	q, _ := bits.Div64(hi, lo, c)
	return q
}

// An AttachedStat is a summary of the numbers, of either sign, that a plugin or a counter attached to
// calls under one name. The zero value is an empty set.
type AttachedStat struct {
	Count         uint64
	Sum, Min, Max int64 // a sum out of range is replaced by the largest or least int64
}

// Add puts one number into the set.
func (s *AttachedStat) Add(v int64) { s.Merge(AttachedStat{1, v, v, v}) }

// Merge adds all numbers of t to s.
func (s *AttachedStat) Merge(t AttachedStat) {
	if t.Count == 0 {
		return
	}
	if s.Count == 0 {
		*s = t
		return
	}
	s.Count += t.Count
	s.Min, s.Max = min(s.Min, t.Min), max(s.Max, t.Max)
	switch sum := s.Sum + t.Sum; {
	case s.Sum > 0 && t.Sum > 0 && sum < 0:
		s.Sum = math.MaxInt64
	case s.Sum < 0 && t.Sum < 0 && sum >= 0:
		s.Sum = math.MinInt64
	default:
		s.Sum = sum
	}
}

// Mean returns the average of the numbers, 0 for an empty set.
func (s AttachedStat) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Sum) / float64(s.Count)
}
