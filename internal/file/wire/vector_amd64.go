package wire

func init() {
	if hasAVX2() {
		dot, train, fetch = dotAVX2, trainAVX2, fetchAVX2
	}
}

// hasAVX2 asks the processor, and whether the system keeps the registers.
func hasAVX2() bool

//go:noescape
func dotAVX2(in, a, b *[inputs]int32) (sumA, sumB int64)

//go:noescape
func trainAVX2(in, a, b *[inputs]int32, eA, eB int32)

//go:noescape
func fetchAVX2(slots *slot, mask uint32, at *[contexts]uint32, partial uint32)
