package hist

import "math/bits"

// Sampler yields the times of calls from a distribution, in an order that looks random, with each part as frequent as it
// should be, both soon and in all.
type Sampler struct {
	quantile func(q float64) float64
	scale    float64
	calls    uint64
	at       float64 // where in each of its equal parts the distribution is looked at
	seed     uint32
	n        uint32 // numbers tried
	mask     uint32
}

// exactly is up to how many calls their sum is made right.
const exactly = 1024

// NewSampler draws for a number of calls with the right mean: that of up to 1024 calls is the given one, that of more is
// about the distribution's.
func NewSampler(quantile func(q float64) float64, calls uint64, mean float64, seed uint64) *Sampler {
	calls = min(max(calls, 1), 1<<31)
	d := &Sampler{quantile: quantile, scale: 1, at: 0.5, calls: calls, seed: uint32(seed), mask: uint32(1)<<bits.Len64(calls-1) - 1}
	if calls > exactly {
		return d
	}
	// Some of the distribution's values, with the mean as far as there are such, and scaled for the rest.
	want, low, high := mean*float64(calls), 0.0, 1.0
	for range 20 {
		if d.sum() < want {
			low = d.at
		} else {
			high = d.at
		}
		d.at = (low + high) / 2
	}
	if sum := d.sum(); sum > 0 {
		d.scale = want / sum
	}
	return d
}

func (d *Sampler) sum() (sum float64) {
	for i := range d.calls {
		sum += d.value(i, d.calls)
	}
	return sum
}

// value is that of part i of equal parts.
func (d *Sampler) value(i, parts uint64) float64 {
	return d.scale * d.quantile((float64(i)+d.at)/float64(parts))
}

// Next returns the time of the next call.
func (d *Sampler) Next() float64 {
	if d.calls > exactly {
		i := scrambled(d.n&d.mask, d.seed, d.mask)
		d.n++
		return d.value(uint64(i), uint64(d.mask)+1)
	}
	return d.value(d.part(), d.calls)
}

// part is which part of the distribution is next.
func (d *Sampler) part() uint64 {
	for {
		i := uint64(scrambled(d.n&d.mask, d.seed, d.mask))
		if d.n++; i < d.calls {
			return i
		}
	}
}

// Skip passes over the next n calls.
func (d *Sampler) Skip(n uint64) {
	if d.calls > exactly {
		d.n += uint32(n)
		return
	}
	for range n % d.calls {
		d.part()
	}
}

// scrambled is a permutation of the numbers up to a mask whose first values fill the range evenly: n's bits reversed,
// and each of them flipped or not depending on those above it (Owen's scrambling, by a hash of Laine and Karras).
func scrambled(n, seed, mask uint32) uint32 {
	x := n
	x += seed
	x ^= x * 0x6c50b47c
	x ^= x * 0xb82f1e52
	x ^= x * 0xc7afe638
	x ^= x * 0x8d22f6e6
	x &= mask
	return bits.Reverse32(x) >> (32 - bits.Len32(mask))
}
