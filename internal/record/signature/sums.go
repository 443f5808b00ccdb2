package signature

// Displacements mostly are sums: each piece of a buffer begins where the one before it ends. Such an array is not kept,
// as it follows from the counts before it: its length n is replaced by -6-n, the first displacement stays, and each
// other one is 0. The number of values is what it was, so that positions in a signature mean the same either way, and
// ranks with and without sums can be one class.

// firstSummed is the code of length 0; greater negative numbers are codes of missing arrays.
const firstSummed = -6

// minSummed is the least length for which there is something to leave out.
const minSummed = 2

// ArrayLength decodes an array's first value: its length, and whether its elements are left out as sums. A negative length
// is that of a missing array.
func ArrayLength(v int64) (n int64, summed bool) {
	if v > firstSummed-minSummed {
		return v, false
	}
	return firstSummed - v, true
}

// LeaveOutSums leaves out displacements that are the sums of counts. Both arrays begin with
// their length. It returns false, and changes nothing, if some displacement is another
// number. Sums wrap around, here and in FillIn.
func LeaveOutSums(counts, displs []int64) bool {
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

// FillInSums undoes LeaveOut. It returns false, and changes nothing, if that can't have
// made these values.
func FillInSums(counts, displs []int64) bool {
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
