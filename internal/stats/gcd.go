package stats

// GCD is the greatest common divisor, never negative.
func GCD[T ~int32 | ~int64 | ~uint64](a, b T) T {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}
