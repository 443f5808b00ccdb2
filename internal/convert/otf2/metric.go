package otf2

import "math"

// number is what the bits of a measured value stand for: signed (8), unsigned (4) or a double.
func number(kind byte, bits uint64) float64 {
	switch kind {
	case 4:
		return float64(bits)
	case 8:
		return float64(int64(bits))
	case TypeDouble:
		return math.Float64frombits(bits)
	}
	return math.NaN()
}
