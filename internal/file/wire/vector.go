package wire

// What takes most of the time for a bit. Processors with AVX2 have code of their own for it, which gives the same numbers.
var (
	dot   = dotEach
	train = trainEach
	// fetch has the processor fetch the slots of all contexts that the next bit may need, the bits before it and one more.
	fetch = func(*slot, uint32, *[contexts]uint32, uint32) {}
)

// dotEach weighs the inputs by two sets of weights.
func dotEach(in, a, b *[inputs]int32) (sumA, sumB int64) {
	for k, x := range in {
		sumA += int64(a[k]) * int64(x)
		sumB += int64(b[k]) * int64(x)
	}
	return sumA, sumB
}

// trainEach moves two sets of weights by their errors.
func trainEach(in, a, b *[inputs]int32, eA, eB int32) {
	for k, x := range in {
		a[k] += (x*eA + 1<<9) >> 10
		b[k] += (x*eB + 1<<9) >> 10
	}
}
