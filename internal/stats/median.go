package stats

import "slices"

// Median is the middle one of numbers, or the mean of both; 0 of an empty list.
func Median[T float64 | uint64](list []T) float64 {
	n := len(list)
	if n == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(list))
	return (float64(s[(n-1)/2]) + float64(s[n/2])) / 2
}
