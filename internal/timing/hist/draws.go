package hist

import "math/bits"

// Sampler is a sequence of samples from a distribution in pseudorandom order. Each part of the distribution has its
// correct frequency, both in the whole sequence and in short stretches of it.
type Sampler struct {
	quantile func(q float64) float64
	scale    float64
	calls    uint64
	// The distribution is divided into parts of equal probability, and each part gives one sample: at this position
	// in the part, from 0 to 1.
	at   float64
	seed uint32
	n    uint32 // number of elements of the permutation that were used so far
	mask uint32
}

// exactly is the largest number of calls for which the samples are fitted so that their sum is mean × calls.
const exactly = 1024

// NewSampler returns samples for a number of calls from the distribution with this quantile function. For up to 1024
// calls their mean is mean, for more it is approximately the distribution's.
func NewSampler(quantile func(q float64) float64, calls uint64, mean float64, seed uint64) *Sampler {
	calls = min(max(calls, 1), 1<<31)
	d := &Sampler{quantile: quantile, scale: 1, at: 0.5, calls: calls, seed: uint32(seed), mask: uint32(1)<<bits.Len64(calls-1) - 1}
	if calls > exactly {
		return d
	}
	// Choose the position of samples in their parts such that their mean is the given one. If no position is right,
	// scale all samples.
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

// value returns the sample of part i, if the distribution is divided into this many parts of equal probability.
func (d *Sampler) value(i, parts uint64) float64 {
	return d.scale * d.quantile((float64(i)+d.at)/float64(parts))
}

// Next returns the next sample.
func (d *Sampler) Next() float64 {
	if d.calls > exactly {
		i := scrambled(d.n&d.mask, d.seed, d.mask)
		d.n++
		return d.value(uint64(i), uint64(d.mask)+1)
	}
	return d.value(d.part(), d.calls)
}

// part returns the index of the part of the distribution that gives the next sample.
func (d *Sampler) part() uint64 {
	for {
		i := uint64(scrambled(d.n&d.mask, d.seed, d.mask))
		if d.n++; i < d.calls {
			return i
		}
	}
}

// Skip skips n samples.
func (d *Sampler) Skip(n uint64) {
	if d.calls > exactly {
		d.n += uint32(n)
		return
	}
	for range n % d.calls {
		d.part()
	}
}

// scrambled returns element n of a permutation of 0 … mask whose first elements fill the range evenly. It reverses
// the bits of n, and flips each of them or not depending on those above it (Owen's scrambling, by a hash of Laine and
// Karras).
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
