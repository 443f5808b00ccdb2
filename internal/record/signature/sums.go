package signature

// Displacements are mostly sums: each piece of a buffer begins where the previous one ends. Such an array is not
// stored, as it follows from the counts before it: its length n is replaced by -6-n, the first displacement stays,
// and each other one is 0. The number of values does not change, so that positions in a signature mean the same
// either way, and ranks with and without sums can be in one class.

// firstSummed is the code of length 0; greater negative numbers are codes of missing arrays.
const firstSummed = -6

// minSummed is the smallest length with displacements to omit.
const minSummed = 2

// ArrayLength decodes the first value of an array: its length, and whether its elements are omitted as sums. A
// negative length means a missing array.
func ArrayLength(v int64) (n int64, summed bool) {
	if v > firstSummed-minSummed {
		return v, false
	}
	return firstSummed - v, true
}

// OmitSummedDispls omits displacements that are sums of the counts. Both arrays begin with their length. It returns
// false, and changes nothing, if some displacement is not the sum. Sums wrap around, here and in RestoreSummedDispls.
func OmitSummedDispls(counts, displs []int64) bool {
	n := len(displs) - 1
	if n < minSummed || len(counts) != len(displs) || counts[0] != int64(n) || displs[0] != int64(n) {
		return false
	}
	for i := 2; i <= n; i++ {
		if displs[i] != displs[i-1]+counts[i-1] {
			return false
		}
	}
	displs[0] = firstSummed - int64(n)
	clear(displs[2:])
	return true
}

// RestoreSummedDispls reverses OmitSummedDispls. It returns false, and changes nothing, if OmitSummedDispls cannot have produced these
// values.
func RestoreSummedDispls(counts, displs []int64) bool {
	if len(displs) == 0 || len(counts) != len(displs) {
		return false
	}
	n, summed := ArrayLength(displs[0])
	if !summed || n != int64(len(displs)-1) || counts[0] != n {
		return false
	}
	for _, v := range displs[2:] {
		if v != 0 {
			return false
		}
	}
	displs[0] = n
	for i := 2; i < len(displs); i++ {
		displs[i] = displs[i-1] + counts[i-1]
	}
	return true
}
